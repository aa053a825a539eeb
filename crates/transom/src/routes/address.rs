//! Where a request goes: a path and a query, judged as text.

use url::Url;

/// A path that every reader reads the same, and its query as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The path, in the one spelling that is compared, shown, written down and sent.
    pub path: String,
    /// What follows the question mark, if there is one.
    pub query: Option<String>,
}

impl Address {
    /// Judges what a view asks for: a path that begins with one slash, and perhaps a query (FSE-1 to FSE-4). If it is none, why.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > LONGEST {
            return Err("the address is too long");
        }
        if text.chars().any(|c| c.is_control() || c == ' ') {
            return Err("the address has a character that no path has");
        }
        let mut start = text.chars();
        if start.next() != Some('/') || start.next() == Some('/') {
            return Err("the address is not a path that begins with one slash");
        }
        if text.contains('#') {
            return Err("the address has a fragment");
        }
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (text, None),
        };
        // Browsers read it as a slash there; in a query it is a letter like others.
        if path.contains('\\') {
            return Err("the address has a character that no path has");
        }
        let mut url = Url::parse("http://localhost").expect("it is one");
        url.set_path(&unambiguous(path)?);
        Ok(Self { path: url.path().to_owned(), query })
    }
}

/// The path with letters and digits written plainly, or a refusal where two readers could understand it in two ways.
fn unambiguous(path: &str) -> Result<String, &'static str> {
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
        let value = hex_pair(rest).ok_or("the path has a percent sign that encodes nothing")?;
        match value {
            b'.' | b'/' | b'\\' | 0..=0x1f | 0x7f => {
                return Err("the path has an encoded dot, slash or control character");
            }
            _ if value.is_ascii_alphanumeric() || b"-_~".contains(&value) => plain.push(value),
            _ => plain.extend([b'%', rest[0].to_ascii_uppercase(), rest[1].to_ascii_uppercase()]),
        }
        decoded.push(value);
        rest = &rest[2..];
    }
    // Overlong forms (%c0%ae) are no UTF-8, and decoders differ about them.
    let decoded = std::str::from_utf8(&decoded).map_err(|_| "the path is not UTF-8")?;
    // Whoever decodes it a second time would read something else.
    let bytes = decoded.as_bytes();
    if bytes.windows(3).any(|three| three[0] == b'%' && hex_pair(&three[1..]).is_some()) {
        return Err("the path is encoded twice");
    }
    // No slash is encoded, so these are the segments that every reader sees once it has decoded the path.
    let last = decoded.split('/').count() - 1;
    for (at, segment) in decoded.split('/').enumerate().skip(1) {
        if segment.is_empty() && at != last {
            return Err("the path has an empty segment");
        }
        if is_dots(segment) {
            return Err("the path has a dot segment");
        }
    }
    Ok(String::from_utf8(plain).expect("only ASCII was put in place of ASCII"))
}

/// Servlets cut a segment at its semicolon, and then read `..;` as `..`; others drop spaces at its ends.
fn is_dots(segment: &str) -> bool {
    let cut = segment.split(';').next().unwrap_or_default();
    matches!(cut.trim(), "." | "..")
}

pub(super) fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// The longest address, in bytes.
const LONGEST: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

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
            let refused = Address::parse(text);
            assert!(refused.is_err(), "{text:?} became {refused:?}");
        }
        let long = format!("/{}", "a".repeat(LONGEST));
        assert!(Address::parse(&long).is_err());
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
            "/api/..%3B/admin",
            "/api/..%3bx=1/admin",
            "/api/.%3B/x",
            "/api/..%20/admin",
            "/api/%20../admin",
            "/api/..%C2%A0;/admin",
            "/api//admin",
            "//api",
            "/api/%",
            "/api/%zz",
            "/api/%2",
            "/api/%ff",
            "/api/%7f",
        ];
        for text in table {
            let refused = Address::parse(text);
            assert!(refused.is_err(), "{text:?} became {refused:?}");
        }
    }

    #[test]
    fn what_is_plain_has_one_spelling() {
        #[rustfmt::skip]
        let table = [
            ("/",                 "/"),
            ("/api/",             "/api/"),
            ("/k%c3%a4se",        "/k%C3%A4se"),
            ("/k\u{e4}se",        "/k%C3%A4se"),
            ("/100%25",           "/100%25"),
            ("/a%20b;v=1,2",      "/a%20b;v=1,2"),
            ("/a%3Bb/x..y",       "/a%3Bb/x..y"),
            ("/@evil.test",       "/@evil.test"),
            ("/.well-known/x..y", "/.well-known/x..y"),
            ("/%61dmin",          "/admin"),
        ];
        for (text, path) in table {
            let address = Address::parse(text).unwrap();
            assert_eq!((&*address.path, &address.query), (path, &None));
            assert_eq!(Address::parse(&address.path), Ok(address), "it is its own spelling");
        }
        let query = "x=1&y=%2e%2e/../..//\u{e4}\\^";
        assert_eq!(Address::parse(&format!("/a?{query}")).unwrap().query.as_deref(), Some(query));
        assert_eq!(Address::parse("/a?").unwrap().query.as_deref(), Some(""));
    }
}
