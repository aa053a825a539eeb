//! Hosts that the operator names: where links may lead, and which domains documents may declare.

use std::{cmp::Reverse, fmt, str::FromStr};

use super::{Reach, Stance};
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

    fn of(source: &Source) -> Self {
        Self { wildcard: source.is_wildcard(), host: source.host().to_owned() }
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
        Ok(Self::of(&source))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.wildcard { "*." } else { "" }, self.host)
    }
}

/// Which domains documents may declare at all (H-29). Everything public, unless said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    /// With a list, only what is on it. It grants nothing: what is private is still asked for.
    pub allow: Option<Vec<HostPattern>>,
    /// Never what is on this one, whatever the other says.
    pub block: Vec<HostPattern>,
    /// What of this machine and its networks is granted. No declaration reaches any of it by itself.
    pub private: Vec<Nearby>,
}

impl Domains {
    /// Judges a source that a document declared.
    ///
    /// What is private and was not granted is a person's to decide: behind such an address stand things
    /// that trust every program that can reach them.
    pub fn judge(&self, source: &Source) -> Stance {
        if !self.permit(source) {
            return Stance::Deny;
        }
        let granted = || self.private.iter().any(|nearby| nearby.covers(source));
        if !source.reach().is_private() || granted() { Stance::Allow } else { Stance::Ask }
    }

    /// A policy cannot subtract: a source that is too broad by one blocked name is withheld whole.
    fn permit(&self, source: &Source) -> bool {
        let allowed = match &self.allow {
            Some(list) => list.iter().any(|pattern| pattern.covers(source)),
            None => true,
        };
        allowed && !self.block.iter().any(|pattern| pattern.touches(source))
    }
}

/// What an operator grants of this machine and its networks: `localhost:3000`, `192.168.1.7`,
/// `*.corp.internal`, or `loopback` for everything on this machine.
///
/// ```
/// use transom::policy::Nearby;
/// assert!("localhost:3000".parse::<Nearby>().is_ok());
/// // What is public needs no grant, and such a line would mean something else than its author thinks.
/// assert!("api.example.com".parse::<Nearby>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nearby {
    /// Everything on this machine.
    Loopback,
    /// One host, or every name below one; at one port, or at all of them.
    Host {
        /// The host.
        pattern: HostPattern,
        /// The port; without one, every port.
        port: Option<u16>,
    },
}

impl Nearby {
    /// The grant that a source needs, and no more.
    pub fn of(source: &Source) -> Self {
        Self::Host { pattern: HostPattern::of(source), port: Some(source.port_or_own()) }
    }

    /// Tells whether everything that a source covers is granted.
    pub fn covers(&self, source: &Source) -> bool {
        match self {
            Self::Loopback => source.reach() == Reach::Machine,
            Self::Host { pattern, port } => {
                pattern.covers(source) && port.is_none_or(|port| source.port_or_own() == port)
            }
        }
    }
}

impl FromStr for Nearby {
    type Err = NearbyError;

    fn from_str(text: &str) -> Result<Self, NearbyError> {
        if text == LOOPBACK {
            return Ok(Self::Loopback);
        }
        let source = Source::parse(&format!("https://{text}"))?;
        if !source.reach().is_private() {
            return Err(NearbyError::Public);
        }
        Ok(Self::Host { pattern: HostPattern::of(&source), port: source.port() })
    }
}

impl fmt::Display for Nearby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str(LOOPBACK),
            Self::Host { pattern, port: Some(port) } => write!(f, "{pattern}:{port}"),
            Self::Host { pattern, port: None } => pattern.fmt(f),
        }
    }
}

/// Why a text grants nothing of this machine or its networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NearbyError {
    /// It is no host.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is on the public internet.
    #[error("this is a public name, which views reach by declaring it")]
    Public,
}

const LOOPBACK: &str = "loopback";

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
        assert!(everything.judge(&source("https://x.com")) == Stance::Allow);
        let some = Domains {
            allow: Some(vec![pattern("*.x.com")]),
            block: vec![pattern("evil.x.com")],
            ..Domains::default()
        };
        for (declared, permitted) in [
            ("https://a.x.com", true),
            ("https://evil.x.com", false),
            // It would let the blocked one in.
            ("https://*.x.com", false),
            ("https://*.a.x.com", true),
            ("https://y.com", false),
        ] {
            let given = some.judge(&source(declared)) == Stance::Allow;
            assert_eq!(given, permitted, "{declared}");
        }
        let nothing = Domains { allow: Some(vec![]), ..Domains::default() };
        assert_eq!(nothing.judge(&source("https://x.com")), Stance::Deny);
    }

    #[test]
    fn no_declaration_alone_reaches_what_is_private() {
        let grant = |words: &[&str]| Domains {
            private: words.iter().map(|word| word.parse().unwrap()).collect(),
            ..Domains::default()
        };
        #[rustfmt::skip]
        let table: [(&[&str], &str, Stance); 17] = [
            (&[],                   "http://localhost:3000",      Stance::Ask),
            (&[],                   "https://169.254.169.254",    Stance::Ask),
            (&[],                   "https://*.corp.internal",    Stance::Ask),
            (&[],                   "https://x.com",              Stance::Allow),
            (&["localhost:3000"],   "http://localhost:3000",      Stance::Allow),
            (&["localhost:3000"],   "ws://localhost:3000",        Stance::Allow),
            (&["localhost:3000"],   "http://localhost:3001",      Stance::Ask),
            (&["localhost:3000"],   "http://127.0.0.1:3000",      Stance::Ask),
            (&["localhost"],        "http://localhost:3001",      Stance::Allow),
            (&["localhost:80"],     "http://localhost",           Stance::Allow),
            (&["localhost:80"],     "https://localhost",          Stance::Ask),
            (&["*.corp.internal"],  "https://*.a.corp.internal",  Stance::Allow),
            (&["a.corp.internal"],  "https://*.corp.internal",    Stance::Ask),
            (&["loopback"],         "http://127.0.0.1:9",         Stance::Allow),
            (&["loopback"],         "http://x.localhost:9",       Stance::Allow),
            (&["loopback"],         "http://192.168.0.1",         Stance::Ask),
            (&["192.168.0.1"],      "http://192.168.0.1:8080",    Stance::Allow),
        ];
        for (granted, declared, stance) in table {
            assert_eq!(grant(granted).judge(&source(declared)), stance, "{granted:?} {declared}");
        }
        // What is forbidden is not asked for either, and a list of what may be declared grants nothing.
        let blocked = Domains { block: vec![pattern("localhost")], ..grant(&["loopback"]) };
        assert_eq!(blocked.judge(&source("http://localhost:1")), Stance::Deny);
        let listed = Domains { allow: Some(vec![pattern("localhost")]), ..Domains::default() };
        assert_eq!(listed.judge(&source("http://localhost:1")), Stance::Ask);
    }

    #[test]
    fn a_grant_of_something_private_is_printed_as_it_is_read() {
        for text in ["loopback", "localhost", "localhost:3000", "*.corp.internal:8443", "10.0.0.1"]
        {
            assert_eq!(text.parse::<Nearby>().unwrap().to_string(), text);
        }
        assert_eq!("x.com".parse::<Nearby>(), Err(NearbyError::Public));
        for text in ["", "*", "*.local", "http://localhost", "localhost:0", "127.1", "a b"] {
            assert!(text.parse::<Nearby>().is_err(), "{text}");
        }
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
