//! What a view gets through the gate reads the same to everybody: as the worst decoder reads what we send, so it was
//! judged, shown and written by the view.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use transom::host::{
    Input, Opening, Output, Question, ServerLimits, Session, Setup, Share, Task, ToolCall, Tools,
};
use transom::policy::{Policy, Stance};
use transom::wire::{HostCapabilities, ListChanged, Modalities};

/// Takes the input for a message of a view, or, if it does not begin like one, for the params of a method that its first
/// byte chooses.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let message = match text.char_indices().nth(1) {
        Some((end, _)) if !text.starts_with('{') => {
            let method = METHODS[usize::from(data[0]) % METHODS.len()];
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{}}}"#, &text[end..])
        }
        _ => text.into_owned(),
    };
    for stance in [Stance::Allow, Stance::Ask] {
        judge(&message, stance);
    }
}

fn judge(message: &str, stance: Stance) {
    let policy = Policy {
        read_only_tools: stance,
        destructive_tools: Stance::Ask,
        messages: stance,
        model_context: stance,
        reads: stance,
        ..Policy::default()
    };
    let opening = Opening { policy: Arc::new(policy), ..opening() };
    let mut session = Session::start(Duration::ZERO, Arc::new(setup()), opening);
    let mut share = Share::new(Duration::ZERO, ServerLimits::default());
    let _ = session.hear(Duration::ZERO, message, &mut share);
    while let Some(output) = session.poll() {
        match output {
            Output::Perform { task, .. } => see(message, &task),
            Output::Ask(question) => ask(message, &mut session, &question),
            _ => {}
        }
    }
}

/// What a person was shown is what is done when they say yes.
fn ask(message: &str, session: &mut Session, question: &Question) {
    let decision = transom::policy::Decision::Allow;
    let _ = session.handle(Duration::ZERO, Input::Decision { question: question.id, decision });
    while let Some(output) = session.poll() {
        let Output::Perform { task, .. } = output else { continue };
        see(message, &task);
        let shown = &question.preview;
        let sent = match &task {
            Task::CallTool(call) => goes_out(call),
            Task::AddMessage { content } => content.get().to_owned(),
            _ => continue,
        };
        match shown.beyond {
            None => assert_eq!(*shown.text, *sent, "shown and sent"),
            Some(folded) => {
                assert!(sent.starts_with(&*shown.text));
                assert_eq!(shown.text.len() + folded.bytes, sent.len());
            }
        }
    }
}

/// The arguments, and `_meta` if there is anything in it.
fn goes_out(call: &ToolCall) -> String {
    let arguments = call.arguments.as_ref().map_or("{}", |sent| sent.get());
    match &call.meta {
        Some(meta) => format!("{arguments}\n_meta: {}", meta.get()),
        None => arguments.to_owned(),
    }
}

fn see(message: &str, task: &Task) {
    match task {
        Task::CallTool(call) => see_call(message, call),
        Task::Read { uri, params, .. } => {
            for reading in READINGS {
                let sent = read(params.get(), reading);
                sent.has_only(&["uri", "cursor", "_meta"]);
                assert_eq!(sent.get("uri").map(Loose::text), uri.as_deref().map(Some));
                see_meta(&sent);
            }
        }
        Task::AddMessage { content } => same_to_all(content.get()),
        Task::UpdateModelContext { content, structured } => {
            same_to_all(content.get());
            structured.iter().for_each(|structured| same_to_all(structured.get()));
        }
        Task::Sample { params } => same_to_all(params.get()),
        _ => {}
    }
}

