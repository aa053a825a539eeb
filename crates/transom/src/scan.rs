//! The one look at a message before anything parses it: how deep does it go?

/// Whether brackets outside strings nest deeper than `limit`.
///
/// Says nothing about validity: the parser that comes next does. On text that is not JSON the answer
/// may be wrong either way, and the parser refuses it anyhow.
pub(crate) fn deeper_than(bytes: &[u8], limit: usize) -> bool {
    // Few brackets cannot nest deep, and counting them is several times as fast as following them.
    // A message that is one long string, the dearest to follow for its worth, stops here.
    !few_brackets(bytes, limit) && nests_deeper(bytes, limit)
}

fn few_brackets(bytes: &[u8], limit: usize) -> bool {
    let mut count = 0;
    bytes.chunks(LANES).all(|chunk| {
        // The two differ in one bit. Sums of single bytes stay in vector registers.
        let brackets: u8 = chunk.iter().map(|byte| u8::from(byte & !0x20 == b'[')).sum();
        count += usize::from(brackets);
        count <= limit
    })
}

fn nests_deeper(bytes: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The index after the closing quote of a string whose inside starts at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(_) => at += 2,
            None => return bytes.len(),
        }
    }
}

/// The index of the next quote or backslash, or the end.
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    let special = |byte: &u8| *byte == b'"' || *byte == b'\\';
    // Most strings are short; the long ones are worth whole blocks, which the compiler turns into
    // vector instructions because no lane stops early.
    let short = bytes.len().min(at + BLOCK);
    while at < short {
        if special(&bytes[at]) {
            return at;
        }
        at += 1;
    }
    while let Some(block) = bytes.get(at..at + BLOCK) {
        if block.iter().fold(false, |found, byte| found | special(byte)) {
            break;
        }
        at += BLOCK;
    }
    // A backslash at the very end has pushed `at` past it.
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(special).map_or(bytes.len(), |offset| at + offset)
}

const BLOCK: usize = 32;
/// As many as a byte can count.
const LANES: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_count_outside_strings_only() {
        let long = "x".repeat(100);
        #[rustfmt::skip]
        let table = [
            ("{}".to_owned(), 1),
            ("[[[]],[]]".to_owned(), 3),
            (r#"{"a":"[[[[["}"#.to_owned(), 1),
            (r#"{"a":"\"[[[[["}"#.to_owned(), 1),
            (r#"{"a":"\\","b":[[]]}"#.to_owned(), 3),
            (format!(r#"{{"a":"{long}\"[[[{long}","b":[]}}"#), 2),
            (format!(r#"{{"{long}":[[]]}}"#), 3),
        ];
        for (text, depth) in table {
            assert!(!deeper_than(text.as_bytes(), depth), "{text}");
            assert!(deeper_than(text.as_bytes(), depth - 1), "{text}");
        }
    }

    #[test]
    fn half_a_string_ends_the_scan() {
        for text in [r#"{"a"#, r#"{"a\"#, r#"{"a\""#, "\"", "\\", ""] {
            assert!(!nests_deeper(text.as_bytes(), 1), "{text}");
        }
    }
}
