//! What both benchmarks drive: a ready session, and messages of the sizes that the bars speak of.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use transom::{
    host::{
        Input, Limits, Opening, Output, Rate, ServerLimits, Session, Setup, Share, Task, Tools,
    },
    wire::{HostCapabilities, Implementation, ListChanged},
};

/// A session past its handshake, and what its server's views share.
pub struct Gate {
    session: Session,
    share: Share,
}

/// A session whose handshake is done and whose rates never bite.
pub fn ready() -> Gate {
    let endless = Rate { per_second: 1e15, burst: 1e15 };
    let limits = Limits { messages: endless, bytes: endless, ..Limits::default() };
    let capabilities = HostCapabilities {
        server_tools: Some(ListChanged { list_changed: true }),
        ..HostCapabilities::default()
    };
    let info = Implementation::new("bench", "1");
    let setup = Setup { info, capabilities, limits, ..Setup::default() };
    let together = ServerLimits { messages: endless, bytes: endless, ..ServerLimits::default() };
    let mut share = Share::new(Duration::ZERO, together);
    Gate { session: open(&Arc::new(setup), &opening(), &mut share), share }
}

/// What a session starts from: one harmless tool.
pub fn opening() -> Opening {
    let tool = raw(r#"{"name":"look","annotations":{"readOnlyHint":true}}"#);
    let tools = Tools::read([&*tool], &mut vec![]);
    Opening { tools: Arc::new(tools), ..Opening::default() }
}

/// Runs the handshake.
pub fn open(setup: &Arc<Setup>, opening: &Opening, share: &mut Share) -> Session {
    let mut session = Session::start(Duration::ZERO, Arc::clone(setup), opening.clone());
    for text in HANDSHAKE {
        session.hear(Duration::ZERO, text, share).expect("the handshake is taken");
    }
    while session.poll().is_some() {}
    assert!(session.is_ready());
    session
}

/// One `tools/call`: from the view through the gate to the server, and its answer back.
pub fn trip(gate: &mut Gate, text: &str, result: &RawValue) -> usize {
    let Gate { session, share } = gate;
    session.hear(Duration::ZERO, text, share).expect("allowed");
    let mut bytes = 0;
    while let Some(output) = session.poll() {
        if let Output::Perform { call, task: Task::CallTool(tool) } = output {
            bytes += tool.params().len();
            let answer = Input::Answer { call, outcome: Ok(result) };
            session.handle(Duration::ZERO, answer).expect("taken");
        } else if let Output::Send(text) = output {
            bytes += text.len();
        }
    }
    bytes
}

/// A `tools/call` whose arguments are this text.
pub fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"look","arguments":{arguments},"_meta":{{"progressToken":1}}}}}}"#
    )
}

/// A message of about 100 bytes.
pub fn small() -> String {
    call("{}")
}

/// A message of about so many bytes, all of them rows: objects of five short fields.
pub fn rows(bytes: usize) -> String {
    let row = |n: usize| {
        format!(r#"{{"id":{n},"name":"row {n}","price":12.5,"active":true,"tag":"blue"}}"#)
    };
    let mut list = row(0);
    for n in 1.. {
        if list.len() >= bytes {
            break;
        }
        list.push(',');
        list.push_str(&row(n));
    }
    call(&format!(r#"{{"rows":[{list}]}}"#))
}

/// A message of about so many bytes, one string.
pub fn string(bytes: usize) -> String {
    call(&format!(r#"{{"text":"{}"}}"#, "abcdefgh".repeat(bytes / 8)))
}

/// A raw value.
pub fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("JSON")
}

const HANDSHAKE: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"ui/initialize","params":{"appInfo":{"name":"v","version":"1"},"appCapabilities":{},"protocolVersion":"2026-01-26"}}"#,
    r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#,
];
