//! A method that a request names beside its own, in its query or in a form: some backends do what is named there, and not what
//! the route opened (FSE-11).

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

/// Whether a request names one. Read as the backends do that obey it.
pub(super) fn is_there(query: Option<&str>, content_type: Option<&str>, body: &[u8]) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let in_body = match &*essence {
        "application/x-www-form-urlencoded" => in_pairs(body),
        "multipart/form-data" => in_parts(body),
        json if json.ends_with("json") => in_members(body),
        _ => false,
    };
    in_body || query.is_some_and(|query| in_pairs(query.as_bytes()))
}

fn in_pairs(form: &[u8]) -> bool {
    url::form_urlencoded::parse(form).any(|(name, _)| is_meant(&name))
}

/// The parts of a form say what they are called in a line of their own.
fn in_parts(form: &[u8]) -> bool {
    let lines = form.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line));
    let mut heads = lines.filter(|line| {
        line.get(..DISPOSITION.len()).is_some_and(|head| head.eq_ignore_ascii_case(DISPOSITION))
    });
    heads.any(|head| {
        let named = |part: &str| {
            let (key, name) = part.split_once('=')?;
            key.trim().eq_ignore_ascii_case("name").then(|| is_meant(name.trim().trim_matches('"')))
        };
        head.split(';').filter_map(named).any(|meant| meant)
    })
}

fn in_members(json: &[u8]) -> bool {
    let members = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(json);
    members.is_ok_and(|members| members.keys().any(|name| is_meant(name)))
}

/// PHP reads a dot, a space and an open bracket in a name as `_`.
fn is_meant(name: &str) -> bool {
    name.trim().replace(['.', ' ', '['], "_").eq_ignore_ascii_case("_method")
}

const DISPOSITION: &str = "content-disposition:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fse_11_a_method_in_a_query_or_a_form_is_seen() {
        const FORM: &str = "application/x-www-form-urlencoded;charset=UTF-8";
        const PARTS: &str = "multipart/form-data; boundary=x";
        let part = |name: &str| {
            format!("--x\r\nContent-Disposition: form-data; name={name}\r\n\r\nDELETE\r\n--x--\r\n")
        };
        #[rustfmt::skip]
        let table = [
            (Some("_method=DELETE"),     None,                     String::new(),                        true),
            (Some("a=1&%5FMETHOD=x"),    None,                     String::new(),                        true),
            (Some("method=x&a=_method"), None,                     String::new(),                        false),
            (None,                       Some(FORM),               "a=1&_method=PUT".to_owned(),         true),
            (None,                       Some(FORM),               "+.method=PUT".to_owned(),            true),
            (None,                       Some(FORM),               "a=_method".to_owned(),               false),
            (None,                       Some(PARTS),              part("\"_method\""),                  true),
            (None,                       Some(PARTS),              part("_Method"),                      true),
            (None,                       Some(PARTS),              part("\"a\"; filename=\"_method\""),  false),
            (None,                       Some("application/json"), r#"{"a":1,"_method":"PUT"}"#.into(),  true),
            (None,                       Some("application/json"), r#"{"a":{"_method":"PUT"}}"#.into(),  false),
            (None,                       Some("text/plain"),       "_method=PUT".to_owned(),             false),
        ];
        for (query, kind, body, expected) in table {
            assert_eq!(
                is_there(query, kind, body.as_bytes()),
                expected,
                "{query:?} {kind:?} {body}"
            );
        }
    }
}
