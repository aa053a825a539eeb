//! What the frames' origins are called.

use data_encoding::BASE32_NOPAD;
use transom::{csp::Source, origin::Origin};

use super::domain::Wildcard;
use super::ports::Loopback;

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
    /// A port on the loopback for each name, where names below `localhost` do not resolve. Each guest has an
    /// address of its own, because cookies know no ports.
    ///
    /// Neither port nor address can be chosen, so no name is stable here: a fallback.
    Ports(Loopback),
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

    /// Refuses pages that share with the frames what cookies go by.
    pub(crate) fn check(&self, pages: &[Origin]) -> Result<(), PageAmongFrames> {
        for page in pages {
            match self {
                Self::Domain(wildcard) if wildcard.shares_a_site(page.host()) => {
                    let domain = wildcard.domain().to_owned();
                    return Err(PageAmongFrames::SameSite { page: page.clone(), domain });
                }
                Self::Ports(loopback) if loopback.is_at(page.host()) => {
                    return Err(PageAmongFrames::SameAddress(page.clone()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Tells whether frames are where this source leads.
    pub(crate) fn reaches(&self, source: &Source) -> bool {
        let host = source.host();
        let below =
            |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        match self {
            Self::Localhost { port } => below("localhost") && source.port_or_own() == *port,
            Self::Domain(wildcard) => host == wildcard.domain() || below(wildcard.domain()),
            Self::Ports(loopback) => loopback.is_at(host),
        }
    }

    /// Prints a label's origin, unless origins are ports.
    pub(super) fn origin(&self, label: &str) -> Option<Origin> {
        let text = match self {
            Self::Localhost { port: 80 } => format!("http://{label}.localhost"),
            Self::Localhost { port } => format!("http://{label}.localhost:{port}"),
            Self::Domain(wildcard) => wildcard.below(label),
            Self::Ports(_) => return None,
        };
        Some(Origin::parse(&text).expect("a label of ours makes an origin of any naming"))
    }
}

/// A page where none can be, beside frames with these names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageAmongFrames {
    /// The page is one site with its views.
    #[error(
        "the page at {page} is one site with the views below {domain}, which could set cookies for it; give \
         views a domain that has no other use"
    )]
    SameSite {
        /// The page.
        page: Origin,
        /// The domain of the views.
        domain: String,
    },
    /// The page is at the address of its sandboxes.
    #[error("the page is at {0}, an address that is for frames; serve it at 127.0.0.1")]
    SameAddress(Origin),
}

/// A label that cannot be guessed: 160 random bits.
pub(super) fn label() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes)?;
    Ok(base32(&bytes))
}

/// Five bits a letter, lower case, as a browser writes host names.
pub(super) fn base32(bytes: &[u8; 20]) -> String {
    BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

/// The length of a label.
pub(super) const LABEL: usize = 32;

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

    #[tokio::test]
    async fn with_ports_a_page_at_the_address_of_the_frames_is_refused_at_the_start() {
        let loopback = Loopback::find().unwrap();
        let frames = loopback.source().replace(":*", ":7420");
        for (page, refused) in
            [(&*frames, true), ("http://127.0.0.1:7420", false), ("http://localhost:7420", false)]
        {
            let page = Origin::parse(page).unwrap();
            let naming = Naming::Ports(loopback.clone());
            let built = crate::Host::builder(vec![page.clone()], naming.clone()).build();
            let expected = refused.then(|| PageAmongFrames::SameAddress(page.clone()));
            assert_eq!(
                built.as_ref().err().map(ToString::to_string),
                expected.as_ref().map(ToString::to_string)
            );
            assert_eq!(naming.check(&[page]).err(), expected);
        }
    }

    #[test]
    fn a_sandbox_is_below_its_guest_where_no_certificate_is_needed() {
        let local = |port| Naming::Localhost { port };
        let domain = Naming::Domain(Wildcard::parse("https://*.a.test:8443").unwrap());
        let ports = Naming::Ports(Loopback::find().unwrap());
        #[rustfmt::skip]
        let table = [
            (local(80),     Some(("http://g.localhost",      "http://s.g.localhost"))),
            (local(7421),   Some(("http://g.localhost:7421", "http://s.g.localhost:7421"))),
            (domain,        Some(("https://g.a.test:8443",   "https://s.a.test:8443"))),
            (ports, None),
        ];
        for (naming, expected) in table {
            let both = naming.origin("g").zip(naming.sandbox("s", "g"));
            let both = both.map(|(guest, sandbox)| (guest.to_string(), sandbox.to_string()));
            let both = both.as_ref().map(|(guest, sandbox)| (&**guest, &**sandbox));
            assert_eq!(both, expected, "{naming:?}");
        }
    }
}
