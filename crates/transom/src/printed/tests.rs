//! What says one thing, and what does not.

use super::*;

fn printed(text: &str) -> Result<String, Ambiguous> {
    Printed::parse(text).map(|printed| printed.get().to_owned())
}

#[test]
fn there_is_one_spelling_for_each_value() {
    #[rustfmt::skip]
    let table = [
        (r#"{"a":1}"#, r#"{"a":1}"#),
        (" { \"a\" :\n[ 1 ,\t2 ] } ", r#"{"a":[1,2]}"#),
        // Numbers keep every digit: no reader of ours rounds them first.
        (r#"[1.0,1e400,-0,123456789012345678901234567890,0.1E+2]"#, r#"[1.0,1e400,-0,123456789012345678901234567890,0.1E+2]"#),
        (r#"["\u0041\/\u00e9\u2028"]"#, "[\"A/é\u{2028}\"]"),
        (r#"["\uD83D\uDE00"]"#, "[\"😀\"]"),
        (r#"["\u0022\u005c\u000a\u001F"]"#, r#"["\"\\\n\u001f"]"#),
        (r#"["\b\f\n\r\t\"\\\u0000\u001f"]"#, r#"["\b\f\n\r\t\"\\\u0000\u001f"]"#),
        (r#"{"\u0061":{"a":1},"b":{"a":1}}"#, r#"{"a":{"a":1},"b":{"a":1}}"#),
        (r#"[{"a":1},{"a":1},"a","a"]"#, r#"[{"a":1},{"a":1},"a","a"]"#),
        (" 7 ", "7"),
        ("true", "true"),
        (r#""a b""#, r#""a b""#),
    ];
    for (text, expected) in table {
        assert_eq!(printed(text), Ok(expected.to_owned()), "{text}");
        assert_eq!(printed(expected), Ok(expected.to_owned()), "{text}, again");
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let twice = |name: &str| Ambiguous::Twice(name.into());
    #[rustfmt::skip]
    let table = [
        (r#"{"a":1,"a":2}"#, twice("a")),
        (r#"{"a":1,"b":2,"\u0061":3}"#, twice("a")),
        (r#"{"x":[{"y":{"path":"/tmp","path":"/etc"}}]}"#, twice("path")),
        (r#"{"":1,"":2}"#, twice("")),
        (r#"{"a\nb":1,"a\u000ab":2}"#, twice("a\nb")),
        (r#"{"a\u0000b":1}"#, Ambiguous::Nul("a\0b".into())),
        (r#"{"x":{"\u0000":1}}"#, Ambiguous::Nul("\0".into())),
        (r#"["\ud800"]"#, Ambiguous::HalfCharacter),
        (r#"{"\udc00a":1}"#, Ambiguous::HalfCharacter),
        (r#"["\ud800\ud800"]"#, Ambiguous::HalfCharacter),
        (r#"{"a":1"#, Ambiguous::NotJson),
        ("", Ambiguous::NotJson),
        (r#"{"a":01}"#, Ambiguous::NotJson),
    ];
    for (text, why) in table {
        assert_eq!(printed(text), Err(why), "{text}");
    }
}

#[test]
fn a_twin_is_found_among_many() {
    let crowd = |last: &str| {
        let members: Vec<_> = (0..10_000).map(|n| format!(r#""m{n}":{n}"#)).collect();
        format!(r#"{{{},"{last}":0}}"#, members.join(","))
    };
    assert!(Printed::parse(&crowd("other")).is_ok());
    assert_eq!(printed(&crowd("m77")), Err(Ambiguous::Twice("m77".into())));
}

#[test]
fn names_that_differ_by_capitals_are_two_unless_they_are_the_specifications() {
    let text = r#"{"text":1,"Text":2}"#;
    assert!(Printed::parse(text).is_ok());
    let raw: &RawValue = serde_json::from_str(text).unwrap();
    assert!(matches!(Printed::read_folded(raw), Err(Ambiguous::Twice(_))));
}

#[test]
fn a_name_reads_as_another_for_somebody() {
    #[rustfmt::skip]
    let table = [
        ("Name", "name", true),
        ("ARGUMENTS", "arguments", true),
        ("name\0", "name", true),
        ("NAME\0anything", "name", true),
        ("argument\u{17f}", "arguments", true),
        ("tas\u{212a}", "task", true),
        ("ur\u{131}", "uri", true),
        ("ur\u{130}", "uri", true),
        ("me\u{df}ages", "messages", true),
        ("_META", "_meta", true),
        ("names", "name", false),
        ("nam", "name", false),
        ("\0name", "name", false),
        ("", "name", false),
    ];
    for (name, known, same) in table {
        assert_eq!(reads_as(name, known), same, "{name:?} {known:?}");
    }
}

#[test]
fn what_is_folded_is_counted() {
    let text = r#"{"a":1,"b":":::","c":{"d":[2]}}"#;
    assert_eq!(Folded::after(text, 6), Some(Folded { bytes: text.len() - 6, members: 3 }));
    assert_eq!(Folded::after(text, text.len()), None);
    assert_eq!(Folded::after(text, 99), None);
}

#[test]
fn a_name_that_our_reader_takes_for_a_sign_to_itself_is_refused() {
    let table = [
        (r#"{"$serde_json::private::RawValue":"[1]"}"#, true),
        (r#"{"a":[{"b":1,"$serde_json::private::RawValue":"[1]"}]}"#, true),
        (r#"{"\u0024serde_json::private::RawValue":"[1]"}"#, true),
        (r#"{"$serde_json\u003a:private::Number":"1"}"#, true),
        (r#"{"a":"$serde_json::private::RawValue","\u0024schema":"\u0000"}"#, false),
        (r#"["$serde_json::private::RawValue",-1,1.5,true,null]"#, false),
    ];
    for (text, reserved) in table {
        assert_eq!(has_reserved_name(text), reserved, "{text}");
        let printed = Printed::parse(text);
        assert_eq!(matches!(printed, Err(Ambiguous::Reserved(_))), reserved, "{text}");
    }
}
