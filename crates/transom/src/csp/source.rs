use std::fmt;

use url::Url;

use crate::origin::{Address, AddressError, Origin, Scheme};
use crate::reach::Reach;

/// One source expression: `scheme://host`, perhaps with a leading `*.` and a port.
///
/// It is printed from its parts, so nothing a stranger wrote reaches a header as it was.
///
/// ```
/// use transom::csp::Source;
/// assert!(Source::parse("wss://*.x.com:8443").is_ok());
/// assert!(Source::parse("https://x.com; script-src *").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    scheme: Scheme,
    wildcard: bool,
    address: Address,
}

impl Source {
    /// Reads a source expression. One that does not parse is refused, never repaired.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let (scheme, rest) = Scheme::split(text)?;
        let (wildcard, rest) = match rest.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let address = Address::parse(rest).map_err(|error| match error {
            AddressError::Character('*') => SourceError::Wildcard,
            other => other.into(),
        })?;
        // "*.com" is half the world and "*.localhost" is every guest of ours.
        if wildcard && (!address.host().contains('.') || address.is_ipv4()) {
            return Err(SourceError::Wildcard);
        }
        Ok(Self { scheme, wildcard, address })
    }

    /// Returns the scheme, without a colon.
    pub fn scheme(&self) -> &'static str {
        self.scheme.name()
    }

    /// Returns the host without its wildcard; an IPv6 address keeps its brackets.
    pub fn host(&self) -> &str {
        self.address.host()
    }

    /// Returns the port, where one was named.
    pub fn port(&self) -> Option<u16> {
        self.address.port()
    }

    /// Returns the port that is meant: the scheme's own, where none was named.
    pub fn port_or_own(&self) -> u16 {
        self.port().unwrap_or_else(|| default_port(self.scheme()))
    }

    /// Tells where it leads, as far as its name does. No wildcard covers private names beside public ones:
    /// it has a name of two labels, and what is private ends in one, or in `home.arpa`.
    pub fn reach(&self) -> Reach {
        Reach::of(self.host())
    }

    /// Tells whether every name below the host is meant instead of the host.
    pub fn is_wildcard(&self) -> bool {
        self.wildcard
    }

    /// Tells whether an address may be used where this source is named: CSP 3, "match URL to source
    /// expression", for the sources that parse.
    pub fn covers(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let scheme = match self.scheme() {
            "http" => matches!(url.scheme(), "http" | "https"),
            "ws" => matches!(url.scheme(), "ws" | "wss" | "http" | "https"),
            "wss" => matches!(url.scheme(), "wss" | "https"),
            other => url.scheme() == other,
        };
        let below = || host.strip_suffix(self.host()).is_some_and(|front| front.ends_with('.'));
        let named = if self.wildcard { below() } else { host == self.host() };
        let port = self.port_or_own();
        let upgraded = port == 80 && url.port_or_known_default() == Some(443);
        scheme && named && (url.port_or_known_default() == Some(port) || upgraded)
    }

    pub(crate) fn is_ipv6(&self) -> bool {
        self.address.is_ipv6()
    }
}

impl From<Origin> for Source {
    fn from(origin: Origin) -> Self {
        let (scheme, address) = origin.into_parts();
        Self { scheme, wildcard: false, address }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wildcard = if self.wildcard { "*." } else { "" };
        write!(f, "{}://{wildcard}{}", self.scheme.name(), self.address)
    }
}

/// Why a text is not a source expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The address does not parse.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A star anywhere but in front of a name of at least two labels.
    #[error("a wildcard goes in front of a name with a dot, as in https://*.x.com")]
    Wildcard,
}

fn default_port(scheme: &str) -> u16 {
    match scheme {
        "http" | "ws" => 80,
        _ => 443,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_covers_what_a_browser_lets_it_cover() {
        #[rustfmt::skip]
        let table = [
            ("https://x.test",      "https://x.test/a",       true),
            ("https://x.test",      "http://x.test/a",        false),
            ("http://x.test",       "https://x.test/a",       true),
            ("https://x.test",      "https://y.x.test",       false),
            ("https://*.x.test",    "https://y.x.test",       true),
            ("https://*.x.test",    "https://a.b.x.test",     true),
            ("https://*.x.test",    "https://x.test",         false),
            ("https://*.x.test",    "https://evilx.test",     false),
            ("https://x.test:8443", "https://x.test",         false),
            ("https://x.test:8443", "https://x.test:8443/",   true),
            ("wss://x.test",        "wss://x.test/s",         true),
            ("ws://x.test",         "wss://x.test/s",         true),
            ("https://x.test",      "wss://x.test",           false),
        ];
        for (source, url, expected) in table {
            let source = Source::parse(source).unwrap();
            assert_eq!(source.covers(&Url::parse(url).unwrap()), expected, "{source} {url}");
        }
    }
}
