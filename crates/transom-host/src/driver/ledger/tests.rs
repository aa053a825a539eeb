//! A page, a view and a person in words, on the real loop with the real demo server.

use std::path::Path;

use axum::{
    extract::State,
    http::{HeaderName, StatusCode, header::CONTENT_TYPE},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _},
    sync::mpsc,
};
use transom::{
    host,
    origin::Origin,
    policy::Decision,
    wire::{MIME, UiUri},
};

use super::super::{Event, ToSocket};
use crate::{
    Builder, Host,
    audit::{Audit, Options, Reader, Record},
    demo,
    documents::{Document, DocumentLimits},
    envelope::Envelope,
    sandbox::Naming,
    upstream::{CallOptions, Endpoint, InProcess, Request, Target},
};

const LINK: &str = "https://a.test/";
const VIEW: &str = "ui://demo/weather.html";

struct Page {
    host: Host,
    socket: mpsc::UnboundedReceiver<ToSocket>,
    said: u64,
    heard: u64,
}

impl Page {
    /// A page with a view of the demo, past its handshake.
    async fn open(audit: Option<Audit>) -> Self {
        Self::connect(audit).await.opened().await
    }

    async fn opened(mut self) -> Self {
        let page = &mut self;
        page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather","arguments":{}}}}))
            .await;
        self.greeted().await
    }

    /// The view's handshake, once the page has its frame.
    async fn greeted(mut self) -> Self {
        let page = &mut self;
        page.hear("open").await;
        let hello = json!({"protocolVersion":"2026-01-26","appInfo":{"name":"v","version":"1"},"appCapabilities":{}});
        page.ask("ui/initialize", hello).await;
        page.message(json!({"jsonrpc":"2.0","method":"ui/notifications/initialized"})).await;
        self
    }

    async fn connect(audit: Option<Audit>) -> Self {
        Self::connect_to(Target::InProcess(demo::server()), None, audit).await
    }

    async fn connect_to(target: Target, data: Option<&Path>, audit: Option<Audit>) -> Self {
        let origin = Origin::parse("http://localhost:7420").unwrap();
        let mut builder =
            Host::builder(vec![origin], Naming::Localhost { port: 7421 }).server("demo", target);
        if let Some(data) = data {
            builder = builder.data(data.to_owned());
        }
        if let Some(audit) = audit {
            builder = builder.audit(audit);
        }
        Self::connect_with(builder).await
    }

    async fn connect_with(builder: Builder) -> Self {
        let host = builder.build().unwrap();
        let mut seen = None;
        loop {
            let (version, states) = host.servers(seen, std::time::Duration::from_secs(60)).await;
            if states
                .iter()
                .all(|server| server.state == crate::Standing::Ready && server.unseen == 0)
            {
                break;
            }
            seen = Some(version);
        }
        let (sender, socket) = mpsc::unbounded_channel();
        let connected =
            Event::Connected { page: "p".into(), tab: "t".into(), connection: 1, socket: sender };
        assert!(host.events().send(connected).await.is_ok());
        Self { host, socket, said: 0, heard: 0 }
    }

    /// Says something about the view.
    async fn say(&mut self, what: Value) {
        self.said += 1;
        let rest = what.to_string();
        let text =
            format!(r#"{{"view":"v1","seq":{},"ack":{},{}"#, self.said, self.heard, &rest[1..]);
        let frame = Event::Said { page: "p".into(), connection: 1, text, room: None };
        assert!(self.host.events().send(frame).await.is_ok());
    }

    /// The next thing of this kind that is said about the view.
    async fn hear(&mut self, kind: &str) -> Value {
        loop {
            let (said, payload) = self.next().await;
            if said == kind {
                return payload;
            }
        }
    }

    /// Whatever is said next about the view.
    async fn next(&mut self) -> (String, Value) {
        loop {
            let Some(ToSocket::Text(text)) = self.socket.recv().await else { panic!("closed") };
            let Ok(frame) = Envelope::parse(&text) else { continue };
            let Some(said) = frame.said else { continue };
            self.heard = said.seq;
            return (said.kind.to_owned(), serde_json::from_str(said.payload).unwrap());
        }
    }

    async fn message(&mut self, message: Value) {
        self.say(json!({ "message": message })).await;
    }

    /// Makes a request as the view, and returns the answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.answer(id).await
    }

    async fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = 1_000 + self.said;
        self.message(json!({"jsonrpc":"2.0","id":id,"method":method,"params":params})).await;
        id
    }

    /// Opens a link up to where the browser wants a click of its own; returns the request and the deed.
    async fn refuse_deed(&mut self) -> (u64, Value) {
        let id = self.request("ui/open-link", json!({"url":LINK})).await;
        let question = self.hear("ask").await["id"].clone();
        self.say(json!({"answer":{"id":question,"choice":"allow"}})).await;
        let deed = self.hear("do").await["id"].clone();
        self.say(json!({"did":{"id":deed,"done":false}})).await;
        assert_eq!(self.hear("ask").await["id"], deed);
        (id, deed)
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear("message").await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }
}

/// The same demo, of somebody else: its documents are remembered, and may change.
async fn stranger() -> Target {
    declaring(Value::Null).await
}

/// A server with two tools that show the same document, which is made for each request.
const MADE: &str = "made for each request";

