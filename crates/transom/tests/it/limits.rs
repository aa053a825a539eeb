//! Every limit lets through what it says and refuses the next one by name; nobody else notices.

use std::{sync::Arc, time::Duration};

use proptest::{prelude::*, test_runner::TestCaseError};
use serde_json::{Value, json};
use transom::{
    host::{
        Input, Limits, MethodLimits, Opening, Output, Rate, ServerLimits, Session, Setup, Share,
    },
    policy::{Decision, Policy, Stance},
    rpc,
};

use super::world;

/// One server: what its views share, and its views.
struct Server {
    share: Share,
    views: Vec<(Session, u64)>,
    now: Duration,
}

/// What became of a message.
#[derive(Debug, PartialEq)]
enum Fate {
    /// It was answered, or goes on.
    Taken,
    /// Refused with this data.
    Refused(Value),
    /// Not answered, and not taken.
    Ignored,
}

impl Server {
    fn new(limits: &Limits, share: ServerLimits, views: usize) -> Self {
        let mut server =
            Self { share: Share::new(Duration::ZERO, share), views: vec![], now: Duration::ZERO };
        for _ in 0..views {
            server.open(limits);
        }
        server
    }

    /// A view past its handshake, of which the share knows nothing: what is counted is what the test says.
    fn open(&mut self, limits: &Limits) {
        // What the handshake costs is put on top.
        let mut limits = limits.clone();
        limits.messages.burst += 2.0;
        limits.bytes.burst += HANDSHAKE.iter().map(|text| text.len() as f64).sum::<f64>();
        let setup = Setup { limits, ..world::setup() };
        let policy = Policy { reads: Stance::Allow, ..Policy::default() };
        let opening = Opening { policy: Arc::new(policy), ..world::opening() };
        let mut session = Session::start(self.now, Arc::new(setup), opening);
        let mut share = Share::new(self.now, ServerLimits::default());
        for text in HANDSHAKE {
            session.hear(self.now, text, &mut share).unwrap();
        }
        while session.poll().is_some() {}
        assert!(session.is_ready());
        self.views.push((session, 0));
    }

    /// Lets a view make a request, and keeps the share's books as a driver does.
    fn ask(&mut self, view: usize, method: &str, params: &Value) -> Fate {
        let (session, next) = &mut self.views[view];
        *next += 1;
        let id = *next;
        let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let before = session.usage();
        let taken = session.hear(self.now, &text.to_string(), &mut self.share);
        self.share.change(before, session.usage());
        let mut fate = if taken.is_ok() { Fate::Taken } else { Fate::Ignored };
        while let Some(output) = session.poll() {
            if let Output::Send(text) = output
                && let message = serde_json::from_str::<Value>(&text).unwrap()
                && message["id"] == id
                && message["error"].is_object()
            {
                fate = Fate::Refused(message["error"]["data"].clone());
            }
        }
        fate
    }
}

