//! The audit as a person has it: written by a real run, killed at any moment, and read afterwards.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client::IntoClientRequest as _};

use crate::transom::Place;

/// A running host with a view that calls tools.
struct Busy {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    socket: WebSocket<TcpStream>,
    said: u64,
    heard: u64,
}

impl Busy {
    fn start(place: &Place) -> Self {
        let mut command = place.command(&["run", "--port", "18520"]);
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut line = |start: &str| {
            let found =
                lines.by_ref().map(Result::unwrap).find(|line| line.trim().starts_with(start));
            found.unwrap_or_else(|| panic!("no line {start}"))
        };
        let first = line("transom ");
        line("demo ");
        let (_, rest) = first.split_once("http://localhost:").unwrap();
        let (port, rest) = rest.split_once("/#token=").unwrap();
        let token = rest.split_whitespace().next().unwrap();
        let key = exchange(port, token);
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        let mut request = format!("ws://localhost:{port}/ws").into_client_request().unwrap();
        let origin = format!("http://localhost:{port}");
        request.headers_mut().insert("Origin", origin.parse().unwrap());
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        let mut busy = Self { child, lines, socket, said: 0, heard: 0 };
        busy.send(&json!({"hello":{"version":1,"key":key,"page":"p","tab":"t"}}).to_string());
        busy
    }

    /// Opens a view of the demo, past its handshake.
    fn open(&mut self) {
        self.say(&json!({"open":{"tool":{"server":"demo","name":"show_weather","arguments":{}}}}));
        self.hear(|frame| frame.get("open").is_some());
        let hello = json!({"protocolVersion":"2026-01-26","appInfo":{"name":"v","version":"1"},"appCapabilities":{}});
        self.request(0, "ui/initialize", &hello);
        self.hear(|frame| frame["message"]["id"] == 0);
        self.say(&json!({"message":{"jsonrpc":"2.0","method":"ui/notifications/initialized"}}));
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) {
        self.say(&json!({"message":{"jsonrpc":"2.0","id":id,"method":method,"params":params}}));
    }

