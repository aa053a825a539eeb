//! Whatever arrives, it is refused or becomes a message that prints as one any peer accepts.

use serde_json::{Map, Value};
use transom::rpc::{Message, MessageLimits};

/// Takes the input for the text of one message.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let limits = MessageLimits { bytes: 1 << 16, depth: 32 };
    let Ok(message) = Message::parse(&text, limits) else { return };
    let printed = message.print();
    well_formed(&printed);
    // Printing adds members that were left out, so the limit is not the one of the input.
    let again = Message::parse(&printed, MessageLimits::default()).expect("we read what we print");
    assert_eq!(again.print(), printed);
    assert_eq!(again.method(), message.method());
}

fn well_formed(printed: &str) {
    // Numbers beyond f64 are good JSON that only passes through.
    let Ok(members) = serde_json::from_str::<Map<String, Value>>(printed) else { return };
    let mut names: Vec<_> = members.keys().map(String::as_str).collect();
    names.sort_unstable();
    #[rustfmt::skip]
    let shapes: [&[&str]; 6] = [
        &["id", "jsonrpc", "method"],
        &["id", "jsonrpc", "method", "params"],
        &["jsonrpc", "method"],
        &["jsonrpc", "method", "params"],
        &["id", "jsonrpc", "result"],
        &["error", "id", "jsonrpc"],
    ];
    assert!(shapes.contains(&names.as_slice()), "{printed}");
    assert_eq!(members["jsonrpc"], "2.0", "{printed}");
    for name in ["params", "result", "error"] {
        assert!(members.get(name).is_none_or(Value::is_object), "{printed}");
    }
}