/// The first `most` go through, whoever of the views sends them; the next one is refused by name, and so
/// is every further one.
fn lets_through(
    server: &mut Server,
    most: usize,
    (limit, of, stated): (&str, &str, u64),
    request: impl Fn(usize) -> (&'static str, Value),
) -> Result<(), TestCaseError> {
    let views = server.views.len();
    for n in 0..most + 3 {
        let (method, params) = request(n);
        let fate = server.ask(n % views, method, &params);
        if n < most {
            prop_assert_eq!(fate, Fate::Taken, "{} of {}, number {} of {}", limit, of, n, most);
        } else {
            let data = json!({ "reason": "limit", "limit": limit, "of": of, "most": stated });
            prop_assert_eq!(fate, Fate::Refused(data), "number {} of {}", n, most);
        }
    }
    Ok(())
}

fn ping(_: usize) -> (&'static str, Value) {
    ("ping", json!({}))
}

fn call(_: usize) -> (&'static str, Value) {
    ("tools/call", json!({ "name": "look", "arguments": {} }))
}

fn link(n: usize) -> (&'static str, Value) {
    ("ui/open-link", json!({ "url": format!("https://a.test/{n:04}") }))
}

fn rate(burst: usize) -> Rate {
    Rate { per_second: 7.0, burst: burst as f64 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_a_second(burst in 1..60_usize, views in 1..5_usize, pause in 1..5_u64) {
        let limits = Limits { messages: rate(burst), ..Limits::default() };
        let mut own = Server::new(&limits, ServerLimits::default(), 1);
        lets_through(&mut own, burst, ("messages", "view", 7), ping)?;
        // Later there is room for as many as the rate says, up to the burst, the handshake's two included.
        own.now += Duration::from_secs(pause);
        let again = (burst + 2).min(7 * pause as usize);
        lets_through(&mut own, again, ("messages", "view", 7), ping)?;

        let share = ServerLimits { messages: rate(burst), ..ServerLimits::default() };
        let mut all = Server::new(&Limits::default(), share, views);
        lets_through(&mut all, burst, ("messages", "server", 7), ping)?;
    }

    #[test]
    fn bytes_a_second(count in 1..40_usize, views in 1..5_usize) {
        // Each of the same length, so that the limit is met exactly.
        let (method, params) = link(0);
        let text = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let size = text.to_string().len();
        let bytes = |count: usize| Rate { per_second: 7.0, burst: (count * size) as f64 };
        let share = ServerLimits { bytes: bytes(count), questions: 1_000, ..ServerLimits::default() };
        let limits = Limits { questions: 1_000, ..Limits::default() };
        // Ids of one digit: nine requests of each view at most.
        let views = views.max((count + 3).div_ceil(9));
        let few = count.min(6);
        let mut own = Server::new(&Limits { bytes: bytes(few), ..limits.clone() }, ServerLimits::default(), 1);
        lets_through(&mut own, few, ("bytes", "view", 7), link)?;
        let mut all = Server::new(&limits, share, views);
        lets_through(&mut all, count, ("bytes", "server", 7), link)?;
    }

    #[test]
    fn calls_in_flight(most in 1..40_usize, views in 1..5_usize) {
        let limits = Limits { calls: most, ..Limits::default() };
        let mut own = Server::new(&limits, ServerLimits::default(), 1);
        lets_through(&mut own, most, ("calls", "view", most as u64), call)?;
        let share = ServerLimits { calls: most, ..ServerLimits::default() };
        let mut all = Server::new(&Limits::default(), share, views);
        lets_through(&mut all, most, ("calls", "server", most as u64), call)?;
        // One that is answered makes room for one, in whichever view.
        let (session, _) = &mut all.views[0];
        let before = session.usage();
        let result = serde_json::value::to_raw_value(&json!({})).unwrap();
        session.handle(all.now, Input::Answer { call: 0, outcome: Ok(&result) }).unwrap();
        all.share.change(before, session.usage());
        lets_through(&mut all, 1, ("calls", "server", most as u64), call)?;
    }

    #[test]
    fn questions_that_wait(most in 1..16_usize, views in 1..5_usize) {
        let limits = Limits { questions: most, ..Limits::default() };
        let mut own = Server::new(&limits, ServerLimits::default(), 1);
        lets_through(&mut own, most, ("questions", "view", most as u64), link)?;
        let share = ServerLimits { questions: most, ..ServerLimits::default() };
        let mut all = Server::new(&Limits::default(), share, views);
        lets_through(&mut all, most, ("questions", "server", most as u64), link)?;
        // One that is decided makes room for one.
        let (session, _) = &mut all.views[0];
        let before = session.usage();
        let decision = Input::Decision { question: 0, decision: Decision::Deny };
        session.handle(all.now, decision).unwrap();
        all.share.change(before, session.usage());
        prop_assert_eq!(all.share.used().questions, most - 1);
    }

    #[test]
    fn bytes_that_wait_for_a_person(most in 1..16_usize, views in 1..5_usize) {
        let held = most * link(0).1.to_string().len();
        let limits = Limits { held, ..Limits::default() };
        let mut own = Server::new(&limits, ServerLimits::default(), 1);
        lets_through(&mut own, most, ("held", "view", held as u64), link)?;
        let share = ServerLimits { held, ..ServerLimits::default() };
        let mut all = Server::new(&Limits::default(), share, views);
        lets_through(&mut all, most, ("held", "server", held as u64), link)?;
        prop_assert_eq!(all.share.used().held, held);
    }

    #[test]
    fn requests_of_one_method(burst in 1..40_usize) {
        let limit = MethodLimits { rate: Some(rate(burst)), size: None };
        let limits = Limits { methods: [("tools/list", limit)].into(), ..Limits::default() };
        let mut own = Server::new(&limits, ServerLimits::default(), 1);
        lets_through(&mut own, burst, ("method", "view", 7), |_| ("tools/list", json!({})))?;
        // Other methods have nothing to do with it.
        prop_assert_eq!(own.ask(0, "ping", &json!({})), Fate::Taken);
    }

    #[test]
    fn the_size_of_a_message_and_of_the_params_of_a_method(size in 200..4_000_usize) {
        let message = rpc::MessageLimits { bytes: size, ..rpc::MessageLimits::default() };
        let limits = Limits { message, ..Limits::default() };
        let mut own = Server::new(&Limits { message: rpc::MessageLimits::default(), ..limits.clone() }, ServerLimits::default(), 0);
        own.open(&limits);
        let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "x": "" } }).to_string().len();
        let refused = |limit: &str| Fate::Refused(json!({ "reason": "limit", "limit": limit, "of": "view", "most": size }));
        prop_assert_eq!(own.ask(0, "ping", &json!({ "x": "x".repeat(size - frame) })), Fate::Taken);
        prop_assert_eq!(own.ask(0, "ping", &json!({ "x": "x".repeat(size - frame + 1) })), refused("message-size"));
        prop_assert_eq!(own.ask(0, "ping", &json!({})), Fate::Taken);

        let limit = MethodLimits { size: Some(size), ..MethodLimits::default() };
        let limits = Limits { methods: [("ping", limit)].into(), ..Limits::default() };
        let mut own = Server::new(&limits, ServerLimits::default(), 1);
        prop_assert_eq!(own.ask(0, "ping", &json!({ "x": "x".repeat(size - 8) })), Fate::Taken);
        prop_assert_eq!(own.ask(0, "ping", &json!({ "x": "x".repeat(size - 7) })), refused("method-size"));
        prop_assert_eq!(own.ask(0, "tools/list", &json!({ "x": "x".repeat(size) })), Fate::Taken);
    }
}

