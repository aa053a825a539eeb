//! The other process: a page with many views, all of which call as much as they are told to.

use std::time::{Duration, Instant};

use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _},
};

use super::machine::{Absences, Machine};

/// Does what standard input says, and prints what came of it.
pub(crate) async fn serve(port: u16, token: &str) {
    let key = exchange(port, token).await;
    let mut load = Load::connect(port, &key).await;
    let mut bare = Load::to(port, "bare").await;
    let machine = Machine::watch();
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(order)) = orders.next_line().await {
        let order: Value = serde_json::from_str(&order).expect("JSON");
        let answer = if let Some(count) = order["open"].as_u64() {
            load.open(count).await;
            json!({})
        } else if let Some(seconds) = order["flood"].as_f64() {
            let views = order["views"].as_u64().expect("how many views") as usize;
            load.flood(views, Duration::from_secs_f64(seconds)).await
        } else {
            let pace = order["pace"].as_f64().expect("a pace");
            let time = Duration::from_secs_f64(order["for"].as_f64().expect("a time"));
            if order["bare"] == true {
                bare.views.resize_with(load.views.len(), View::default);
                bare.pace(pace, time, machine.as_ref()).await
            } else {
                load.pace(pace, time, machine.as_ref()).await
            }
        };
        println!("{answer}");
    }
}

async fn exchange(port: u16, token: &str) -> String {
    let body = json!({ "token": token }).to_string();
    let request = format!(
        "POST /api/key HTTP/1.1\r\nhost: localhost:{port}\r\norigin: http://localhost:{port}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("the page listens");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    let body: Value = serde_json::from_str(body).expect("JSON");
    body["key"].as_str().expect("a key").to_owned()
}

struct Load {
    socket: WebSocketStream<TcpStream>,
    views: Vec<View>,
    /// The id of the next call.
    next: u64,
}

#[derive(Default)]
struct View {
    said: u64,
    heard: u64,
    /// When each call was due that has no answer yet, by its id.
    waiting: std::collections::HashMap<u64, Instant>,
}

/// What a frame of the host's says.
struct Heard<'a> {
    view: usize,
    kind: &'a str,
    payload: &'a str,
}

impl Load {
    async fn to(port: u16, path: &str) -> Self {
        let mut request =
            format!("ws://localhost:{port}/{path}").into_client_request().expect("an address");
        let origin = format!("http://localhost:{port}");
        request.headers_mut().insert("origin", origin.parse().expect("a header"));
        let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("the page listens");
        stream.set_nodelay(true).expect("a socket");
        let (socket, _) = client_async(request, stream).await.expect("a socket");
        Self { socket, views: vec![], next: 1 }
    }

