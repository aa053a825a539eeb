//! A long walk without a plan: whatever comes in whatever order, nothing panics, no call is stuck and
//! no ordering rule is broken. The rules are the World's; the walk only stumbles around in it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use transom::{
    host::{Input, List, Reason},
    policy::{Decision, Policy, Stance},
    wire::{ContentBlock, DisplayMode, HostContext, RawObject, SizeChangedParams, Theme},
};

use crate::world::{Person, Server, World, ms, opening, raw, setup, tools};

/// Steps of one run, over all seeds.
const STEPS: usize = 120_000;
/// Steps with one seed; a short walk has a short trace.
const STRIDE: usize = 1_500;

#[test]
fn a_walk_of_a_hundred_thousand_steps_breaks_nothing() {
    // Another walk: set the variable. The one that fails prints its seed with its trace.
    let first = std::env::var("TRANSOM_SEED").ok().and_then(|seed| seed.parse().ok());
    let first: u64 = first.unwrap_or(20_260_126);
    let mut closed = 0;
    for seed in first..first + (STEPS / STRIDE) as u64 {
        closed += walk(seed);
    }
    assert!(closed > 50, "the walk meets the end of sessions too: {closed}");
}

/// Walks, and returns how many sessions came to their end on the way.
fn walk(seed: u64) -> usize {
    let mut dice = Dice(seed);
    let mut closed = 0;
    let mut world = fresh(seed);
    for _ in 0..STRIDE {
        stumble(&mut world, &mut dice);
        if world.session.is_closed() {
            settle(&mut world);
            world = fresh(seed);
            closed += 1;
        }
    }
    settle(&mut world);
    closed
}

fn fresh(seed: u64) -> World {
    World::with(&format!("walk, TRANSOM_SEED={seed}"), setup(), opening())
}

/// Nothing waits for ever.
fn settle(world: &mut World) {
    world.delay = ms(1);
    world.run_for(Duration::from_secs(3 * 3_600));
    assert_eq!(world.session.in_flight(), 0, "no call is stuck in the host");
    assert_eq!(world.view.in_flight(), 0, "no call is stuck in the view");
    world.assert_settled();
    assert!(!world.session.is_ready() || world.session.deadline().is_none(), "and all is quiet");
}

fn stumble(world: &mut World, dice: &mut Dice) {
    match dice.roll(40) {
        0..=15 => {
            world.step();
        }
        16..=21 => speak(world, dice),
        22..=24 => babble(world, dice),
        25 => world.duplicate_to_host(),
        26 => world.delay = ms(dice.roll(5_000)),
        27 => {
            let latency = (dice.roll(4) > 0).then(|| ms(dice.roll(200_000)));
            world.server = Server { latency, progress: dice.roll(4) as u32 };
        }
        28 => {
            let latency = (dice.roll(4) > 0).then(|| ms(dice.roll(100_000)));
            world.person = Person { latency, decision: decision(dice) };
        }
        29 => world.run_for(ms(dice.roll(70_000))),
        30..=33 => rule(world, dice),
        34 => world.answer_call(dice.roll(60), Ok("{}")),
        35 => world.answer_call(dice.roll(60), Err((-1, "no"))),
        36 => world.say(dice.roll(12), decision(dice)),
        37 if dice.roll(6) == 0 => world.reload(),
        38 if dice.roll(4) == 0 => world.restart_view(),
        39 if dice.roll(12) == 0 => world.session.close(world.now, Reason::Closed),
        _ => {}
    }
    world.drain();
}

/// The view wants something. That it may not be offered is part of the game.
fn speak(world: &mut World, dice: &mut Dice) {
    let now = world.now;
    let view = &mut world.view;
    match dice.roll(12) {
        0..=4 => {
            let names = ["look", "save", "wipe", "refresh", "secret", "nowhere"];
            let name = names[dice.roll(6) as usize];
            let _ = view.call_tool(now, name, RawObject::default());
        }
        5 => drop(view.open_link(now, "https://a.test/")),
        6 => drop(view.send_message(now, vec![ContentBlock::text("hi")])),
        7 => drop(view.request_display_mode(now, DisplayMode::Fullscreen)),
        8 => drop(view.read_resource(now, "file:///x")),
        9 => drop(view.size_changed(SizeChangedParams { width: None, height: Some(9.0) })),
        10 => drop(view.tools_changed()),
        _ => view.cancel(dice.roll(40), None),
    }
}

