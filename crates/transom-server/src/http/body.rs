//! Bodies as JSON carries them: a view's read into bytes, a backend's written as text or base64.

use bytes::Bytes;
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::Value;

use super::failure::Failure;

/// How the bytes of a body are written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum BodyType {
    None,
    Json,
    Text,
    FormData,
    UrlEncoded,
    Base64,
}

/// A request's body, and the content type that its form implies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    pub(crate) implied: Option<String>,
    /// Whether the implied type stands in place of the view's: a boundary is ours (BOD-3).
    pub(crate) overrules: bool,
}

/// Reads a body. What does not have the form that it names is refused, and is never an empty body (BOD-5, ATK-52).
pub(crate) fn read(body: Value, kind: Option<BodyType>, most: usize) -> Result<Body, Failure> {
    let kind = kind.unwrap_or(match &body {
        Value::Null => BodyType::None,
        Value::String(_) => BodyType::Text,
        _ => BodyType::Json,
    });
    let read = match (kind, body) {
        (BodyType::None, _) => Body::default(),
        (BodyType::Json, value) => plain(value.to_string().into_bytes(), "application/json"),
        (BodyType::Text, Value::String(text)) => {
            plain(text.into_bytes(), "text/plain;charset=UTF-8")
        }
        (BodyType::UrlEncoded, Value::String(text)) => plain(text.into_bytes(), URL_ENCODED),
        (BodyType::UrlEncoded, pairs) => plain(url_encoded(pairs)?.into_bytes(), URL_ENCODED),
        (BodyType::Base64, Value::String(text)) => {
            Body { bytes: decode(&text, most)?.into(), ..Body::default() }
        }
        (BodyType::FormData, Value::Array(entries)) => form_data(entries, most)?,
        _ => return Err(Failure::bad_request("the body is not what its bodyType says")),
    };
    if read.bytes.len() > most { Err(too_large()) } else { Ok(read) }
}

/// Writes a response's bytes: as text only where nothing is lost by it (RES-9, DEF-12).
pub(crate) fn write(bytes: Bytes, content_type: Option<&str>) -> (Value, &'static str) {
    if bytes.is_empty() {
        return (Value::String(String::new()), "text");
    }
    // A mark at the start is a part of the bytes, and a reader of text would take it away.
    let textual = is_utf8(content_type) && !bytes.starts_with(b"\xef\xbb\xbf");
    if let Some(text) = std::str::from_utf8(&bytes).ok().filter(|_| textual) {
        return (Value::String(text.to_owned()), "text");
    }
    (Value::String(encode(&bytes)), "base64")
}

/// Bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Decodes strict base64; the length is judged before anything is decoded (BOD-6).
pub(crate) fn decode(text: &str, most: usize) -> Result<Vec<u8>, Failure> {
    if text.len() / 4 * 3 > most + 2 {
        return Err(too_large());
    }
    BASE64
        .decode(text.as_bytes())
        .map_err(|_| Failure::bad_request("the base64 is not well formed"))
}

fn plain(bytes: Vec<u8>, content_type: &str) -> Body {
    Body { bytes: bytes.into(), implied: Some(content_type.to_owned()), overrules: false }
}

/// Types whose bytes are text in the first place. Forms keep their bytes, since a boundary is a part of them (RES-8, DEF-13).
fn is_utf8(content_type: Option<&str>) -> bool {
    let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let charset =
        parts.find_map(|part| part.strip_prefix("charset=")).map(|value| value.trim_matches('"'));
    let textual = essence.starts_with("text/")
        || essence.ends_with("json")
        || essence.ends_with("xml")
        || essence.ends_with("javascript")
        || essence == "application/x-www-form-urlencoded";
    textual && matches!(charset, None | Some("utf-8" | "utf8"))
}

/// Pairs, or an object of texts, as a form writes them.
fn url_encoded(pairs: Value) -> Result<String, Failure> {
    let wrong = || Failure::bad_request("the body is not a list of names and values");
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    match pairs {
        Value::Object(pairs) => {
            for (name, value) in pairs {
                form.append_pair(&name, value.as_str().ok_or_else(wrong)?);
            }
        }
        Value::Array(pairs) => {
            for pair in pairs {
                let [name, value] = pair.as_array().map(Vec::as_slice).ok_or_else(wrong)? else {
                    return Err(wrong());
                };
                form.append_pair(
                    name.as_str().ok_or_else(wrong)?,
                    value.as_str().ok_or_else(wrong)?,
                );
            }
        }
        _ => return Err(wrong()),
    }
    Ok(form.finish())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: String,
    value: Option<String>,
    data: Option<String>,
    filename: Option<String>,
    content_type: Option<String>,
}