    async fn connect(port: u16, key: &str) -> Self {
        let mut load = Self::to(port, "ws").await;
        let hello = json!({ "hello": { "version": 1, "key": key, "page": "load", "tab": "load" } });
        load.socket.send(Message::text(hello.to_string())).await.expect("sent");
        let welcome = load.socket.next().await.expect("welcome").expect("welcome");
        assert!(welcome.to_text().expect("text").starts_with(r#"{"welcome""#), "{welcome}");
        load
    }

    fn frame(&mut self, view: usize, kind: &str, payload: &str) -> Message {
        let place = &mut self.views[view];
        place.said += 1;
        let (seq, ack) = (place.said, place.heard);
        Message::text(format!(r#"{{"view":"v{view}","seq":{seq},"ack":{ack},"{kind}":{payload}}}"#))
    }

    async fn say(&mut self, view: usize, kind: &str, payload: &str) {
        let frame = self.frame(view, kind, payload);
        self.socket.send(frame).await.expect("sent");
    }

    /// Opens views, and goes through each one's handshake.
    async fn open(&mut self, count: u64) {
        for _ in 0..count {
            let view = self.views.len();
            self.views.push(View::default());
            let open = r#"{"lanes":[],"modes":["inline"],"container":{},"tool":{"server":"stub","name":"echo"}}"#;
            self.say(view, "open", open).await;
            let hello = r#"{"jsonrpc":"2.0","id":0,"method":"ui/initialize","params":{"appInfo":{"name":"load","version":"1"},"appCapabilities":{},"protocolVersion":"2026-01-26"}}"#;
            self.until(view, |kind, _| kind == "open").await;
            self.say(view, "message", hello).await;
            self.until(view, |_, payload| payload.contains(r#""id":0"#)).await;
            let ready = r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized","params":{}}"#;
            self.say(view, "message", ready).await;
            self.until(view, |_, payload| payload.contains("tool-result")).await;
        }
    }

    async fn until(&mut self, wanted: usize, enough: impl Fn(&str, &str) -> bool) {
        loop {
            let message = self.socket.next().await.expect("open").expect("open");
            let Message::Text(text) = message else { continue };
            let heard = self.hear(&text);
            assert!(heard.kind != "close", "{text}");
            if heard.view == wanted && enough(heard.kind, heard.payload) {
                return;
            }
        }
    }

    fn hear<'a>(&mut self, text: &'a str) -> Heard<'a> {
        let rest = text.strip_prefix(r#"{"view":"v"#).expect(text);
        let (view, rest) = rest.split_once('"').expect("a name");
        let view: usize = view.parse().expect("a name of ours");
        let place = &mut self.views[view];
        let number = |rest: &'a str, name: &str| -> Option<(u64, &'a str)> {
            let rest = rest.strip_prefix(name)?;
            let end = rest.find([',', '}']).expect("an end");
            Some((rest[..end].parse().expect("a number"), &rest[end..]))
        };
        let (seq, rest) = number(rest, r#","seq":"#).unwrap_or((0, rest));
        let (_, rest) = number(rest, r#","ack":"#).expect("a confirmation");
        if seq == 0 {
            return Heard { view, kind: "", payload: "" };
        }
        assert_eq!(seq, place.heard + 1, "in order");
        place.heard = seq;
        let rest = rest.strip_prefix(",\"").expect("a kind");
        let (kind, payload) = rest.split_once("\":").expect("a payload");
        Heard { view, kind, payload: &payload[..payload.len() - 1] }
    }

    /// One call of a view, which was due then; written, but not yet pushed out.
    async fn call(&mut self, view: usize, due: Instant) {
        let id = self.next;
        self.next += 1;
        self.views[view].waiting.insert(id, due);
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello"}}}}}}"#
        );
        let frame = self.frame(view, "message", &call);
        self.socket.feed(frame).await.expect("sent");
    }

    /// The answer to a call, if it is one: how long it took, and whose it was.
    fn settle(&mut self, text: &str) -> Option<(usize, Duration)> {
        let heard = self.hear(text);
        let (_, id) = heard.payload.split_once(r#""id":"#)?;
        let id = id[..id.find([',', '}'])?].parse().ok()?;
        assert!(heard.payload.contains("\"result\""), "{text}");
        Some((heard.view, self.views[heard.view].waiting.remove(&id)?.elapsed()))
    }

    /// So many calls are open at any time, of one view after the other, for as long as told.
    async fn flood(&mut self, views: usize, time: Duration) -> Value {
        let begin = Instant::now();
        for n in 0..OPEN {
            self.call(n % views, begin).await;
        }
        let (mut calls, mut open, mut next) = (0_u64, OPEN, OPEN);
        let mut spent = time;
        while open > 0 {
            self.socket.flush().await.expect("sent");
            let message = self.socket.next().await.expect("open").expect("open");
            let Message::Text(text) = message else { continue };
            if self.settle(&text).is_none() {
                continue;
            }
            open -= 1;
            if begin.elapsed() < time {
                calls += 1;
                self.call(next % views, begin).await;
                (open, next) = (open + 1, next + 1);
            } else {
                spent = spent.min(begin.elapsed());
            }
        }
        json!({ "calls": calls, "perSecond": calls as f64 / spent.as_secs_f64() })
    }

    /// As many calls a second as told, evenly, whether or not the ones before were answered. Each is timed from when
    /// it was due, so that what waits behind a slow one counts too.
    async fn pace(&mut self, per_second: f64, time: Duration, machine: Option<&Machine>) -> Value {
        machine.map(Machine::take);
        let begin = Instant::now();
        let views = self.views.len();
        let total = (per_second * time.as_secs_f64()) as usize;
        let (mut times, mut late) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let due = |n: usize| begin + Duration::from_secs_f64(n as f64 / per_second);
        while times.len() < total {
            let now = Instant::now();
            let sent = late.len();
            while late.len() < total && due(late.len()) <= now {
                late.push((now - due(late.len())).as_secs_f64() * 1e3);
                self.call((late.len() - 1) % views, due(late.len() - 1)).await;
            }
            if late.len() > sent {
                self.socket.flush().await.expect("sent");
            }
            // Looks and does not sleep: a timer cuts no finer than a millisecond, a core that sleeps wakes up late, and
            // this one has nothing else to do.
            while let Some(Some(message)) = self.socket.next().now_or_never() {
                if let Message::Text(text) = message.expect("open") {
                    times.extend(self.settle(&text).map(|(_, took)| (Instant::now(), took)));
                }
            }
            tokio::task::yield_now().await;
        }
        let took = |(_, took): &(Instant, Duration)| took.as_secs_f64() * 1e3;
        let absences = machine.map(Machine::take);
        let spared = |absences: &Absences| -> Vec<f64> {
            let spared = times.iter().filter(|(end, took)| absences.spared(*end - *took, *end));
            spared.map(took).collect()
        };
        let mut spared = absences.as_ref().map(spared).unwrap_or_default();
        let mut all: Vec<f64> = times.iter().map(took).collect();
        json!({
            "p50": at(&mut all, 0.5), "p99": at(&mut all, 0.99), "max": at(&mut all, 1.0), "late": at(&mut late, 0.99),
            "away": absences.map(|absences| absences.share(time)),
            "spared": spared.len() as f64 / total as f64, "sparedP99": at(&mut spared, 0.99),
        })
    }
}

/// A percentile; nothing of nothing.
fn at(list: &mut [f64], part: f64) -> Option<f64> {
    list.sort_by(f64::total_cmp);
    list.get((list.len().saturating_sub(1) as f64 * part) as usize).copied()
}

/// Calls that are open at once; as many as one view may have.
const OPEN: usize = 128;
