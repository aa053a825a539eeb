//! Addresses and patterns of HTTP requests: whatever the text, a path has one spelling, and leads nowhere else.

use transom::{
    printed::Printed,
    routes::{Address, HttpRequest, Pattern},
};

/// The first line is an address, the second a pattern, and all of it the arguments of a call.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (address, pattern) = text.split_once('\n').unwrap_or((text, "/{*rest}"));
    if let Ok(address) = Address::parse(address) {
        check_path(&address.path);
        assert_eq!(Address::parse(&address.path).map(|it| it.path), Ok(address.path.clone()));
        if let Ok(pattern) = Pattern::parse(pattern) {
            let takes = pattern.takes(&address.path);
            if takes {
                check_spellings(&pattern, &address.path);
            }
            // A pattern is another one's text: it is read the same again.
            assert_eq!(
                Pattern::parse(&pattern.to_string()).map(|it| it.takes(&address.path)),
                Ok(takes)
            );
        }
    }
    if let Ok(printed) = Printed::parse(text)
        && let Ok(request) = HttpRequest::read(Some(&printed))
    {
        check_path(&request.path);
        assert!(!request.method.is_empty() && request.method.is_ascii());
        assert_eq!(request.method, request.method.to_ascii_uppercase());
    }
}

/// Whatever a careless backend takes for a path of the pattern is known to be one: a route that writes, and a rule that denies,
/// is passed by none of them.
fn check_spellings(pattern: &Pattern, path: &str) {
    let mut spelled = vec![
        path.to_owned(),
        path.to_ascii_uppercase(),
        path.to_ascii_lowercase(),
        format!("{path}/"),
        format!("{path};x=1"),
        format!("{path}%3bx"),
        format!("{path}%20"),
    ];
    if !path.ends_with('/') {
        spelled.push(format!("{path}.json"));
    }
    for text in spelled {
        let Ok(address) = Address::parse(&text) else { continue };
        assert!(pattern.could_take(&address.path), "{pattern} {path:?} as {:?}", address.path);
    }
}

/// What decoders of all kinds make of it is the same path: no segment of dots, none that is empty, no slash that appears later.
fn check_path(path: &str) {
    assert!(path.starts_with('/') && !path.starts_with("//"), "{path:?}");
    assert!(path.bytes().all(|byte| byte.is_ascii_graphic()), "{path:?}");
    assert!(!path.contains(['?', '#', '\\']), "{path:?}");
    let mut decoded = path.to_owned();
    for _ in 0..3 {
        decoded = decode(&decoded);
        let segments: Vec<&str> = decoded.split('/').collect();
        assert_eq!(segments.len(), path.split('/').count(), "{path:?}");
        for segment in segments {
            let cut = segment.split(';').next().unwrap_or_default().trim();
            assert!(cut != "." && cut != "..", "{path:?}");
        }
    }
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        let value =
            pair.filter(|_| bytes[at] == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok());
        decoded.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