/// Writes a form as a browser does, under a boundary that nothing in it can hold (BOD-4).
fn form_data(entries: Vec<Value>, most: usize) -> Result<Body, Failure> {
    let mut secret = [0; 16];
    getrandom::fill(&mut secret).map_err(|error| Failure::network(&error))?;
    let boundary = format!("----transom{:032x}", u128::from_be_bytes(secret));
    let mut bytes = Vec::new();
    for entry in entries {
        let entry: Entry = serde_json::from_value(entry)
            .map_err(|_| Failure::bad_request("an entry of the form is none"))?;
        bytes.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        write_entry(entry, most, &mut bytes)?;
        bytes.extend_from_slice(b"\r\n");
        if bytes.len() > most {
            return Err(too_large());
        }
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let implied = Some(format!("multipart/form-data; boundary={boundary}"));
    Ok(Body { bytes: bytes.into(), implied, overrules: true })
}

fn write_entry(entry: Entry, most: usize, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    let wrong = || Failure::bad_request("an entry of the form is none");
    let name = quoted(&lines(&entry.name));
    if entry.filename.is_none() && entry.data.is_none() {
        let value = entry.value.ok_or_else(wrong)?;
        let head = format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(lines(&value).as_bytes());
        return Ok(());
    }
    let content = match (entry.data, entry.value) {
        (Some(data), None) => decode(&data, most)?,
        (None, Some(text)) => text.into_bytes(),
        _ => return Err(wrong()),
    };
    let filename = quoted(&entry.filename.unwrap_or_else(|| "blob".to_owned()));
    let kind = entry.content_type.filter(|kind| !kind.is_empty());
    let kind = kind.unwrap_or_else(|| "application/octet-stream".to_owned());
    if kind.chars().any(|c| c.is_control() || !c.is_ascii()) {
        return Err(wrong());
    }
    let head = format!(
        "Content-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\"\r\nContent-Type: {kind}\r\n\r\n"
    );
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend_from_slice(&content);
    Ok(())
}

/// Line ends of a form's texts are CR LF, whatever they were.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn too_large() -> Failure {
    Failure::too_large("the request's body is larger than this route takes")
}

