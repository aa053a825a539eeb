//! The names under which a view's files are saved.

use crate::quoted::is_deceptive;

/// The longest name, in bytes; file systems stop at 255.
const LONGEST: usize = 200;

/// Derives a file name from the last segment of an address (H-96).
///
/// What comes out is one plain segment on every system: no separators, no `..`, no control or
/// direction-changing characters, no device names, no leading dot, not empty.
pub fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let segment = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    // Decoded once: what is still escaped afterwards is harmless text.
    let decoded = decode(segment);
    let last = decoded.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|&c| is_plain(c)).collect();
    let trimmed = clean.trim_matches(|c: char| c == '.' || c.is_whitespace());
    let short = shorten(trimmed);
    match short {
        "" => "download".to_owned(),
        name if is_device(name) => format!("_{name}"),
        name => name.to_owned(),
    }
}

fn decode(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = match (first, tail) {
            (b'%', [high, low, after @ ..]) => hex(*high).zip(hex(*low)).map(|pair| (pair, after)),
            _ => None,
        };
        match escaped {
            Some(((high, low), after)) => {
                bytes.push(high << 4 | low);
                rest = after;
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn is_plain(c: char) -> bool {
    let reserved = matches!(c, '<' | '>' | '"' | '|' | '?' | '*' | '\u{fffd}');
    !is_deceptive(c) && !reserved
}

fn shorten(name: &str) -> &str {
    let end = (0..=name.len().min(LONGEST)).rev().find(|&end| name.is_char_boundary(end));
    name[..end.unwrap_or(0)].trim_end_matches(['.', ' '])
}

/// Names that Windows takes for devices, with any ending.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = ["com", "lpt"].iter().any(|kind| {
        stem.strip_prefix(kind).is_some_and(|digit| matches!(digit.as_bytes(), [b'0'..=b'9']))
    });
    numbered || ["con", "prn", "aux", "nul"].contains(&stem.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h_96_a_name_is_one_plain_segment() {
        #[rustfmt::skip]
        let table = [
            ("file:///report.csv",                 "report.csv"),
            ("file:///a/b/sales%202026.csv?x=1#y", "sales 2026.csv"),
            ("file:///../../x",                    "x"),
            ("file:///%2e%2e",                     "download"),
            ("file:///%2e%2e%2fetc%2fpasswd",      "passwd"),
            ("file:///..%5c..%5cboot.ini",         "boot.ini"),
            ("",                                   "download"),
            ("file:///",                           "download"),
            ("ui://x/.bashrc",                     "bashrc"),
            ("file:///CON",                        "_CON"),
            ("file:///com1.txt",                   "_com1.txt"),
            ("file:///community.txt",              "community.txt"),
            ("file:///a%00b%0d%0a.txt",            "ab.txt"),
            ("file:///evil\u{202e}txt.exe",        "eviltxt.exe"),
            ("file:///a:stream.txt",               "stream.txt"),
            ("file:///%",                          "%"),
            ("file:///%zz%4",                      "%zz%4"),
            ("file:///%252e%252e",                 "%2e%2e"),
            ("file:///ünïcödé.txt",                "ünïcödé.txt"),
            ("file:///%ff%fe.bin",                 "bin"),
            ("name with trailing. . ",             "name with trailing"),
        ];
        for (uri, name) in table {
            assert_eq!(file_name(uri), name, "{uri}");
        }
    }

    #[test]
    fn h_96_a_name_is_short() {
        let name = file_name(&format!("file:///{}.txt", "é".repeat(5000)));
        assert!(name.len() <= LONGEST && name.starts_with('é'), "{}", name.len());
    }
}