#[test]
fn a_flood_costs_its_own_view_and_neither_its_neighbours_nor_other_servers() {
    let limits = Limits { messages: rate(50), ..Limits::default() };
    let share = ServerLimits { messages: rate(80), ..ServerLimits::default() };
    let mut server = Server::new(&limits, share, 2);
    let mut other = Server::new(&limits, share, 1);
    for _ in 0..500 {
        server.ask(0, "ping", &json!({}));
    }
    // Fifty of them were counted; the neighbour has what is left, and the other server everything.
    for _ in 0..30 {
        assert_eq!(server.ask(1, "ping", &json!({})), Fate::Taken);
    }
    assert!(matches!(server.ask(1, "ping", &json!({})), Fate::Refused(_)));
    for _ in 0..50 {
        assert_eq!(other.ask(0, "ping", &json!({})), Fate::Taken);
    }
}

#[test]
fn a_quiet_view_is_not_struck_for_what_its_neighbours_say() {
    let share = ServerLimits { messages: rate(1), ..ServerLimits::default() };
    let mut server = Server::new(&Limits::default(), share, 2);
    // Ten a second, for ten minutes, all but a few of them refused.
    for _ in 0..6_000 {
        server.now += Duration::from_millis(100);
        server.ask(0, "ping", &json!({}));
        server.ask(1, "ping", &json!({}));
    }
    assert!(server.views.iter().all(|(session, _)| session.is_ready()));
    // Who goes on as fast as its own limits allow is taken away in the end.
    for _ in 0..60_000 {
        server.now += Duration::from_millis(1);
        server.ask(0, "ping", &json!({}));
    }
    assert!(!server.views[0].0.is_ready() && server.views[1].0.is_ready());
}

#[test]
fn an_answer_that_is_too_large_is_an_answer_to_nobody_who_waits() {
    let message = rpc::MessageLimits { bytes: 1_000, ..rpc::MessageLimits::default() };
    let mut server =
        Server::new(&Limits { message, ..Limits::default() }, ServerLimits::default(), 1);
    let (session, _) = &mut server.views[0];
    session.ping(server.now).unwrap();
    let Some(Output::Send(ping)) = session.poll() else { panic!("a ping") };
    let id = &serde_json::from_str::<Value>(&ping).unwrap()["id"];
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "x": "x".repeat(1_000) } });
    assert!(session.hear(server.now, &answer.to_string(), &mut server.share).is_err());
    assert!(matches!(session.poll(), Some(Output::Pong { .. })));
    // A giant is not looked at.
    let giant = format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(33 << 20)
    );
    assert!(session.hear(server.now, &giant, &mut server.share).is_err());
    assert!(session.poll().is_none());
}

#[test]
fn what_was_too_large_to_be_brought_is_refused_like_what_was_too_large_when_it_came() {
    let mut server = Server::new(&Limits::default(), ServerLimits::default(), 1);
    let (session, _) = &mut server.views[0];
    let of = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#);
    session.hear_of(server.now, &of(7), &mut server.share).unwrap();
    let mut answers = vec![];
    while let Some(output) = session.poll() {
        if let Output::Send(text) = output {
            answers.push(serde_json::from_str::<Value>(&text).unwrap());
        }
    }
    let [answer] = &*answers else { panic!("{answers:?}") };
    assert_eq!(
        (&answer["id"], &answer["error"]["data"]["limit"]),
        (&json!(7), &json!("message-size"))
    );
    // Who waits for an answer has one; a notification, and what is no message, is a violation.
    session.ping(server.now).unwrap();
    let Some(Output::Send(ping)) = session.poll() else { panic!("a ping") };
    let id = &serde_json::from_str::<Value>(&ping).unwrap()["id"];
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    assert!(session.hear_of(server.now, &answer.to_string(), &mut server.share).is_err());
    assert!(matches!(session.poll(), Some(Output::Pong { .. })));
    for text in [r#"{"jsonrpc":"2.0","method":"notifications/message"}"#, "{}", ""] {
        let refused = session.hear_of(server.now, text, &mut server.share).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "over the limit of 16777216 bytes for one message",
            "{text}"
        );
        assert!(session.poll().is_none(), "{text}");
    }
}

const HANDSHAKE: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":"h","method":"ui/initialize","params":{"appInfo":{"name":"v","version":"1"},"appCapabilities":{},"protocolVersion":"2026-01-26"}}"#,
    r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#,
];