const URL_ENCODED: &str = "application/x-www-form-urlencoded;charset=UTF-8";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bytes(body: Value, kind: BodyType) -> Result<Vec<u8>, super::super::failure::Code> {
        read(body, Some(kind), 1_000)
            .map(|body| body.bytes.to_vec())
            .map_err(|failure| failure.code)
    }

    // ATK-52, BOD-5: a body that is not what it says is refused.
    #[test]
    fn atk_52_body_types_are_not_confused() {
        use super::super::failure::Code::BadRequest;
        #[rustfmt::skip]
        let table = [
            (json!("{\"a\":1}"),                           BodyType::Json,       Ok("\"{\\\"a\\\":1}\"")),
            (json!({ "a": 1 }),                            BodyType::Json,       Ok("{\"a\":1}")),
            (json!("0"),                                   BodyType::Text,       Ok("0")),
            (json!({ "a": 1 }),                            BodyType::Text,       Err(BadRequest)),
            (json!({ "a": 1 }),                            BodyType::Base64,     Err(BadRequest)),
            (json!("aGk="),                                BodyType::Base64,     Ok("hi")),
            (json!(""),                                    BodyType::Base64,     Ok("")),
            (json!("aGk"),                                 BodyType::Base64,     Err(BadRequest)),
            (json!("aG k="),                               BodyType::Base64,     Err(BadRequest)),
            (json!("aGk=\n"),                              BodyType::Base64,     Err(BadRequest)),
            (json!("_-8="),                                BodyType::Base64,     Err(BadRequest)),
            (json!("aGl="),                                BodyType::Base64,     Err(BadRequest)),
            (json!("a=1&__proto__=2"),                     BodyType::UrlEncoded, Ok("a=1&__proto__=2")),
            (json!([["__proto__", "2"], ["a b", "\u{e4}&"]]), BodyType::UrlEncoded, Ok("__proto__=2&a+b=%C3%A4%26")),
            (json!({ "__proto__": "2" }),                  BodyType::UrlEncoded, Ok("__proto__=2")),
            (json!({ "a": { "b": "c" } }),                 BodyType::UrlEncoded, Err(BadRequest)),
            (json!([["a"]]),                               BodyType::UrlEncoded, Err(BadRequest)),
            (json!(7),                                     BodyType::UrlEncoded, Err(BadRequest)),
            (json!({ "name": "a", "value": "b" }),         BodyType::FormData,   Err(BadRequest)),
            (json!([{ "name": "a", "value": { "b": 1 } }]), BodyType::FormData,  Err(BadRequest)),
            (json!([{ "name": ["a"], "value": "b" }]),     BodyType::FormData,   Err(BadRequest)),
            (json!([{ "name": "a" }]),                     BodyType::FormData,   Err(BadRequest)),
            (json!([{ "name": "a", "data": "?", "filename": "f" }]), BodyType::FormData, Err(BadRequest)),
            (json!([{ "name": "a", "data": "", "filename": "f", "contentType": "a\r\nb: c" }]), BodyType::FormData, Err(BadRequest)),
            (json!("x"),                                   BodyType::None,       Ok("")),
        ];
        for (body, kind, expected) in table {
            let row = format!("{kind:?} {body}");
            assert_eq!(bytes(body, kind), expected.map(|text| text.as_bytes().to_vec()), "{row}");
        }
    }

    // BOD-4, ATK-51: order and doubles are kept, names are escaped, and a file may be empty or without a type.
    #[test]
    fn bod_4_a_form_is_written_as_a_browser_writes_it() {
        let form = json!([
            { "name": "a\"\r\n\u{e4}", "value": "one\ntwo\r\nthree\rfour" },
            { "name": "__proto__", "value": "" },
            { "name": "a", "data": "AAH/", "filename": "x\".bin", "contentType": "image/png" },
            { "name": "a", "data": "", "filename": "", "contentType": "" },
            { "name": "t", "value": "text of a file", "filename": "t.txt", "contentType": "text/plain" },
        ]);
        let body = read(form, Some(BodyType::FormData), 10_000).expect("it is a form");
        let boundary = body
            .implied
            .as_deref()
            .and_then(|kind| kind.split_once("boundary="))
            .expect("it has one")
            .1;
        let expected = [
            "--B\r\nContent-Disposition: form-data; name=\"a%22%0D%0A\u{e4}\"\r\n\r\none\r\ntwo\r\nthree\r\nfour\r\n".as_bytes(),
            b"--B\r\nContent-Disposition: form-data; name=\"__proto__\"\r\n\r\n\r\n",
            b"--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"x%22.bin\"\r\nContent-Type: image/png\r\n\r\n\x00\x01\xff\r\n",
            b"--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n",
            b"--B\r\nContent-Disposition: form-data; name=\"t\"; filename=\"t.txt\"\r\nContent-Type: text/plain\r\n\r\ntext of a file\r\n",
            b"--B--\r\n",
        ]
        .concat();
        let text = String::from_utf8_lossy(&body.bytes).replace(boundary, "B");
        assert_eq!(text, String::from_utf8_lossy(&expected));
        assert!(body.overrules);
    }

    // BOD-6: decoded bytes count, and nothing is decoded that cannot fit.
    #[test]
    fn bod_6_sizes_are_judged_before_and_after() {
        for (size, fits) in [(999, true), (1_000, true), (1_001, false), (100_000, false)] {
            let text = BASE64.encode(&vec![7; size]);
            assert_eq!(bytes(json!(text), BodyType::Base64).is_ok(), fits, "{size}");
            assert_eq!(bytes(json!("a".repeat(size)), BodyType::Text).is_ok(), fits, "{size}");
        }
        let file =
            json!([{ "name": "a", "data": BASE64.encode(&vec![7; 2_000]), "filename": "f" }]);
        assert!(bytes(file, BodyType::FormData).is_err());
    }

    // RES-9, RES-15, DEF-12, DEF-13: text only where nothing is lost.
    #[test]
    fn res_9_bytes_survive_whatever_they_claim_to_be() {
        #[rustfmt::skip]
        let table: [(&[u8], Option<&str>, &str); 14] = [
            (b"hello",          Some("text/plain"),                     "text"),
            (b"0",              Some("application/json"),               "text"),
            (b"null",           Some("application/problem+json"),       "text"),
            (b"a\0b",           Some("text/plain; charset=UTF-8"),      "text"),
            ("k\u{e4}se".as_bytes(), Some("text/html; charset=\"utf-8\""), "text"),
            (b"caf\xe9",        Some("text/plain"),                     "base64"),
            (b"caf\xe9",        Some("text/plain; charset=iso-8859-1"), "base64"),
            (b"plain",          Some("text/plain; charset=shift_jis"),  "base64"),
            (b"a\0b\0",         Some("text/plain; charset=utf-16le"),   "base64"),
            (b"\xef\xbb\xbfx",  Some("text/plain"),                     "base64"),
            (b"--b\r\n",        Some("multipart/form-data; boundary=b"), "base64"),
            (b"hello",          Some("application/octet-stream"),       "base64"),
            (b"hello",          None,                                   "base64"),
            (b"",               None,                                   "text"),
        ];
        for (given, content_type, expected) in table {
            let (value, kind) = write(Bytes::from_static(given), content_type);
            assert_eq!(kind, expected, "{given:?} {content_type:?}");
            let text = value.as_str().expect("it is text").to_owned();
            let back = if kind == "text" {
                text.into_bytes()
            } else {
                decode(&text, 100).expect("it is ours")
            };
            assert_eq!(back, given);
        }
    }
}