/// The same, with documents that declare something.
async fn declaring(csp: Value) -> Target {
    async fn exchange(
        State(csp): State<Value>,
        message: String,
    ) -> (StatusCode, [(HeaderName, &'static str); 1], String) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(demo::serve(reader, writer));
        let (mut reader, mut writer) = tokio::io::split(ours);
        writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
        let mut answer = String::new();
        reader.read_to_string(&mut answer).await.unwrap();
        if let Ok(mut read) = serde_json::from_str::<Value>(&answer)
            && csp.is_object()
            && read["result"]["contents"].is_array()
        {
            read["result"]["contents"][0]["_meta"] = json!({ "ui": { "csp": csp } });
            answer = read.to_string();
        }
        if let Ok(mut read) = serde_json::from_str::<Value>(&answer)
            && csp == MADE
        {
            if let Some(tools) = read["result"]["tools"].as_array_mut() {
                let mut again = tools[0].clone();
                again["name"] = json!("again");
                tools.push(again);
            }
            if message.contains("resources/list") {
                read["result"]["resources"] = json!([]);
            }
            if message.contains("resources/templates/list") {
                let templates = json!([{"name":"t","uriTemplate":"ui://demo/{x}"}]);
                read = json!({"jsonrpc":"2.0","id":read["id"],"result":{"resourceTemplates":templates}});
            }
            answer = read.to_string();
        }
        let status = if answer.is_empty() { StatusCode::ACCEPTED } else { StatusCode::OK };
        (status, [(CONTENT_TYPE, "application/json")], answer)
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/mcp", axum::routing::post(exchange)).with_state(csp);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Target::Http(Endpoint::new(url.parse().unwrap()))
}

/// What the view was.
fn before() -> Document {
    let uri = UiUri::parse(VIEW).unwrap();
    let contents = json!({"contents":[{"uri":VIEW,"mimeType":MIME,"text":"<p>another</p>"}]});
    let contents = serde_json::value::to_raw_value(&contents).unwrap();
    Document::read("demo", &uri, &contents, None, &DocumentLimits::default()).unwrap()
}

/// A page that is asked whether it agrees to a view that is not the one it was.
async fn changed(data: &Path, audit: Audit) -> (Page, Value) {
    let path = data.join("audit.db");
    let mut page = Page::connect_to(stranger().await, Some(data), Some(audit)).await;
    page.host.agree("demo", "show_weather", &before());
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    let ask = page.hear("ask").await;
    assert_eq!(ask["kind"], "document");
    assert!(told(&path).await.contains(&format!("ask {VIEW}")), "before it is asked");
    (page, ask["id"].clone())
}

/// What was written down, in words.
async fn told(path: &Path) -> Vec<String> {
    let rows = rows(path).await;
    let words = rows.iter().map(|(body, detail)| {
        let words = [&body["kind"], &body["method"], &body["outcome"], &detail["about"]];
        let words: Vec<&str> = words.into_iter().filter_map(Value::as_str).collect();
        words.join(" ")
    });
    // The counts of a second come when it is over.
    words.filter(|words| words != "counts").collect()
}

async fn fill(audit: &Audit) {
    while audit.write(Record::opened(&"x".repeat(1_000), "")).await.is_ok() {}
}

async fn rows(path: &Path) -> Vec<(Value, Value)> {
    let mut reader = Reader::open(path).await.unwrap();
    let mut all = vec![];
    loop {
        let page = reader.next().await.unwrap();
        if page.is_empty() {
            return all;
        }
        for row in page {
            let row = row.unwrap();
            let crate::audit::Detail::Whole { text, .. } = &row.detail else { panic!("whole") };
            let parsed = |text: &str| serde_json::from_str(text).unwrap();
            all.push((parsed(&row.body), parsed(text)));
        }
    }
}

#[tokio::test]
async fn d7_a_view_is_written_down_from_its_opening_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let mut page = Page::open(Some(audit.clone())).await;
    // Allowed, refused, asked about and allowed.
    page.ask("tools/call", json!({"name":"refresh","arguments":{"secret":"hush"}})).await;
    page.ask("tools/call", json!({"name":"nowhere"})).await;
    let id = page.request("tools/call", json!({"name":"save_note","arguments":{}})).await;
    let question = page.hear("ask").await["id"].clone();
    page.say(json!({"answer":{"id":question,"choice":"allow-until-end"}})).await;
    assert!(page.answer(id).await.get("result").is_some());
    page.say(json!({"answer":{"id":question,"choice":"allow"}})).await;
    page.message(json!({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}))
        .await;
    page.ask("ping", json!({})).await;
    page.say(json!({"close":{"reason":"gone"}})).await;
    page.hear("close").await;
    page.host.close().await;
    let head = audit.close().await.unwrap();
    assert_eq!(Reader::open(&path).await.unwrap().verify(Some(head.hash)).await.unwrap(), Ok(head));
    #[rustfmt::skip]
    let expected = [
        concat!("start transom ", env!("CARGO_PKG_VERSION")),
        "open show_weather",
        "document pinned ui://demo/weather.html",
        "verdict ui/initialize allowed",
        "verdict tools/call allowed refresh",
        "effect tools/call refresh",
        "outcome done",
        "verdict tools/call refused nowhere",
        "waits tools/call save_note",
        "ask Tool(\"save_note\")",
        "decision allow-until-end",
        "verdict tools/call allowed save_note",
        "effect tools/call save_note",
        "outcome done",
        "unheard allow",
        "verdict ping allowed",
        "close closed: its page is gone",
        "stop",
    ];
    assert_eq!(told(&path).await, expected);
    let rows = rows(&path).await;
    assert!(rows.iter().any(|(body, _)| body["kind"] == "counts"));
    let whole = format!("{rows:?}");
    assert!(!whole.contains("hush"), "no argument is written down: {whole}");
}

#[tokio::test]
async fn a_limit_is_one_row_and_a_flood_one_more_with_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let origin = Origin::parse("http://localhost:7420").unwrap();
    let messages = host::Rate { per_second: 1e-9, burst: 12.0 };
    let limits = host::Limits { messages, ..host::Limits::default() };
    let together = host::ServerLimits { views: 1, ..host::ServerLimits::default() };
    let builder = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
        .server("demo", Target::InProcess(demo::server()))
        .limits(limits)
        .server_limits(together)
        .audit(audit.clone());
    let mut page = Page::connect_with(builder).await.opened().await;
    for n in 0..10 {
        assert!(page.ask("ping", json!({})).await.get("result").is_some(), "{n}");
    }
    for _ in 0..50 {
        let answer = page.ask("ping", json!({})).await;
        assert_eq!(answer["error"]["data"]["limit"], "messages", "{answer}");
    }
    // A second view has no place.
    let open = json!({"tool":{"server":"demo","name":"show_weather"}});
    let text = format!(r#"{{"view":"v2","seq":1,"ack":0,"open":{open}}}"#);
    let frame = Event::Said { page: "p".into(), connection: 1, text, room: None };
    assert!(page.host.events().send(frame).await.is_ok());
    assert!(page.hear("text").await["why"].as_str().unwrap().contains("as many as may be: 1"));
    page.host.close().await;
    audit.close().await.unwrap();
    let rows = rows(&path).await;
    let of = |kind: &'static str| rows.iter().filter(move |(body, _)| body["kind"] == kind);
    // The fifty may have come in more than one second, each of which has its row.
    let refused: Vec<_> = of("verdict").filter(|(body, _)| body["outcome"] == "refused").collect();
    let counted: u64 = of("counts").filter_map(|(body, _)| body["limited"].as_u64()).sum();
    assert_eq!(refused.len() as u64 + counted, 50, "{rows:?}");
    assert!(refused.len() < 10, "{refused:?}");
    assert_eq!(refused[0].1["why"], "over the limit of 1 messages a second");
    let limits: Vec<_> = of("limit").map(|(_, detail)| detail["why"].clone()).collect();
    assert_eq!(limits, ["over the limit of 1 open views, for all views of one server"]);
}

#[tokio::test]
async fn d7_without_its_row_nothing_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::small()).await.unwrap();
    let mut page = Page::open(Some(audit.clone())).await;
    page.ask("tools/call", json!({"name":"refresh"})).await;
    // Somebody fills the disk.
    fill(&audit).await;
    let answer = page.ask("tools/call", json!({"name":"refresh"})).await;
    assert_eq!(answer["error"]["message"], "the audit cannot be written", "{answer}");
    // Nor is anybody asked: some effects happen in the click that answers.
    let answer = page.ask("ui/open-link", json!({"url":"https://a.test/"})).await;
    assert!(answer.get("error").is_some(), "{answer}");
    // What has no effect goes on.
    assert!(page.ask("ping", json!({})).await.get("result").is_some());
    let effects = rows(&path).await.iter().filter(|(body, _)| body["kind"] == "effect").count();
    assert_eq!(effects, 1, "the one before");
    // A view that is opened now is not.
    let mut page = Page::connect(Some(audit)).await;
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    let text = page.hear("text").await;
    assert!(text["why"].as_str().unwrap().contains("the disk is full"), "{text}");
    assert!(text.get("text").is_none(), "nor is its tool called: {text}");
    assert_eq!(page.hear("close").await["reason"], "text");
}

