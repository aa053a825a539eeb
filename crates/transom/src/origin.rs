//! Origins, parsed once and compared exactly as the browser writes them.

use std::fmt;
use std::num::NonZeroU16;

/// A web origin: `http` or `https`, a host, and a port where it is not the scheme's own.
///
/// Only the text a browser would send is an origin, so equal origins are equal texts.
///
/// ```
/// use transom::origin::Origin;
/// assert!(Origin::parse("https://a.test").is_ok());
/// // The browser leaves the scheme's own port out, so no browser sends this.
/// assert!(Origin::parse("https://a.test:443").is_err());
/// // An opaque origin has no name: it equals nothing, itself included.
/// assert!(Origin::parse("null").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    scheme: Scheme,
    address: Address,
}

impl Origin {
    /// Reads an origin, refusing whatever a browser would have written differently.
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        let (scheme, rest) = Scheme::split(text)?;
        // Documents have origins; sockets borrow them.
        if !matches!(scheme, Scheme::Http | Scheme::Https) {
            return Err(AddressError::Scheme.into());
        }
        let address = Address::parse(rest)?;
        if address.port() == Some(scheme.own_port()) {
            return Err(OriginError::DefaultPort);
        }
        Ok(Self { scheme, address })
    }

    /// Returns the scheme, without a colon.
    pub fn scheme(&self) -> &'static str {
        self.scheme.name()
    }

    /// Returns the host; an IPv6 address keeps its brackets.
    pub fn host(&self) -> &str {
        self.address.host()
    }

    /// Returns the port, where it is not the scheme's own.
    pub fn port(&self) -> Option<u16> {
        self.address.port()
    }

    pub(crate) fn into_parts(self) -> (Scheme, Address) {
        (self.scheme, self.address)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.address)
    }
}

/// Why a text is not an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OriginError {
    /// The address does not parse.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The scheme's own port, which a browser leaves out.
    #[error("leave out the scheme's own port")]
    DefaultPort,
}

/// Why a text is not `scheme://host:port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// More bytes than any address needs.
    #[error("longer than {MAX_ADDRESS_BYTES} bytes")]
    TooLong,
    /// No scheme, or one that is not served here.
    #[error("expected http://, https:// or, for connections, ws:// or wss://")]
    Scheme,
    /// A character that no address contains; upper case is one, because a browser writes none.
    #[error("character {0:?} has no place in an address")]
    Character(char),
    /// A user name or a password.
    #[error("a user name or password")]
    Userinfo,
    /// Anything behind the port: a path, a query, a fragment, even one slash.
    #[error("a path, query or fragment")]
    Path,
    /// A host that is no name and no address, or that a browser would write differently.
    #[error("not a host as a browser writes it")]
    Host,
    /// A port that is not a plain number from 1 to 65535.
    #[error("not a port from 1 to 65535")]
    Port,
}

/// The most bytes an origin or a source may have: a name of 253, its scheme, a wildcard and a port.
pub const MAX_ADDRESS_BYTES: usize = 269;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Scheme {
    Http,
    Https,
    Ws,
    Wss,
}

impl Scheme {
    /// Takes the scheme off an address that is not too long to be one.
    pub(crate) fn split(text: &str) -> Result<(Self, &str), AddressError> {
        if text.len() > MAX_ADDRESS_BYTES {
            return Err(AddressError::TooLong);
        }
        let (name, rest) = text.split_once("://").ok_or(AddressError::Scheme)?;
        let known = [Self::Http, Self::Https, Self::Ws, Self::Wss];
        let scheme = known.into_iter().find(|scheme| scheme.name() == name);
        Ok((scheme.ok_or(AddressError::Scheme)?, rest))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Ws => "ws",
            Self::Wss => "wss",
        }
    }

    fn own_port(self) -> u16 {
        match self {
            Self::Http | Self::Ws => 80,
            Self::Https | Self::Wss => 443,
        }
    }
}

