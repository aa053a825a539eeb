//! What a view would send, for a person to read: texts as texts and not as JSON, texts first, bytes as how many there are.
//!
//! It is made of the one value that is sent, and stands beside that value as it is sent ([`Preview`](super::Preview)): here
//! nothing is told apart that a person would not, such as the number 3 and the text "3".

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{printed::Printed, violation::Quoted, wire::Members};

/// A part of what would be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is called; nothing, where it is what is said.
    pub name: Option<Quoted>,
    /// What it is.
    pub body: PartBody,
}

/// What is in a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartBody {
    /// A text. A stranger's, whole up to 16 KiB.
    Text {
        /// Its beginning.
        text: Box<str>,
        /// How many bytes there are beside.
        beyond: usize,
    },
    /// Anything else that is small, or an object or a list, as JSON in which long base64 is left out.
    Json {
        /// Its beginning.
        text: Box<str>,
        /// How many bytes there are beside.
        beyond: usize,
    },
    /// Bytes, in base64: nobody reads them.
    Bytes {
        /// About how many.
        size: usize,
        /// What they are said to be.
        mime_type: Option<Quoted>,
    },
    /// So many parts more, which are among what is sent and not among these.
    More(usize),
}

/// The arguments of a call, and `_meta`.
pub(super) fn call(arguments: Option<&Printed>, meta: Option<&Printed>) -> Vec<Part> {
    let mut parts = arguments.map_or_else(Vec::new, |given| members(given.get()));
    if let Some(meta) = meta {
        parts.push(Part::named("_meta", json(meta.get())));
    }
    sorted(parts)
}

/// The arguments among the params of a `tools/call`.
pub(super) fn arguments(params: &RawValue) -> Vec<Part> {
    let params = serde_json::from_str::<Members<'_>>(params.get()).unwrap_or_default();
    params.get("arguments").map_or_else(Vec::new, |given| sorted(members(given.get())))
}

/// A block of content, or a list of them.
pub(super) fn content(text: &str) -> Vec<Part> {
    sorted(blocks(text))
}

/// What the model is told: content, and data beside it.
pub(super) fn context(content: &str, structured: Option<&Printed>) -> Vec<Part> {
    let mut parts = blocks(content);
    if let Some(structured) = structured {
        parts.extend(members(structured.get()));
    }
    sorted(parts)
}

/// What the model is asked: who says what, and how.
pub(super) fn sampling(params: &str) -> Vec<Part> {
    let mut parts = vec![];
    let params = serde_json::from_str::<Members<'_>>(params).unwrap_or_default();
    for (name, value) in params.iter() {
        if name != "messages" {
            parts.push(Part::named(name, body(value)));
            continue;
        }
        for message in list(value.get()) {
            let message = serde_json::from_str::<Members<'_>>(message.get()).unwrap_or_default();
            let role = message.get("role").and_then(text_of);
            let said =
                message.get("content").map_or_else(Vec::new, |content| blocks(content.get()));
            parts.extend(said.into_iter().map(|part| Part {
                name: part.name.or_else(|| role.as_deref().map(Quoted::new)),
                ..part
            }));
        }
    }
    // What is said keeps its order.
    capped(parts)
}

impl Part {
    fn named(name: &str, body: PartBody) -> Self {
        Self { name: Some(Quoted::long(name, NAME)), body }
    }

    /// What comes first: what is quickly read, then long texts, then data, then bytes.
    fn rank(&self) -> u8 {
        match &self.body {
            PartBody::Text { text, .. } if text.len() <= SHORT => 0,
            PartBody::Json { text, .. } if !text.starts_with(['{', '[']) => 0,
            PartBody::Text { .. } => 1,
            PartBody::Json { .. } => 2,
            PartBody::Bytes { .. } => 3,
            PartBody::More(_) => 4,
        }
    }
}

fn sorted(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_by_key(Part::rank);
    capped(parts)
}

fn capped(mut parts: Vec<Part>) -> Vec<Part> {
    let more = parts.len().saturating_sub(MOST);
    if more > 0 {
        parts.truncate(MOST);
        parts.push(Part { name: None, body: PartBody::More(more) });
    }
    parts
}

/// The members of an object; nothing, where there are too many to read them one by one.
fn members(text: &str) -> Vec<Part> {
    let members = serde_json::from_str::<Members<'_>>(text).unwrap_or_default();
    members.iter().map(|(name, value)| Part::named(name, body(value))).collect()
}

fn blocks(text: &str) -> Vec<Part> {
    match text.starts_with('[') {
        true => list(text).into_iter().map(block).collect(),
        false => serde_json::from_str(text).map_or_else(|_| vec![], |one| vec![block(one)]),
    }
}