/// A page with a view that offers one tool, `look`.
async fn offering(audit: Audit) -> Page {
    let mut page = Page::connect(Some(audit)).await;
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather","arguments":{}}}})).await;
    page.hear("open").await;
    let hello = json!({"protocolVersion":"2026-01-26","appInfo":{"name":"v","version":"1"},"appCapabilities":{"tools":{}}});
    page.ask("ui/initialize", hello).await;
    page.message(json!({"jsonrpc":"2.0","method":"ui/notifications/initialized"})).await;
    let list = heard(&mut page, "tools/list").await["id"].clone();
    let look =
        json!({"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}});
    page.message(json!({"jsonrpc":"2.0","id":list,"result":{"tools":[look]}})).await;
    page.hear("tools").await;
    page
}

/// The SHA-256 of a text, as rows have it.
fn hex(text: &str) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The next request of this method that the view hears.
async fn heard(page: &mut Page, method: &str) -> Value {
    loop {
        let message = page.hear("message").await;
        if message["method"] == method {
            return message;
        }
    }
}

#[tokio::test]
async fn d7_a_call_of_a_views_own_tool_is_written_down_before_the_view_hears_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let mut page = offering(audit.clone()).await;
    page.say(json!({"call":{"id":"c1","name":"look","arguments":{"secret":"hush"}}})).await;
    let call = heard(&mut page, "tools/call").await;
    let rows_before = rows(&path).await;
    let (body, detail) = rows_before.iter().find(|(body, _)| body["kind"] == "effect").unwrap();
    let params = r#"{"name":"look","arguments":{"secret":"hush"}}"#;
    let hash = hex(params);
    assert_eq!(
        (&body["method"], &body["app_call"], &body["size"], &detail["about"], &detail["sha256"]),
        (&json!("tools/call"), &call["id"], &json!(params.len()), &json!("look"), &json!(hash))
    );
    page.message(json!({"jsonrpc":"2.0","id":call["id"],"result":{"content":[]}})).await;
    assert_eq!(page.hear("called").await["failed"], false);
    page.host.close().await;
    audit.close().await.unwrap();
    assert!(!format!("{:?}", rows(&path).await).contains("hush"));
    let of = |(body, _): &&(Value, Value)| body["app_call"] == call["id"];
    let rows = rows(&path).await;
    let kinds: Vec<_> = rows.iter().filter(of).map(|(body, _)| body["kind"].clone()).collect();
    assert_eq!(kinds, ["verdict", "effect", "outcome"]);
}

#[tokio::test]
async fn d7_a_call_of_a_views_own_tool_that_cannot_be_written_down_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::small()).await.unwrap();
    let mut page = offering(audit.clone()).await;
    fill(&audit).await;
    page.say(json!({"call":{"id":"c1","name":"look"}})).await;
    loop {
        let (kind, said) = page.next().await;
        assert_ne!(said["method"], "tools/call", "the view heard of it");
        if kind == "called" {
            let text = "the audit cannot be written";
            assert_eq!(said, json!({"id":"c1","text":text,"failed":true}));
            break;
        }
    }
}