/// A host and perhaps a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Address {
    host: String,
    port: Option<NonZeroU16>,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, AddressError> {
        text.chars().try_for_each(check_character)?;
        let (host, port) = split_port(text)?;
        check_host(host)?;
        Ok(Self { host: host.to_owned(), port: port.map(parse_port).transpose()? })
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> Option<u16> {
        self.port.map(NonZeroU16::get)
    }

    pub(crate) fn is_ipv6(&self) -> bool {
        self.host.starts_with('[')
    }

    pub(crate) fn is_ipv4(&self) -> bool {
        self.host.parse::<std::net::Ipv4Addr>().is_ok()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

fn check_character(character: char) -> Result<(), AddressError> {
    match character {
        'a'..='z' | '0'..='9' | '-' | '.' | ':' | '[' | ']' => Ok(()),
        '/' | '?' | '#' => Err(AddressError::Path),
        '@' => Err(AddressError::Userinfo),
        // The underscore is here too: browsers resolve such names, and ignore them in a policy.
        other => Err(AddressError::Character(other)),
    }
}

fn split_port(text: &str) -> Result<(&str, Option<&str>), AddressError> {
    // The colons of an IPv6 address are inside its brackets.
    let end = if text.starts_with('[') { text.find(']').ok_or(AddressError::Host)? } else { 0 };
    Ok(match text[end..].find(':') {
        Some(colon) => (&text[..end + colon], Some(&text[end + colon + 1..])),
        None => (text, None),
    })
}

fn check_host(host: &str) -> Result<(), AddressError> {
    let name = |label: &str| (1..=63).contains(&label.len());
    if host.len() > 253 || !(host.starts_with('[') || host.split('.').all(name)) {
        return Err(AddressError::Host);
    }
    // The URL parser reads 127.1, 0x7f000001 and [0:0::1] as addresses. Comparing what it prints
    // refuses every spelling but the one a browser uses, and unfounded punycode with them.
    match url::Host::parse(host) {
        Ok(parsed) if parsed.to_string() == host => Ok(()),
        _ => Err(AddressError::Host),
    }
}

fn parse_port(text: &str) -> Result<NonZeroU16, AddressError> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let port = if plain { text.parse().ok() } else { None };
    port.ok_or(AddressError::Port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_the_browser_writes() {
        for text in [
            "http://localhost",
            "http://localhost:7420",
            "http://x7f.localhost:7421",
            "https://a.test",
            "https://a.test:80",
            "http://a.test:443",
            "https://a.test:65535",
            "https://xn--bcher-kva.test",
            "http://127.0.0.1:1",
            "http://[::1]:7420",
            "https://[2001:db8::1]",
        ] {
            assert_eq!(Origin::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn nothing_else_is_an_origin() {
        use AddressError::*;
        #[rustfmt::skip]
        let table = [
            ("",                        Scheme),
            ("null",                    Scheme),
            ("*",                       Scheme),
            ("a.test",                  Scheme),
            ("https:a.test",            Scheme),
            ("HTTPS://a.test",          Scheme),
            ("ws://a.test",             Scheme),
            ("wss://a.test",            Scheme),
            ("file:///a",               Scheme),
            (" https://a.test",         Scheme),
            ("https://",                Host),
            ("https://A.test",          Character('A')),
            ("https://a.test ",         Character(' ')),
            ("https://a_b.test",        Character('_')),
            ("https://b\u{fc}cher.test", Character('\u{fc}')),
            ("https://a\u{3002}test",   Character('\u{3002}')),
            ("https://*.a.test",        Character('*')),
            ("https://a.test/",         Path),
            ("https://a.test?",         Path),
            ("https://u@a.test",        Userinfo),
            ("https://a.test.",         Host),
            ("https://a..test",         Host),
            ("https://127.1",           Host),
            ("https://0x7f000001",      Host),
            ("https://[::1",            Host),
            ("https://[0:0::1]",        Host),
            ("https://[::1]x",          Host),
            ("https://xn--a.test",      Host),
            ("https://a.test:",         Port),
            ("https://a.test:0",        Port),
            ("https://a.test:08",       Port),
            ("https://a.test:65536",    Port),
        ];
        for (text, reason) in table {
            assert_eq!(Origin::parse(text), Err(OriginError::Address(reason)), "{text:?}");
        }
        for text in ["https://a.test:443", "http://a.test:80"] {
            assert_eq!(Origin::parse(text), Err(OriginError::DefaultPort));
        }
    }

    #[test]
    fn long_names_are_refused_before_they_are_read() {
        let label = "a".repeat(63);
        let name = [&label[..], &label, &label, &label[..61]].join(".");
        assert!(Origin::parse(&format!("https://{name}:65535")).is_ok());
        let refused = |text: String| Origin::parse(&text).unwrap_err().to_string();
        assert_eq!(refused(format!("https://{name}a")), AddressError::Host.to_string());
        assert_eq!(refused(format!("https://{label}a.test")), AddressError::Host.to_string());
        let endless = format!("https://{}", "a.".repeat(1 << 20));
        assert_eq!(refused(endless), AddressError::TooLong.to_string());
    }
}
