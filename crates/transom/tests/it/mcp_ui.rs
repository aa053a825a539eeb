//! Views that speak mcp-ui's own messages: translated, and then judged like all others.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use transom::{
    host::{
        Input, Opening, Output, Reason, Ruling, ServerLimits, Session, Setup, Share, Task, Terms,
        ToolCall,
    },
    policy::Decision,
    rpc,
    violation::Violation,
    wire::{ContainerDimensions, HostContext, RawObject},
};

use super::world::{self, ms, raw};

/// A session, and everything that it wanted done so far.
struct Seat {
    session: Session,
    share: Share,
    now: Duration,
    sent: Vec<Value>,
    outputs: Vec<Output>,
}

impl Seat {
    fn new(opening: Opening) -> Self {
        Self::with(world::setup(), opening)
    }

    fn with(setup: Setup, opening: Opening) -> Self {
        let now = Duration::ZERO;
        let mut session = Session::start(now, Arc::new(setup), opening);
        session.tool_input(RawObject::new(&raw(r#"{"from":3}"#)).unwrap()).unwrap();
        let share = Share::new(now, ServerLimits::default());
        Self { session, share, now, sent: vec![], outputs: vec![] }
    }

    /// One that has said that it is there.
    fn ready() -> Self {
        let mut seat = Self::new(world::opening());
        seat.hear(&json!({ "type": "ui-lifecycle-iframe-ready" })).unwrap();
        seat.sent.clear();
        seat.outputs.clear();
        seat
    }

    fn hear(&mut self, message: &Value) -> Result<(), Violation> {
        self.hear_text(&message.to_string())
    }

    fn hear_text(&mut self, text: &str) -> Result<(), Violation> {
        self.now += ms(20);
        let heard = self.session.hear(self.now, text, &mut self.share);
        self.drain();
        heard
    }

    fn input(&mut self, input: Input<'_>) {
        self.now += ms(20);
        self.session.handle(self.now, input).unwrap();
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Send(text) => self.sent.push(serde_json::from_str(&text).unwrap()),
                output => self.outputs.push(output),
            }
        }
    }

    /// The questions that are asked.
    fn asked(&self) -> Vec<u64> {
        let ask = |output: &Output| match output {
            Output::Ask(question) => Some(question.id),
            _ => None,
        };
        self.outputs.iter().filter_map(ask).collect()
    }

    fn performed(&self) -> Vec<(u64, &Task)> {
        let perform = |output| match output {
            &Output::Perform { call, ref task } => Some((call, task)),
            _ => None,
        };
        self.outputs.iter().filter_map(perform).collect()
    }

    fn says(&self, output: &str) -> bool {
        self.outputs.iter().any(|said| format!("{said:?}").starts_with(output))
    }

    /// How the messages of one kind read.
    fn told(&self, kind: &str) -> Vec<&Value> {
        self.sent.iter().filter(|message| message["type"] == kind).collect()
    }
}

const RENDER: &str = "ui-lifecycle-iframe-render-data";
const RESPONSE: &str = "ui-message-response";

#[test]
fn a_view_of_mcp_ui_is_ready_with_its_first_message_and_shown_its_data_once() {
    let mut seat = Seat::new(world::opening());
    let result = raw(r#"{"content":[{"type":"text","text":"counted"}]}"#);
    seat.session.tool_result(RawObject::new(&result).unwrap()).unwrap();
    seat.hear(&json!({ "type": "ui-lifecycle-iframe-ready" })).unwrap();
    assert!(seat.session.is_ready());
    assert!(seat.says("McpUi") && seat.says("Opened"));
    let shown = json!({
        "toolInput": { "from": 3 },
        "toolOutput": { "content": [{ "type": "text", "text": "counted" }] },
        "theme": "dark",
        "displayMode": "inline",
    });
    assert_eq!(seat.sent, [json!({ "type": RENDER, "payload": { "renderData": shown } })]);
}

#[test]
fn what_its_surroundings_become_is_told_as_a_whole() {
    let mut seat = Seat::ready();
    let mut context = HostContext::clone(seat.session.context());
    context.locale = Some("fa-IR".to_owned());
    context.container_dimensions = Some(
        serde_json::from_value::<ContainerDimensions>(json!({ "width": 300, "maxHeight": 800 }))
            .unwrap(),
    );
    seat.session.set_context(Arc::new(context)).unwrap();
    seat.drain();
    let [told] = &seat.sent[..] else { panic!("{:?}", seat.sent) };
    let shown = &told["payload"]["renderData"];
    assert_eq!(
        (&shown["locale"], &shown["maxHeight"], &shown["toolInput"]),
        (&json!("fa-IR"), &json!(800.0), &json!({ "from": 3 }))
    );
}

#[test]
fn what_a_document_brought_along_is_shown_and_does_not_hide_what_we_say() {
    let brought = raw(r#"{"toolInput":{"from":99},"mine":[1]}"#);
    let opening = Opening { embedded: true, render_data: Some(brought), ..world::opening() };
    let mut seat = Seat::new(opening);
    seat.hear(&json!({ "type": "ui-request-render-data", "messageId": "m" })).unwrap();
    let [told] = &seat.sent[..] else { panic!("{:?}", seat.sent) };
    assert_eq!(told["messageId"], "m");
    let shown = &told["payload"]["renderData"];
    assert_eq!((&shown["mine"], &shown["toolInput"]), (&json!([1]), &json!({ "from": 3 })));
}

#[test]
fn a_tool_is_judged_by_the_same_rules_and_answered_under_the_views_own_id() {
    let mut seat = Seat::ready();
    let look = json!({ "type": "tool", "messageId": "a-1", "payload": { "toolName": "look", "params": { "x": 1 } } });
    seat.hear(&look).unwrap();
    assert_eq!(
        seat.sent[0],
        json!({ "type": "ui-message-received", "messageId": "a-1", "payload": { "messageId": "a-1" } })
    );
    let (call, task) = seat.performed()[0];
    let Task::CallTool(ToolCall { name, arguments, .. }) = task else { panic!("{task:?}") };
    assert_eq!((name.as_str(), arguments.as_ref().unwrap().get()), ("look", r#"{"x":1}"#));
    // The same id twice at once is two wishes: views name them after their kind.
    seat.hear(&look).unwrap();
    let second = seat.performed()[1].0;
    for call in [second, call] {
        seat.input(Input::Answer { call, outcome: Ok(&raw(r#"{"content":[]}"#)) });
    }
    let answer = json!({ "type": RESPONSE, "messageId": "a-1", "payload": { "messageId": "a-1", "response": { "content": [] } } });
    assert_eq!(seat.told(RESPONSE), [&answer, &answer]);
}

#[test]
fn what_needs_a_yes_waits_for_it_and_a_no_is_an_error_in_its_own_form() {
    let mut seat = Seat::ready();
    for (kind, payload) in [
        ("tool", json!({ "toolName": "wipe", "params": {} })),
        ("prompt", json!({ "prompt": "hello" })),
        ("link", json!({ "url": "https://example.com/" })),
        ("intent", json!({ "intent": "buy", "params": { "seats": 2 } })),
    ] {
        seat.outputs.clear();
        seat.sent.clear();
        seat.hear(&json!({ "type": kind, "payload": payload, "messageId": 7 })).unwrap();
        let [question] = seat.asked()[..] else { panic!("{kind} was not asked about") };
        assert!(seat.performed().is_empty(), "{kind}");
        seat.input(Input::Decision { question, decision: Decision::Deny });
        let [answer] = seat.told(RESPONSE)[..] else { panic!("{kind}: {:?}", seat.sent) };
        assert_eq!(answer["messageId"], 7, "{kind}");
        assert_eq!(answer["payload"]["error"]["code"], rpc::DENIED, "{kind}");
        assert!(answer["payload"]["error"]["message"].is_string(), "{kind}");
    }
}

#[test]
fn a_prompt_and_an_intent_are_messages_in_the_persons_name() {
    #[rustfmt::skip]
    let table = [
        (json!({ "type": "prompt", "payload": { "prompt": "say \"it\"" } }), r#"say "it""#),
        (json!({ "type": "intent", "payload": { "intent": "buy", "params": { "seats": 2 } } }), r#"Intent: buy. Parameters: {"seats":2}"#),
        (json!({ "type": "intent", "payload": { "intent": "buy" } }), "Intent: buy. Parameters: {}"),
    ];
    for (message, text) in table {
        let mut seat = Seat::ready();
        seat.hear(&message).unwrap();
        let question = seat.asked()[0];
        seat.input(Input::Decision { question, decision: Decision::Allow });
        let (call, Task::AddMessage { content }) = seat.performed()[0] else { panic!("{message}") };
        let content: Value = serde_json::from_str(content.get()).unwrap();
        assert_eq!(content, json!([{ "type": "text", "text": text }]));
        seat.input(Input::Answer { call, outcome: Ok(&raw("{}")) });
        // Without an id of the view's there is none in the answer.
        assert_eq!(
            seat.told(RESPONSE),
            [&json!({ "type": RESPONSE, "payload": { "response": {} } })]
        );
    }
}

#[test]
fn a_size_and_a_notice_are_taken_like_ours() {
    let mut seat = Seat::ready();
    seat.hear(&json!({ "type": "ui-size-change", "payload": { "height": 321, "width": null } }))
        .unwrap();
    assert!(seat.says("Resize"));
    assert_eq!(seat.sent, [] as [Value; 0]);
    seat.hear(&json!({ "type": "notify", "payload": { "message": "noticed" }, "messageId": "n" }))
        .unwrap();
    assert!(seat.says("Log"));
    assert_eq!(seat.told(RESPONSE)[0]["payload"], json!({ "messageId": "n", "response": {} }));
}

#[test]
fn wrong_shapes_are_refused_in_words_and_do_nothing() {
    #[rustfmt::skip]
    let table = [
        (json!({ "type": "tool", "messageId": "m" }), "payload is missing"),
        (json!({ "type": "tool", "messageId": "m", "payload": null }), "payload is missing"),
        (json!({ "type": "tool", "messageId": "m", "payload": "look" }), "object"),
        (json!({ "type": "tool", "messageId": "m", "payload": [] }), "object"),
        (json!({ "type": "tool", "messageId": "m", "payload": {} }), "toolName is missing"),
        (json!({ "type": "tool", "messageId": "m", "payload": { "toolName": 7 } }), "toolName should be a text"),
        (json!({ "type": "tool", "messageId": "m", "payload": { "toolName": "look\0" } }), "NUL"),
        (json!({ "type": "tool", "messageId": "m", "payload": { "toolName": "look", "ToolName": "wipe" } }), "ToolName"),
        (json!({ "type": "tool", "messageId": "m", "payload": { "toolName": "look", "params": [1] } }), "arguments"),
        (json!({ "type": "tool", "messageId": "m", "payload": { "toolName": "secret" } }), "secret"),
        (json!({ "type": "tool", "messageId": "m", "payload": { "toolName": "none" } }), "none"),
        (json!({ "type": "prompt", "messageId": "m", "payload": { "prompt": { "a": 1 } } }), "prompt should be a text"),
        (json!({ "type": "prompt", "messageId": "m", "payload": { "text": "x" } }), "prompt is missing"),
        (json!({ "type": "link", "messageId": "m", "payload": { "url": "javascript:alert(1)" } }), "javascript"),
        (json!({ "type": "link", "messageId": "m", "payload": { "url": "file:///etc/passwd" } }), "file"),
        (json!({ "type": "link", "messageId": "m", "payload": {} }), "url is missing"),
        (json!({ "type": "intent", "messageId": "m", "payload": { "intent": "x", "params": "y" } }), "params should be an object"),
        (json!({ "type": "notify", "messageId": "m", "payload": { "message": 7 } }), "message should be a text"),
        (json!({ "type": "ui-request-data", "messageId": "m", "payload": { "requestType": "x" } }), "ui-request-data"),
        (json!({ "type": "ui-message-response", "messageId": "m", "payload": {} }), "ui-message-response"),
    ];
    for (message, words) in table {
        let mut seat = Seat::ready();
        let _ = seat.hear(&message);
        assert!(seat.performed().is_empty() && seat.asked().is_empty(), "{message}");
        let [answer] = seat.told(RESPONSE)[..] else { panic!("{message}: {:?}", seat.sent) };
        let said = answer["payload"]["error"]["message"].as_str().unwrap();
        assert!(said.contains(words), "{message}: {said}");
        assert_eq!(answer["messageId"], "m");
    }
}

#[test]
fn every_refused_wish_has_its_verdict_like_a_request() {
    let mut seat = Seat::ready();
    seat.hear(&json!({ "type": "tool", "payload": {} })).unwrap();
    let refused = |output: &Output| {
        matches!(
            output,
            Output::Judged { method: Some("tools/call"), ruling: Ruling::Refused(_), .. }
        )
    };
    assert!(seat.outputs.iter().any(refused), "{:?}", seat.outputs);
}

#[test]
fn an_id_that_is_none_is_not_answered() {
    for id in [json!({}), json!([]), json!(true), json!(1.5), json!("x".repeat(100_000))] {
        let mut seat = Seat::ready();
        let message = json!({ "type": "tool", "messageId": id, "payload": { "toolName": "look" } });
        assert!(seat.hear(&message).is_err(), "{id:.40}");
        assert!(seat.sent.is_empty() && seat.performed().is_empty(), "{id:.40}");
    }
}

#[test]
fn members_beside_those_of_the_table_are_left_out_and_said() {
    let mut seat = Seat::ready();
    let payload = json!({ "toolName": "look", "params": {}, "task": {}, "_meta": {} });
    seat.hear(&json!({ "type": "tool", "payload": payload, "more": 1 })).unwrap();
    let (_, Task::CallTool(call)) = seat.performed()[0] else { panic!("no call") };
    assert_eq!(call.params(), r#"{"name":"look","arguments":{}}"#);
    assert!(seat.says("Dropped { method: \"tool\""), "{:?}", seat.outputs);
}

#[test]
fn a_member_that_stands_twice_is_refused_at_any_depth() {
    for text in [
        r#"{"type":"tool","type":"tool","payload":{"toolName":"look"}}"#,
        r#"{"type":"tool","payload":{"toolName":"look"},"Payload":{"toolName":"wipe"}}"#,
        r#"{"type":"tool","payload":{"toolName":"look","toolName":"wipe"}}"#,
        r#"{"type":"tool","payload":{"toolName":"look","params":{"a":[{"b":1,"b":2}]}}}"#,
    ] {
        let mut seat = Seat::ready();
        let _ = seat.hear_text(text);
        assert!(seat.performed().is_empty() && seat.asked().is_empty(), "{text}");
    }
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ui/initialize","params":{"appInfo":{"name":"a","version":"1"},"appCapabilities":{},"protocolVersion":"2026-01-26"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#;

#[test]
fn a_view_that_speaks_json_rpc_does_not_switch() {
    let mut seat = Seat::new(world::opening());
    seat.hear_text(HELLO).unwrap();
    for _ in 0..2 {
        let said = seat.hear(&json!({ "type": "tool", "payload": { "toolName": "look" } }));
        assert_eq!(said, Err(rpc::Malformed::Foreign.into()));
        seat.hear_text(INITIALIZED).unwrap();
    }
    assert!(seat.performed().is_empty() && !seat.says("McpUi"));
    assert!(seat.sent.iter().all(|message| message["jsonrpc"] == "2.0"));
}

#[test]
fn a_view_of_mcp_ui_that_says_json_rpc_is_refused_in_json_rpc() {
    let mut seat = Seat::ready();
    seat.hear(
        &json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "look" } }),
    )
    .unwrap();
    assert!(seat.performed().is_empty());
    assert_eq!((&seat.sent[0]["jsonrpc"], &seat.sent[0]["id"]), (&json!("2.0"), &json!(5)));
    assert!(seat.sent[0]["error"]["message"].as_str().unwrap().contains("mcp-ui"));
}

#[test]
fn a_greeting_is_another_document_and_nothing_of_the_first_reaches_it() {
    let mut seat = Seat::ready();
    seat.hear(&json!({ "type": "tool", "payload": { "toolName": "look" } })).unwrap();
    let call = seat.performed()[0].0;
    seat.hear_text(HELLO).unwrap();
    seat.hear_text(INITIALIZED).unwrap();
    seat.input(Input::Answer { call, outcome: Ok(&raw("{}")) });
    let after: Vec<_> = seat.sent.iter().skip_while(|message| message["id"] != 1).collect();
    assert!(after.iter().all(|message| message["jsonrpc"] == "2.0"), "{after:?}");
    // And it does not switch back.
    assert!(seat.hear(&json!({ "type": "notify", "payload": { "message": "x" } })).is_err());
}

#[test]
fn other_traffic_decides_nothing() {
    let mut seat = Seat::new(world::opening());
    for message in [
        json!({ "type": "webpackOk" }),
        json!({ "type": "ui-of-others" }),
        json!({ "type": 7 }),
        json!({ "kind": "tool" }),
        json!({}),
    ] {
        assert_eq!(seat.hear(&message), Err(rpc::Malformed::Foreign.into()), "{message}");
    }
    assert!(!seat.session.is_ready() && seat.sent.is_empty());
}

#[test]
fn a_document_from_a_result_may_never_say_anything() {
    let quiet = Setup { terms: Terms { quiet: ms(10), ..Terms::default() }, ..world::setup() };
    let mut seat = Seat::with(quiet, Opening { embedded: true, ..world::opening() });
    assert_eq!(seat.session.deadline(), None);
    seat.now = Duration::from_secs(86_400);
    seat.input(Input::Tick);
    assert!(!seat.session.is_closed() && seat.outputs.is_empty(), "{:?}", seat.outputs);
    // One that is linked has to, whatever it speaks.
    let mut seat = Seat::new(world::opening());
    seat.now = Duration::from_secs(86_400);
    seat.input(Input::Tick);
    assert!(seat.session.is_closed());
}

#[test]
fn it_is_told_of_its_end_and_not_waited_for() {
    let mut seat = Seat::ready();
    seat.session.close(seat.now, Reason::Closed);
    seat.drain();
    assert!(seat.session.is_closed());
    assert_eq!(seat.told("ui-lifecycle-teardown").len(), 1);
}

#[test]
fn a_flood_of_them_ends_the_view_like_any_flood() {
    let mut seat = Seat::ready();
    for _ in 0..200_000 {
        let text = r#"{"type":"tool","messageId":"m","payload":{}}"#;
        let _ = seat.session.hear(seat.now, text, &mut seat.share);
        if seat.session.is_closed() {
            return;
        }
        seat.session.poll();
    }
    panic!("it still lives");
}
