//! A host that runs, and a page with a view before it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client::IntoClientRequest as _};

use crate::transom::Place;

/// A running host with a view that calls tools.
pub(crate) struct Busy {
    pub(crate) child: Child,
    pub(crate) lines: std::io::Lines<BufReader<ChildStdout>>,
    pub(crate) socket: WebSocket<TcpStream>,
    said: u64,
    heard: u64,
}

impl Busy {
    pub(crate) fn start(place: &Place) -> Self {
        Self::start_with(place, &[])
    }

    /// The same, with more words after the command.
    pub(crate) fn start_with(place: &Place, words: &[&str]) -> Self {
        let mut command = place.command(&["run", "--port", "18520"]);
        command.args(words);
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

    /// Opens a view of the demo, past its handshake; returns how the page is told to mount it.
    pub(crate) fn open(&mut self) -> Value {
        self.say(&json!({"open":{"tool":{"server":"demo","name":"show_weather","arguments":{}}}}));
        let opened = self.hear(|frame| frame.get("open").is_some());
        let hello = json!({"protocolVersion":"2026-01-26","appInfo":{"name":"v","version":"1"},"appCapabilities":{}});
        self.request(0, "ui/initialize", &hello);
        self.hear(|frame| frame["message"]["id"] == 0);
        self.say(&json!({"message":{"jsonrpc":"2.0","method":"ui/notifications/initialized"}}));
        opened["open"].clone()
    }

    pub(crate) fn request(&mut self, id: u64, method: &str, params: &Value) {
        self.say(&json!({"message":{"jsonrpc":"2.0","id":id,"method":method,"params":params}}));
    }

    pub(crate) fn say(&mut self, what: &Value) {
        self.said += 1;
        let rest = what.to_string();
        let (said, heard) = (self.said, self.heard);
        self.send(&format!(r#"{{"view":"v1","seq":{said},"ack":{heard},{}"#, &rest[1..]));
    }

    pub(crate) fn send(&mut self, text: &str) {
        // Whoever is killed in the middle of a word hears nothing.
        let _ = self.socket.send(Message::text(text));
    }

    pub(crate) fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
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
    pub(crate) fn end(mut self) -> String {
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
