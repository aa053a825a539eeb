//! Addresses in a document: what they mean, and whether they were declared.

use std::borrow::Cow;

use transom::csp::{Declaration, List};
use transom::origin::MAX_ADDRESS_BYTES;
use url::Url;

use super::Use;

/// Where an address leads.
#[derive(Debug, PartialEq)]
pub(super) enum Target {
    /// To the document's own origin, or to no origin at all, as `data:` does.
    Own,
    /// To another origin.
    Other(Url),
    /// To a script in the address itself.
    Script(String),
}

/// Reads an address as a browser would, against the base that is in force.
pub(super) fn resolve(text: &str, base: Option<&Url>) -> Target {
    let text = text.trim_matches(|c: char| c <= ' ');
    if let Some(script) = after_scheme(text, "javascript:") {
        return Target::Script(script);
    }
    // The origin stands in front; what follows may be megabytes.
    let front = front(text, MAX_TEXT);
    let own = Url::parse(OWN).expect("the stand-in parses");
    match base.unwrap_or(&own).join(front) {
        Ok(url) if url.host().is_some() && url.origin() != own.origin() && names(&url) => {
            Target::Other(url)
        }
        _ => Target::Own,
    }
}

/// Prints an address's origin.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Tells whether a declaration lets an address be used for this.
pub(super) fn is_declared(url: &Url, purpose: Use, declaration: Option<&Declaration>) -> bool {
    let Some(declaration) = declaration else { return false };
    let lists = lists(purpose);
    lists.iter().any(|list| declaration.list(*list).iter().any(|source| source.covers(url)))
}

/// The lists that speak of a purpose. Of forms, navigation and hints none does.
pub(super) fn lists(purpose: Use) -> &'static [List] {
    match purpose {
        Use::Script | Use::Style | Use::Image | Use::Font | Use::Media => &[List::Resource],
        Use::Connect => &[List::Connect],
        Use::Frame => &[List::Frame],
        Use::Base => &[List::BaseUri],
        Use::Hint | Use::Mention => &List::ALL,
        Use::Form | Use::Navigation => &[],
    }
}

/// Reads the character references that matter in an address or a script: numbers, and the few
/// names that spell punctuation.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        let (character, length) = reference(&rest[at..]).unwrap_or(('&', 1));
        decoded.push(character);
        rest = &rest[at + length..];
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// Keeps the first bytes of a text, whole characters only.
pub(super) fn front(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn reference(text: &str) -> Option<(char, usize)> {
    if let Some(number) = text.strip_prefix("&#") {
        return numeric(number).map(|(character, length)| (character, length + 2));
    }
    let named = NAMED.iter().find(|(name, _)| text.starts_with(name))?;
    Some((named.1, named.0.len()))
}

fn numeric(text: &str) -> Option<(char, usize)> {
    let (radix, digits) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (16, digits),
        None => (10, text),
    };
    let length = digits.bytes().take(8).take_while(|b| char::from(*b).is_digit(radix)).count();
    let character = char::from_u32(u32::from_str_radix(&digits[..length], radix).ok()?)?;
    let semicolon = usize::from(digits[length..].starts_with(';'));
    Some((character, text.len() - digits.len() + length + semicolon))
}

/// A browser reads `java\nscript:` as the same scheme.
fn after_scheme(text: &str, scheme: &str) -> Option<String> {
    if !text.starts_with(['j', 'J']) {
        return None;
    }
    let plain: String = text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let front = plain.get(..scheme.len())?;
    front.eq_ignore_ascii_case(scheme).then(|| plain[scheme.len()..].to_owned())
}

/// A name of a length that can be resolved, in a scheme that is fetched.
fn names(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https" | "ws" | "wss")
        && url.host_str().is_some_and(|host| host.len() <= MAX_ADDRESS_BYTES)
}

/// Stands for the origin that the document will have.
const OWN: &str = "https://guest.invalid/";

const MAX_TEXT: usize = 2048;

#[rustfmt::skip]
const NAMED: [(&str, char); 11] = [
    ("&amp;", '&'), ("&colon;", ':'), ("&sol;", '/'), ("&period;", '.'), ("&quot;", '"'),
    ("&apos;", '\''), ("&lpar;", '('), ("&rpar;", ')'), ("&Tab;", '\t'), ("&NewLine;", '\n'),
    ("&lowbar;", '_'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_a_browser_reads_it() {
        #[rustfmt::skip]
        let table = [
            ("a.js",                      None),
            ("/a.js",                     None),
            ("#x",                        None),
            ("",                          None),
            ("data:text/html,https://x",  None),
            ("blob:https://x/1",          None),
            ("about:blank",               None),
            ("mailto:a@x.test",           None),
            ("https://",                  None),
            ("https://x.test/a?b#c",      Some("https://x.test")),
            ("  HTTPS://X.test:443/\n",   Some("https://x.test")),
            ("http://x.test:8080",        Some("http://x.test:8080")),
            ("//x.test/a",                Some("https://x.test")),
            ("\\\\x.test/a",              Some("https://x.test")),
            ("ht\ntps://x.test",          Some("https://x.test")),
            ("wss://x.test/s",            Some("wss://x.test")),
            ("https://u:p@x.test",        Some("https://x.test")),
            ("https://0x7f.1/",           Some("https://127.0.0.1")),
            ("ftp://x.test",              None),
        ];
        for (text, expected) in table {
            let actual = match resolve(text, None) {
                Target::Other(url) => Some(origin(&url)),
                _ => None,
            };
            assert_eq!(actual.as_deref(), expected, "{text:?}");
        }
        let script = Target::Script("eval(1)".to_owned());
        assert_eq!(resolve(" java\nscript:eval(1)", None), script);
        let endless = format!("https://{}.test", "a".repeat(1 << 20));
        assert_eq!(resolve(&endless, None), Target::Own);
    }

    #[test]
    fn references_are_read_where_they_could_hide_an_address() {
        #[rustfmt::skip]
        let table = [
            ("a&amp;b",                      "a&b"),
            ("&#104;ttps&colon;&sol;&sol;x", "https://x"),
            ("&#x68;ttps://x&period;test",   "https://x.test"),
            ("&#104ttps",                    "https"),
            ("&", "&"), ("&#", "&#"), ("&#x", "&#x"), ("&#;", "&#;"), ("&nope;", "&nope;"),
            ("&#99999999999;",               "&#99999999999;"),
            ("&#xd800;",                     "&#xd800;"),
        ];
        for (text, expected) in table {
            assert_eq!(decode(text), expected, "{text:?}");
        }
    }
}