/// A server whose tool gives a view a handle, and the names of the tools that were called in it.
fn giving_handles() -> (Target, mpsc::UnboundedReceiver<String>) {
    let (called, calls) = mpsc::unbounded_channel();
    let start = move || {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let called = called.clone();
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(theirs);
            let mut lines = tokio::io::BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let asked: Value = serde_json::from_str(&line).unwrap();
                if asked.get("id").is_none() {
                    continue;
                }
                if let Some(name) = asked["params"]["name"].as_str() {
                    let _ = called.send(name.to_owned());
                }
                let result = answered(&asked);
                let line = json!({"jsonrpc":"2.0","id":asked["id"],"result":result});
                writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            }
        });
        ours
    };
    (Target::InProcess(InProcess::new("handles", start)), calls)
}

fn answered(asked: &Value) -> Value {
    let tool = |name: &str, said: Value| json!({"name":name,"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":said});
    match asked["method"].as_str().unwrap() {
        "initialize" => {
            json!({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}})
        }
        "tools/list" => json!({"tools":[
            tool("show_weather", json!({"ui":{"resourceUri":VIEW}})),
            tool("begin", json!({"transom/handles":{"gives":"id","end":"stop"}})),
            tool("stop", json!({"transom/handles":{"takes":"id"}})),
            tool("other", json!({})),
        ]}),
        "resources/list" => json!({"resources":[]}),
        "resources/templates/list" => json!({"resourceTemplates":[]}),
        "resources/read" => json!({"contents":[{"uri":VIEW,"mimeType":MIME,"text":"<p>hello"}]}),
        "tools/call" => json!({"content":[],"structuredContent":{"id":"h1"}}),
        _ => json!({}),
    }
}

/// A page with a view that was given a handle.
async fn with_handle(audit: &Audit) -> (Page, mpsc::UnboundedReceiver<String>) {
    let (target, mut calls) = giving_handles();
    let mut page = Page::connect_to(target, None, Some(audit.clone())).await.opened().await;
    page.ask("tools/call", json!({"name":"begin"})).await;
    while calls.recv().await.unwrap() != "begin" {}
    (page, calls)
}

#[tokio::test]
async fn d7_what_a_server_keeps_for_a_view_is_ended_after_the_row_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let (mut page, mut calls) = with_handle(&audit).await;
    page.say(json!({"close":{"reason":"gone"}})).await;
    assert_eq!(calls.recv().await.unwrap(), "stop");
    let rows = rows(&path).await;
    let (_, detail) = rows.iter().find(|(body, _)| body["kind"] == "release").expect("a row");
    assert_eq!(detail["about"], "stop");
    assert!(detail["sha256"].is_string(), "{detail}");
}

#[tokio::test]
async fn d7_what_a_server_keeps_is_not_ended_without_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::small()).await.unwrap();
    let (mut page, mut calls) = with_handle(&audit).await;
    fill(&audit).await;
    page.say(json!({"close":{"reason":"gone"}})).await;
    page.hear("close").await;
    // What came before on the same pipe would be heard before.
    let server = page.host.server("demo");
    let other = serde_json::from_str(r#"{"name":"other"}"#).unwrap();
    let request = Request::with_params("tools/call", other).unwrap();
    server.start(&request, CallOptions::default()).unwrap().outcome().await.unwrap();
    assert_eq!(calls.recv().await.unwrap(), "other");
}

#[tokio::test]
async fn d7_arguments_written_step_by_step_call_nothing_without_their_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::small()).await.unwrap();
    let mut page = Page::connect(Some(audit.clone())).await;
    let tool = json!({"server":"demo","name":"show_weather","writing":true});
    page.say(json!({"open":{"tool":tool}})).await;
    let mut page = page.greeted().await;
    fill(&audit).await;
    page.say(json!({"arguments":{"text":"{}","done":true}})).await;
    let reason = loop {
        let message = page.hear("message").await;
        assert_ne!(message["method"], "ui/notifications/tool-result", "it was called");
        if message["method"] == "ui/notifications/tool-cancelled" {
            break message["params"]["reason"].clone();
        }
    };
    assert_eq!(reason, "the audit cannot be written", "and no word of where it is");
}

#[tokio::test]
async fn d7_the_page_does_nothing_before_it_is_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let mut page = Page::open(Some(audit)).await;
    let (id, deed) = page.refuse_deed().await;
    page.say(json!({"answer":{"id":deed,"choice":"allow"}})).await;
    page.hear("do").await;
    // Nothing is closed yet: what was ordered is there for everybody who reads.
    let expected = [
        "waits ui/open-link https://a.test/",
        "ask Link(\"https://a.test/\")",
        "decision allow",
        "verdict ui/open-link allowed https://a.test/",
        "effect ui/open-link https://a.test/",
        "ask https://a.test/",
        "decision allow",
    ];
    let all = told(&path).await;
    assert_eq!(all[all.len() - expected.len()..], expected);
    page.say(json!({"did":{"id":deed,"done":true}})).await;
    assert!(page.answer(id).await.get("result").is_some());
}

