//! Where a view's request goes: judged as text, put on a trusted base by setters, and judged again.

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
        if text.len() > MAX_LENGTH {
            return Err(Failure::bad_request("the address is too long"));
        }
        if text.chars().any(|c| c.is_control() || c == ' ') {
            return Err(Failure::blocked("the address has a character that no path has"));
        }
        let mut start = text.chars();
        if start.next() != Some('/') || start.next() == Some('/') {
            return Err(Failure::blocked("the address is not a path that begins with one slash"));
        }
        if text.contains('#') {
            return Err(Failure::blocked("the address has a fragment"));
        }
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (text, None),
        };
        // Browsers read it as a slash there; in a query it is a letter like others.
        if path.contains('\\') {
            return Err(Failure::blocked("the address has a character that no path has"));
        }
        let path = unambiguous(path)?;
        let mut url = base.clone();
        url.set_path(&path);
        url.set_query(query);
        Self::checked(base, url)
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

    /// The parts between the slashes; the last is empty where the path ends in one.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &str> {
        self.path().split('/').skip(1)
    }

    /// Setters cannot change these. If one ever does, nothing is sent.
    fn checked(base: &Url, url: Url) -> Result<Self, Failure> {
        let same = url.origin() == base.origin()
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        if same { Ok(Self { url }) } else { Err(Failure::blocked("the address leads elsewhere")) }
    }
}

/// The path with letters and digits written plainly, or a refusal where two readers could understand it in two ways.
fn unambiguous(path: &str) -> Result<String, Failure> {
    let refuse = |why| Err(Failure::blocked(why));
    let mut plain = Vec::with_capacity(path.len());
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            plain.push(byte);
            decoded.push(byte);
            continue;
        }
        let Some(value) = hex_pair(rest) else {
            return refuse("the path has a percent sign that encodes nothing");
        };
        match value {
            b'.' | b'/' | b'\\' | 0..=0x1f | 0x7f => {
                return refuse("the path has an encoded dot, slash or control character");
            }
            _ if value.is_ascii_alphanumeric() || b"-_~".contains(&value) => plain.push(value),
            _ => plain.extend([b'%', rest[0].to_ascii_uppercase(), rest[1].to_ascii_uppercase()]),
        }
        decoded.push(value);
        rest = &rest[2..];
    }
    // Overlong forms (%c0%ae) are no UTF-8, and decoders differ about them.
    if std::str::from_utf8(&decoded).is_err() {
        return refuse("the path is not UTF-8");
    }
    // Whoever decodes it a second time would read something else.
    if decoded.windows(3).any(|three| three[0] == b'%' && hex_pair(&three[1..]).is_some()) {
        return refuse("the path is encoded twice");
    }
    let plain = String::from_utf8(plain).expect("only ASCII was put in place of ASCII");
    let segments: Vec<_> = plain.split('/').skip(1).collect();
    for (at, segment) in segments.iter().enumerate() {
        if segment.is_empty() && at + 1 != segments.len() {
            return refuse("the path has an empty segment");
        }
        // Servlets cut a segment at its semicolon, and then read `..;` as `..`.
        if matches!(segment.split(';').next(), Some("." | "..")) {
            return refuse("the path has a dot segment");
        }
    }
    Ok(plain)
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

const MAX_LENGTH: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("https://api.example.com").expect("it is one")
    }

    // ATK-42, FSE-1, FSE-2, FSE-3: text that becomes another host when it is appended or resolved. DEF-1.
    #[test]
    fn atk_42_no_text_leads_to_another_host() {
        let table = [
            "@evil.test/api",
            ":8080@evil.test/api",
            ".evil.test/api",
            ":22/api",
            "//evil.test",
            "///evil.test",
            "/\\evil.test",
            "\\\\evil.test",
            "\\/evil.test",
            "/\t/evil.test",
            "/\n/evil.test",
            "/\r/evil.test",
            "\t/api",
            "\n/api",
            " /api",
            "/api ",
            "/a b",
            "HTTP:evil.test",
            "https:\\\\evil.test",
            "https://evil.test/api",
            "https:api/x",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/plain,x",
            "",
            "?x",
            "#f",
            "api",
            "./api",
            "../api",
            "/api#f",
            "/api\u{0}",
            "/api\u{7f}",
            "/api\u{85}",
            "//",
            "/%09/evil.test",
            "/%5cevil.test",
        ];
        for text in table {
            let refused = Target::parse(&base(), text);
            assert!(refused.is_err(), "{text:?} became {refused:?}");
        }
        let long = format!("/{}", "a".repeat(MAX_LENGTH));
        assert!(Target::parse(&base(), &long).is_err());
    }

    // ATK-42, FSE-4: forms that two readers understand in two ways.
    #[test]
    fn fse_4_ambiguous_paths_are_refused() {
        let table = [
            "/api/../admin",
            "/api/..",
            "/api/.",
            "/./api",
            "/api/%2e%2e/admin",
            "/api/%2E%2E/admin",
            "/api/.%2e/admin",
            "/api%2fadmin",
            "/api%2Fadmin",
            "/api%5cadmin",
            "/api%5Cadmin",
            "/api\\..\\admin",
            "/api/%00",
            "/api/%0d%0aX",
            "/api/%0A",
            "/api/%252e%252e/admin",
            "/api/%252fadmin",
            "/api/%25%32%65",
            "/api/%c0%ae%c0%ae/admin",
            "/api/%e0%80%af",
            "/api/..;/admin",
            "/api/..;x=1/admin",
            "/api/.;/x",
            "/api//admin",
            "//api",
            "/api/%",
            "/api/%zz",
            "/api/%2",
            "/api/%ff",
            "/api/%7f",
        ];
        for text in table {
            let refused = Target::parse(&base(), text);
            assert!(refused.is_err(), "{text:?} became {refused:?}");
        }
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
            ("https://",                              None),
        ];
        for (location, expected) in table {
            let next = start.redirected(&base(), location);
            assert_eq!(next.as_ref().ok().map(Target::relative), expected, "{location}");
        }
    }
}
