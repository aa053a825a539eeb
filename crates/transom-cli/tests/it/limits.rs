//! The limits of a file, where each of them counts: in the sandbox, on the page and at the gate.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{busy::Busy, transom::Place};

/// What one configuration comes to.
struct Row {
    toml: &'static str,
    /// What the sandbox page is told.
    sandbox: &'static str,
    /// What the page is told.
    page: Value,
    /// The largest message that the gate takes, in bytes.
    size: u64,
    /// How many messages are sent at once, and whether the gate takes all of them.
    at_once: (u64, bool),
}

#[test]
fn the_limits_of_the_file_count_in_the_sandbox_on_the_page_and_at_the_gate() {
    let usual = json!({
        "flying": 64, "flyingBytes": 4 << 20, "waiting": 1_024, "waitingBytes": 64 << 20,
    });
    let house = Row {
        toml: "",
        sandbox: r#"data-limit="16777216" data-rate="500" data-pace="50" data-bytes="32000000""#,
        page: usual.clone(),
        size: 16 << 20,
        at_once: (100, true),
    };
    let less = Row {
        toml: "[limits.view]\nmessages = 1\nmessages-burst = 30\nmessage-size = 1000\n",
        sandbox: r#"data-limit="8000" data-rate="500" data-pace="50" data-bytes="32000000""#,
        page: usual,
        size: 1_000,
        at_once: (200, false),
    };
    let more = Row {
        toml: "[limits.view]\nmessages = 5000\nbytes = 200000000\n",
        sandbox: r#"data-limit="16777216" data-rate="8334" data-pace="833" data-bytes="400000000""#,
        page: json!({
            "flying": 600, "flyingBytes": 20_000_000,
            "waiting": 16_668, "waitingBytes": 800_000_000,
        }),
        size: 16 << 20,
        at_once: (1_500, true),
    };
    for row in [house, less, more] {
        holds(&row);
    }
}

fn holds(row: &Row) {
    let place = Place::new().with("transom.toml", row.toml);
    let mut host = Busy::start_with(&place, &["--toml", "transom.toml"]);
    let opened = host.open();
    assert_eq!(opened["limits"], row.page, "{}", row.toml);
    let page = get(opened["src"].as_str().unwrap());
    assert!(page.contains(row.sandbox), "{}: {page:.600}", row.toml);
    // The sandbox tells no more of what is too large than whose it was; the gate refuses it like what came whole.
    host.say(&json!({ "dropped": { "id": "large", "method": "ping" } }));
    let refused = host.hear(|frame| frame["message"]["id"] == "large");
    assert_eq!(
        refused["message"]["error"]["data"],
        json!({ "reason": "limit", "limit": "message-size", "of": "view", "most": row.size }),
        "{}",
        row.toml
    );
    let (sent, all) = row.at_once;
    (1..=sent).for_each(|id| host.request(id, "ping", &json!({})));
    let mut taken = 0;
    for id in 1..=sent {
        let answer = host.hear(|frame| frame["message"]["id"] == id);
        taken += u64::from(answer["message"]["result"].is_object());
    }
    assert_eq!(taken == sent, all, "{}: {taken} of {sent}", row.toml);
    host.end();
}

/// What is served at an address of a frame.
fn get(address: &str) -> String {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let (_, port) = host.rsplit_once(':').unwrap();
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
