//! The loop with the demo's server, on virtual time. A test plays the page, and the view inside it.

use std::collections::HashMap;

use serde_json::{Value, json, value::RawValue};
use transom::{host::Rate, origin::Origin, quoted::Quoted};

use super::*;
use crate::{
    Builder, Host,
    decisions::{DecisionId, Decisions, Remembered},
    demo,
    envelope::Envelope,
    sandbox::Naming,
    server::Standing,
    upstream::Target,
};

struct Stage {
    host: Host,
}

/// One load of a page, with its socket.
struct Load<'a> {
    stage: &'a Stage,
    name: String,
    connection: u64,
    socket: mpsc::UnboundedReceiver<ToSocket>,
    welcome: Value,
    /// How much was said and heard of each view.
    counts: HashMap<String, (u64, u64)>,
    /// How much of what was said of each view is confirmed.
    confirmed: HashMap<String, u64>,
}

impl Stage {
    async fn new() -> Self {
        Self::with(|builder| builder).await
    }

    /// With the demo under two names, and whatever else a test wants.
    async fn with(change: impl FnOnce(Builder) -> Builder) -> Self {
        let origin = Origin::parse("http://localhost:7420").unwrap();
        let builder = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
            .server("demo", Target::InProcess(demo::server()))
            .server("other", Target::InProcess(demo::server()));
        let host = change(builder).build().unwrap();
        let mut seen = None;
        loop {
            let (version, states) = host.servers(seen, Duration::from_secs(60)).await;
            if states.iter().all(|server| server.state == Standing::Ready && server.unseen == 0) {
                return Self { host };
            }
            seen = Some(version);
        }
    }

    async fn load(&self, page: &str, connection: u64) -> Load<'_> {
        self.load_in("t1", page, connection).await
    }

    async fn load_in(&self, tab: &str, page: &str, connection: u64) -> Load<'_> {
        let (sender, mut socket) = mpsc::unbounded_channel();
        let name = page.to_owned();
        let (page, tab) = (name.clone(), tab.to_owned());
        self.send(Event::Connected { page, tab, connection, socket: sender }).await;
        let Some(ToSocket::Text(text)) = socket.recv().await else { panic!("no welcome") };
        let welcome = serde_json::from_str::<Value>(&text).unwrap()["welcome"].clone();
        Load {
            stage: self,
            name,
            connection,
            socket,
            welcome,
            counts: HashMap::new(),
            confirmed: HashMap::new(),
        }
    }

    async fn send(&self, event: Event) {
        assert!(self.host.events.send(event).await.is_ok(), "the loop runs");
    }

    async fn logged(&self, words: &str) -> usize {
        let lines = self.host.log().after(0, Duration::ZERO).await;
        lines.iter().filter(|line| line.words.as_str().contains(words)).count()
    }
}

