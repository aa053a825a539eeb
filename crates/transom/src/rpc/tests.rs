//! Messages as bytes: what is read, refused and printed.

use super::*;
use crate::quoted::Quoted;

fn parse(text: &str) -> Result<Message<'_>, Malformed> {
    Message::parse(text, MessageLimits::default())
}

/// What a text reads as, printed again, or why it does not.
fn reads(text: &str) -> Result<String, Malformed> {
    parse(text).map(|message| message.print())
}

#[test]
fn what_reads_and_what_it_prints() {
    #[rustfmt::skip]
    let table = [
        // W-5: the four shapes.
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#, r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#),
        (r#"{"jsonrpc":"2.0","method":"m","params":{"a":[1, 2]}}"#, r#"{"jsonrpc":"2.0","method":"m","params":{"a":[1, 2]}}"#),
        (r#"{"jsonrpc":"2.0","id":0,"result":{"x":1e3}}"#, r#"{"jsonrpc":"2.0","id":0,"result":{"x":1e3}}"#),
        (r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no","data":[ 1 ]}}"#, r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no","data":[ 1 ]}}"#),
        // Any order, any white space.
        ("\n { \"method\" : \"m\" , \"jsonrpc\" : \"2.0\" } \t", r#"{"jsonrpc":"2.0","method":"m"}"#),
        // docs/reference/mcp-apps.md §4.2 "Extra top-level keys": dropped, and never
        // printed (W-5).
        (r#"{"jsonrpc":"2.0","channel":"ui","method":"m","type":{"deep":[]}}"#, r#"{"jsonrpc":"2.0","method":"m"}"#),
        // W-3: ids keep their type.
        (r#"{"jsonrpc":"2.0","id":"0","method":"m"}"#, r#"{"jsonrpc":"2.0","id":"0","method":"m"}"#),
        (r#"{"jsonrpc":"2.0","id":-7,"method":"m"}"#, r#"{"jsonrpc":"2.0","id":-7,"method":"m"}"#),
        (r#"{"jsonrpc":"2.0","id":9007199254740991,"method":"m"}"#, r#"{"jsonrpc":"2.0","id":9007199254740991,"method":"m"}"#),
        (r#"{"jsonrpc":"2.0","id":"\u0041\n","method":"m"}"#, r#"{"jsonrpc":"2.0","id":"A\n","method":"m"}"#),
        // Escaped names are the names they spell.
        (r#"{"jsonrpc":"\u0032.0","\u006dethod":"tools\/call"}"#, r#"{"jsonrpc":"2.0","method":"tools/call"}"#),
        // An error that says little still answers.
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":""}}"#),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1e99,"message":7}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":""}}"#),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"x","extra":1}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"x"}}"#),
    ];
    for (text, printed) in table {
        assert_eq!(reads(text), Ok(printed.to_owned()), "{text}");
    }
}

#[test]
fn what_is_refused_and_why() {
    let bad = |id, reason| Malformed::BadAnswer { id: Id::Number(id), reason };
    #[rustfmt::skip]
    let table = [
        // W-2: no batches. W-1: no strings.
        ("[]", Malformed::NotAnObject),
        (r#"[{"jsonrpc":"2.0","method":"m"}]"#, Malformed::NotAnObject),
        (r#""{}""#, Malformed::NotAnObject),
        ("", Malformed::NotAnObject),
        ("null", Malformed::NotAnObject),
        // W-8: not ours.
        ("{}", Malformed::Foreign),
        (r#"{"jsonrpc":2.0,"method":"m"}"#, Malformed::Foreign),
        (r#"{"jsonrpc":"1.0","method":"m"}"#, Malformed::Foreign),
        (r#"{"type":"MCP_MESSAGE","payload":{}}"#, Malformed::Foreign),
        // W-3.
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, Malformed::BadId),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, Malformed::BadId),
        (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, Malformed::BadId),
        (r#"{"jsonrpc":"2.0","id":{},"result":{}}"#, Malformed::BadId),
        (r#"{"jsonrpc":"2.0","id":9007199254740992,"method":"m"}"#, Malformed::BadId),
        (r#"{"jsonrpc":"2.0","id":-99999999999999999999,"method":"m"}"#, Malformed::BadId),
        // W-4.
        (r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#, Malformed::BadParams),
        (r#"{"jsonrpc":"2.0","method":"m","params":null}"#, Malformed::BadParams),
        (r#"{"jsonrpc":"2.0","id":1,"method":{}}"#, Malformed::BadMethod),
        (r#"{"jsonrpc":"2.0"}"#, Malformed::Shapeless),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, Malformed::Shapeless),
        // W-6.
        (r#"{"jsonrpc":"2.0","id":1}"#, bad(1, "neither a result nor an error")),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, bad(1, "a result that is not an object")),
        (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, bad(1, "a result that is not an object")),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, bad(1, "an error we cannot read")),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"result":{}}"#, bad(1, "both a result and an error")),
        // Twice the same member: readers differ in which one counts.
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, Malformed::Syntax { line: 1, column: 28 }),
        (r#"{"jsonrpc":"2.0","method":"m"} x"#, Malformed::Syntax { line: 1, column: 32 }),
        (r#"{"jsonrpc":"2.0","method":"m""#, Malformed::Syntax { line: 1, column: 29 }),
    ];
    for (text, why) in table {
        assert_eq!(reads(text), Err(why), "{text}");
    }
}

#[test]
fn a_twin_of_a_member_is_told_and_not_read() {
    #[rustfmt::skip]
    let table = [
        (r#"{"jsonrpc":"2.0","method":"m"}"#, None),
        (r#"{"jsonrpc":"2.0","method":"m","channel":1,"methods":2}"#, None),
        (r#"{"jsonrpc":"2.0","method":"m","Method":"n"}"#, Some(("method", "Method"))),
        (r#"{"jsonrpc":"2.0","method":"m","\u0050arams":{}}"#, Some(("params", "Params"))),
        (r#"{"jsonrpc":"2.0","method":"m","params\u0000x":{}}"#, Some(("params", "params\0x"))),
        (r#"{"jsonrpc":"2.0","method":"m","JSONRPC":"1.0"}"#, Some(("jsonrpc", "JSONRPC"))),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"re\u017fult":{}}"#, Some(("result", "re\u{17f}ult"))),
    ];
    for (text, expected) in table {
        let (message, twin) = Message::parse_strictly(text, MessageLimits::default()).unwrap();
        let expected = expected.map(|(of, got)| Ambiguous::Twin { of, got: Quoted::new(got) });
        assert_eq!(twin, expected, "{text}");
        assert!(message.method().is_none_or(|method| method == "m"), "{text}");
    }
}

#[test]
fn a_long_string_id_is_refused() {
    let id = |length: usize| {
        format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(length))
    };
    assert!(parse(&id(MAX_ID_BYTES)).is_ok());
    assert_eq!(parse(&id(MAX_ID_BYTES + 1)).unwrap_err(), Malformed::BadId);
}

#[test]
fn size_is_limited_before_anything_is_read() {
    let limits = MessageLimits { bytes: 10, depth: 100 };
    let error = Message::parse("not json at all", limits).unwrap_err();
    assert_eq!(error, Malformed::TooLarge { size: 15, limit: 10 });
}

#[test]
fn depth_is_limited_wherever_it_hides() {
    let limits = MessageLimits { bytes: 1 << 20, depth: 5 };
    let nested = |member: &str, depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","method":"m","{member}":{{"a":{open}{close}}}}}"#)
    };
    for member in ["params", "ignored"] {
        assert!(Message::parse(&nested(member, 3), limits).is_ok(), "{member}");
        let error = Message::parse(&nested(member, 4), limits).unwrap_err();
        assert_eq!(error, Malformed::TooDeep { limit: 5 }, "{member}");
    }
    // A million levels cost a scan, not a stack.
    let error = parse(&nested("params", 1_000_000)).unwrap_err();
    assert_eq!(error, Malformed::TooDeep { limit: 100 });
}

#[test]
fn params_borrow_from_the_text() {
    let text = r#"{"jsonrpc":"2.0","method":"m","params":{"big":"…"}}"#;
    let Ok(Message::Notification(Notification { method: Cow::Borrowed(_), params })) = parse(text)
    else {
        panic!("a notification with a borrowed method");
    };
    let params = params.unwrap().get();
    assert!(text.as_bytes().as_ptr_range().contains(&params.as_ptr()));
}

#[test]
fn a_stringified_message_is_unwrapped_once() {
    let limits = MessageLimits::default();
    assert_eq!(unwrap_string(r#" "{\"a\":1}" "#, limits).as_deref(), Some(r#"{"a":1}"#));
    assert_eq!(unwrap_string("{}", limits), None);
    assert_eq!(unwrap_string(r#""half"#, limits), None);
}