#[tokio::test]
async fn d7_a_click_that_cannot_be_written_down_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::small()).await.unwrap();
    let mut page = Page::open(Some(audit.clone())).await;
    let (id, deed) = page.refuse_deed().await;
    fill(&audit).await;
    page.say(json!({"answer":{"id":deed,"choice":"allow"}})).await;
    let (kind, said) = page.next().await;
    assert_eq!((kind.as_str(), &said["id"]), ("message", &json!(id)), "{said}");
    assert_eq!(said["error"]["message"], "the audit cannot be written", "{said}");
}

#[tokio::test]
async fn d7_h_49_what_is_agreed_to_is_written_down_before_it_runs() {
    for (choice, kind) in [("allow-until-end", "open"), ("deny", "text")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        let audit = Audit::open(&path, &Options::default()).await.unwrap();
        let (mut page, id) = changed(folder.path(), audit).await;
        page.say(json!({"answer":{"id":id,"choice":choice}})).await;
        page.hear(kind).await;
        let decision = format!("decision {choice} {VIEW}");
        let all = told(&path).await;
        assert_eq!(all[1..4], ["open show_weather", &format!("ask {VIEW}"), &decision]);
        // Of the same bytes.
        let rows = rows(&path).await;
        assert!(rows[2].1["sha256"].is_string());
        assert_eq!(rows[2].1["sha256"], rows[3].1["sha256"]);
    }
}

#[tokio::test]
async fn d7_every_view_that_one_yes_lets_run_has_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let (mut page, id) = changed(folder.path(), audit).await;
    let open = json!({"tool":{"server":"demo","name":"show_weather","arguments":{}}});
    let text = format!(r#"{{"view":"v2","seq":1,"ack":0,"open":{open}}}"#);
    let frame = Event::Said { page: "p".into(), connection: 1, text, room: None };
    assert!(page.host.events().send(frame).await.is_ok());
    page.hear("ask").await;
    page.heard = 1;
    page.say(json!({"answer":{"id":id,"choice":"allow-until-end"}})).await;
    page.hear("open").await;
    page.hear("open").await;
    for view in ["v1", "v2"] {
        assert_eq!(
            story(&path, view).await,
            ["open", "ask", "decision allow-until-end", "document pinned"],
            "{view}"
        );
    }
}

#[tokio::test]
async fn a_click_under_way_does_not_answer_the_question_that_came_instead() {
    let folder = tempfile::tempdir().unwrap();
    let mut page = near(folder.path(), None, &[]).await;
    let first = page.hear("ask").await["id"].clone();
    page.say(json!({"close":{"reason":"gone"}})).await;
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    let second = page.hear("ask").await["id"].clone();
    assert_ne!(first, second);
    page.say(json!({"answer":{"id":first,"choice":"allow-view"}})).await;
    page.say(json!({"answer":{"id":second,"choice":"deny"}})).await;
    assert_eq!(given(&mut page).await, json!({"connectDomains": ["https://a.test"]}));
}

#[tokio::test]
async fn h_49_a_document_that_never_ran_is_not_agreed_to() {
    let folder = tempfile::tempdir().unwrap();
    // Asked about an address, and closed: nothing ran.
    let mut page = near(folder.path(), None, &[]).await;
    page.hear("ask").await;
    assert!(page.host.is_new("demo", "show_weather", &before()));
    page.say(json!({"close":{"reason":"user"}})).await;
    page.hear("close").await;
    assert!(page.host.is_new("demo", "show_weather", &before()));
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    let id = page.hear("ask").await["id"].clone();
    page.say(json!({"answer":{"id":id,"choice":"deny"}})).await;
    page.hear("open").await;
    assert!(!page.host.is_new("demo", "show_weather", &before()), "it runs");
}

#[tokio::test]
async fn h_49_a_yes_to_what_one_tool_shows_is_none_to_another_that_was_not_named() {
    let mut page = Page::connect_to(declaring(json!(MADE)).await, None, None).await;
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    let (kind, ask) = page.next().await;
    assert_eq!((&*kind, &ask["kind"]), ("ask", &json!("document")));
    let open = json!({"tool":{"server":"demo","name":"again","arguments":{}}});
    let text = format!(r#"{{"view":"v2","seq":1,"ack":0,"open":{open}}}"#);
    let frame = Event::Said { page: "p".into(), connection: 1, text, room: None };
    assert!(page.host.events().send(frame).await.is_ok());
    let (kind, other) = page.next().await;
    assert_eq!((&*kind, &other["kind"]), ("ask", &json!("document")));
    page.heard = 1;
    page.say(json!({"answer":{"id":ask["id"],"choice":"allow-until-end"}})).await;
    page.hear("open").await;
    let text = format!(
        r#"{{"view":"v2","seq":2,"ack":1,"answer":{{"id":{},"choice":"deny"}}}}"#,
        other["id"]
    );
    let frame = Event::Said { page: "p".into(), connection: 1, text, room: None };
    assert!(page.host.events().send(frame).await.is_ok());
    let (kind, said) = page.next().await;
    assert_eq!(kind, "text", "{said}");
}

#[tokio::test]
async fn d7_h_49_a_yes_that_cannot_be_written_down_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::small()).await.unwrap();
    let (mut page, id) = changed(folder.path(), audit.clone()).await;
    fill(&audit).await;
    page.say(json!({"answer":{"id":id,"choice":"allow-until-end"}})).await;
    // Twice, while the first is on its way.
    page.say(json!({"answer":{"id":id,"choice":"allow-until-end"}})).await;
    let (kind, said) = page.next().await;
    assert_eq!(kind, "text", "{said}");
    assert_eq!(said["why"], "There is no view to show: the audit cannot be written.");
    assert_eq!(page.hear("close").await["reason"], "text");
    assert!(page.host.is_agreed("demo", "show_weather", &before()), "nor is it remembered");
}

