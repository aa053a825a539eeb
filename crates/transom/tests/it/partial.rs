//! Half-written JSON, healed (H-63).
#![expect(clippy::unwrap_used, reason = "what does not parse is a failed test")]

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use transom::partial::{Healer, MAX_BYTES, MAX_DEPTH, PartialError};

#[test]
fn h_63_open_structures_are_closed() {
    #[rustfmt::skip]
    let table = [
        ("",                                "{}"),
        (" \n",                             "{}"),
        ("{",                               "{}"),
        (r#"{"#,                            "{}"),
        (r#"{"ke"#,                         "{}"),
        (r#"{"key"#,                        "{}"),
        (r#"{"key":"#,                      "{}"),
        (r#"{"a":""#,                       r#"{"a":""}"#),
        (r#"{"a":"b"#,                      r#"{"a":"b"}"#),
        (r#"{"a":"b""#,                     r#"{"a":"b"}"#),
        (r#"{"a":"b","#,                    r#"{"a":"b"}"#),
        (r#"{"a":"b","c"#,                  r#"{"a":"b"}"#),
        (r#"{"a":"b" , "c" :"#,             r#"{"a":"b"}"#),
        (r#"{"a":["#,                       r#"{"a":[]}"#),
        (r#"{"a":["b"#,                     r#"{"a":["b"]}"#),
        (r#"{"a":["b",{"c":[["#,            r#"{"a":["b",{"c":[[]]}]}"#),
        (r#"{"a":{"b":{}"#,                 r#"{"a":{"b":{}}}"#),
        (r#"{"a":{"b":{},"c"#,              r#"{"a":{"b":{}}}"#),
        (r#"{"a":t"#,                       r#"{"a":true}"#),
        (r#"{"a":tru"#,                     r#"{"a":true}"#),
        (r#"{"a":[f"#,                      r#"{"a":[false]}"#),
        (r#"{"a":n"#,                       r#"{"a":null}"#),
        (r#"{"a":-"#,                       "{}"),
        (r#"{"a":1"#,                       "{}"),
        (r#"{"a":[1,2"#,                    r#"{"a":[1]}"#),
        (r#"{"a":[1,2 "#,                   r#"{"a":[1,2]}"#),
        (r#"{"a":[1,2."#,                   r#"{"a":[1]}"#),
        (r#"{"a":[1,2e"#,                   r#"{"a":[1]}"#),
        (r#"{"a":[1,2e-"#,                  r#"{"a":[1]}"#),
        (r#"{"a":[1,2e-7,"#,                r#"{"a":[1,2e-7]}"#),
        (r#"{"a":"b\"#,                     r#"{"a":"b"}"#),
        (r#"{"a":"b\n"#,                    r#"{"a":"b\n"}"#),
        (r#"{"a":"b\\"#,                    r#"{"a":"b\\"}"#),
        (r#"{"a":"b\""#,                    r#"{"a":"b\""}"#),
        (r#"{"a":"b\u"#,                    r#"{"a":"b"}"#),
        (r#"{"a":"b\u12"#,                  r#"{"a":"b"}"#),
        (r#"{"a":"b\u12aF"#,                r#"{"a":"b\u12aF"}"#),
        (r#"{"a":"b\ud83d"#,                r#"{"a":"b"}"#),
        (r#"{"a":"b\ud83d\"#,               r#"{"a":"b"}"#),
        (r#"{"a":"b\ud83d\ude0"#,           r#"{"a":"b"}"#),
        (r#"{"a":"b\ud83d\ude00"#,          r#"{"a":"b\ud83d\ude00"}"#),
        (r#"{"a":"b\ud83dx"#,               r#"{"a":"b\ufffdx"}"#),
        (r#"{"a":"b\ud83d""#,               r#"{"a":"b\ufffd"}"#),
        (r#"{"a":"b\ud83d\n"#,              r#"{"a":"b\ufffd\n"}"#),
        (r#"{"a":"b\ud83d\u0041"#,          r#"{"a":"b\ufffd\u0041"}"#),
        (r#"{"a":"b\ud83d\ud83d\ude00"#,    r#"{"a":"b\ufffd\ud83d\ude00"}"#),
        (r#"{"a":"b\ude00c"#,               r#"{"a":"b\ufffdc"}"#),
        (r#"{"\ud83d":"b"#,                 r#"{"\ufffd":"b"}"#),
        ("{\"a\":\"\u{20ac}\u{1f600}",      "{\"a\":\"\u{20ac}\u{1f600}\"}"),
        (r#"{"a":1}"#,                      r#"{"a":1}"#),
        (" { \"a\" : [ ] } \n",             " { \"a\" : [ ] }"),
    ];
    for (stream, expected) in table {
        let mut healer = Healer::new();
        assert_eq!(healer.push(stream), Ok(()), "{stream:?}");
        assert_eq!(healer.healed(), expected, "{stream:?}");
    }
}

#[test]
fn garbage_is_named_and_the_last_good_value_stays() {
    #[rustfmt::skip]
    let table = [
        ("[1]",                 "{}",           "expected an object, got '[' at byte 0"),
        ("null",                "{}",           "expected an object, got 'n' at byte 0"),
        ("\u{feff}{}",          "{}",           "expected an object, got '\\u{feff}' at byte 0"),
        ("{}x",                 "{}",           "expected the end, got 'x' at byte 2"),
        ("{} {}",               "{}",           "expected the end, got '{' at byte 3"),
        ("{,",                  "{}",           "expected a key or a closing brace, got ',' at byte 1"),
        ("{a:1}",               "{}",           "expected a key or a closing brace, got 'a' at byte 1"),
        ("{\"a\":true,}",       "{\"a\":true}", "expected a key, got '}' at byte 10"),
        ("{\"a\"=1}",           "{}",           "expected a colon, got '=' at byte 4"),
        ("{\"a\":\u{20ac}}",    "{}",           "expected a value, got '€' at byte 5"),
        ("{\"a\":[1,]}",        "{\"a\":[1]}",  "expected a value, got ']' at byte 8"),
        ("{\"a\":[1}",          "{\"a\":[1]}",  "expected a comma or a closing bracket, got '}' at byte 7"),
        ("{\"a\":[true x",      "{\"a\":[true]}", "expected a comma or a closing bracket, got 'x' at byte 11"),
        ("{\"a\":trx",          "{\"a\":true}", "expected ue, got 'x' at byte 7"),
        ("{\"a\":01}",          "{}",           "expected the rest of a number, got '1' at byte 6"),
        ("{\"a\":1x}",          "{}",           "expected the rest of a number, got 'x' at byte 6"),
        ("{\"a\":-}",           "{}",           "expected the rest of a number, got '}' at byte 6"),
        ("{\"a\":1.}",          "{}",           "expected the rest of a number, got '}' at byte 7"),
        ("{\"a\":+1}",          "{}",           "expected a value, got '+' at byte 5"),
        ("{\"a\":\"b\n",        "{\"a\":\"b\"}", "expected a character of a string, got '\\n' at byte 7"),
        ("{\"a\":\"b\\x",       "{\"a\":\"b\"}", "expected an escape, got 'x' at byte 8"),
        ("{\"a\":\"b\\u00g",    "{\"a\":\"b\"}", "expected a hexadecimal digit, got 'g' at byte 11"),
        ("{\"a\":\"b\\\u{20ac}", "{\"a\":\"b\"}", "expected an escape, got '€' at byte 8"),
    ];
    for (stream, healed, message) in table {
        let mut healer = Healer::new();
        let error = healer.push(stream).unwrap_err();
        assert_eq!((healer.healed().as_str(), error.to_string().as_str()), (healed, message));
        assert_eq!(healer.push("}"), Err(error), "{stream:?}");
        assert_eq!(healer.push(""), Err(error), "{stream:?}");
        assert_eq!(healer.healed(), healed);
    }
}

#[test]
fn depth_and_size_have_limits() {
    let mut healer = Healer::new();
    let deepest = r#"{"a":"#.repeat(MAX_DEPTH);
    healer.push(&deepest[..deepest.len() - 1]).unwrap();
    assert!(parse(&healer.healed()).contains_key("a"));
    let before = healer.healed();
    assert_eq!(healer.push(":["), Err(PartialError::TooDeep));
    assert_eq!(healer.healed(), before);

    let mut healer = Healer::new();
    healer.push(r#"{"a":""#).unwrap();
    // Two bytes each, and the limit falls into the middle of one.
    let wide = "\u{e9}".repeat(MAX_BYTES / 2);
    let stream = format!(" {}", &wide[..wide.len() - 8]);
    healer.push(&stream).unwrap();
    assert_eq!(healer.push("\u{e9}"), Err(PartialError::TooLarge));
    assert_eq!(healer.healed().len(), 6 + stream.len() + 2);
    assert_eq!(healer.push("\"}"), Err(PartialError::TooLarge));
}

#[test]
fn h_63_every_prefix_heals_to_a_beginning_of_the_whole() {
    let documents = [
        json!({}),
        json!({"a": null, "b": true, "c": false, "d": [], "e": {}, "f": ""}),
        json!({"n": [0, -0.0, 1, -17, 1.5, 1e300, 2e-9, u64::MAX, i64::MIN]}),
        json!({"text": "plain \" \\ / \u{8} \u{c} \n \r \t \u{0} \u{7f} é € 😀 \u{2028}"}),
        json!({"clé": {"😀": [[[{"deep": ["er"]}], 1], "x"]}, "\n": "\\"}),
        json!({"rows": [{"id": 1, "name": "a,}]"}, {"id": 2, "name": "{[\":"}]}),
    ];
    for document in &documents {
        every_prefix(&document.to_string(), document);
        every_prefix(&serde_json::to_string_pretty(document).unwrap(), document);
        every_prefix(&escaped(&document.to_string()), document);
    }
}

proptest! {
    #[test]
    fn any_document_any_split(document in objects(), splits in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let text = document.to_string();
        let mut healer = Healer::new();
        for fragment in split(&text, &splits) {
            prop_assert_eq!(healer.push(fragment), Ok(()));
            prop_assert!(begins(&Value::Object(parse(&healer.healed())), &document));
        }
        prop_assert!(healer.is_complete());
        prop_assert_eq!(healer.healed(), text);
    }

    #[test]
    fn any_garbage_heals_to_an_object(text in "[{}\\[\\]\",:\\\\ueE0-9a-f+.\\- tr\n\u{e9}]{0,40}", splits in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let mut whole = Healer::new();
        let expected = whole.push(&text);
        let mut healer = Healer::new();
        let mut actual = Ok(());
        for fragment in split(&text, &splits) {
            actual = healer.push(fragment);
            prop_assert!(is_object(&healer.healed()));
        }
        prop_assert_eq!((actual, healer.healed()), (expected, whole.healed()));
    }

    #[test]
    fn a_spoilt_document_keeps_what_came_before(document in objects(), place in any::<prop::sample::Index>(), spoil in any::<char>()) {
        let text = document.to_string();
        let (head, tail) = text.split_at(text.floor_char_boundary(place.index(text.len())));
        let mut healer = Healer::new();
        prop_assert_eq!(healer.push(head), Ok(()));
        let _ = healer.push(&format!("{spoil}{tail}"));
        prop_assert!(is_object(&healer.healed()));
    }
}

fn every_prefix(text: &str, whole: &Value) {
    let mut healer = Healer::new();
    let mut shown = json!({});
    for (at, character) in text.char_indices() {
        healer.push(character.encode_utf8(&mut [0; 4])).unwrap();
        let healed = Value::Object(parse(&healer.healed()));
        assert!(begins(&shown, &healed), "{shown} then {healed} at {at}");
        assert!(begins(&healed, whole), "{healed} at {at} of {whole}");
        let mut at_once = Healer::new();
        at_once.push(&text[..at + character.len_utf8()]).unwrap();
        assert_eq!(at_once.healed(), healer.healed());
        shown = healed;
    }
    assert!(healer.is_complete());
    assert_eq!(&shown, whole);
}

/// Tells whether `early` may be shown while `late` is still being written.
fn begins(early: &Value, late: &Value) -> bool {
    match (early, late) {
        (Value::String(early), Value::String(late)) => late.starts_with(early.as_str()),
        (Value::Array(early), Value::Array(late)) => {
            early.len() <= late.len() && early.iter().zip(late).all(|(e, l)| begins(e, l))
        }
        (Value::Object(early), Value::Object(late)) => {
            let pairs = early.iter().zip(late);
            early.len() <= late.len()
                && pairs.into_iter().all(|(e, l)| e.0 == l.0 && begins(e.1, l.1))
        }
        _ => early == late,
    }
}

/// Writes every character outside ASCII as escapes, as many servers do.
fn escaped(text: &str) -> String {
    let escape = |character: char| match character.is_ascii() {
        true => character.to_string(),
        false => {
            character.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect()
        }
    };
    text.chars().map(escape).collect()
}

fn split<'a>(text: &'a str, places: &[prop::sample::Index]) -> Vec<&'a str> {
    let mut places: Vec<_> =
        places.iter().map(|place| text.floor_char_boundary(place.index(text.len() + 1))).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn objects() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        any::<String>().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            members(inner).prop_map(Value::from),
        ]
    });
    members(value).prop_map(Value::from)
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map(any::<String>(), value, 0..6).prop_map(Map::from_iter)
}

/// Unlike [`parse`], takes numbers that no `f64` holds: 1e999 is good JSON.
fn is_object(healed: &str) -> bool {
    healed.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(healed).is_ok()
}

fn parse(healed: &str) -> Map<String, Value> {
    serde_json::from_str(healed).unwrap_or_else(|error| panic!("{healed:?}: {error}"))
}
