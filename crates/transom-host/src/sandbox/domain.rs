//! Domains that frames get names below, and what such names share.

use transom::csp::{Source, SourceError};
use transom::origin::Origin;

/// A domain whose names all lead to the sandbox listener: `https://*.example-views.com`.
///
/// It is one that can be registered by itself. A view can set a cookie for every name up to that
/// domain, so below a domain that has another use it could toss cookies at whatever is served there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard(Source);

impl Wildcard {
    /// Reads a domain with its scheme, a leading `*.`, and perhaps a port.
    pub fn parse(text: &str) -> Result<Self, NotAWildcard> {
        let wildcard = Self(Source::parse(text)?);
        let sample = wildcard.below(&"a".repeat(super::naming::LABEL));
        if !wildcard.0.is_wildcard() || Origin::parse(&sample).is_err() {
            return Err(NotAWildcard::Form);
        }
        match site(wildcard.0.host()) {
            Some(site) if site != wildcard.0.host() => Err(NotAWildcard::BelowAnother {
                host: wildcard.0.host().to_owned(),
                site: site.to_owned(),
            }),
            _ => Ok(wildcard),
        }
    }

    /// Whether browsers keep cookies of one name below it from the others: they do where the domain is on
    /// the public suffix list.
    pub fn separates_cookies(&self) -> bool {
        // Whoever is on the list has no registrable part of their own.
        site(self.0.host()).is_none()
    }

    /// Returns the domain.
    pub fn domain(&self) -> &str {
        self.0.host()
    }

    /// Tells whether a page at this host is one site with the views.
    pub(super) fn shares_a_site(&self, host: &str) -> bool {
        site(host).is_some_and(|site| site == self.0.host())
    }

    pub(super) fn below(&self, label: &str) -> String {
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAWildcard {
    /// It does not parse.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It parses and is something else: one host, a socket, the scheme's own port, a long name.
    #[error(
        "expected a short domain as in https://*.sandbox.example, without the scheme's own port"
    )]
    Form,
    /// It is below a domain with another use, at which views could toss cookies.
    #[error(
        "views below {host} could set cookies for all of {site}; register a domain for views alone, as in \
         https://*.example-views.com"
    )]
    BelowAnother {
        /// The domain.
        host: String,
        /// What it is below.
        site: String,
    },
}

/// The part of a name that can be registered: what browsers call a site, and how far up a cookie goes.
/// None where that cannot be: an address, or a suffix such as `com` or `github.io`.
fn site(host: &str) -> Option<&str> {
    if host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok() {
        return None;
    }
    psl::domain_str(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_for_views_is_registrable_by_itself() {
        #[rustfmt::skip]
        let table = [
            ("https://*.example-views.com",         Ok(false)),
            ("https://*.example-views.co.uk",       Ok(false)),
            ("https://*.views.example",             Ok(false)),
            // On the list: each name below it is a site of its own.
            ("https://*.github.io",                 Ok(true)),
            ("https://*.views.example.com",         Err("cookies for all of example.com")),
            ("https://*.a.views.example.com:8443",  Err("cookies for all of example.com")),
            ("https://*.views.example.co.uk",       Err("cookies for all of example.co.uk")),
            ("https://*.me.github.io",              Ok(false)),
            ("https://*.views.me.github.io",        Err("cookies for all of me.github.io")),
        ];
        for (text, expected) in table {
            match (Wildcard::parse(text), expected) {
                (Ok(wildcard), Ok(separates)) => {
                    assert_eq!(wildcard.separates_cookies(), separates, "{text}");
                }
                (Err(error), Err(words)) => {
                    assert!(error.to_string().contains(words), "{text}: {error}");
                }
                (parsed, _) => panic!("{text}: {parsed:?}"),
            }
        }
    }

    #[test]
    fn a_page_below_the_domain_for_views_shares_its_site() {
        let own = Wildcard::parse("https://*.example-views.com").unwrap();
        let listed = Wildcard::parse("https://*.github.io").unwrap();
        #[rustfmt::skip]
        let table = [
            (&own,    "example-views.com",      true),
            (&own,    "www.example-views.com",  true),
            (&own,    "a.b.example-views.com",  true),
            (&own,    "example.com",            false),
            (&own,    "myexample-views.com",    false),
            (&own,    "localhost",              false),
            (&own,    "127.0.0.1",              false),
            (&listed, "me.github.io",           false),
        ];
        for (wildcard, host, shares) in table {
            assert_eq!(wildcard.shares_a_site(host), shares, "{wildcard} {host}");
        }
    }
}