#[tokio::test]
async fn without_an_audit_views_work_as_they_did() {
    let mut page = Page::open(None).await;
    let answer = page.ask("tools/call", json!({"name":"refresh"})).await;
    assert!(answer.get("result").is_some(), "{answer}");
}

/// The kinds of rows of one view, with how they ended.
async fn story(path: &Path, view: &str) -> Vec<String> {
    let rows = rows(path).await;
    let own = rows.iter().filter(|(body, _)| body["view"] == view);
    own.map(|(body, _)| {
        let outcome = body["outcome"].as_str().unwrap_or_default();
        format!("{} {outcome}", body["kind"].as_str().unwrap()).trim().to_owned()
    })
    .collect()
}

#[tokio::test]
async fn a_view_that_closes_before_it_is_shown_has_its_end_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let mut page = Page::connect(Some(audit.clone())).await;
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather","arguments":{}}}})).await;
    page.say(json!({"close":{"reason":"user"}})).await;
    page.hear("close").await;
    // In its place, one that ends as text.
    page.say(json!({"open":{"tool":{"server":"demo","name":"save_note","arguments":{}}}})).await;
    page.hear("close").await;
    page.host.close().await;
    audit.close().await.unwrap();
    assert_eq!(
        story(&path, "v1").await,
        ["open", "close closed before it was shown", "open", "close shown as text"]
    );
}

#[tokio::test]
async fn d7_a_lock_that_is_taken_later_lets_nothing_happen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::hasty()).await.unwrap();
    let mut page = Page::open(Some(audit)).await;
    page.ask("tools/call", json!({"name":"refresh"})).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let answer = page.ask("tools/call", json!({"name":"refresh"})).await;
    assert_eq!(answer["error"]["message"], "the audit cannot be written", "{answer}");
    let lines = page.host.log().after(0, std::time::Duration::ZERO).await;
    let said = |line: &crate::Line| {
        line.words
            .as_str()
            .contains("is locked by another program; nothing more is done for any view")
    };
    assert!(lines.iter().any(said), "{lines:?}");
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    // Not even when the lock is gone: what happened meanwhile is not written down.
    let answer = page.ask("tools/call", json!({"name":"refresh"})).await;
    assert!(answer.get("error").is_some(), "{answer}");
    assert_eq!(rows(&path).await.iter().filter(|(body, _)| body["kind"] == "effect").count(), 1);
}

#[tokio::test]
async fn what_is_remembered_and_forgotten_is_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let target = Target::InProcess(demo::server());
    let mut page =
        Page::connect_to(target, Some(folder.path()), Some(audit.clone())).await.opened().await;
    let id = page.request("tools/call", json!({"name":"save_note","arguments":{}})).await;
    let question = page.hear("ask").await["id"].clone();
    page.say(json!({"answer":{"id":question,"choice":"allow-always"}})).await;
    assert!(page.answer(id).await.get("result").is_some());
    let decisions = crate::decisions::Decisions::new(folder.path(), 90);
    let kept = loop {
        match &*decisions.read().unwrap() {
            [entry] => break entry.clone(),
            _ => tokio::task::yield_now().await,
        }
    };
    let (done, told) = tokio::sync::oneshot::channel();
    assert!(page.host.events().send(Event::Forget { id: kept.id(), done }).await.is_ok());
    assert_eq!(told.await, Ok(true));
    page.host.close().await;
    audit.close().await.unwrap();
    // At the command line, by its words without what an address carries.
    let subject = transom::policy::Subject::Read("ui://demo/x?token=hush".to_owned());
    let gone = crate::decisions::Remembered { subject, ..kept };
    crate::audit::forgot(&path, &[gone]).await.unwrap();
    let rows = rows(&path).await;
    let of = |kind: &str| {
        let found = rows.iter().filter(|(body, _)| body["kind"] == kind);
        found
            .map(|(body, detail)| (body["server"].clone(), detail["about"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("remember"), [(json!("demo"), json!("call \"save_note\""))]);
    assert_eq!(
        of("forget"),
        [
            (json!("demo"), json!("call \"save_note\"")),
            (json!("demo"), json!("read \"ui://demo/x?…\"")),
        ]
    );
    assert!(Reader::open(&path).await.unwrap().verify(None).await.unwrap().is_ok());
}

#[tokio::test]
async fn what_is_taken_back_before_it_is_written_down_does_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let audit = Audit::open(&folder.path().join("audit.db"), &Options::default()).await.unwrap();
    let target = Target::InProcess(demo::server());
    let mut page = Page::connect_to(target, Some(folder.path()), Some(audit)).await.opened().await;
    let call = json!({"name":"save_note","arguments":{}});
    let mut known = None;
    for _ in 0..2 {
        let id = page.request("tools/call", call.clone()).await;
        let question = page.hear("ask").await["id"].clone();
        page.say(json!({"answer":{"id":question,"choice":"allow-always"}})).await;
        // The first time to learn its name; the second time in the same breath as the answer.
        if known.is_none() {
            page.answer(id).await;
            let shown = serde_json::to_value(page.host.decisions()).unwrap();
            known = Some(serde_json::from_value(shown[0]["id"].clone()).unwrap());
        }
        let (done, told) = tokio::sync::oneshot::channel();
        let forget = Event::Forget { id: known.clone().unwrap(), done };
        assert!(page.host.events().send(forget).await.is_ok());
        assert_eq!(told.await, Ok(true));
    }
    // Its row comes after that of what was remembered.
    page.request("tools/call", call).await;
    page.hear("ask").await;
    assert_eq!(page.host.decisions(), []);
}

#[test]
fn a_question_that_comes_too_late_to_be_awaited_is_asked_as_late() {
    let view = |name: &str| crate::envelope::ViewId::parse(name).unwrap();
    let question = |id| host::Question {
        id,
        subject: transom::policy::Subject::Message,
        method: "ui/message",
        about: transom::quoted::Quoted::new(""),
        preview: host::Preview { text: "".into(), beyond: None },
        files: vec![],
        parts: vec![],
        all: Default::default(),
        request: None,
        said: Default::default(),
        changes: vec![],
    };
    let mut ledger = super::Ledger::new(None);
    for (ticket, (of, id)) in [("v1", 1), ("v1", 2), ("v2", 1)].into_iter().enumerate() {
        let held = super::Held::Ask(Box::new(question(id)), false);
        ledger.held.insert(ticket as u64, (view(of), held));
    }
    ledger.mark_late(&view("v1"), 1);
    let late = |held: &super::Held| matches!(held, super::Held::Ask(_, true));
    let late: Vec<bool> = ledger.held.values().map(|(_, held)| late(held)).collect();
    assert_eq!(late, [true, false, false]);
}

#[tokio::test]
async fn what_is_kept_for_an_address_of_this_machine_lasts_for_this_run_and_is_offered_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let target = stranger().await;
    let mut page = Page::connect_to(target, Some(folder.path()), None).await.opened().await;
    let call = json!({"name":"save_note","arguments":{}});
    let id = page.request("tools/call", call.clone()).await;
    let ask = page.hear("ask").await;
    assert_eq!(
        ask["choices"],
        json!(["allow", "allow-view", "allow-until-end", "deny", "deny-until-end"])
    );
    page.say(json!({"answer":{"id":ask["id"],"choice":"allow-until-end"}})).await;
    assert!(page.answer(id).await.get("result").is_some());
    assert!(page.ask("tools/call", call).await.get("result").is_some(), "nobody is asked again");
    let shown = serde_json::to_value(page.host.decisions()).unwrap();
    assert_eq!(
        (&shown[0]["words"], &shown[0]["kept"]),
        (&json!("call \"save_note\""), &json!(false))
    );
    page.host.close().await;
    let files = std::fs::read_dir(folder.path()).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["sandbox.key"], "neither the decision nor the pin of its view");
}

