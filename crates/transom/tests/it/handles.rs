//! Handles that results give a view: one instance's own, and ended with it.

use std::sync::Arc;

use serde_json::{Value, json};
use transom::{
    host::{Input, Opening},
    policy::{Policy, Stance},
};

use crate::world::{World, ms, opening, raw, setup, tools};

fn declared() -> Value {
    let tool = |name: &str, said: Value| json!({ "name": name, "annotations": { "readOnlyHint": true }, "_meta": { "transom/handles": said } });
    json!([
        tool("begin", json!({ "gives": "id", "end": "stop" })),
        tool("next", json!({ "takes": "id", "over": "done" })),
        tool("stop", json!({ "takes": "id", "over": "done" })),
        tool("odd", json!({ "gives": "id", "end": "other" })),
        { "name": "other" },
    ])
}

struct View {
    world: World,
    calls: u64,
}

impl View {
    fn new(name: &str) -> Self {
        let opening = Opening { tools: Arc::new(tools(&declared().to_string())), ..opening() };
        let mut world = World::with(name, setup(), opening);
        world.server.latency = None;
        world.open();
        Self { world, calls: 0 }
    }

    /// Calls a tool, whose server answers with this; false if the gate refuses the call.
    fn call(&mut self, tool: &str, arguments: Value, data: Value) -> bool {
        let heard = self.world.heard.len();
        let id = 100 + self.world.heard.len();
        let params = json!({ "name": tool, "arguments": arguments });
        let text = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.world.inject(text.to_string());
        let made = self.world.heard[heard..]
            .iter()
            .any(|line| line.starts_with(&format!("perform: tools/call {tool}")));
        if made {
            let result = raw(&json!({ "content": [], "structuredContent": data }).to_string());
            let answer = Input::Answer { call: self.calls, outcome: Ok(&result) };
            self.world.session.handle(self.world.now, answer).unwrap();
            self.calls += 1;
            self.world.drain();
        }
        made
    }

    fn next(&mut self, id: &str) -> bool {
        self.call("next", json!({ "id": id }), json!({}))
    }

    fn released(&self) -> usize {
        self.world.heard.iter().filter(|line| line.starts_with("Release")).count()
    }

    fn reload(&mut self) {
        self.world.session.handle(self.world.now, Input::Reloaded).unwrap();
        self.world.drain();
    }
}

// HST-4: a handle works for the view that was given it, and looks like none to others.
#[test]
fn hst_4_a_view_uses_the_handles_that_it_was_given() {
    let mut view = View::new("handles");
    assert!(!view.next("a"), "it was given none");
    assert!(view.call("begin", json!({}), json!({ "id": "a" })));
    assert!(view.next("a"));
    assert!(!view.next("b") && !view.next("A") && !view.call("next", json!({}), json!({})));
    assert!(!view.call("next", json!({ "id": ["a"] }), json!({})));
    for twin in ["ID", "Id", "\u{130}d", "id\0"] {
        assert!(!view.call("next", json!({ "id": "a", twin: "b" }), json!({})), "{twin:?}");
    }
    assert!(
        !view.call("read", json!({ "file": "a" }), json!({})),
        "it is a handle of another kind"
    );
    assert!(view.call("next", json!({ "id": "a" }), json!({ "done": true })));
    assert!(!view.next("a"), "it is over");
    assert!(view.call("begin", json!({}), json!({ "id": "c" })));
    assert!(view.call("stop", json!({ "id": "c" }), json!({ "done": true })));
    assert!(!view.next("c") && !view.call("stop", json!({ "id": "c" }), json!({})));
    assert_eq!(view.released(), 0);
}

// HST-3, HST-5: what is left when a view goes is ended, once; and its handles are dead.
#[test]
fn hst_5_a_reload_and_an_end_release_what_is_left() {
    let mut view = View::new("reload");
    for id in ["a", "b"] {
        assert!(view.call("begin", json!({}), json!({ "id": id })));
    }
    assert!(view.call("stop", json!({ "id": "a" }), json!({ "done": true })));
    view.reload();
    assert_eq!(view.released(), 1, "{:?}", view.world.heard);
    view.world.run_for(ms(50));
    assert!(!view.next("b"));
    assert!(view.call("begin", json!({}), json!({ "id": "c" })));
    view.world.session.close(view.world.now, transom::host::Reason::Closed);
    view.world.run_for(ms(20_000));
    assert_eq!(view.released(), 2);
}

#[test]
fn a_view_has_so_many_handles_and_the_oldest_makes_room() {
    let mut view = View::new("many");
    for at in 0..130 {
        view.world.run_for(ms(100));
        assert!(view.call("begin", json!({}), json!({ "id": format!("h{at}") })));
    }
    assert_eq!(view.released(), 2);
    assert!(!view.next("h0") && view.next("h2"));
    assert!(view.call("begin", json!({}), json!({ "id": "x".repeat(1_000) })));
    assert!(!view.next(&"x".repeat(1_000)), "too long to be one");
}

// The host calls nothing for a view that the view itself would have to ask for.
#[test]
fn only_a_tool_that_takes_handles_and_is_allowed_ends_them() {
    let mut view = View::new("other");
    assert!(view.call("odd", json!({}), json!({ "id": "a" })));
    view.reload();
    assert_eq!(view.released(), 0);
    view.world.run_for(ms(50));
    assert!(view.call("begin", json!({}), json!({ "id": "b" })));
    let tools = [("stop".to_owned(), Stance::Deny)].into();
    view.world.session.set_policy(Arc::new(Policy { tools, ..Policy::default() }));
    view.reload();
    assert_eq!(view.released(), 0);
}
