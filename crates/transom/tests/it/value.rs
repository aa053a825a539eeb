//! One value: what is judged, shown and sent, for whatever a view writes.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;
use serde_json::{Value, json, value::RawValue};
use transom::{
    host::{Input, Opening, Output, Ruling, ServerLimits, Session, Setup, Share, Task, Tools},
    policy::{Decision, Subject},
    violation::{Limit, Violation},
    wire::{HostCapabilities, ListChanged, Modalities},
};

use crate::property;

#[test]
fn the_server_gets_the_call_that_was_judged() {
    let mut view = View::new();
    view.says(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"a" : 1.50},"task":{"ttl":1},"inputResponses":{"c":{}},"requestState":"s","x":1}}"#);
    assert_eq!(view.sent(), [r#"{"name":"look","arguments":{"a":1.50}}"#]);
    assert_eq!(
        view.dropped,
        [r#"tools/call: "task", "inputResponses", "requestState", "x" and 0 more"#]
    );
}

#[test]
fn a_twin_of_a_member_is_refused_with_words() {
    #[rustfmt::skip]
    let table = [
        // The message itself.
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"resources/read","params":{"name":"look"}}"#,
            r#"the message: the member "Method" would pass for "method""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"},"PARAMS":{"name":"drop"}}"#,
            r#"the message: the member "PARAMS" would pass for "params""#),
        // Its params.
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","Name":"drop","ARGUMENTS":{}}}"#,
            r#"tools/call: the member "ARGUMENTS" would pass for "arguments""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","argument\u017f":{}}}"#,
            r#"tools/call: the member "argumentſ" would pass for "arguments""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","n\u0061me\u0000":"drop"}}"#,
            r#"tools/call: the member "name\u{0}" would pass for "name""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:a","URI":"x:b"}}"#,
            r#"resources/read: the member "URI" would pass for "uri""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"Cursor":"b"}}"#,
            r#"resources/list: the member "Cursor" would pass for "cursor""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ui/message","params":{"role":"user","content":[],"Content":[]}}"#,
            r#"ui/message: the member "Content" would pass for "content""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ui/open-link","params":{"url":"https://a.test/","Url":"https://b.test/"}}"#,
            r#"ui/open-link: the member "Url" would pass for "url""#),
        // Deeper, where the names are the specification's.
        (r#"{"jsonrpc":"2.0","id":1,"method":"ui/message","params":{"role":"user","content":[{"type":"text","text":"a","Text":"b"}]}}"#,
            r#"ui/message: the member "Text" stands twice"#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","_meta":{"ProgressToken":1}}}"#,
            r#"tools/call: the member "ProgressToken" would pass for "progressToken""#),
        // What is judged by ends where it seems to.
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look\u0000"}}"#,
            r#"tools/call: the name "look\u{0}" holds a NUL"#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:a\u0000b"}}"#,
            r#"resources/read: the name "x:a\u{0}b" holds a NUL"#),
    ];
    for (message, words) in table {
        let mut view = View::new();
        view.says(message);
        assert_eq!(view.refusals(), [words], "{message}");
        assert!(view.tasks.is_empty() && view.questions.is_empty(), "{message}");
        // And the view is told.
        assert!(view.heard[0].contains(r#""code":-32602"#), "{:?}", view.heard);
    }
}

#[test]
fn a_doubled_key_at_any_depth_is_refused() {
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"drop","arguments":{arguments}}}}}"#
        )
    };
    for arguments in [
        r#"{"path":"/tmp/a","path":"/etc"}"#,
        r#"{"path":"/tmp/a","p\u0061th":"/etc"}"#,
        r#"{"deep":[[{"x":{"path":1,"path":2}}]]}"#,
        r#"{"path":"/tmp/a","path\u0000":"/etc"}"#,
        r#"{"half":"\ud800"}"#,
    ] {
        let mut view = View::new();
        view.says(&call(arguments));
        assert!(view.refusals()[0].starts_with("tools/call: "), "{arguments}");
        assert!(view.questions.is_empty(), "{arguments}: nobody was asked");
    }
    // Names that differ by their capital letters are the tool's own business, and both are shown.
    let mut view = View::new();
    view.says(&call(r#"{"path":"/tmp/a","Path":"/etc"}"#));
    assert_eq!(&*view.questions[0].preview.text, r#"{"path":"/tmp/a","Path":"/etc"}"#);
}

#[test]
fn what_a_view_puts_into_meta_is_shown_where_people_decide() {
    let call = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    #[rustfmt::skip]
    let table = [
        (r#"{"name":"drop","arguments":{"a":1}}"#,                                r#"{"a":1}"#),
        (r#"{"name":"drop"}"#,                                                    "{}"),
        // Our own token is another one each time, and says nothing.
        (r#"{"name":"drop","arguments":{"a":1},"_meta":{"progressToken":"t"}}"#,  r#"{"a":1}"#),
        (r#"{"name":"drop","arguments":{"a":1},"_meta":{"force":true,"progressToken":"t"}}"#,
            "{\"a\":1}\n_meta: {\"force\":true}"),
        (r#"{"name":"drop","_meta":{"acme/subject":"admin"}}"#,                   "{}\n_meta: {\"acme/subject\":\"admin\"}"),
    ];
    for (params, shown) in table {
        let mut view = View::new();
        view.says(&call(params));
        assert_eq!(&*view.questions[0].preview.text, shown, "{params}");
    }
}

#[test]
fn a_message_in_a_string_is_judged_like_any_other() {
    let message =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","Name":"drop"}}"#;
    let mut view = View::new();
    view.says(&Value::from(message).to_string());
    assert_eq!(view.refusals(), [r#"tools/call: the member "Name" would pass for "name""#]);
    // And a batch is none.
    let mut view = View::new();
    view.says(&format!("[{message}]"));
    assert!(view.tasks.is_empty() && view.heard.is_empty());
}

#[test]
fn a_person_is_shown_what_is_sent_and_how_much_is_folded() {
    let mut view = View::new();
    let rows: Vec<Value> = (0..30_000).map(|n| json!({ "n": n })).collect();
    let arguments = json!({ "rows": rows });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "drop", "arguments": arguments } });
    view.says(&message.to_string());
    let preview = view.questions[0].preview.clone();
    view.decides(0, Decision::Allow);
    let Task::CallTool(call) = &view.tasks[0] else { panic!("a call") };
    let sent = call.arguments.as_ref().unwrap().get();
    assert_eq!(sent, arguments.to_string());
    assert!(sent.starts_with(&*preview.text));
    let beyond = preview.beyond.expect("it is longer than anybody is shown");
    assert_eq!(preview.text.len() + beyond.bytes, sent.len());
    let shown = preview.text.matches("\":").count();
    assert_eq!(shown + beyond.members, 30_001);
}

#[test]
fn asking_and_cancelling_is_a_no() {
    let mut view = View::new();
    let mut asked = 0;
    // Ten seconds of it, as fast as the limits let a view speak, with tools that are all asked about on their own.
    for round in 0..1_000_u32 {
        view.now += Duration::from_millis(10);
        let name = TOOLS[1 + round as usize % (TOOLS.len() - 1)].0;
        let message = json!({ "jsonrpc": "2.0", "id": round, "method": "tools/call", "params": { "name": name } });
        view.says(&message.to_string());
        asked = asked.max(view.questions.len());
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": round } });
        view.says(&cancel.to_string());
    }
    // The first of each kind costs nothing, the second and third are paused for 3 and 6 s.
    assert!(asked <= 4 * (TOOLS.len() - 1), "{asked} questions in ten seconds");
    assert!(view.refusals().iter().any(|words| words.contains("refused by the user a moment ago")));
}

#[test]
fn questions_of_many_kinds_are_bounded_in_time_too() {
    let mut view = View::new();
    for round in 0..200_u32 {
        view.now += Duration::from_millis(50);
        let name = format!("many{round}");
        let message = json!({ "jsonrpc": "2.0", "id": round, "method": "tools/call", "params": { "name": name } });
        view.says(&message.to_string());
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": round } });
        view.says(&cancel.to_string());
    }
    assert!(view.questions.len() <= 22, "{} questions in ten seconds", view.questions.len());
    let over = |ruling: &Ruling| matches!(ruling, Ruling::Refused(Violation::OverLimit(over)) if over.limit == Limit::Asking);
    assert!(view.rulings.iter().any(over));
}

#[test]
fn a_question_that_is_decided_costs_nothing() {
    let mut view = View::new();
    for round in 0..100_u32 {
        view.now += Duration::from_millis(50);
        let name = format!("many{round}");
        let message = json!({ "jsonrpc": "2.0", "id": round, "method": "tools/call", "params": { "name": name } });
        view.says(&message.to_string());
        let question = view.questions.last().unwrap().id;
        view.decides(question, Decision::Allow);
    }
    assert_eq!(view.tasks.len(), 100);
}

#[test]
fn a_reload_takes_questions_back_too() {
    let mut view = View::new();
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}"#;
    for _ in 0..3 {
        view.says(message);
        let _ = view.session.handle(view.now, Input::Reloaded);
        view.drain();
    }
    assert_eq!(view.questions.len(), 2, "the third comes too soon");
}

#[test]
fn a_question_lists_only_so_many_files() {
    let file = json!({ "type": "resource", "resource": { "uri": "file:///a.txt", "text": "" } });
    let download = |count: usize| {
        let contents = vec![file.clone(); count];
        json!({ "jsonrpc": "2.0", "id": count, "method": "ui/download-file", "params": { "contents": contents } }).to_string()
    };
    let mut view = View::new();
    view.says(&download(100));
    view.says(&download(1_000));
    assert_eq!(view.questions.len(), 1);
    assert!(matches!(&view.questions[0].subject, Subject::Download(names) if names.len() == 100));
    assert_eq!(view.refusals(), ["over the limit of 100 files in one download"]);
}

#[test]
fn an_address_is_short_enough_to_be_read() {
    let mut view = View::new();
    let url = format!("https://a.test/{}", "x".repeat(10_000));
    let message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "ui/open-link", "params": { "url": url } });
    view.says(&message.to_string());
    assert!(view.questions.is_empty());
    assert!(view.refusals()[0].len() < 300, "{:?}", view.refusals());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// Whatever a view writes, spelled however it likes.
    #[test]
    fn the_worst_decoder_reads_what_was_judged(method in 0_u8..7, params in object(3)) {
        let mut input = vec![method];
        input.extend(params.as_bytes());
        property::value::check(&input);
    }
}

/// An object with names that matter, twins of them, and doubles.
fn object(depth: u32) -> BoxedStrategy<String> {
    let names = prop::sample::select(NAMES);
    let value =
        if depth == 0 { leaf() } else { prop_oneof![3 => leaf(), 1 => object(depth - 1)].boxed() };
    let space = prop::sample::select(&["", " ", "\n"][..]);
    let member = (names, value, space)
        .prop_map(|(name, value, space)| format!(r#""{name}"{space}:{space}{value}"#));
    prop::collection::vec(member, 0..5)
        .prop_map(|members| format!("{{{}}}", members.join(",")))
        .boxed()
}

fn leaf() -> BoxedStrategy<String> {
    prop::sample::select(LEAVES).prop_map(str::to_owned).boxed()
}

const NAMES: &[&str] = &[
    "name",
    "Name",
    "n\\u0061me",
    "name\\u0000",
    "NAME\\u0000x",
    "arguments",
    "ARGUMENTS",
    "argument\\u017f",
    "_meta",
    "_Meta",
    "task",
    "tas\\u212a",
    "uri",
    "uri",
    "cursor",
    "content",
    "role",
    "type",
    "text",
    "Text",
    "a",
    "A",
    "\\u0061",
    "b",
    "progressToken",
    "progresstoken",
    "io.modelcontextprotocol/x",
    "IO.modelcontextprotocol/x",
    "structuredContent",
    "messages",
    "maxTokens",
    "inputResponses",
    "requestState",
    // Half a pair of surrogates, which is no text.
    "\\ud800",
];

const LEAVES: &[&str] = &[
    r#""look""#,
    r#""look""#,
    r#""look""#,
    r#""drop""#,
    r#""l\u006fok""#,
    r#""look\u0000""#,
    r#""x:a""#,
    r#""user""#,
    r#""text""#,
    "1",
    "1.50",
    "1e400",
    "9007199254740993",
    "true",
    "null",
    "[]",
    "{}",
    r#"[{"type":"text","text":"a"}]"#,
    r#"{"type":"text","text":"a"}"#,
    r#""\ud83d\ude00\/""#,
    r#""\ud800""#,
    r#"{"a":1,"b":{"c":[2]}}"#,
    r#"{"a":1,"a":2}"#,
];

/// A view before its session, and what came of what it said.
struct View {
    now: Duration,
    session: Session,
    share: Share,
    tasks: Vec<Task>,
    questions: Vec<transom::host::Question>,
    rulings: Vec<Ruling>,
    heard: Vec<String>,
    dropped: Vec<String>,
}

impl View {
    fn new() -> Self {
        let many: Vec<String> = (0..200).map(|n| format!("many{n}")).collect();
        let known = TOOLS.iter().copied().chain(many.iter().map(|name| (&**name, DESTROYS)));
        let entries: Vec<Box<RawValue>> = known
            .map(|(name, hints)| {
                format!(
                    r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"annotations":{hints}}}"#
                )
            })
            .map(|text| RawValue::from_string(text).unwrap())
            .collect();
        let tools = Tools::read(entries.iter().map(|entry| &**entry), &mut Vec::new());
        let text = Modalities { text: true, ..Modalities::default() };
        let capabilities = HostCapabilities {
            open_links: true,
            download_file: true,
            server_tools: Some(ListChanged::default()),
            server_resources: Some(ListChanged::default()),
            message: Some(text),
            ..HostCapabilities::default()
        };
        let setup = Setup { capabilities, accept_strings: true, ..Setup::default() };
        let opening = Opening { tools: Arc::new(tools), ..Opening::default() };
        Self {
            now: Duration::ZERO,
            session: Session::start(Duration::ZERO, Arc::new(setup), opening),
            share: Share::new(Duration::ZERO, ServerLimits::default()),
            tasks: vec![],
            questions: vec![],
            rulings: vec![],
            heard: vec![],
            dropped: vec![],
        }
    }

    fn says(&mut self, message: &str) {
        let _ = self.session.hear(self.now, message, &mut self.share);
        self.drain();
    }

    fn decides(&mut self, question: u64, decision: Decision) {
        let _ = self.session.handle(self.now, Input::Decision { question, decision });
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Perform { task, .. } => self.tasks.push(task),
                Output::Ask(question) => self.questions.push(question),
                Output::Judged { ruling, .. } => self.rulings.push(ruling),
                Output::Send(text) => self.heard.push(text),
                Output::Dropped { method, names, more } => {
                    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
                    self.dropped.push(format!("{method}: {} and {more} more", names.join(", ")));
                }
                _ => {}
            }
        }
    }

    fn sent(&self) -> Vec<String> {
        let call = |task: &Task| match task {
            Task::CallTool(call) => Some(call.params()),
            _ => None,
        };
        self.tasks.iter().filter_map(call).collect()
    }

    fn refusals(&self) -> Vec<String> {
        let refused = |ruling: &Ruling| match ruling {
            Ruling::Refused(violation) => Some(violation.to_string()),
            _ => None,
        };
        self.rulings.iter().filter_map(refused).collect()
    }
}

const DESTROYS: &str = r#"{"destructiveHint":true}"#;
const TOOLS: &[(&str, &str)] =
    &[("look", r#"{"readOnlyHint":true}"#), ("drop", DESTROYS), ("wipe", DESTROYS)];
