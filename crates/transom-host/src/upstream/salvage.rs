//! Finding out whom a broken answer was meant for.
//!
//! An answer that cannot be read would leave its caller waiting for the whole of its patience. Its id
//! usually can be read all the same: it stands at the beginning, or, where servers write the result
//! first, at the very end.

/// The number of the request that a broken text was meant to answer.
pub(super) fn answered(text: &[u8]) -> Option<u64> {
    let sighted = look(text);
    // A call of the server's has a number too, and that is one of its own.
    if sighted.method || !sighted.outcome {
        return None;
    }
    sighted.id.or_else(|| at_the_end(text))
}

/// What stands at the top of a text: only members of the outermost object count.
#[derive(Debug, Default, PartialEq)]
struct Sighted {
    id: Option<u64>,
    method: bool,
    outcome: bool,
}

fn look(text: &[u8]) -> Sighted {
    let mut sighted = Sighted::default();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(text, at + 1);
                let word = text.get(at + 1..end).unwrap_or_default();
                at = end;
                if depth == 1
                    && let Some(value) = value_after(text, end + 1)
                {
                    note(&mut sighted, word, value);
                }
            }
            _ => {}
        }
        at += 1;
    }
    sighted
}

fn note(sighted: &mut Sighted, word: &[u8], value: &[u8]) {
    match word {
        b"id" => sighted.id = number(value),
        b"method" => sighted.method = true,
        b"result" | b"error" => sighted.outcome = true,
        _ => {}
    }
}

/// The index of the quote that ends a string, or the end of the text.
fn string_end(text: &[u8], mut at: usize) -> usize {
    loop {
        match text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
            Some(offset) if text[at + offset] == b'"' => return at + offset,
            Some(offset) => at += offset + 2,
            None => return text.len(),
        }
    }
}

/// What follows a name and its colon.
fn value_after(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = text.get(at..)?.trim_ascii_start();
    Some(rest.strip_prefix(b":")?.trim_ascii_start())
}

/// The number a text begins with, if it is whole.
fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !matches!(text.get(digits), Some(b',' | b'}' | b' ' | b'\t')) {
        return None;
    }
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// The id that ends a text, right next to the version: an id elsewhere may belong to anything.
fn at_the_end(text: &[u8]) -> Option<u64> {
    let start = memchr::memmem::rfind(text, br#""id""#)?;
    let value = value_after(text, start + 4)?;
    let id = number(value)?;
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let before = dense(&text[start.saturating_sub(NEAR)..start]);
    let after = dense(&value[digits..value.len().min(digits + NEAR)]);
    let version_before = before.ends_with(br#""jsonrpc":"2.0","#) && after == b"}";
    (version_before || after == br#","jsonrpc":"2.0"}"#).then_some(id)
}

fn dense(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// How far from the id the version may stand.
const NEAR: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_a_broken_answer_was_meant_for() {
        #[rustfmt::skip]
        let table = [
            // Half a message.
            (r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"ty"#, Some(3)),
            (r#"{"jsonrpc":"2.0","result":{"id":9},"id":12 , "error" : "#, Some(12)),
            // The id at the end, and the middle missing.
            (r#"{"result":{"content":[{"te xt"}],"id":4},"jsonrpc":"2.0","id":5}"#, Some(5)),
            (r#"{"result":{"a":"never closed … },"id":5,"jsonrpc":"2.0"}"#, Some(5)),
            (r#"{"result":{"a":"never closed … },"id":5,"other":1}"#, None),
            // Only the top counts, and only outside strings.
            (r#"{"result":{"id":4},"x":"\"id\":5,"#, None),
            (r#"{"result":[{"id":4}"#, None),
            // A number that may go on, and what is no number.
            (r#"{"result":{},"id":12"#, None),
            (r#"{"result":{},"id":"12"}"#, None),
            (r#"{"result":{},"id":99999999999999999999}"#, None),
            // Numbers of the server's own, which answer no call of ours.
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":"#, None),
            (r#"{"jsonrpc":"2.0","id":3"#, None),
            ("Server is listening", None),
            ("", None),
            ("\"", None),
            ("{\"\\", None),
        ];
        for (text, id) in table {
            assert_eq!(answered(text.as_bytes()), id, "{text}");
        }
    }

    #[test]
    fn a_million_levels_cost_a_scan() {
        let text = format!(r#"{{"id":1,"result":{}"#, "[".repeat(1_000_000));
        assert_eq!(answered(text.as_bytes()), Some(1));
    }
}
