use std::fmt;

use crate::origin::{Address, AddressError, Origin, Scheme};

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

    /// Tells whether every name below the host is meant instead of the host.
    pub fn is_wildcard(&self) -> bool {
        self.wildcard
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
pub enum SourceError {
    /// The address does not parse.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A star anywhere but in front of a name of at least two labels.
    #[error("a wildcard goes in front of a name with a dot, as in https://*.x.com")]
    Wildcard,
}