const NEAR: &str = "http://localhost:3000";

/// A page that opens a view which declares something of this machine, beside what is everybody's.
async fn near(data: &Path, audit: Option<Audit>, private: &[&str]) -> Page {
    let csp = json!({"connectDomains": [NEAR, "https://a.test"], "frameDomains": [NEAR]});
    near_with(csp, data, audit, private).await
}

async fn near_with(csp: Value, data: &Path, audit: Option<Audit>, private: &[&str]) -> Page {
    let origin = Origin::parse("http://localhost:7420").unwrap();
    let mut policy = transom::policy::Policy::default();
    policy.domains.private = private.iter().map(|word| word.parse().unwrap()).collect();
    let mut builder = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
        .server("demo", declaring(csp).await)
        .policy(policy)
        .data(data.to_owned());
    if let Some(audit) = audit {
        builder = builder.audit(audit);
    }
    let mut page = Page::connect_with(builder).await;
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    page
}

/// What the view was given of its declaration, as it is told; it is what the header was made of (H-32).
async fn given(page: &mut Page) -> Value {
    page.hear("open").await;
    let hello = json!({"protocolVersion":"2026-01-26","appInfo":{"name":"v","version":"1"},"appCapabilities":{}});
    let answer = page.ask("ui/initialize", hello).await;
    answer["result"]["hostCapabilities"]["sandbox"]["csp"].clone()
}

#[tokio::test]
async fn a_private_address_is_given_by_a_person_or_the_operator_and_by_no_declaration() {
    let with = json!({"connectDomains": [NEAR, "https://a.test"], "frameDomains": [NEAR]});
    let without = json!({"connectDomains": ["https://a.test"]});
    for (choice, expected) in [
        ("allow-view", &with),
        ("allow-until-end", &with),
        ("deny", &without),
        ("deny-until-end", &without),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        let audit = Audit::open(&path, &Options::default()).await.unwrap();
        let mut page = near(folder.path(), Some(audit.clone()), &[]).await;
        let ask = page.hear("ask").await;
        assert_eq!(
            (&ask["kind"], &ask["choices"]),
            (&json!("nearby"), &json!(["allow-view", "allow-until-end", "deny", "deny-until-end"]))
        );
        assert_eq!(
            ask["text"],
            "Views of \"demo\" want to reach programs and devices that outsiders cannot:"
        );
        let line = format!("{NEAR} (this machine): to send and fetch, to show in a frame");
        assert_eq!(ask["preview"], line);
        let wishes = format!("connectDomains {NEAR}, frameDomains {NEAR}");
        assert!(told(&path).await.contains(&format!("ask {wishes}")), "before it is asked");
        page.say(json!({"answer":{"id":ask["id"],"choice":choice}})).await;
        assert_eq!(given(&mut page).await, *expected, "{choice}");
        page.host.close().await;
        audit.close().await.unwrap();
        let told = told(&path).await;
        assert!(told.contains(&format!("decision {choice} {wishes}")), "{told:?}");
        // And with what it ran.
        let rows = rows(&path).await;
        let (_, detail) = rows.iter().find(|(body, _)| body["kind"] == "document").unwrap();
        let reaches = if choice.starts_with("deny") { Value::Null } else { wishes.into() };
        assert_eq!(detail["reaches"], reaches, "{choice}");
    }
    // The operator's grant, and nobody is asked.
    let folder = tempfile::tempdir().unwrap();
    let mut page = near(folder.path(), None, &["localhost:3000"]).await;
    assert_eq!(given(&mut page).await, with);
    let mut page = near(folder.path(), None, &["localhost:3001"]).await;
    assert_eq!(page.hear("ask").await["kind"], "nearby");
}

