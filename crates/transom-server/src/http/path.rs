//! Where a view's request goes: judged as text, put on a trusted base by setters, and judged again.

use transom::routes::Address;
use url::Url;

use super::failure::Failure;

/// A path with its query, which can lead nowhere but below the base that it was judged for.
///
/// It is what is matched with the routes, what is sent, and what is written down: one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    url: Url,
}

impl Target {
    /// Judges what a view asks for: a path that begins with one slash, and perhaps a query (FSE-1 to FSE-4).
    pub(crate) fn parse(base: &Url, text: &str) -> Result<Self, Failure> {
        let Address { path, query } = Address::parse(text).map_err(Failure::blocked)?;
        let mut url = base.clone();
        url.set_path(&path);
        url.set_query(query.as_deref());
        // Setters cannot change these. If one ever does, nothing is sent.
        let same = url.origin() == base.origin()
            && url.path() == path
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        if same { Ok(Self { url }) } else { Err(Failure::blocked("the address leads elsewhere")) }
    }

    /// Judges where a redirect leads: to a path of the same origin, which is judged as if the view had asked for it (FSE-6).
    pub(crate) fn redirected(&self, base: &Url, location: &str) -> Result<Self, Failure> {
        let refused = || Failure::blocked("a redirect leads out of what this server opens");
        let mut next = self.url.join(location).map_err(|_| refused())?;
        next.set_fragment(None);
        if next.origin() != base.origin()
            || !next.username().is_empty()
            || next.password().is_some()
        {
            return Err(refused());
        }
        Self::parse(base, &next[url::Position::BeforePath..])
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The path alone, without the values in the query.
    pub(crate) fn path(&self) -> &str {
        self.url.path()
    }

    /// What the view is told: no host, since that is none of its business (FSE-15).
    pub(crate) fn relative(&self) -> &str {
        &self.url[url::Position::BeforePath..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("https://api.example.com").expect("it is one")
    }

    #[test]
    fn what_is_plain_stays_as_it_was_written() {
        #[rustfmt::skip]
        let table = [
            ("/",                              "/"),
            ("/api",                           "/api"),
            ("/api/",                          "/api/"),
            ("/api?x=1&y=%2e%2e/../..//\u{e4}", "/api?x=1&y=%2e%2e/../..//%C3%A4"),
            ("/api?",                          "/api?"),
            ("/api?a\\b^c|d`{e}", "/api?a\\b^c|d`{e}"),
            ("/api?a=b?c=d",                   "/api?a=b?c=d"),
            ("/k%C3%A4se",                     "/k%C3%A4se"),
            ("/k\u{e4}se",                     "/k%C3%A4se"),
            ("/100%25",                        "/100%25"),
            ("/a%20b;v=1,2",                   "/a%20b;v=1,2"),
            ("/@evil.test",                    "/@evil.test"),
            ("/:22",                           "/:22"),
            ("/.well-known/x..y",              "/.well-known/x..y"),
            // One value: what a route is compared with is what is sent.
            ("/%61dmin",                       "/admin"),
            ("/__proto__",                     "/__proto__"),
        ];
        for (text, expected) in table {
            let target = Target::parse(&base(), text)
                .unwrap_or_else(|refused| panic!("{text:?}: {refused:?}"));
            assert_eq!(target.relative(), expected);
            assert_eq!(target.url().host_str(), Some("api.example.com"));
        }
    }

    // ATK-43, FSE-6, DEF-15: where a redirect of an allowed path may lead.
    #[test]
    fn atk_43_a_redirect_stays_within_the_origin() {
        let start = Target::parse(&base(), "/api/old").expect("it is plain");
        #[rustfmt::skip]
        let table = [
            ("/api/new",                              Some("/api/new")),
            ("new?x=1#top",                           Some("/api/new?x=1")),
            ("../admin",                              Some("/admin")),
            ("https://api.example.com/x",             Some("/x")),
            ("https://api.example.com:443/x",         Some("/x")),
            ("HTTPS:/x",                              Some("/x")),
            ("",                                      Some("/api/old")),
            ("https://evil.test/x",                   None),
            ("//evil.test/x",                         None),
            ("/\\evil.test",                          None),
            ("http://api.example.com/x",              None),
            ("https://api.example.com:8443/x",        None),
            ("https://user:pw@api.example.com/x",     None),
            ("https://api.example.com.evil.test/x",   None),
            ("http://169.254.169.254/latest",         None),
            ("data:text/plain,x",                     None),
            ("file:///etc/passwd",                    None),
            ("javascript:alert(1)",                   None),
            ("/api/%2e%2e%2fadmin",                   None),
            ("/api/%252e%252e/admin",                 None),
            ("/api/..%3B/admin",                      None),
            ("https://",                              None),
        ];
        for (location, expected) in table {
            let next = start.redirected(&base(), location);
            assert_eq!(next.as_ref().ok().map(Target::relative), expected, "{location}");
        }
    }
}
