//! What the frames' origins are called.

use transom::csp::{Source, SourceError};
use transom::origin::Origin;

/// How frames get an origin of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Naming {
    /// A name below `localhost`, which browsers resolve by themselves. Each guest is a site of its
    /// own, and its sandbox a name below it.
    Localhost {
        /// The port of the sandbox listener.
        port: u16,
    },
    /// A name below a domain of the operator's, whose names all lead to the sandbox listener. All of
    /// them are one level below it, because a certificate for a wildcard covers no more.
    Domain(Wildcard),
    /// A port on the loopback for each name, where names below `localhost` do not resolve.
    ///
    /// A port cannot be chosen, so no name is stable here, and cookies are shared among all of
    /// them: a fallback.
    Ports,
}

impl Naming {
    /// Prints the origin of a guest's sandbox, unless origins are ports.
    pub(super) fn sandbox(&self, label: &str, guest: &str) -> Option<Origin> {
        match self.is_nested() {
            true => self.origin(&format!("{label}.{guest}")),
            false => self.origin(label),
        }
    }

    /// Tells whether a sandbox is on its guest's site, and on no other frame's.
    pub(super) fn is_nested(&self) -> bool {
        matches!(self, Self::Localhost { .. })
    }

    /// Prints a label's origin, unless origins are ports.
    pub(super) fn origin(&self, label: &str) -> Option<Origin> {
        let text = match self {
            Self::Localhost { port: 80 } => format!("http://{label}.localhost"),
            Self::Localhost { port } => format!("http://{label}.localhost:{port}"),
            Self::Domain(wildcard) => wildcard.below(label),
            Self::Ports => return None,
        };
        Some(Origin::parse(&text).expect("a label of ours makes an origin of any naming"))
    }
}

/// A domain whose names all lead to the sandbox listener: `https://*.sandbox.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard(Source);

impl Wildcard {
    /// Reads a domain with its scheme, a leading `*.`, and perhaps a port.
    pub fn parse(text: &str) -> Result<Self, NotAWildcard> {
        let wildcard = Self(Source::parse(text)?);
        let sample = wildcard.below(&"a".repeat(LABEL));
        if !wildcard.0.is_wildcard() || Origin::parse(&sample).is_err() {
            return Err(NotAWildcard::Form);
        }
        Ok(wildcard)
    }

    fn below(&self, label: &str) -> String {
        let port = self.0.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{label}.{}{port}", self.0.scheme(), self.0.host())
    }
}

impl std::fmt::Display for Wildcard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a text is not a domain for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAWildcard {
    /// It does not parse.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It parses and is something else: one host, a socket, the scheme's own port, a long name.
    #[error(
        "expected a short domain as in https://*.sandbox.example, without the scheme's own port"
    )]
    Form,
}

/// A label that nobody can guess: 160 random bits.
pub(super) fn label() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes)?;
    Ok(base32(&bytes))
}

/// Five bits a letter, lower case, as a browser writes host names.
pub(super) fn base32(bytes: &[u8; 20]) -> String {
    let mut letters = String::with_capacity(LABEL);
    for five in bytes.chunks_exact(5) {
        let bits = five.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        letters
            .extend((0..8).rev().map(|at| char::from(LETTERS[(bits >> (5 * at)) as usize & 31])));
    }
    letters
}

const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The length of a label.
const LABEL: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_letters_of_a_host_name_and_never_the_same() {
        assert_eq!(base32(&[0; 20]), "a".repeat(32));
        assert_eq!(base32(&[255; 20]), "7".repeat(32));
        assert_eq!(
            base32(b"\x08\x86\x42\x98\xe8\x4a\x96\xc6\xb9\xf0\0\0\0\0\0\0\0\0\0\x01"),
            "bcdefghijklmnopqaaaaaaaaaaaaaaab"
        );
        assert_ne!(label().unwrap(), label().unwrap());
    }

    #[test]
    fn a_domain_for_frames_is_a_wildcard_with_a_scheme() {
        #[rustfmt::skip]
        let good = [
            ("https://*.sandbox.example",      "https://x.sandbox.example"),
            ("https://*.sandbox.example:8443", "https://x.sandbox.example:8443"),
            ("http://*.a.b",                   "http://x.a.b"),
        ];
        for (text, origin) in good {
            let naming = Naming::Domain(Wildcard::parse(text).unwrap());
            assert_eq!(naming.origin("x").unwrap().to_string(), origin);
        }
        let long = format!("https://*.{}.example", vec!["a".repeat(57); 4].join("."));
        let bad = [
            "",
            "*",
            "*.sandbox.example",
            "https://sandbox.example",
            "wss://*.sandbox.example",
            "https://*.sandbox.example:443",
            "https://*.sandbox.example/",
            "https://*.localhost",
            "https://*.1.2.3.4",
            "https://a.*.example",
            &long,
        ];
        for text in bad {
            assert!(Wildcard::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_sandbox_is_below_its_guest_where_no_certificate_is_needed() {
        let local = |port| Naming::Localhost { port };
        let domain = Naming::Domain(Wildcard::parse("https://*.a.test:8443").unwrap());
        #[rustfmt::skip]
        let table = [
            (local(80),     Some(("http://g.localhost",      "http://s.g.localhost"))),
            (local(7421),   Some(("http://g.localhost:7421", "http://s.g.localhost:7421"))),
            (domain,        Some(("https://g.a.test:8443",   "https://s.a.test:8443"))),
            (Naming::Ports, None),
        ];
        for (naming, expected) in table {
            let both = naming.origin("g").zip(naming.sandbox("s", "g"));
            let both = both.map(|(guest, sandbox)| (guest.to_string(), sandbox.to_string()));
            let both = both.as_ref().map(|(guest, sandbox)| (&**guest, &**sandbox));
            assert_eq!(both, expected, "{naming:?}");
        }
    }
}