#[tokio::test]
async fn an_always_for_a_private_address_counts_for_the_next_view_and_can_be_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut page = near(folder.path(), None, &[]).await;
    let id = page.hear("ask").await["id"].clone();
    page.say(json!({"answer":{"id":id,"choice":"allow-until-end"}})).await;
    given(&mut page).await;
    // What is decided of a live view goes the other way round; it must not undo this.
    let id = page.request("tools/call", json!({"name":"save_note","arguments":{}})).await;
    let question = page.hear("ask").await["id"].clone();
    page.say(json!({"answer":{"id":question,"choice":"allow-until-end"}})).await;
    page.answer(id).await;
    page.say(json!({"close":{"reason":"gone"}})).await;
    page.hear("close").await;
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    assert_eq!(given(&mut page).await["frameDomains"], json!([NEAR]));
    let shown = serde_json::to_value(page.host.decisions()).unwrap();
    let words = format!("reach {NEAR} (to send and fetch, to show in a frame)");
    let reach = shown.as_array().unwrap().iter().find(|one| one["words"] == words);
    let id = serde_json::from_value(reach.unwrap()["id"].clone()).unwrap();
    let (done, told) = tokio::sync::oneshot::channel();
    assert!(page.host.events().send(Event::Forget { id, done }).await.is_ok());
    assert_eq!(told.await, Ok(true));
    // The frame keeps its policy for as long as it lives, so it does not.
    let why = page.hear("text").await["why"].clone();
    assert!(why.as_str().unwrap().contains("you took back something"), "{why}");
    assert_eq!(page.hear("close").await["reason"], "taken-back");
    page.say(json!({"open":{"tool":{"server":"demo","name":"show_weather"}}})).await;
    assert_eq!(page.hear("ask").await["kind"], "nearby");
}

#[tokio::test]
async fn a_yes_to_fetch_from_a_private_address_is_none_to_load_scripts_from_it() {
    let decided = |wishes: &[String]| {
        let mut decided = transom::policy::Decided::default();
        let subject = transom::policy::Subject::Nearby(wishes.iter().cloned().collect());
        decided.remember(&subject, Decision::AllowAlways, &Default::default());
        decided
    };
    let (fetch, script) = (format!("connectDomains {NEAR}"), format!("resourceDomains {NEAR}"));
    let decided = decided(std::slice::from_ref(&fetch));
    assert_eq!((decided.nearby(&fetch), decided.nearby(&script)), (Some(true), None));
    // What a person is asked about is what the frame gets.
    let folder = tempfile::tempdir().unwrap();
    let csp =
        json!({"connectDomains": [NEAR], "resourceDomains": [NEAR], "baseUriDomains": [NEAR]});
    let mut page = near_with(csp, folder.path(), None, &[]).await;
    let line = "to send and fetch, to load scripts, images and styles from, as its base address";
    assert_eq!(page.hear("ask").await["preview"], format!("{NEAR} (this machine): {line}"));
}

#[tokio::test]
async fn a_yes_to_a_private_address_that_cannot_be_written_down_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::small()).await.unwrap();
    let mut page = near(folder.path(), Some(audit.clone()), &[]).await;
    let id = page.hear("ask").await["id"].clone();
    fill(&audit).await;
    page.say(json!({"answer":{"id":id,"choice":"allow-view"}})).await;
    let text = page.hear("text").await;
    assert!(text["why"].as_str().unwrap().contains("the audit cannot be written"), "{text}");
}

#[tokio::test]
async fn what_an_address_carries_is_not_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::open(&path, &Options::default()).await.unwrap();
    let mut page = Page::open(Some(audit.clone())).await;
    for choice in ["allow", "deny"] {
        let link = format!("https://a.test/{choice}?token=hush#hush");
        let id = page.request("ui/open-link", json!({"url":link})).await;
        let question = page.hear("ask").await["id"].clone();
        page.say(json!({"answer":{"id":question,"choice":choice}})).await;
        if choice == "allow" {
            let deed = page.hear("do").await["id"].clone();
            page.say(json!({"did":{"id":deed,"done":false}})).await;
            let click = page.hear("ask").await["id"].clone();
            page.say(json!({"answer":{"id":click,"choice":"deny"}})).await;
        }
        page.answer(id).await;
    }
    for url in ["data:text/plain,hush", "file:///a?hush", "https://me:hush@a.test/"] {
        page.ask("ui/open-link", json!({"url":url})).await;
    }
    page.ask("resources/read", json!({"uri":"ui://demo/none?token=hush"})).await;
    // The server says in its error what it was asked for, and so do we of a file that it does not give.
    let linked = json!([{"type":"resource_link","name":"x","uri":"ui://demo/none?token=hush"}]);
    let id = page.request("ui/download-file", json!({"contents":linked})).await;
    let question = page.hear("ask").await["id"].clone();
    page.say(json!({"answer":{"id":question,"choice":"allow"}})).await;
    let answer = page.answer(id).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("did not give"), "{answer}");
    page.host.close().await;
    audit.close().await.unwrap();
    let rows = rows(&path).await;
    for (body, detail) in &rows {
        assert!(!format!("{body} {detail}").contains("hush"), "{body} {detail}");
    }
    let about = |about: &str| rows.iter().filter(|(_, detail)| detail["about"] == about).count();
    assert!(about("https://a.test/allow?…") >= 3, "waits, verdict, effect, click: {rows:?}");
    assert!(about("ui://demo/none?…") >= 1, "{rows:?}");
}
