//! Attributes: what a parser of HTML reads in them.

/// An attribute's value as a browser reads it: the parser here leaves references to characters as they are.
pub(super) fn decode(raw: &str) -> String {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(MAX_REFERENCE).position(|b| b == b';');
        match end.and_then(|end| Some((reference(&rest[1..end])?, end))) {
            Some((c, end)) => {
                decoded.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

/// What a browser reads as this text. Quotes are the writer's business.
pub(super) fn encode(text: &str) -> String {
    text.replace('&', "&amp;")
}

fn reference(name: &str) -> Option<char> {
    let number = |text: &str, radix| char::from_u32(u32::from_str_radix(text, radix).ok()?);
    match name {
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        _ => {
            let digits = name.strip_prefix('#')?;
            match digits.strip_prefix(['x', 'X']) {
                Some(digits) => number(digits, 16),
                None => number(digits, 10),
            }
        }
    }
}

/// The candidates of a `srcset`: an address, and how large it is.
pub(super) fn candidates(srcset: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return found;
        }
        // A comma within an address is a part of it; one at its end is not, and ends the candidate.
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (address, after) = rest.split_at(end);
        let bare = address.trim_end_matches(',');
        if bare.len() < address.len() {
            found.push((bare, ""));
            rest = after;
            continue;
        }
        let (size, after) = after.split_once(',').unwrap_or((after, ""));
        found.push((address, size.trim()));
        rest = after;
    }
}

/// Longer than any that is known here.
const MAX_REFERENCE: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_a_browser_does() {
        #[rustfmt::skip]
        let table = [
            ("a&amp;b",             "a&b"),
            ("url(&quot;a&#39;&quot;)", "url(\"a'\")"),
            ("&#x26;&#38;",         "&&"),
            ("&amp;lt;",            "&lt;"),
            ("a&b=1&; &#; &#x110000; &é", "a&b=1&; &#; &#x110000; &é"),
        ];
        for (raw, expected) in table {
            assert_eq!(decode(raw), expected, "{raw}");
        }
    }

    #[test]
    fn candidates_are_cut_where_a_browser_cuts() {
        #[rustfmt::skip]
        let table: &[(&str, &[(&str, &str)])] = &[
            ("a.png 1x, b.png 2x",      &[("a.png", "1x"), ("b.png", "2x")]),
            ("a.png 1x,b.png 2x",       &[("a.png", "1x"), ("b.png", "2x")]),
            ("a.png,\n b.png 2x",       &[("a.png", ""), ("b.png", "2x")]),
            ("a,b.png",                 &[("a,b.png", "")]),
            (" , a.png  100w ,, ",      &[("a.png", "100w")]),
            ("data:image/gif;base64,R0 1x", &[("data:image/gif;base64,R0", "1x")]),
            ("",                        &[]),
        ];
        for (srcset, expected) in table {
            assert_eq!(candidates(srcset), *expected, "{srcset:?}");
        }
    }
}