fn list(text: &str) -> Vec<&RawValue> {
    serde_json::from_str(text).unwrap_or_default()
}

/// A block of content as what it says.
fn block(raw: &RawValue) -> Part {
    let members = serde_json::from_str::<Members<'_>>(raw.get()).unwrap_or_default();
    let text = |name: &str| members.get(name).and_then(text_of);
    let bytes = |of: &Members<'_>, name: &str| {
        let data = of.get(name).and_then(text_of)?;
        let mime_type = of.get("mimeType").and_then(text_of);
        Some(PartBody::Bytes {
            size: decoded(&data),
            mime_type: mime_type.as_deref().map(Quoted::new),
        })
    };
    let known = match text("type").as_deref() {
        Some("text") => text("text").map(|said| Part { name: None, body: long_text(&said) }),
        Some(kind @ ("image" | "audio")) => {
            bytes(&members, "data").map(|body| Part::named(kind, body))
        }
        Some("resource_link") => text("uri").map(|uri| Part::named("a link", long_text(&uri))),
        Some("resource") => members.get("resource").and_then(|resource| {
            let inside = serde_json::from_str::<Members<'_>>(resource.get()).ok()?;
            let said = inside.get("text").and_then(text_of).map(|said| long_text(&said));
            let uri = inside.get("uri").and_then(text_of)?;
            Some(Part::named(&uri, said.or_else(|| bytes(&inside, "blob"))?))
        }),
        _ => None,
    };
    known.unwrap_or_else(|| Part { name: None, body: json(raw.get()) })
}

/// Any value.
fn body(raw: &RawValue) -> PartBody {
    let Some(text) = text_of(raw) else { return json(raw.get()) };
    let (head, data) = match text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"))
    {
        Some((mime_type, data)) => (Some(Quoted::new(mime_type)), data),
        None => (None, &*text),
    };
    match is_base64(data) {
        true => PartBody::Bytes { size: decoded(data), mime_type: head },
        false => long_text(&text),
    }
}

fn long_text(text: &str) -> PartBody {
    let kept = &text[..text.floor_char_boundary(LONGEST)];
    PartBody::Text { text: kept.into(), beyond: text.len() - kept.len() }
}

/// JSON as it is sent, but for its long base64.
fn json(text: &str) -> PartBody {
    let mut shown = String::with_capacity(text.len().min(LONGEST));
    let mut rest = text;
    while let Some(start) = rest.find('"')
        && shown.len() < LONGEST
    {
        let end = start + 1 + end_of_string(&rest[start + 1..]);
        let inside = &rest[start + 1..end];
        shown.push_str(&rest[..start]);
        match is_base64(inside) {
            true => {
                shown.push_str(&format!("\"… {} bytes in base64 …\"", decoded(inside)));
            }
            false => shown.push_str(&rest[start..(end + 1).min(rest.len())]),
        }
        rest = &rest[(end + 1).min(rest.len())..];
    }
    let left = match shown.len() < LONGEST {
        true => {
            shown.push_str(rest);
            0
        }
        false => rest.len(),
    };
    let kept = &shown[..shown.floor_char_boundary(LONGEST)];
    PartBody::Json { text: kept.into(), beyond: left + shown.len() - kept.len() }
}

/// Where a string of printed JSON ends, whose first quote is gone.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    if !raw.get().starts_with('"') {
        return None;
    }
    serde_json::from_str(raw.get()).map(Cow::Owned).ok()
}