fn see_call(message: &str, call: &ToolCall) {
    assert!(TOOLS.iter().any(|tool| tool.contains(&format!(r#""name":"{}""#, call.name))));
    let text = call.params();
    for reading in READINGS {
        let sent = read(&text, reading);
        sent.has_only(&["name", "arguments", "_meta"]);
        assert_eq!(sent.get("name").and_then(Loose::text), Some(&*call.name), "{text}");
        see_meta(&sent);
        // Nothing was added to what the view wrote, and nothing of it lost.
        let written = read(message, Reading::STRICT);
        let written = match written.get("jsonrpc") {
            Some(_) => written.get("params").and_then(|params| params.get("arguments")),
            // As mcp-ui has it.
            None => written.get("payload").and_then(|payload| payload.get("params")),
        };
        let written = written.filter(|value| **value != Loose::Plain("null".to_owned()));
        assert_eq!(sent.get("arguments"), written, "{text}");
    }
    if let Some(arguments) = &call.arguments {
        same_to_all(arguments.get());
    }
}

/// What the host says of itself is not said by a view, and neither is the progress token (R-09).
fn see_meta(sent: &Loose) {
    let Some(Loose::Object(members)) = sent.get("_meta") else { return };
    for (name, _) in members {
        assert!(!name.to_lowercase().starts_with("io.modelcontextprotocol/"), "{name}");
        assert!(!name.eq_ignore_ascii_case("progressToken"), "{name}");
    }
}

fn same_to_all(text: &str) {
    let [first, last] = [true, false].map(|first| read(text, Reading { first, ..Reading::STRICT }));
    assert_eq!(first, last, "{text}");
    assert_eq!(first, read(text, Reading { nul: true, ..Reading::STRICT }), "{text}");
    assert!(serde_json::from_str::<&RawValue>(text).is_ok());
}

/// How somebody reads JSON.
#[derive(Clone, Copy)]
struct Reading {
    /// Of two members of one name the first counts, else the last.
    first: bool,
    /// Names end at a NUL.
    nul: bool,
    /// Names of the message's own members are the same in capital letters.
    fold: bool,
}

impl Reading {
    const STRICT: Self = Self { first: false, nul: false, fold: false };
}

const READINGS: [Reading; 8] = {
    let mut all = [Reading::STRICT; 8];
    let mut at = 0;
    while at < 8 {
        all[at] = Reading { first: at & 1 > 0, nul: at & 2 > 0, fold: at & 4 > 0 };
        at += 1;
    }
    all
};

/// What somebody reads.
#[derive(Clone, Debug, PartialEq)]
enum Loose {
    Object(Vec<(String, Self)>),
    Array(Vec<Self>),
    Text(String),
    /// A number, digit by digit, or a word.
    Plain(String),
}

impl Loose {
    fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn text(&self) -> Option<&str> {
        let Self::Text(text) = self else { return None };
        Some(text)
    }

    fn has_only(&self, names: &[&str]) {
        let Self::Object(members) = self else { panic!("params are an object") };
        for (name, _) in members {
            assert!(names.contains(&&**name), "{name:?} went on");
        }
    }

    fn put(members: &mut Vec<(String, Self)>, name: String, value: Self, reading: Reading) {
        let name = match name.split_once('\0') {
            Some((before, _)) if reading.nul => before.to_owned(),
            _ => name,
        };
        match members.iter_mut().find(|(known, _)| *known == name) {
            Some(_) if reading.first => {}
            Some((_, old)) => *old = value,
            None => members.push((name, value)),
        }
    }
}

/// Reads as somebody does. The outermost names are the message's own.
fn read(text: &str, reading: Reading) -> Loose {
    let (value, _) = value(text.trim(), reading, 0).expect("it is JSON");
    value
}

fn value(text: &str, reading: Reading, depth: usize) -> Option<(Loose, &str)> {
    let text = text.trim_start();
    match text.as_bytes().first()? {
        b'{' => {
            let (mut members, mut rest) = (vec![], text[1..].trim_start());
            while !rest.starts_with('}') {
                let (Loose::Text(name) | Loose::Plain(name), after) =
                    value(rest, reading, depth + 1)?
                else {
                    return None;
                };
                let (item, after) =
                    value(after.trim_start().strip_prefix(':')?, reading, depth + 1)?;
                let own = depth == 0 && reading.fold;
                Loose::put(&mut members, if own { folded(&name) } else { name }, item, reading);
                rest = after.trim_start();
                rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            }
            Some((Loose::Object(members), &rest[1..]))
        }
        b'[' => {
            let (mut items, mut rest) = (vec![], text[1..].trim_start());
            while !rest.starts_with(']') {
                let (item, after) = value(rest, reading, depth + 1)?;
                items.push(item);
                rest = after.trim_start();
                rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            }
            Some((Loose::Array(items), &rest[1..]))
        }
        b'"' => {
            let mut end = 1;
            while text.as_bytes().get(end)? != &b'"' {
                end += if text.as_bytes()[end] == b'\\' { 2 } else { 1 };
            }
            let raw = &text[..=end];
            // Half a pair of surrogates is no text, and may stand in what the gate drops.
            let words = serde_json::from_str(raw).map(Loose::Text);
            Some((words.unwrap_or_else(|_| Loose::Plain(raw.to_owned())), &text[end + 1..]))
        }
        _ => {
            let end = text.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(text.len());
            Some((Loose::Plain(text[..end].to_owned()), &text[end..]))
        }
    }
}

/// The name that a member of ours has for whoever reads `NAME` as `name`.
fn folded(name: &str) -> String {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    name.chars().map(fold).collect()
}

fn setup() -> Setup {
    let text = Modalities { text: true, structured_content: true, ..Modalities::default() };
    let capabilities = HostCapabilities {
        server_tools: Some(ListChanged::default()),
        server_resources: Some(ListChanged::default()),
        update_model_context: Some(text),
        message: Some(text),
        sampling: Some(transom::wire::Sampling { tools: true }),
        ..HostCapabilities::default()
    };
    Setup { capabilities, prompts: true, accept_strings: true, ..Setup::default() }
}

fn opening() -> Opening {
    let entries = TOOLS.map(|text| serde_json::from_str::<&RawValue>(text).expect("a tool"));
    let tools = Tools::read(entries, &mut Vec::new());
    Opening { tools: Arc::new(tools), ..Opening::default() }
}

const METHODS: [&str; 7] = [
    "tools/call",
    "resources/read",
    "resources/list",
    "prompts/list",
    "ui/message",
    "ui/update-model-context",
    "sampling/createMessage",
];

const TOOLS: [&str; 2] = [
    r#"{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
    r#"{"name":"drop","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#,
];