    fn say(&mut self, what: &Value) {
        self.said += 1;
        let rest = what.to_string();
        let (said, heard) = (self.said, self.heard);
        self.send(&format!(r#"{{"view":"v1","seq":{said},"ack":{heard},{}"#, &rest[1..]));
    }

    fn send(&mut self, text: &str) {
        // Whoever is killed in the middle of a word hears nothing.
        let _ = self.socket.send(Message::text(text));
    }

    fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.socket.read().unwrap();
            let frame: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
            // As a page does: a host that hears of none of its frames soon sends no more.
            if let Some(seq) = frame["seq"].as_u64() {
                self.heard = seq;
                self.send(&format!(r#"{{"view":"v1","ack":{seq}}}"#));
            }
            if wanted(&frame) {
                return frame;
            }
        }
    }

    /// Ends in order; returns the head that is printed.
    fn end(mut self) -> String {
        self.say(&json!({"close":{"reason":"gone"}}));
        self.hear(|frame| frame.get("close").is_some());
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
        let line = self.lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("audit: "));
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        line.expect("the head is printed").rsplit(' ').next().unwrap().to_owned()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn exchange(port: &str, token: &str) -> String {
    let body = json!({ "token": token }).to_string();
    let mut page = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(
        page,
        "POST /api/key HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    page.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    body["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_can_be_listed_exported_and_verified() {
    let place = Place::new();
    let mut host = Busy::start(&place);
    host.open();
    host.request(1, "tools/call", &json!({"name":"refresh","arguments":{"city":"hush"}}));
    host.hear(|frame| frame["message"]["id"] == 1);
    let head = host.end();
    let (code, out, err) = place.transom(&["audit", "verify", "--head", &head]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains(&head), "{out}");
    let (code, out, _) = place.transom(&["audit", "list"]);
    assert_eq!(code, 0);
    for part in ["effect", "method=tools/call", "about=refresh", "outcome=allowed", "stop"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains("hush"), "{out}");
    assert_eq!(place.transom(&["audit", "list", "--last", "2"]).1.lines().count(), 2);
    for words in [&["audit", "export"][..], &["audit", "export", "--redact"]] {
        let (code, out, _) = place.transom(words);
        assert_eq!(code, 0);
        assert_eq!(out.contains("refresh"), words.len() == 2, "{out}");
        assert!(out.lines().last().unwrap().contains(&head), "{out}");
        let verify = |name: &str, text: &str| {
            std::fs::write(place.path().join(name), text).unwrap();
            place.transom(&["audit", "verify", "--export", name, "--head", &head])
        };
        assert_eq!(verify("whole.jsonl", &out).0, 0, "{words:?}");
        let (code, words_of_it, _) =
            verify("changed.jsonl", &out.replacen("allowed", "refused", 1));
        assert_eq!(code, 1);
        assert!(words_of_it.starts_with("row 4 is not what was written there"), "{words_of_it}");
        let cut: Vec<&str> = out.lines().take(4).collect();
        assert_eq!(verify("cut.jsonl", &cut.join("\n")).0, 1);
    }
    assert_eq!(place.transom(&["audit", "verify", "--head", &"1".repeat(64)]).0, 1, "a cut tail");
    assert_eq!(place.transom(&["audit", "verify", "--head", "x"]).0, 2);
    assert_eq!(place.transom(&["audit", "verify", "--data-dir", "nowhere"]).0, 2);
    let (code, out, _) = place.transom(&["audit", "prune", "--retain", "0"]);
    assert!(code == 0 && out.starts_with("removed "), "{out}");
    let (code, out, _) = place.transom(&["audit", "verify", "--head", &head]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn a_run_without_an_audit_says_so() {
    let place = Place::new();
    let mut command = place.command(&["run", "--port", "18540", "--no-audit"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|line| line.contains("audit"));
    let _ = child.kill();
    let _ = child.wait();
    assert!(said.unwrap().contains("off: nothing that views do is written down"));
    assert!(!place.path().join(".local/share/transom/audit.db").exists());
    assert_eq!(place.transom(&["audit", "verify"]).0, 2);
}

#[test]
fn what_is_no_audit_stops_a_run_with_its_reason() {
    let place = Place::new().with("data/audit.db", &"hello ".repeat(1_000));
    let (code, _, err) = place.transom(&["run", "--port", "18560", "--data-dir", "data"]);
    assert_eq!(code, 2);
    assert!(err.contains("is not an audit of transom") && err.contains("--no-audit"), "{err}");
}

/// As often as `TRANSOM_KILLS` says; a few times otherwise.
#[test]
fn a_run_that_is_killed_at_any_moment_leaves_a_log_that_verifies() {
    let kills = std::env::var("TRANSOM_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills: u64 = kills.unwrap_or(3);
    let place = Place::new();
    let mut answered = 0;
    for n in 0..kills {
        let mut host = Busy::start(&place);
        host.open();
        // Another moment each time: after some hundred microseconds to some tens of milliseconds.
        let patience = Duration::from_micros(200 + n * 7_919 % 40_000);
        let begun = Instant::now();
        let mut id = 0;
        while begun.elapsed() < patience {
            id += 1;
            host.request(id, "tools/call", &json!({"name":"refresh"}));
        }
        if n % 2 == 1 {
            host.hear(|frame| frame["message"]["id"] == 1);
            answered += 1;
        }
        host.child.kill().unwrap();
        host.child.wait().unwrap();
        // What the view heard of had been written down before it was done.
        while let Ok(message) = host.socket.read() {
            let text = message.to_text().unwrap_or_default();
            answered += u64::from(text.contains(r#""result""#) && text.contains("content"));
        }
        let (code, out, err) = place.transom(&["audit", "verify"]);
        assert_eq!(code, 0, "kill {n}: {out}{err}");
    }
    let (_, out, _) = place.transom(&["audit", "export"]);
    let effects = out.lines().filter(|line| line.contains(r#""kind":"effect""#)).count() as u64;
    assert!(
        answered > 0 && effects >= answered,
        "{effects} effects are written down, {answered} were answered"
    );
}