/// The host's side of the story.
fn rule(world: &mut World, dice: &mut Dice) {
    let now = world.now;
    let (arguments, result) = (raw(r#"{"q":1}"#), raw(r#"{"content":[]}"#));
    let session = &mut world.session;
    match dice.roll(14) {
        0 | 1 => drop(session.tool_input_partial(RawObject::new(&arguments).unwrap())),
        2 => drop(session.tool_input(RawObject::new(&arguments).unwrap())),
        3 => drop(session.tool_result(RawObject::new(&result).unwrap())),
        4 if dice.roll(4) == 0 => drop(session.tool_cancelled(Some("x"))),
        5 | 6 => {
            let mut context = HostContext::clone(session.context());
            context.theme = Some(if dice.roll(2) == 0 { Theme::Light } else { Theme::Dark });
            let _ = session.set_context(Arc::new(context));
        }
        7 => drop(session.ping(now)),
        8 => drop(session.list_app_tools(now)),
        9 => drop(session.call_app_tool(now, "paint", RawObject::default())),
        10 => {
            let list = [List::Tools, List::Resources, List::Prompts][dice.roll(3) as usize];
            session.handle(now, Input::ListChanged(list)).unwrap();
        }
        11 => session.set_tools(Arc::new(tools(r#"[{"name":"look"},{"name":"late"}]"#))),
        12 => session.set_tools(opening().tools),
        _ => {
            let stance = [Stance::Allow, Stance::Ask, Stance::Deny][dice.roll(3) as usize];
            session.set_policy(Arc::new(Policy { other_tools: stance, ..Policy::default() }));
        }
    }
}

/// Messages that no honest view sends, or not now.
fn babble(world: &mut World, dice: &mut Dice) {
    let id = match dice.roll(5) {
        0 => json!(null),
        1 => json!(dice.roll(40).to_string()),
        2 => json!(1.5),
        _ => json!(dice.roll(40)),
    };
    let methods = [
        "ui/initialize",
        "initialize",
        "ui/notifications/initialized",
        "notifications/initialized",
        "ui/notifications/sandbox-proxy-ready",
        "ui/resize",
        "notifications/cancelled",
        "notifications/progress",
        "tools/call",
        "tools/list",
        "resources/read",
        "ui/open-link",
        "ui/message",
        "ui/download-file",
        "ui/request-display-mode",
        "ui/update-model-context",
        "sampling/createMessage",
        "notifications/message",
        "ui/notifications/request-teardown",
        "notifications/tools/list_changed",
        "ping",
        "__proto__",
        "",
    ];
    let params = [
        json!({}),
        json!([]),
        json!(null),
        json!({"name":"look","arguments":{},"_meta":{"progressToken":"t"}}),
        json!({"requestId":dice.roll(40)}),
        json!({"url":"javascript:x"}),
        json!({"height":-1}),
        json!({"mode":"pip"}),
        json!({"role":"user","content":{"type":"text","text":"x"}}),
        json!({"level":"info","data":null}),
        json!({"uri":"x"}),
    ];
    let mut message = json!({"jsonrpc":"2.0"});
    if dice.roll(10) < 6 {
        message["method"] = json!(methods[dice.roll(methods.len() as u64) as usize]);
        message["params"] = params[dice.roll(params.len() as u64) as usize].clone();
    } else {
        message[["result", "error"][dice.roll(2) as usize]] =
            params[dice.roll(params.len() as u64) as usize].clone();
    }
    if dice.roll(3) > 0 {
        message["id"] = id;
    }
    let mut text = message.to_string();
    if dice.roll(8) == 0 {
        text.truncate(dice.roll(text.len() as u64) as usize);
    }
    if dice.roll(12) == 0 {
        text = Value::String(text).to_string();
    }
    match dice.roll(4) {
        0 => world.inject_to_view(text),
        _ => world.inject(text),
    }
}

fn decision(dice: &mut Dice) -> Decision {
    use Decision::{Allow, AllowAll, AllowAlways, AllowView, Deny, DenyAlways};
    [Allow, AllowView, AllowAlways, AllowAll, Deny, DenyAlways][dice.roll(6) as usize]
}

/// The same numbers for the same seed, everywhere and always (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides.max(1)
    }
}
