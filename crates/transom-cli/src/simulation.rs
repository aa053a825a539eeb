//! One view's life, with a little of everything that a gate is for.

use transom::{host::Reason, wire::RawObject};

use crate::world::{Line, World, ms, raw};

/// Runs it and returns what happened.
pub(crate) fn run() -> Vec<Line> {
    let mut world = World::new("cargo run");
    arguments_stream_in(&mut world);
    world.open();
    the_tool_answers(&mut world);
    for tool in ["refresh", "save", "secret"] {
        world.chapter(&format!("the view calls {tool}"));
        call(&mut world, tool);
        world.run_for(ms(3_000));
    }
    a_stranger_pushes_in(&mut world);
    world.chapter("the view wants to open a link");
    world.view.open_link(world.now, "https://example.com/report").expect("links are offered");
    world.run_for(ms(3_000));
    world.chapter("the frame is reloaded: a new instance is told everything again");
    world.reload();
    world.run_for(ms(100));
    world.chapter("the person closes the view");
    world.session.close(world.now, Reason::Closed);
    world.run_for(ms(100));
    world.timeline.iter().cloned().collect()
}

fn arguments_stream_in(world: &mut World) {
    world.chapter("a model calls a tool; its view is loaded while the arguments still stream in");
    let partial = raw(r#"{"city":"Li"}"#);
    let partial = RawObject::new(&partial).expect("an object");
    world.session.tool_input_partial(partial).expect("nothing is complete yet");
}

fn the_tool_answers(world: &mut World) {
    world.chapter("the arguments are complete, and the tool answers");
    let arguments = raw(r#"{"city":"Lisbon"}"#);
    let result = raw(r#"{"content":[{"type":"text","text":"sunny"}]}"#);
    let arguments = RawObject::new(&arguments).expect("an object");
    let result = RawObject::new(&result).expect("an object");
    world.session.tool_input(arguments).expect("the first");
    world.session.tool_result(result).expect("the first");
    world.run_for(ms(100));
}

fn call(world: &mut World, tool: &str) {
    world.view.call_tool(world.now, tool, RawObject::default()).expect("tools are offered");
}

fn a_stranger_pushes_in(world: &mut World) {
    world.chapter("a stranger posts into the channel");
    world.inject(r#"{"jsonrpc":"2.0","method":"ui/notifications/sandbox-proxy-ready"}"#);
    world.inject(r#"{"jsonrpc":"2.0","id":0,"result":{"stolen":true}}"#);
    world.inject(r#"[{"jsonrpc":"2.0","id":9,"method":"tools/call"}]"#);
}