/// Whether a text is long and nothing that people read: letters and digits of base64 without a space between them, capital
/// ones and small ones and digits.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    let has = |kind: fn(&u8) -> bool| body.as_bytes().iter().any(kind);
    text.len() >= BASE64
        && text.len() - body.len() <= 2
        && body.bytes().all(is_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

fn decoded(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// The most parts.
const MOST: usize = 40;
/// How much of a name is kept, in characters.
const NAME: usize = 200;
/// The longest text that comes before all data, in bytes.
const SHORT: usize = 400;
/// How much of one part is kept, in bytes.
const LONGEST: usize = 16 << 10;
/// From how many characters on a text may be base64.
const BASE64: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part in a line.
    fn lines(parts: &[Part]) -> Vec<String> {
        let line = |Part { name, body }: &Part| {
            let name = name.as_ref().map_or("", Quoted::as_str);
            match body {
                PartBody::Text { text, beyond: 0 } => format!("{name}: {text}"),
                PartBody::Text { text, beyond } => format!("{name}: {} and {beyond}", text.len()),
                PartBody::Json { text, beyond: 0 } => format!("{name} = {text}"),
                PartBody::Json { text, beyond } => format!("{name} = {} and {beyond}", text.len()),
                PartBody::Bytes { size, mime_type } => format!("{name}: {size} of {mime_type:?}"),
                PartBody::More(more) => format!("{more} more"),
            }
        };
        parts.iter().map(line).collect()
    }

    fn bytes(length: usize) -> String {
        "aB3/".chars().cycle().take(length).collect()
    }

    #[test]
    fn arguments_are_read_as_what_they_are_and_texts_come_first() {
        let long = "word ".repeat(200);
        let text = format!(
            r#"{{"picture":"{}","rows":[{{"n":1}}],"body":"{long}","n":3,"to":"Ann \"A\"\nBob","url":"data:image/png;base64,{}"}}"#,
            bytes(4_000),
            bytes(400)
        );
        let arguments = Printed::parse(&text).unwrap();
        let meta = Printed::parse(r#"{"force":true}"#).unwrap();
        let parts = call(Some(&arguments), Some(&meta));
        assert_eq!(
            lines(&parts),
            [
                "n = 3",
                "to: Ann \"A\"\nBob",
                &format!("body: {long}"),
                r#"rows = [{"n":1}]"#,
                r#"_meta = {"force":true}"#,
                "picture: 3000 of None",
                "url: 300 of Some(\"image/png\")",
            ]
        );
    }

    #[test]
    fn a_message_is_what_it_says() {
        let text = format!(
            r#"[{{"type":"image","data":"{}","mimeType":"image/png"}},{{"type":"text","text":"Hi.\nAll well?"}},{{"type":"resource","resource":{{"uri":"ui://a","text":"inside"}}}},{{"type":"resource_link","uri":"file:///a"}},{{"type":"odd","x":1}}]"#,
            bytes(400)
        );
        let expected = [
            ": Hi.\nAll well?",
            "ui://a: inside",
            "a link: file:///a",
            r#" = {"type":"odd","x":1}"#,
            "image: 300 of Some(\"image/png\")",
        ];
        assert_eq!(lines(&content(&text)), expected);
        assert_eq!(lines(&content(r#"{"type":"text","text":"one"}"#)), [": one"]);
        let structured = Printed::parse(r#"{"cart":"two apples"}"#).unwrap();
        let both = context(r#"[{"type":"text","text":"one"}]"#, Some(&structured));
        assert_eq!(lines(&both), [": one", "cart: two apples"]);
    }

    #[test]
    fn what_the_model_is_asked_is_who_says_what() {
        let text = r#"{"systemPrompt":"Be brief.","maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Hi"}},{"role":"assistant","content":[{"type":"text","text":"Ho"}]}]}"#;
        let expected = ["systemPrompt: Be brief.", "maxTokens = 9", "user: Hi", "assistant: Ho"];
        assert_eq!(lines(&sampling(text)), expected);
    }

    #[test]
    fn what_is_long_many_or_odd_has_an_end_and_says_how_much_there_is() {
        let long = format!(r#"{{"a":"{}"}}"#, "ä ".repeat(20_000));
        let parts = call(Some(&Printed::parse(&long).unwrap()), None);
        let [Part { body: PartBody::Text { text, beyond }, .. }] = &parts[..] else {
            panic!("{parts:?}")
        };
        assert!(text.len() <= LONGEST && text.len() + beyond == 60_000, "{}", text.len());
        let many: Vec<String> = (0..100).map(|n| format!("\"m{n}\":{n}")).collect();
        let many = Printed::parse(&format!("{{{}}}", many.join(","))).unwrap();
        let lines = lines(&call(Some(&many), None));
        assert_eq!((lines.len(), &*lines[40]), (41, "60 more"));
        for odd in ["", "7", "null", "[", "{\"a\"", "[7,null,{}]"] {
            content(odd);
            sampling(odd);
        }
    }

    #[test]
    fn base64_inside_data_is_left_out_and_a_text_that_only_looks_like_it_is_not() {
        let inside = format!(r#"{{"f":[{{"name":"a\"","data":"{}"}}]}}"#, bytes(400));
        assert_eq!(
            json(&inside),
            PartBody::Json {
                text: r#"{"f":[{"name":"a\"","data":"… 300 bytes in base64 …"}]}"#.into(),
                beyond: 0
            }
        );
        assert!(!is_base64(&"delete".repeat(100)));
        assert!(!is_base64(&"Delete 3 files, ".repeat(100)));
        assert!(!is_base64(&bytes(BASE64 - 1)));
    }
}
