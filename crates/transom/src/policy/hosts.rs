//! Hosts that the operator names: where links may lead, and which domains documents may declare.

use std::{cmp::Reverse, fmt, str::FromStr};

use crate::csp::{Source, SourceError};

/// A host, or every name below one: `x.com`, `*.x.com`.
///
/// The two do not include one another, as in a policy's sources.
///
/// ```
/// use transom::policy::HostPattern;
/// let below: HostPattern = "*.x.com".parse().unwrap();
/// assert!(below.matches("a.x.com") && !below.matches("x.com") && !below.matches("ax.com"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPattern {
    wildcard: bool,
    host: String,
}

impl HostPattern {
    /// Tells whether a host is meant; compared as browsers write it.
    pub fn matches(&self, host: &str) -> bool {
        if self.wildcard { is_below(host, &self.host) } else { host == self.host }
    }

    /// Tells whether everything that a source covers is meant.
    pub fn covers(&self, source: &Source) -> bool {
        match (self.wildcard, source.is_wildcard()) {
            (_, false) => self.matches(source.host()),
            (true, true) => source.host() == self.host || is_below(source.host(), &self.host),
            (false, true) => false,
        }
    }

    /// Tells whether anything that a source covers is meant.
    pub fn touches(&self, source: &Source) -> bool {
        match (self.wildcard, source.is_wildcard()) {
            (_, false) => self.matches(source.host()),
            (false, true) => is_below(&self.host, source.host()),
            (true, true) => self.covers(source) || is_below(&self.host, source.host()),
        }
    }

    /// The order in which patterns are asked: the narrowest first.
    fn breadth(&self) -> (bool, Reverse<usize>) {
        (self.wildcard, Reverse(self.host.len()))
    }
}

fn is_below(host: &str, base: &str) -> bool {
    host.strip_suffix(base).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

impl FromStr for HostPattern {
    type Err = SourceError;

    /// Reads a pattern as a source without its scheme and port, under the same rules.
    fn from_str(text: &str) -> Result<Self, SourceError> {
        let source = Source::parse(&format!("https://{text}"))?;
        if source.port().is_some() {
            return Err(SourceError::Address(crate::origin::AddressError::Character(':')));
        }
        Ok(Self { wildcard: source.is_wildcard(), host: source.host().to_owned() })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.wildcard { "*." } else { "" }, self.host)
    }
}

/// Which domains documents may declare at all (H-29). Everything, unless said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    /// With a list, only what is on it.
    pub allow: Option<Vec<HostPattern>>,
    /// Never what is on this one, whatever the other says.
    pub block: Vec<HostPattern>,
}

impl Domains {
    /// Tells whether a declared source may be given.
    ///
    /// A policy cannot subtract: a source that is too broad by one blocked name is withheld whole.
    pub fn permit(&self, source: &Source) -> bool {
        let allowed = match &self.allow {
            Some(list) => list.iter().any(|pattern| pattern.covers(source)),
            None => true,
        };
        allowed && !self.block.iter().any(|pattern| pattern.touches(source))
    }
}

/// Finds what is said of a host: the narrowest pattern that means it decides.
pub(super) fn find<'a, T>(
    rules: impl IntoIterator<Item = (&'a HostPattern, T)>,
    host: &str,
) -> Option<T> {
    let meant = rules.into_iter().filter(|(pattern, _)| pattern.matches(host));
    meant.min_by_key(|(pattern, _)| pattern.breadth()).map(|(_, rule)| rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        text.parse().unwrap()
    }

    fn source(text: &str) -> Source {
        Source::parse(text).unwrap()
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in
            ["", "*", "*.com", "https://x.com", "x.com:80", "x.com/a", "a b", "x.com;", "*.*.x.com"]
        {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
        for text in ["x.com", "*.x.com", "localhost", "127.0.0.1"] {
            assert_eq!(pattern(text).to_string(), text);
        }
    }

    #[test]
    fn names_below_are_below_by_a_dot() {
        let below = pattern("*.x.com");
        for (host, meant) in [
            ("a.x.com", true),
            ("b.a.x.com", true),
            ("x.com", false),
            ("ax.com", false),
            (".x.com", false),
        ] {
            assert_eq!(below.matches(host), meant, "{host}");
        }
        assert!(pattern("x.com").matches("x.com") && !pattern("x.com").matches("a.x.com"));
    }

    #[test]
    fn covering_is_all_and_touching_is_any() {
        #[rustfmt::skip]
        let table = [
            // pattern, source, covers, touches
            ("x.com", "https://x.com", true, true),
            ("x.com", "https://*.x.com", false, false),
            ("a.x.com", "https://*.x.com", false, true),
            ("*.x.com", "https://*.x.com", true, true),
            ("*.x.com", "https://*.a.x.com", true, true),
            ("*.a.x.com", "https://*.x.com", false, true),
            ("*.x.com", "wss://a.x.com:8443", true, true),
            ("*.x.com", "https://x.com", false, false),
            ("*.y.com", "https://*.x.com", false, false),
        ];
        for (text, declared, covers, touches) in table {
            let (pattern, source) = (pattern(text), source(declared));
            assert_eq!(pattern.covers(&source), covers, "{text} covers {declared}");
            assert_eq!(pattern.touches(&source), touches, "{text} touches {declared}");
        }
    }

    #[test]
    fn h_29_lists_only_take_away() {
        let everything = Domains::default();
        assert!(everything.permit(&source("https://x.com")));
        let some =
            Domains { allow: Some(vec![pattern("*.x.com")]), block: vec![pattern("evil.x.com")] };
        for (declared, permitted) in [
            ("https://a.x.com", true),
            ("https://evil.x.com", false),
            // It would let the blocked one in.
            ("https://*.x.com", false),
            ("https://*.a.x.com", true),
            ("https://y.com", false),
        ] {
            assert_eq!(some.permit(&source(declared)), permitted, "{declared}");
        }
        let nothing = Domains { allow: Some(vec![]), block: vec![] };
        assert!(!nothing.permit(&source("https://x.com")));
    }

    #[test]
    fn the_narrowest_rule_decides() {
        let rules = [(pattern("*.x.com"), 1), (pattern("a.x.com"), 2), (pattern("*.b.x.com"), 3)];
        let find = |host| find(rules.iter().map(|(pattern, rule)| (pattern, *rule)), host);
        assert_eq!(find("c.x.com"), Some(1));
        assert_eq!(find("a.x.com"), Some(2));
        assert_eq!(find("a.b.x.com"), Some(3));
        assert_eq!(find("x.com"), None);
    }
}