impl Load<'_> {
    async fn say(&mut self, view: &str, kind: &str, payload: Value) {
        let (said, heard) = self.counts.entry(view.to_owned()).or_default();
        *said += 1;
        let text = format!(r#"{{"view":"{view}","seq":{said},"ack":{heard},"{kind}":{payload}}}"#);
        let (page, connection) = (self.name.clone(), self.connection);
        self.stage.send(Event::Said { page, connection, text, room: None }).await;
    }

    /// The next thing that the host says about a view, of this kind; what comes before it is passed over.
    async fn hear(&mut self, view: &str, kind: &str) -> Value {
        loop {
            let (name, said, payload) = self.next().await.expect("the socket is open");
            if name == view && said == kind {
                return payload;
            }
        }
    }

    /// Whatever the host says next, about whichever view; nothing, when it has closed the socket.
    async fn next(&mut self) -> Option<(String, String, Value)> {
        loop {
            if let Some(said) = self.socket_frame().await? {
                return Some(said);
            }
        }
    }

    /// The next frame; it may be a mere confirmation.
    async fn socket_frame(&mut self) -> Option<Option<(String, String, Value)>> {
        let text = match self.socket.recv().await? {
            ToSocket::Text(text) => text,
            ToSocket::Close(..) => return None,
        };
        let frame = Envelope::parse(&text).unwrap();
        let before = self.confirmed.insert(frame.view.to_owned(), frame.ack);
        assert!(before.is_none_or(|before| before <= frame.ack), "not taken back");
        let Some(said) = frame.said else { return Some(None) };
        let (_, heard) = self.counts.entry(frame.view.to_owned()).or_default();
        *heard = said.seq;
        let payload = serde_json::from_str(said.payload).unwrap();
        Some(Some((frame.view.to_owned(), said.kind.to_owned(), payload)))
    }

    async fn open(&mut self, view: &str) -> Value {
        self.open_of("demo", view).await;
        self.hear(view, "open").await
    }

    async fn open_of(&mut self, server: &str, view: &str) {
        let tool = json!({ "server": server, "name": "show_weather", "arguments": {} });
        let modes = ["inline", "fullscreen"];
        self.say(view, "open", json!({ "lanes": [], "modes": modes, "tool": tool })).await;
    }

    /// Opens a view whose tool's arguments are still being written.
    async fn open_writing(&mut self, view: &str) {
        let tool = json!({ "server": "demo", "name": "show_weather", "writing": true });
        self.say(view, "open", json!({ "lanes": [], "modes": ["inline"], "tool": tool })).await;
        self.hear(view, "open").await;
        self.greet(view).await;
    }

    async fn write(&mut self, view: &str, text: &str, done: bool) {
        self.say(view, "arguments", json!({ "text": text, "done": done })).await;
    }

    /// The next notification or request of the host to the view.
    async fn told(&mut self, view: &str) -> (String, Value) {
        loop {
            let message = self.hear(view, "message").await;
            if let Some(method) = message["method"].as_str() {
                let short = method.rsplit('/').next().unwrap().to_owned();
                return (short, message);
            }
        }
    }

    /// The view's own words, up to the end of its handshake.
    async fn greet(&mut self, view: &str) -> Value {
        self.greet_with(view, json!({})).await
    }

    async fn greet_with(&mut self, view: &str, capabilities: Value) -> Value {
        let params = json!({
            "appInfo": { "name": "w", "version": "1" },
            "appCapabilities": capabilities,
            "protocolVersion": "2026-01-26",
        });
        let answer = self.ask(view, 0, "ui/initialize", params).await;
        self.post(view, json!({ "method": "ui/notifications/initialized", "params": {} })).await;
        answer
    }

    async fn post(&mut self, view: &str, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.say(view, "message", message).await;
    }

    async fn request(&mut self, view: &str, id: u64, method: &str, params: Value) {
        self.post(view, json!({ "id": id, "method": method, "params": params })).await;
    }

    async fn answer_to(&mut self, view: &str, id: u64) -> Value {
        loop {
            let message = self.hear(view, "message").await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    async fn ask(&mut self, view: &str, id: u64, method: &str, params: Value) -> Value {
        self.request(view, id, method, params).await;
        self.answer_to(view, id).await
    }

    /// Waits until the host has taken everything that was said: it answers a ping of the view. Returns
    /// what it said meanwhile, beside messages for views.
    async fn settled(&mut self, view: &str) -> Vec<String> {
        self.request(view, 4_711, "ping", json!({})).await;
        let mut kinds = vec![];
        loop {
            let (name, kind, payload) = self.next().await.expect("the socket is open");
            if name == view && payload["id"] == 4_711 {
                return kinds;
            }
            if kind != "message" {
                kinds.push(kind);
            }
        }
    }
}

const LINK: &str = "https://example.com/";

async fn ask_link(page: &mut Load<'_>, id: u64) -> String {
    page.request("v1", id, "ui/open-link", json!({ "url": LINK })).await;
    let ask = page.hear("v1", "ask").await;
    assert_eq!(ask["url"], LINK);
    ask["id"].as_str().unwrap().to_owned()
}

async fn answer(page: &mut Load<'_>, id: &str, choice: &str) {
    page.say("v1", "answer", json!({ "id": id, "choice": choice })).await;
}

#[tokio::test(start_paused = true)]
async fn a_link_is_opened_when_the_host_says_so_and_answered_when_it_was() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let question = ask_link(&mut page, 1).await;
    answer(&mut page, &question, "allow").await;
    let deed = page.hear("v1", "do").await;
    assert_eq!((&deed["kind"], &deed["url"]), (&json!("link"), &json!(LINK)));
    page.say("v1", "did", json!({ "id": deed["id"], "done": true })).await;
    assert_eq!(page.answer_to("v1", 1).await["result"], json!({}));

    // Twice, and for nobody.
    page.say("v1", "did", json!({ "id": deed["id"], "done": false })).await;
    answer(&mut page, &question, "allow").await;
    assert_eq!(page.settled("v1").await, [""; 0]);
    assert_eq!(stage.logged("ignored").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_late_yes_opens_nothing() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let question = ask_link(&mut page, 1).await;
    // D6: nobody decides for 50 s.
    let late = page.hear("v1", "ask").await;
    assert_eq!((&late["id"], &late["late"]), (&json!(question), &json!(true)));
    assert!(
        page.answer_to("v1", 1).await["error"]["message"].as_str().unwrap().contains("no decision")
    );
    answer(&mut page, &question, "allow").await;
    assert_eq!(page.settled("v1").await, [""; 0], "no deed");
    // It counts for the next time.
    page.request("v1", 2, "ui/open-link", json!({ "url": LINK })).await;
    page.hear("v1", "do").await;
}

#[tokio::test(start_paused = true)]
async fn a_click_that_the_browser_wants_is_asked_for_and_can_be_taken_back() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let question = ask_link(&mut page, 1).await;
    answer(&mut page, &question, "allow").await;
    let deed = page.hear("v1", "do").await;
    page.say("v1", "did", json!({ "id": deed["id"], "done": false })).await;
    let click = page.hear("v1", "ask").await;
    assert_eq!((&click["id"], &click["url"]), (&deed["id"], &json!(LINK)));

    // The view does not want it any more.
    let cancel = json!({ "method": "notifications/cancelled", "params": { "requestId": 1 } });
    page.post("v1", cancel).await;
    assert_eq!(page.hear("v1", "withdraw").await["id"], deed["id"]);
    answer(&mut page, deed["id"].as_str().unwrap(), "allow").await;
    assert_eq!(page.settled("v1").await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn only_what_was_offered_is_an_answer() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let question = ask_link(&mut page, 1).await;
    answer(&mut page, &question, "allow-until-end").await;
    answer(&mut page, "q99", "allow").await;
    assert_eq!(page.settled("v1").await, [""; 0]);
    assert_eq!(stage.logged("ignored").await, 2);
    answer(&mut page, &question, "deny").await;
    assert!(page.answer_to("v1", 1).await["error"].is_object());
}

#[tokio::test(start_paused = true)]
async fn a_view_that_ends_takes_its_questions_with_it() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let question = ask_link(&mut page, 1).await;
    page.say("v1", "close", json!({ "reason": "gone" })).await;
    assert_eq!(page.hear("v1", "withdraw").await["id"], question);
    page.hear("v1", "close").await;
    answer(&mut page, &question, "allow").await;
    page.open("v2").await;
    page.greet("v2").await;
    assert_eq!(page.settled("v2").await, [""; 0]);
    assert_eq!(stage.logged("ignored").await, 1);
}

#[tokio::test(start_paused = true)]
async fn another_tab_has_views_of_its_own() {
    let stage = Stage::new().await;
    let mut first = stage.load_in("t1", "p1", 1).await;
    first.open("v1").await;
    first.greet("v1").await;
    let mut second = stage.load_in("t2", "p2", 2).await;
    assert_eq!(second.welcome["views"], json!([]));
    // It knows the name, and says so: nobody listens, and the first one goes on.
    second.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    second.open("v2").await;
    assert_eq!(first.settled("v1").await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_reload_of_the_same_tab_gets_its_views_back() {
    let stage = Stage::new().await;
    let mut before = stage.load_in("t1", "p1", 1).await;
    let mount = before.open("v1").await;
    before.greet("v1").await;
    // The old socket is not even known to be lost.
    let mut after = stage.load_in("t1", "p2", 2).await;
    assert_eq!(after.welcome, json!({ "version": 1, "resumed": false, "views": ["v1"] }));
    // The old one is closed.
    while before.next().await.is_some() {}
    after.say("v1", "open", json!({ "lanes": [], "modes": ["inline"] })).await;
    assert_eq!(after.hear("v1", "open").await["src"], mount["src"]);
    after.greet("v1").await;
    assert_eq!(after.settled("v1").await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_view_whose_page_stays_away_ends_after_a_while() {
    let stage = Stage::new().await;
    let mut page = stage.load_in("t1", "p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    stage.send(Event::Lost { page: "p1".to_owned(), connection: 1 }).await;
    tokio::time::sleep(AWAY - Duration::from_secs(1)).await;
    let back = stage.load_in("t1", "p2", 2).await;
    assert_eq!(back.welcome["views"], json!(["v1"]), "it is still there");
    stage.send(Event::Lost { page: "p2".to_owned(), connection: 2 }).await;
    tokio::time::sleep(AWAY + Duration::from_secs(1)).await;
    let late = stage.load_in("t1", "p3", 3).await;
    assert_eq!(late.welcome["views"], json!([]));
    assert_eq!(stage.logged("closed").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_closes_waits_for_no_page_that_is_gone() {
    let lost = || Event::Lost { page: "p1".to_owned(), connection: 1 };
    let teardown = host::Terms::default().teardown;
    for gone_before in [true, false] {
        let stage = Stage::new().await;
        let mut page = stage.load("p1", 1).await;
        page.open("v1").await;
        page.greet("v1").await;
        page.settled("v1").await;
        let begun = Instant::now();
        if gone_before {
            stage.send(lost()).await;
            stage.host.close().await;
        } else {
            // While its view has its time to save.
            let leaves = async {
                while page.hear("v1", "message").await["method"] != "ui/resource-teardown" {}
                stage.send(lost()).await;
            };
            tokio::join!(stage.host.close(), leaves);
        }
        assert!(begun.elapsed() < teardown, "gone before: {gone_before}");
        assert_eq!(stage.logged("closed").await, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_socket_loses_nothing_either_way() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    page.settled("v1").await;
    let counts = page.counts["v1"];
    // Two requests; the host takes both, and its answers find no socket.
    for id in [1, 2] {
        page.request("v1", id, "ping", json!({})).await;
    }
    stage.send(Event::Lost { page: "p1".to_owned(), connection: 1 }).await;
    let mut again = stage.load("p1", 2).await;
    assert_eq!(again.welcome["resumed"], true);
    // The page repeats what was not confirmed, with the counters of before.
    again.counts.insert("v1".to_owned(), counts);
    for id in [1, 2] {
        again.request("v1", id, "ping", json!({})).await;
    }
    assert_eq!(again.answer_to("v1", 1).await["result"], json!({}));
    assert_eq!(again.answer_to("v1", 2).await["result"], json!({}));
    assert_eq!(again.settled("v1").await, [""; 0]);
    assert_eq!(again.counts["v1"].1, counts.1 + 3, "each was answered once");
}

#[tokio::test(start_paused = true)]
async fn h_87_a_page_that_turns_dark_tells_its_views_and_nothing_else() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    let tool = json!({ "server": "demo", "name": "show_weather", "arguments": {} });
    let open = json!({
        "lanes": [], "modes": ["inline"], "container": { "width": 640, "maxHeight": 480 },
        "context": { "theme": "light", "locale": "pt-BR", "touch": true }, "tool": tool,
    });
    page.say("v1", "open", open).await;
    page.hear("v1", "open").await;
    let context = page.greet("v1").await["result"]["hostContext"].clone();
    assert_eq!(context["containerDimensions"], json!({ "width": 640, "maxHeight": 480 }));
    assert_eq!((&context["theme"], &context["locale"]), (&json!("light"), &json!("pt-BR")));
    assert_eq!(context["toolInfo"]["tool"]["name"], "show_weather");
    // Without it, views on ext-apps up to 0.2.2 refuse the handshake.
    assert!(context["toolInfo"]["id"].is_u64(), "{context}");
    assert_eq!(context["styles"]["variables"].as_object().unwrap().len(), 76);
    page.settled("v1").await;

    page.say("v1", "context", json!({ "theme": "dark", "locale": "pt-BR", "touch": true })).await;
    let told = page.hear("v1", "message").await;
    assert_eq!(told["method"], "ui/notifications/host-context-changed");
    assert_eq!(told["params"], json!({ "theme": "dark" }));
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_reaches_every_live_view_of_its_server() {
    let stage = Stage::new().await;
    let mut one = stage.load_in("t1", "p1", 1).await;
    let mut two = stage.load_in("t2", "p2", 2).await;
    for (page, view) in [(&mut one, "v1"), (&mut two, "v2")] {
        page.open(view).await;
        page.greet(view).await;
        page.settled(view).await;
    }
    let (server, list) = ("demo".to_owned(), host::List::Tools);
    stage.send(Event::ListChanged { server, list }).await;
    for (page, view) in [(&mut one, "v1"), (&mut two, "v2")] {
        let told = page.hear(view, "message").await;
        assert_eq!(told["method"], "notifications/tools/list_changed", "{view}");
    }
    // Another server's list is nobody's business here.
    let server = "other".to_owned();
    stage.send(Event::ListChanged { server, list: host::List::Resources }).await;
    one.request("v1", 9, "ping", json!({})).await;
    assert_eq!(one.hear("v1", "message").await["id"], 9);
}

#[tokio::test(start_paused = true)]
async fn a_person_can_close_what_has_not_opened_yet() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    let tool = json!({ "server": "demo", "name": "show_weather", "arguments": {} });
    page.say("v1", "open", json!({ "lanes": [], "modes": [], "tool": tool })).await;
    page.say("v1", "close", json!({ "reason": "user" })).await;
    assert_eq!(page.hear("v1", "close").await["reason"], "teardown");
    // What was under way finds nobody.
    page.open("v2").await;
    page.greet("v2").await;
    assert_eq!(page.settled("v2").await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn h_03_a_view_that_never_begins_leaves_the_tools_words() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    let text = page.hear("v1", "text").await;
    assert_eq!(text["why"], "The view was stopped: it never finished its handshake.");
    assert!(text["text"].as_str().unwrap().starts_with("Lisbon: "), "{text}");
    assert_eq!(page.hear("v1", "close").await["reason"], "silent");
}

#[tokio::test(start_paused = true)]
async fn a_view_that_its_page_had_to_end_is_told_of_with_the_reason() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    for (view, reason, words) in [
        ("v1", "flood", "it broke too many rules, or sent far too many messages"),
        ("v2", "past-sandbox", "it wrote to this page itself, past its sandbox"),
        ("v3", "not-text", "it sent something other than text on its port"),
    ] {
        page.open(view).await;
        page.greet(view).await;
        page.say(view, "close", json!({ "reason": reason })).await;
        let text = page.hear(view, "text").await;
        assert_eq!(text["why"], format!("The view was stopped: {words}."));
        assert_eq!(page.hear(view, "close").await["reason"], "flood");
    }
}

#[tokio::test(start_paused = true)]
async fn h_63_a_view_sees_its_arguments_grow_before_its_tool_is_called() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open_writing("v1").await;
    let mut told = vec![];
    for piece in [r#"{"ci"#, r#"ty":"Os"#, "lo"] {
        page.write("v1", piece, false).await;
    }
    assert_eq!(page.settled("v1").await, [""; 0]);
    assert_eq!(stage.logged("tools/call").await, 0, "nobody called it");
    page.write("v1", r#""}"#, true).await;
    while told.last().is_none_or(|(method, _)| method != "tool-result") {
        let (method, message) = page.told("v1").await;
        told.push((method, message["params"]["arguments"]["city"].clone()));
    }
    // H-61, H-62, H-64: the whole arguments, once, no more of a part of them, and then the result.
    let [.., input, result] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(input, &("tool-input".to_owned(), json!("Oslo")));
    assert_eq!(result.0, "tool-result");
    assert_eq!(stage.logged("tools/call").await, 1);

    // Too late, and for nobody.
    page.write("v1", "{}", true).await;
    assert_eq!(page.settled("v1").await, [""; 0]);
    assert_eq!(stage.logged("ignored").await, 1);
}

#[tokio::test(start_paused = true)]
async fn h_63_partial_arguments_are_whole_json_at_every_step() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open_writing("v1").await;
    let mut cities = vec![];
    for piece in [r#"{"city":"O"#, "s", "lo"] {
        page.write("v1", piece, false).await;
        loop {
            let (method, message) = page.told("v1").await;
            assert_eq!(method, "tool-input-partial");
            // What it was told when it was ready: nothing was written yet.
            if let Some(city) = message["params"]["arguments"]["city"].as_str() {
                cities.push(city.to_owned());
                break;
            }
        }
    }
    assert_eq!(cities, ["O", "Os", "Oslo"]);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_come_to_nothing_cancel_the_call() {
    let stage = Stage::new().await;
    let endings = [("nonsense", false, "no JSON object"), (r#"{"city":"#, true, "no end")];
    for (n, (text, done, words)) in endings.into_iter().enumerate() {
        let view = format!("v{n}");
        let mut page = stage.load("p1", n as u64).await;
        page.open_writing(&view).await;
        page.write(&view, text, done).await;
        loop {
            let (method, message) = page.told(&view).await;
            if method == "tool-cancelled" {
                assert!(message["params"]["reason"].as_str().unwrap().contains(words));
                break;
            }
        }
    }
    assert_eq!(stage.logged("tools/call").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_goes_takes_the_rest_of_the_arguments_with_it() {
    let stage = Stage::new().await;
    let mut before = stage.load_in("t1", "p1", 1).await;
    before.open_writing("v1").await;
    before.write("v1", r#"{"city":"O"#, false).await;
    before.settled("v1").await;
    let mut after = stage.load_in("t1", "p2", 2).await;
    after.say("v1", "open", json!({ "lanes": [], "modes": ["inline"] })).await;
    after.hear("v1", "open").await;
    after.greet("v1").await;
    while after.told("v1").await.0 != "tool-cancelled" {}
    assert_eq!(stage.logged("tools/call").await, 0);
}

/// Opens a view that offers two tools, and answers when it is asked for them.
async fn open_offering(page: &mut Load<'_>) -> Value {
    page.open("v1").await;
    page.greet_with("v1", json!({ "tools": { "listChanged": true } })).await;
    let ask = list_asked(page).await;
    let schema = json!({ "type": "object" });
    let tools = json!([
        { "name": "look", "inputSchema": schema, "annotations": { "readOnlyHint": true } },
        { "name": "paint", "inputSchema": schema },
    ]);
    page.post("v1", json!({ "id": ask, "result": { "tools": tools } })).await;
    page.hear("v1", "tools").await
}

async fn list_asked(page: &mut Load<'_>) -> Value {
    loop {
        let (method, message) = page.told("v1").await;
        if method == "list" {
            return message["id"].clone();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn h_111_the_page_is_told_what_a_view_offers_and_calls_it() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    let offered = open_offering(&mut page).await;
    assert_eq!(offered["tools"][0]["name"], "look");
    assert_eq!(offered["tools"][1]["name"], "paint");

    page.say("v1", "call", json!({ "id": "c1", "name": "look", "arguments": { "at": 3 } })).await;
    let (_, call) = page.told("v1").await;
    assert_eq!(
        (&call["method"], &call["params"]["arguments"]),
        (&json!("tools/call"), &json!({ "at": 3 }))
    );
    let result = json!({ "content": [{ "type": "text", "text": "blue" }] });
    page.post("v1", json!({ "id": call["id"], "result": result })).await;
    let called = page.hear("v1", "called").await;
    assert_eq!(called, json!({ "id": "c1", "text": "blue", "failed": false }));

    page.say("v1", "call", json!({ "id": "c2", "name": "no such" })).await;
    assert_eq!(page.hear("v1", "called").await["failed"], true);
}

#[tokio::test(start_paused = true)]
async fn h_115_a_tool_of_a_view_that_changes_something_is_asked_about() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    open_offering(&mut page).await;
    page.say("v1", "call", json!({ "id": "c1", "name": "paint" })).await;
    let ask = page.hear("v1", "ask").await;
    assert!(ask["text"].as_str().unwrap().contains("paint"));
    answer(&mut page, ask["id"].as_str().unwrap(), "deny").await;
    let called = page.hear("v1", "called").await;
    assert_eq!(called, json!({ "id": "c1", "text": "refused by the user", "failed": true }));
}

#[tokio::test(start_paused = true)]
async fn h_113_what_a_view_offers_goes_with_it() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    open_offering(&mut page).await;
    page.say("v1", "call", json!({ "id": "c1", "name": "look" })).await;
    page.told("v1").await;
    page.say("v1", "close", json!({ "reason": "gone" })).await;
    assert_eq!(page.hear("v1", "called").await["text"], "the view is gone");
    page.hear("v1", "close").await;
    page.say("v1", "call", json!({ "id": "c2", "name": "look" })).await;
    assert_eq!(page.hear("v1", "called").await["failed"], true);
}

fn rate(burst: f64) -> Rate {
    Rate { per_second: 1.0, burst }
}

/// The data of the error in an answer.
fn reason(answer: &Value) -> (&Value, &Value) {
    let data = &answer["error"]["data"];
    assert_eq!(data["reason"], "limit", "{answer}");
    (&data["limit"], &data["of"])
}

#[tokio::test(start_paused = true)]
async fn views_of_one_server_share_its_limits_and_other_servers_do_not_notice() {
    let limits = host::ServerLimits { messages: rate(40.0), ..host::ServerLimits::default() };
    let stage = Stage::with(|builder| builder.server_limits(limits)).await;
    // In two tabs: what they share is the server.
    let mut one = stage.load_in("t1", "p1", 1).await;
    let mut two = stage.load_in("t2", "p2", 2).await;
    for (page, view) in [(&mut one, "v1"), (&mut two, "v2")] {
        page.open(view).await;
        page.greet(view).await;
    }
    two.open_of("other", "o1").await;
    two.hear("o1", "open").await;
    two.greet("o1").await;
    for id in 1..=18 {
        for (page, view) in [(&mut one, "v1"), (&mut two, "v2")] {
            assert_eq!(page.ask(view, id, "ping", json!({})).await["result"], json!({}), "{id}");
        }
    }
    for (page, view) in [(&mut one, "v1"), (&mut two, "v2")] {
        page.request(view, 99, "ping", json!({})).await;
        let note = page.hear(view, "note").await["text"].clone();
        let answer = page.answer_to(view, 99).await;
        assert_eq!(reason(&answer), (&json!("messages"), &json!("server")), "{view}");
        let words = "The views of \"demo\" together send more than 1 messages a second; \
                     what is above that waits, or is refused. Everything else goes on.";
        assert_eq!(note, words);
    }
    assert_eq!(two.ask("o1", 1, "ping", json!({})).await["result"], json!({}));
    assert_eq!(stage.logged("send more than 1 messages").await, 2, "once for each view");
}

#[tokio::test(start_paused = true)]
async fn atk_33_a_view_that_is_too_fast_is_confirmed_slowly_and_told_of() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    page.open("v2").await;
    page.greet("v2").await;
    let said = |page: &Load<'_>| page.counts["v1"].0;
    let waiting = |page: &Load<'_>| page.counts["v1"].0 - page.confirmed["v1"];
    // A burst: served at once, confirmed in a while, and nothing is made of it.
    for id in 0..64 {
        page.request("v1", id, "ping", json!({})).await;
    }
    page.answer_to("v1", 63).await;
    assert!(waiting(&page) > 30, "{}", waiting(&page));
    tokio::time::sleep(Duration::from_millis(300)).await;
    page.ask("v2", 1, "ping", json!({})).await;
    assert_eq!(waiting(&page), 0, "nothing was said since, and it is confirmed all the same");
    assert_eq!(stage.logged("messages a second").await, 0);
    // For long, as a page does it: no more than 64 that are not confirmed.
    let (begun, before) = (Instant::now(), said(&page));
    for id in 1_000.. {
        page.request("v1", id, "ping", json!({})).await;
        while waiting(&page) >= 64 {
            page.socket_frame().await;
        }
        if begun.elapsed() > Duration::from_secs(2) {
            break;
        }
    }
    let rate = (said(&page) - before) / begun.elapsed().as_secs();
    assert!((300..450).contains(&rate), "{rate} a second");
    assert_eq!(stage.logged("This view sends more than 300 messages a second; what").await, 1);
    assert_eq!(page.ask("v2", 2, "ping", json!({})).await["result"], json!({}));
    // Whoever is gone is not waited for.
    page.say("v1", "close", json!({ "reason": "gone" })).await;
    page.hear("v1", "close").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    page.ask("v2", 3, "ping", json!({})).await;
    assert_eq!(waiting(&page), 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_view_uses_is_given_back_when_it_ends() {
    let limits = host::ServerLimits { questions: 2, ..host::ServerLimits::default() };
    let stage = Stage::with(|builder| builder.server_limits(limits)).await;
    let mut page = stage.load("p1", 1).await;
    for view in ["v1", "v2"] {
        page.open(view).await;
        page.greet(view).await;
    }
    for id in [1, 2] {
        page.request("v1", id, "ui/open-link", json!({ "url": LINK })).await;
        page.hear("v1", "ask").await;
    }
    let answer = page.ask("v2", 1, "ui/open-link", json!({ "url": LINK })).await;
    assert_eq!(reason(&answer), (&json!("questions"), &json!("server")));
    page.say("v1", "close", json!({ "reason": "gone" })).await;
    page.hear("v1", "close").await;
    page.request("v2", 2, "ui/open-link", json!({ "url": LINK })).await;
    page.hear("v2", "ask").await;
}

#[tokio::test(start_paused = true)]
async fn what_a_view_may_not_say_is_left_out_and_that_is_logged() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let params =
        json!({ "name": "refresh", "arguments": { "place": "Lisbon" }, "task": {}, "a\nb": 1 });
    page.request("v1", 1, "tools/call", params).await;
    assert!(page.answer_to("v1", 1).await["result"].is_object());
    let words = r#"tools/call: left out "task", "a\nb", which do not come from a view"#;
    assert_eq!(stage.logged(words).await, 1);
    let twin = json!({ "name": "refresh", "Name": "save_note" });
    page.request("v1", 2, "tools/call", twin).await;
    let error = page.answer_to("v1", 2).await["error"].clone();
    assert_eq!(error["message"], r#"tools/call: the member "Name" would pass for "name""#);
}

#[tokio::test(start_paused = true)]
async fn a_view_gets_so_many_lines_of_the_log_and_no_more() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    page.settled("v1").await;
    let line = |data: &str| json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": data } });
    for _ in 0..300 {
        page.say("v1", "message", line("again")).await;
    }
    page.settled("v1").await;
    assert!((50..=100).contains(&stage.logged("again").await));
    // A megabyte is a line like any other.
    tokio::time::advance(Duration::from_secs(10)).await;
    page.say("v1", "message", line(&format!("long\n{}", "x".repeat(1 << 20)))).await;
    page.settled("v1").await;
    let lines = stage.host.log().after(0, Duration::ZERO).await;
    let long = lines.iter().find(|line| line.words.as_str().contains("long")).unwrap();
    assert!(long.words.as_str().len() < 600 && !long.words.as_str().contains('\n'));
    assert_eq!(stage.logged("more lines were left out").await, 1);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_could_be_read_in_two_ways_open_no_view() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    let open = r#"{"lanes":[],"modes":["inline"],"container":{},"context":{},"tool":{"server":"demo","name":"show_weather","arguments":{"place":"a","place":"b"}}}"#;
    let text = format!(r#"{{"view":"v1","seq":1,"ack":0,"open":{open}}}"#);
    stage.send(Event::Said { page: "p1".to_owned(), connection: 1, text, room: None }).await;
    let why = page.hear("v1", "text").await["why"].clone();
    assert_eq!(
        why,
        r#"There is no view to show: its arguments are not clear: the member "place" stands twice."#
    );
}

#[tokio::test(start_paused = true)]
async fn as_many_views_of_a_server_as_may_be_and_one_more() {
    let limits = host::ServerLimits { views: 2, ..host::ServerLimits::default() };
    let stage = Stage::with(|builder| builder.server_limits(limits)).await;
    let mut one = stage.load_in("t1", "p1", 1).await;
    let mut two = stage.load_in("t2", "p2", 2).await;
    one.open("v1").await;
    two.open("v2").await;
    one.open_of("demo", "v3").await;
    let why = one.hear("v3", "text").await["why"].clone();
    assert_eq!(
        why,
        "The views of \"demo\" together are as many as may be: 2. Close one of them first."
    );
    assert_eq!(one.hear("v3", "close").await["reason"], "limit");
    assert_eq!(stage.logged("tools/call \"show_weather\"").await, 2, "its tool was not called");
    // Another server has places of its own, and one that is free is free for everybody.
    one.open_of("other", "o1").await;
    one.hear("o1", "open").await;
    two.say("v2", "close", json!({ "reason": "gone" })).await;
    two.hear("v2", "close").await;
    one.open("v3").await;
}

#[tokio::test(start_paused = true)]
async fn as_many_views_of_the_host_as_may_be_and_one_more() {
    let stage = Stage::with(|builder| builder.most_views(2)).await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.open_of("other", "o1").await;
    page.hear("o1", "open").await;
    page.open_of("demo", "v2").await;
    let why = page.hear("v2", "text").await["why"].clone();
    assert_eq!(why, "All views together are as many as may be: 2. Close one of them first.");
    assert_eq!(page.hear("v2", "close").await["reason"], "limit");
    page.greet("v1").await;
    assert_eq!(page.settled("v1").await, [""; 0], "the others go on");
}

/// Answers of the server that nobody takes: up to the limit they wait, beyond it they are refused.
#[tokio::test(start_paused = true)]
async fn what_waits_for_the_page_takes_up_bounded_memory() {
    let limits = |queued| host::Limits { queued, ..host::Limits::default() };
    for (of, view, server) in [("view", 40_000, 80_000), ("server", 80_000, 40_000)] {
        let together = host::ServerLimits { queued: server, ..host::ServerLimits::default() };
        let stage =
            Stage::with(|builder| builder.limits(limits(view)).server_limits(together)).await;
        let mut page = stage.load("p1", 1).await;
        page.open("v1").await;
        page.greet("v1").await;
        page.settled("v1").await;
        // The page is away: it confirms nothing.
        let (_, heard) = page.counts["v1"];
        let mut refused = 0;
        for id in 100..140 {
            page.request("v1", id, "resources/read", json!({ "uri": "ui://demo/weather.html" }))
                .await;
            let answer = page.answer_to("v1", id).await;
            page.counts.get_mut("v1").unwrap().1 = heard;
            if answer["error"].is_object() {
                assert_eq!(reason(&answer), (&json!("queued"), &json!(of)));
                refused += 1;
            } else {
                assert_eq!(refused, 0, "what has no room has none later");
            }
        }
        assert!((1..40).contains(&refused), "{of}: {refused}");
        // It comes back and takes what waits: there is room again.
        let (said, _) = page.counts["v1"];
        page.stage
            .send(Event::Said {
                page: "p1".to_owned(),
                connection: 1,
                text: format!(r#"{{"view":"v1","ack":{}}}"#, heard + 40),
                room: None,
            })
            .await;
        page.counts.insert("v1".to_owned(), (said, heard + 40));
        let answer =
            page.ask("v1", 999, "resources/read", json!({ "uri": "ui://demo/weather.html" })).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_by_method_is_told_by_its_name() {
    let limit = host::MethodLimits { rate: Some(rate(2.0)), size: Some(100) };
    let limits =
        host::Limits { methods: [("tools/list", limit)].into(), ..host::Limits::default() };
    let stage = Stage::with(|builder| builder.limits(limits)).await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    for id in [1, 2] {
        assert!(page.ask("v1", id, "tools/list", json!({})).await["result"].is_object());
    }
    page.request("v1", 3, "tools/list", json!({})).await;
    let note = page.hear("v1", "note").await["text"].clone();
    let answer = page.answer_to("v1", 3).await;
    assert_eq!(reason(&answer), (&json!("method"), &json!("view")));
    assert!(
        note.as_str().unwrap().starts_with("This view sends tools/list more than 1 times a second")
    );
    let answer = page.ask("v1", 4, "tools/list", json!({ "x": "x".repeat(100) })).await;
    assert_eq!(reason(&answer), (&json!("method-size"), &json!("view")));
}

const SAVE: &str = "save_note";

async fn ask_save(page: &mut Load<'_>, view: &str, id: u64) -> Value {
    page.request(view, id, "tools/call", json!({ "name": SAVE, "arguments": { "note": "x" } }))
        .await;
    page.hear(view, "ask").await
}

async fn decide_always(stage: &Stage, page: &mut Load<'_>) {
    let ask = ask_save(page, "v1", 1).await;
    page.say("v1", "answer", json!({ "id": ask["id"], "choice": "allow-always" })).await;
    assert!(page.answer_to("v1", 1).await["result"].is_object());
    assert_eq!(stage.logged("ignored").await, 0);
}

/// Waits until the file says so: it is written outside the loop.
async fn until_kept(folder: &std::path::Path, count: usize) -> Vec<Remembered> {
    let decisions = Decisions::new(folder, 90);
    loop {
        if let Ok(all) = decisions.read()
            && all.len() == count
        {
            return all;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_always_outlives_the_host_and_can_be_taken_back_while_one_runs() {
    let folder = tempfile::tempdir().unwrap();
    let with = |builder: Builder| builder.data(folder.path().to_owned());
    let stage = Stage::with(with).await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    decide_always(&stage, &mut page).await;
    let kept = until_kept(folder.path(), 1).await;
    assert_eq!((&*kept[0].server, kept[0].yes), ("demo", true));
    stage.host.close().await;

    // Another run: nobody is asked, not even in a view of another tab; but another server is.
    let stage = Stage::with(with).await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let call = json!({ "name": SAVE, "arguments": { "note": "x" } });
    assert!(page.ask("v1", 1, "tools/call", call.clone()).await["result"].is_object());
    page.open_of("other", "o1").await;
    page.hear("o1", "open").await;
    page.greet("o1").await;
    ask_save(&mut page, "o1", 1).await;

    // Somebody takes it back at the command line: the next message is judged without it.
    let gone = Decisions::new(folder.path(), 90).forget(|_| true).unwrap();
    assert_eq!(gone, kept);
    tokio::time::sleep(Duration::from_millis(150)).await;
    ask_save(&mut page, "v1", 2).await;
}

#[tokio::test]
async fn a_decision_is_shown_and_forgotten_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::with(|builder| builder.data(folder.path().to_owned())).await;
    let mut page = stage.load("p1", 1).await;
    for view in ["v1", "v2"] {
        page.open(view).await;
        page.greet(view).await;
    }
    decide_always(&stage, &mut page).await;
    until_kept(folder.path(), 1).await;
    let shown = stage.host.decisions();
    let shown = serde_json::to_value(&shown).unwrap();
    assert_eq!(shown[0]["words"], "call \"save_note\"");
    assert_eq!((&shown[0]["yes"], &shown[0]["kept"]), (&json!(true), &json!(true)));
    let id: DecisionId = serde_json::from_value(shown[0]["id"].clone()).unwrap();
    for (id, found) in [(id.clone(), true), (id, false)] {
        let (done, told) = oneshot::channel();
        stage.send(Event::Forget { id, done }).await;
        assert_eq!(told.await, Ok(found), "once");
    }
    assert_eq!(stage.host.decisions(), []);
    // In the view that asked and in the other one.
    ask_save(&mut page, "v2", 1).await;
    ask_save(&mut page, "v1", 2).await;
    until_kept(folder.path(), 0).await;
}

#[tokio::test]
async fn a_damaged_file_of_decisions_means_that_people_are_asked() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(crate::decisions::FILE), "{").unwrap();
    let stage = Stage::with(|builder| builder.data(folder.path().to_owned())).await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    ask_save(&mut page, "v1", 1).await;
    assert_eq!(stage.logged("is damaged").await, 1);
    assert_eq!(stage.logged("you are asked again").await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_a_view_that_is_not_there_is_ignored_and_logged() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    page.say("v9", "answer", json!({ "id": "q0", "choice": "allow" })).await;
    let mut other = stage.load_in("t2", "p2", 2).await;
    other.say("v1", "answer", json!({ "id": "q0", "choice": "allow" })).await;
    assert_eq!(page.settled("v1").await, [""; 0]);
    assert_eq!(stage.logged("for a view that is not there; ignored").await, 2);
}

/// A server with one view, whose tool never answers; what it hears is told.
fn silent(heard: mpsc::UnboundedSender<Value>) -> Target {
    declaring(heard, Value::Null)
}

/// One with a document that declares something, whose tool answers.
fn declaring(heard: mpsc::UnboundedSender<Value>, csp: Value) -> Target {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use transom::wire::MIME;
    Target::InProcess(crate::upstream::InProcess::new("silent", move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (heard, csp) = (heard.clone(), csp.clone());
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(theirs);
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let _ = heard.send(message.clone());
                let result = match message["method"].as_str().unwrap() {
                    "initialize" => {
                        json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {} } })
                    }
                    "tools/list" => {
                        json!({ "tools": [{ "name": "show", "_meta": { "ui": { "resourceUri": "ui://a/b" } } }] })
                    }
                    "resources/list" => json!({ "resources": [] }),
                    "resources/read" => {
                        let meta = json!({ "ui": { "csp": csp } });
                        let meta = if csp.is_object() { meta } else { json!({}) };
                        json!({ "contents": [{ "uri": "ui://a/b", "mimeType": MIME, "text": "<p>hello", "_meta": meta }] })
                    }
                    "tools/call" if csp.is_object() => json!({ "content": [] }),
                    "tools/call" => continue,
                    _ if message["id"].is_null() => continue,
                    _ => json!({}),
                };
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        });
        ours
    }))
}

#[tokio::test]
async fn a_private_address_that_is_taken_back_at_the_command_line_is_taken_from_a_silent_view() {
    let folder = tempfile::tempdir().unwrap();
    let (told, _heard) = mpsc::unbounded_channel();
    let near = declaring(told, json!({ "connectDomains": ["http://localhost:3000"] }));
    let with = |builder: Builder| builder.server("near", near).data(folder.path().to_owned());
    let stage = Stage::with(with).await;
    let mut page = stage.load("p1", 1).await;
    let tool = json!({ "server": "near", "name": "show", "arguments": {} });
    page.say("v1", "open", json!({ "tool": tool })).await;
    let ask = page.hear("v1", "ask").await;
    page.say("v1", "answer", json!({ "id": ask["id"], "choice": "allow-always" })).await;
    page.hear("v1", "open").await;
    until_kept(folder.path(), 1).await;
    Decisions::new(folder.path(), 90).forget(|_| true).unwrap();
    let why = page.hear("v1", "text").await["why"].clone();
    assert!(why.as_str().unwrap().contains("you took back something"), "{why}");
}

/// Sends what a browser sends when it has blocked something in a guest; the status that it gets.
async fn report(stage: &Stage, mount: &Value, directive: &str, blocked: &str) -> u16 {
    use tower::ServiceExt as _;
    // A sandbox's name stands below its guest's.
    let src = mount["src"].as_str().unwrap();
    let (_, guest) =
        src.split_once("://").unwrap().1.trim_end_matches('/').split_once('.').unwrap();
    let report = json!({ "effective-directive": directive, "blocked-uri": blocked });
    let request = axum::http::Request::post("/")
        .header("host", guest)
        .header("content-type", "application/csp-report")
        .header("sec-fetch-dest", "report")
        .body(axum::body::Body::from(json!({ "csp-report": report }).to_string()));
    stage.host.sandbox_router().oneshot(request.unwrap()).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn what_is_blocked_is_told_and_a_person_grants_what_they_were_shown_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::with(|builder| builder.data(folder.path().to_owned())).await;
    let mut page = stage.load("p1", 1).await;
    let mount = page.open("v1").await;
    page.greet("v1").await;
    assert_eq!(report(&stage, &mount, "script-src", "eval").await, 204);
    let words = "run code put together from text, and WebAssembly (eval)";
    let blocked = page.hear("v1", "blocked").await;
    assert_eq!(blocked, json!({ "lines": [words], "grants": ["eval"] }));
    report(&stage, &mount, "connect-src", "https://a.test/x?key=1").await;
    let line = "connect to \"https://a.test/x\": its server has to name that in connectDomains";
    let blocked = page.hear("v1", "blocked").await;
    assert_eq!(blocked, json!({ "lines": [words, line], "grants": ["eval"] }));
    // What was not said to be blocked is not even asked about.
    for made_up in [json!(["wasm"]), json!(["camera", "https://a.test"]), json!([])] {
        page.say("v1", "grant", json!({ "grants": made_up })).await;
    }
    page.say("v1", "grant", json!({ "grants": ["eval", "wasm", "camera", "*"] })).await;
    let ask = page.hear("v1", "ask").await;
    assert_eq!(ask["kind"], "grant");
    assert_eq!(
        ask["text"],
        "This was blocked for views of \"demo\"; none of it reaches another address. Allow them to:"
    );
    assert_eq!(ask["changes"], json!([words]));
    // What is blocked while the question is open is not in the answer.
    report(&stage, &mount, "img-src", "blob").await;
    page.hear("v1", "blocked").await;
    page.say("v1", "answer", json!({ "id": ask["id"], "choice": "allow-always" })).await;
    let again = page.hear("v1", "open").await;
    assert_eq!(again["src"], mount["src"], "the view keeps its names, and its storage");
    let shown = serde_json::to_value(stage.host.decisions()).unwrap();
    assert_eq!(shown[0]["words"], words);
    // A report on the document before is late; the other thing is still blocked.
    report(&stage, &mount, "script-src", "eval").await;
    report(&stage, &mount, "img-src", "blob").await;
    assert_eq!(page.hear("v1", "blocked").await["grants"], json!(["blob-images"]));
    // A second view of the same server has it from the start, one of another server has not.
    for (server, view, has) in [("demo", "v2", true), ("other", "v3", false)] {
        page.open_of(server, view).await;
        let mount = page.hear(view, "open").await;
        report(&stage, &mount, "script-src", "eval").await;
        report(&stage, &mount, "font-src", "data").await;
        let first = page.hear(view, "blocked").await["grants"][0].clone();
        assert_eq!(first == json!("eval"), !has, "{server}");
    }
    let id: DecisionId = serde_json::from_value(shown[0]["id"].clone()).unwrap();
    let (done, told) = oneshot::channel();
    stage.send(Event::Forget { id, done }).await;
    assert_eq!(told.await, Ok(true));
    let mut ended = vec![];
    while ended.len() < 2 {
        let (view, kind, told) = page.next().await.unwrap();
        if kind == "text" {
            assert!(told["why"].as_str().unwrap().contains("you took back something"), "{told}");
            ended.push(view);
        }
    }
    ended.sort();
    assert_eq!(ended, ["v1", "v2"]);
}

#[tokio::test]
async fn a_million_reports_are_a_few_lines_and_a_no_changes_nothing() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    let mount = page.open("v1").await;
    page.greet("v1").await;
    for n in 0..5_000 {
        report(&stage, &mount, "img-src", &format!("https://{n}.test")).await;
    }
    let mut most = 0;
    while most < 24 {
        most = page.hear("v1", "blocked").await["lines"].as_array().unwrap().len();
    }
    assert!(stage.logged("kept from").await <= 24);
    let other = page.open("v2").await;
    report(&stage, &other, "script-src", "eval").await;
    page.hear("v2", "blocked").await;
    page.say("v2", "grant", json!({ "grants": ["eval"] })).await;
    let ask = page.hear("v2", "ask").await;
    page.say("v2", "answer", json!({ "id": ask["id"], "choice": "deny" })).await;
    // It is asked again, and neither granted nor forgotten that it was blocked.
    page.say("v2", "grant", json!({ "grants": ["eval"] })).await;
    assert_ne!(page.hear("v2", "ask").await["id"], ask["id"]);
    assert_eq!(page.settled("v1").await, [""; 0], "no more than that");
}

#[tokio::test]
async fn what_a_tool_answers_before_its_view_is_there_is_one_line_of_the_log() {
    let near = json!({ "csp": { "connectDomains": ["http://localhost:3000"] } });
    let near = odd(json!([showing("show")]), near);
    let stage = Stage::with(|builder| builder.server("near", near)).await;
    let mut page = stage.load("p1", 1).await;
    let tool = json!({ "server": "near", "name": "show", "arguments": {} });
    page.say("v1", "open", json!({ "tool": tool })).await;
    let ask = page.hear("v1", "ask").await;
    while stage.logged("answered in").await == 0 {
        tokio::task::yield_now().await;
    }
    page.say("v1", "answer", json!({ "id": ask["id"], "choice": "allow-view" })).await;
    page.hear("v1", "open").await;
    page.greet("v1").await;
    page.settled("v1").await;
    assert_eq!(stage.logged("answered in").await, 1);
}

#[tokio::test]
async fn a_question_about_a_grant_can_be_asked_again_on_a_page_that_was_loaded_anew() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    let mount = page.open("v1").await;
    page.greet("v1").await;
    report(&stage, &mount, "script-src", "eval").await;
    page.hear("v1", "blocked").await;
    page.say("v1", "grant", json!({ "grants": ["eval"] })).await;
    let first = page.hear("v1", "ask").await["id"].clone();
    // The element opens the view that it has anew.
    page.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    page.hear("v1", "open").await;
    page.say("v1", "grant", json!({ "grants": ["eval"] })).await;
    assert_ne!(page.hear("v1", "ask").await["id"], first);
}

#[tokio::test]
async fn h_134_a_card_that_is_closed_while_its_tool_runs_cancels_it() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let stage = Stage::with(|builder| builder.server("silent", silent(told))).await;
    let mut page = stage.load("p1", 1).await;
    let tool = json!({ "server": "silent", "name": "show", "arguments": {} });
    for reason in ["user", "gone"] {
        page.say("v1", "open", json!({ "lanes": [], "modes": [], "tool": tool })).await;
        let call = loop {
            let message = heard.recv().await.unwrap();
            if message["method"] == "tools/call" {
                break message["id"].clone();
            }
        };
        page.say("v1", "close", json!({ "reason": reason })).await;
        page.hear("v1", "close").await;
        let cancelled = loop {
            let message = heard.recv().await.unwrap();
            if message["method"] == "notifications/cancelled" {
                break message["params"].clone();
            }
        };
        assert_eq!(cancelled, json!({ "requestId": call, "reason": "the view was closed" }));
    }
}

#[tokio::test]
async fn an_answer_that_comes_late_does_not_reach_the_view_that_is_in_the_seat_now() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    let mut deeds = vec![];
    for life in 1..=2 {
        page.open("v1").await;
        page.greet("v1").await;
        let question = ask_link(&mut page, 7).await;
        answer(&mut page, &question, "allow").await;
        deeds.push(page.hear("v1", "do").await["id"].clone());
        if life == 1 {
            page.say("v1", "close", json!({ "reason": "gone" })).await;
            page.hear("v1", "close").await;
        }
    }
    // Both sessions count their calls from the same number.
    for call in 0..3 {
        let view = ViewId::parse("v1").unwrap();
        let outcome = Ok(RawValue::from_string(r#"{"content":[]}"#.to_owned()).unwrap());
        stage.send(Event::Done { view, turn: 1, call, outcome }).await;
    }
    page.say("v1", "did", json!({ "id": deeds[0], "done": true })).await;
    page.request("v1", 8, "ping", json!({})).await;
    loop {
        let message = page.hear("v1", "message").await;
        assert_ne!(message["id"], 7, "its call still runs: {message}");
        if message["id"] == 8 {
            break;
        }
    }
}

/// A server with these tools, which all show one view with this `_meta.ui`.
fn odd(tools: Value, ui: Value) -> Target {
    use transom::wire::MIME;
    Target::InProcess(crate::upstream::InProcess::new("odd", move || {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let (tools, ui) = (tools.clone(), ui.clone());
        let answer = move |message: Value| {
            let result = match message["method"].as_str().unwrap_or_default() {
                "initialize" => {
                    json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {} } })
                }
                "tools/list" => json!({ "tools": tools }),
                "resources/list" => json!({ "resources": [] }),
                "resources/read" => json!({ "contents": [{
                    "uri": message["params"]["uri"], "mimeType": MIME, "text": "<p>hello", "_meta": { "ui": ui },
                }] }),
                _ => json!({ "content": [] }),
            };
            std::future::ready(Ok(result))
        };
        tokio::spawn(crate::upstream::answer_lines(reader, writer, answer));
        ours
    }))
}

fn showing(name: &str) -> Value {
    json!({ "name": name, "_meta": { "ui": { "resourceUri": "ui://a/b" } } })
}

async fn open_odd(page: &mut Load<'_>, server: &str, tool: &str) {
    let tool = json!({ "server": server, "name": tool, "arguments": {} });
    page.say("v1", "open", json!({ "lanes": [], "modes": [], "tool": tool })).await;
}

#[tokio::test]
async fn a_yes_for_private_addresses_lasts_whatever_its_server_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let near = json!({ "csp": { "connectDomains": ["http://localhost:3000"] } });
    for name in ["near", "near\\by", &"n".repeat(100)] {
        let target = odd(json!([showing("show")]), near.clone());
        let data = folder.path().to_owned();
        let stage = Stage::with(|builder| builder.data(data).server(name, target)).await;
        let mut page = stage.load("p1", 1).await;
        open_odd(&mut page, name, "show").await;
        let ask = page.hear("v1", "ask").await;
        assert_eq!(
            ask["choices"],
            json!(["allow-view", "allow-until-end", "allow-always", "deny", "deny-always"]),
            "{name}"
        );
    }
}

/// A name that reads like a sentence of the host's, and a character that turns the rest round.
const FORGED: &str = "show\" from \"bank\". All is well.\u{202e}";

#[tokio::test]
async fn a_tools_name_is_quoted_in_the_head_of_a_question_and_in_its_label() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_owned();
    let target = odd(json!([showing(FORGED), { "name": SAVE }]), json!({}));
    let stage = Stage::with(|builder| builder.data(data).server("odd", target)).await;
    let mut page = stage.load("p1", 1).await;
    open_odd(&mut page, "odd", FORGED).await;
    let title = page.hear("v1", "open").await["title"].clone();
    let quoted = r#""show\" from \"bank\". All is well.\u{202e}" from "odd""#;
    assert_eq!(title, quoted);
    page.greet("v1").await;
    let ask = ask_save(&mut page, "v1", 1).await;
    assert_eq!(ask["who"], format!("View of {quoted}"));
    let (_, states) = stage.host.servers(None, Duration::ZERO).await;
    let odd = states.iter().find(|state| state.name == "odd").unwrap();
    let labels: Vec<&Quoted> = odd.tools.iter().map(|tool| &tool.label).collect();
    assert!(labels.contains(&&Quoted::new(FORGED)), "{labels:?}");
}

#[tokio::test]
async fn a_tools_name_is_quoted_in_the_list_of_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let tools = |destroys: bool| {
        let hints = json!({ "destructiveHint": destroys });
        json!([showing("show"), { "name": FORGED, "annotations": hints }])
    };
    let with = |destroys: bool| {
        let (data, target) = (folder.path().to_owned(), odd(tools(destroys), json!({})));
        Stage::with(move |builder| builder.data(data).server("odd", target))
    };
    let stage = with(false).await;
    let mut page = stage.load("p1", 1).await;
    open_odd(&mut page, "odd", "show").await;
    page.hear("v1", "open").await;
    page.greet("v1").await;
    page.request("v1", 1, "tools/call", json!({ "name": FORGED })).await;
    let ask = page.hear("v1", "ask").await;
    page.say("v1", "answer", json!({ "id": ask["id"], "choice": "allow-always" })).await;
    until_kept(folder.path(), 1).await;
    stage.host.close().await;

    let stage = with(true).await;
    let list = host::List::Tools;
    stage.send(Event::ListChanged { server: "odd".to_owned(), list }).await;
    // The loop has taken that in when it welcomes the page.
    stage.load("p1", 1).await;
    let shown = serde_json::to_value(stage.host.decisions()).unwrap();
    let name = Quoted::new(FORGED);
    let words = format!("call {name} (you are asked again, for it changed since: {name})");
    assert_eq!(shown[0]["words"], words);
}

mod draining;
mod linked;
mod long_calls;
mod returning;
mod traced;
