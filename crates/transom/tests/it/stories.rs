//! Stories: what a host, a view, a server and a person do to one another.

use std::sync::Arc;

use serde_json::json;
use transom::{
    host::{self, Input, List, Reason, Session, Terms},
    policy::{Decision, Policy, Stance, Subject},
    wire::{ContentBlock, DisplayMode, HostContext, RawObject, SizeChangedParams, Theme},
};

use crate::world::{World, ms, opening, raw, setup, tools};

/// The tool call that opened the view, told in one go.
fn tell_all(world: &mut World) {
    let (arguments, result) = (raw(r#"{"q":1}"#), raw(r#"{"content":[],"_meta":{"a" :1}}"#));
    world.session.tool_input(RawObject::new(&arguments).unwrap()).unwrap();
    world.session.tool_result(RawObject::new(&result).unwrap()).unwrap();
    world.drain();
}

fn call(world: &mut World, name: &str) -> u64 {
    let call = world.view.call_tool(world.now, name, RawObject::default()).unwrap();
    world.drain();
    call
}

#[test]
fn handshake_then_input_then_result() {
    let mut world = World::new("handshake");
    world.open();
    tell_all(&mut world);
    world.run_for(ms(100));
    assert_eq!(
        world.told(),
        ["ui/notifications/tool-input", "ui/notifications/tool-result"],
        "H-60, H-65"
    );
    assert!(world.has_heard(r#"view: Input(RawValue({"q":1}))"#));
    assert!(
        world.has_heard(r#"view: Result(RawValue({"content":[],"_meta":{"a" :1}}))"#),
        "untouched"
    );
}

#[test]
fn h_53_h_62_a_fast_server_waits_for_a_slow_view() {
    let mut world = World::new("fast server");
    world.delay = ms(3_000);
    let partial = raw(r#"{"q":null}"#);
    world.session.tool_input_partial(RawObject::new(&partial).unwrap()).unwrap();
    tell_all(&mut world);
    let dark = HostContext { theme: Some(Theme::Light), ..HostContext::default() };
    world.session.set_context(Arc::new(dark)).unwrap();
    world.session.handle(world.now, Input::ListChanged(List::Tools)).unwrap();
    world.run_for(ms(20_000));
    // H-54: in the order in which they make sense; the partial is moot by then.
    assert_eq!(
        world.told(),
        [
            "notifications/tools/list_changed",
            "ui/notifications/tool-input",
            "ui/notifications/tool-result"
        ]
    );
    assert_eq!(world.view.context().theme, Some(Theme::Light), "the answer had it already");
}

#[test]
fn h_54_h_87_context_that_changes_in_mid_handshake_arrives_after_it() {
    let mut world = World::new("theme toggled");
    world.delay = ms(1_000);
    world.run_for(ms(1_500));
    let context = HostContext::clone(world.session.context());
    let light = HostContext { theme: Some(Theme::Light), ..context };
    world.session.set_context(Arc::new(light)).unwrap();
    world.run_for(ms(10_000));
    assert_eq!(world.told(), ["ui/notifications/host-context-changed"]);
    let line = world.timeline.iter().find(|line| line.what.contains("host-context")).unwrap();
    assert!(line.what.ends_with(r#""params":{"theme":"light"}}"#), "{}", line.what);
    assert_eq!(world.view.context().theme, Some(Theme::Light));
    assert_eq!(world.view.context().display_mode, Some(DisplayMode::Inline), "V-11: merged");
}

#[test]
fn h_57_a_view_that_never_speaks_is_given_up() {
    let mut world = World::new("inert");
    world.delay = ms(3_600_000);
    world.run_for(ms(40_000));
    assert!(world.has_heard("host closed: NeverInitialized"));
}

#[test]
fn h_59_an_early_call_is_served_and_said() {
    let mut world = World::new("early");
    world.delay = ms(60_000);
    world.inject(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look","_meta":{"progressToken":"mine"}}}"#,
    );
    world.server.progress = 3;
    world.run_for(ms(1_000));
    assert!(world.has_heard("Early"));
    let told = |line: &&crate::world::Line| line.from == "host" && line.to == "view";
    let told: Vec<_> = world.timeline.iter().filter(told).map(|line| &*line.what).collect();
    assert_eq!(told.len(), 2, "H-53: no progress before initialized, only two answers: {told:?}");
    assert!(told[1].contains(r#""id":7,"result""#));
}

// HST-1.
#[test]
fn h_74_progress_travels_under_the_views_own_token() {
    let mut world = World::new("progress");
    world.open();
    world.server.progress = 2;
    let call = call(&mut world, "look");
    world.run_for(ms(100));
    for progress in [1, 2] {
        let heard = format!("view: Progress {{ call: {call}, progress: {progress}.0");
        assert!(world.has_heard(&heard), "{:?}", world.heard);
    }
    assert!(world.has_heard(&format!("view: Answer {{ call: {call}")));
}

#[test]
fn h_65_h_74_what_is_passed_on_is_what_the_table_names_but_for_the_token() {
    let mut world = World::new("pass on");
    world.open();
    let text = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"task":{"ttl" : 1},"name":"loo\u006b","_meta":{"acme/x":[1 ],"progressToken":"mine"},"arguments":{"n":1e3, "s":"\u0041"}}}"#;
    world.session.hear(world.now, text, &mut world.share).unwrap();
    let outputs = std::iter::from_fn(|| world.session.poll());
    let task = outputs.filter_map(|output| match output {
        host::Output::Perform { task: host::Task::CallTool(tool), .. } => Some(tool.params()),
        _ => None,
    });
    assert_eq!(
        task.collect::<Vec<_>>(),
        [r#"{"name":"look","arguments":{"n":1e3,"s":"A"},"_meta":{"acme/x":[1]}}"#]
    );
}

#[test]
fn h_74_a_long_decision_does_not_time_out() {
    let mut world = World::new("ninety seconds");
    world.open();
    world.person.latency = Some(ms(90_000));
    let call = call(&mut world, "save");
    world.run_for(ms(95_000));
    assert!(world.has_heard("waiting for a decision"), "the heartbeat is heard");
    assert!(world.has_heard("perform: tools/call save"));
    assert!(world.has_heard(&format!("view: Answer {{ call: {call}, outcome: Ok")));
}

#[test]
fn d6_without_a_token_no_decision_is_an_answer_and_a_late_yes_counts_next_time() {
    let mut world = World::new("no decision");
    world.open();
    world.person.latency = Some(ms(55_000));
    let link = |world: &mut World| {
        let call = world.view.open_link(world.now, "https://a.test/").unwrap();
        world.drain();
        call
    };
    let first = link(&mut world);
    world.run_for(ms(54_000));
    let refused = format!(
        "view: Answer {{ call: {first}, outcome: Err(Refused {{ code: -32000, message: \"denied: no decision\" }})"
    );
    assert!(world.has_heard(&refused), "{:?}", world.heard);
    assert!(world.has_heard("unawaited: 0"), "and whoever shows the question knows");
    world.run_for(ms(10_000));
    assert!(!world.has_heard("perform"), "the late effect is never carried out");
    link(&mut world);
    world.run_for(ms(1_000));
    assert!(world.has_heard("perform: OpenLink"), "but the next one is not asked again");
    link(&mut world);
    world.run_for(ms(1_000));
    let asked = world.heard.iter().filter(|line| line.starts_with("ask")).count();
    assert_eq!(asked, 2, "and it counted once");
}

fn asked(world: &World) -> Vec<&str> {
    world.heard.iter().filter_map(|line| line.strip_prefix("ask: ")).collect()
}

fn performed(world: &World) -> usize {
    world.heard.iter().filter(|line| line.starts_with("perform")).count()
}

#[test]
fn d6_each_call_is_asked_about_by_itself_and_a_yes_for_this_time_is_for_one() {
    let mut world = World::new("one at a time");
    world.open();
    call(&mut world, "save");
    call(&mut world, "send");
    call(&mut world, "save");
    world.run_for(ms(3_000));
    let (save, send) = (r#"Tool("save")"#, r#"Tool("send")"#);
    assert_eq!(asked(&world), [save, send, save]);
    assert_eq!(performed(&world), 3);
    call(&mut world, "save");
    world.run_for(ms(3_000));
    assert_eq!(asked(&world), [save, send, save, save]);
}

#[test]
fn d6_a_yes_to_all_tools_is_for_those_that_do_not_destroy() {
    let mut world = World::new("all tools");
    world.open();
    world.person.decision = Decision::AllowAll;
    call(&mut world, "save");
    world.run_for(ms(3_000));
    call(&mut world, "send");
    world.run_for(ms(3_000));
    assert_eq!(asked(&world), [r#"Tool("save")"#]);
    assert_eq!(performed(&world), 2);
    call(&mut world, "wipe");
    world.run_for(ms(3_000));
    assert!(world.has_heard(r#"ask: Tool("wipe")"#), "what destroys is asked on its own");
}

#[test]
fn d6_an_answer_for_longer_settles_what_else_it_covers() {
    for (decision, others) in
        [(Decision::AllowView, 3), (Decision::AllowAlways, 3), (Decision::DenyAlways, 0)]
    {
        let mut world = World::new("settled together");
        world.open();
        world.person.latency = None;
        for _ in 0..3 {
            call(&mut world, "save");
        }
        call(&mut world, "send");
        world.run_for(ms(1_000));
        assert_eq!(asked(&world).len(), 4);
        world.say(0, decision);
        world.run_for(ms(1_000));
        assert_eq!(performed(&world), others, "{decision:?}");
        assert_eq!(world.view.in_flight(), 1, "another tool still waits: {decision:?}");
        // The questions of the other two are gone, so answers to them say nothing.
        world.say(1, Decision::AllowAlways);
        world.say(2, Decision::DenyAlways);
        world.run_for(ms(1_000));
        assert_eq!(performed(&world), others, "{decision:?}");
        assert!(world.session.decided().iter().count() <= 1);
    }
}

#[test]
fn d6_what_is_decided_in_another_view_settles_the_question_of_this_one() {
    let mut world = World::new("decided elsewhere");
    world.open();
    world.person.latency = None;
    call(&mut world, "save");
    world.run_for(ms(1_000));
    let mut decided = world.session.decided().clone();
    let said = opening().tools.said(&Subject::Tool("save".into()));
    decided.remember(&Subject::Tool("save".into()), Decision::AllowAlways, &said);
    world.session.set_decided(world.now, decided);
    world.run_for(ms(1_000));
    assert_eq!((performed(&world), world.view.in_flight()), (1, 0));
}

#[test]
fn d6_a_yes_for_this_view_is_no_other_views_and_a_never_ends_it() {
    let mut world = World::new("this view");
    world.open();
    world.person.decision = Decision::AllowView;
    call(&mut world, "save");
    world.run_for(ms(3_000));
    assert_eq!(world.session.decided().iter().count(), 0, "other views are told of what is here");
    let mut decided = world.session.decided().clone();
    world.session.set_decided(world.now, decided.clone());
    call(&mut world, "save");
    world.run_for(ms(3_000));
    assert_eq!((asked(&world).len(), performed(&world)), (1, 2));
    let said = opening().tools.said(&Subject::Tool("save".into()));
    decided.remember(&Subject::Tool("save".into()), Decision::DenyAlways, &said);
    world.session.set_decided(world.now, decided);
    call(&mut world, "save");
    world.run_for(ms(3_000));
    assert_eq!((asked(&world).len(), performed(&world)), (1, 2));
}

#[test]
fn a_no_reaches_the_view_as_an_error() {
    let mut world = World::new("no");
    world.open();
    world.person.decision = Decision::Deny;
    call(&mut world, "save");
    world.run_for(ms(3_000));
    assert!(
        world.has_heard(r#"message: "denied: refused by the user: \"save\"""#),
        "{:?}",
        world.heard
    );
    assert!(!world.has_heard("perform"));
}

#[test]
fn h_11_h_12_visibility_and_server_are_errors_that_the_server_never_sees() {
    let mut world = World::new("hidden tools");
    world.open();
    for name in ["secret", "nowhere", "__proto__", ""] {
        call(&mut world, name);
    }
    world.run_for(ms(1_000));
    assert!(world.has_heard(r#"denied: tool \"secret\" is not visible to apps"#), "Q2");
    assert!(world.has_heard(r#"denied: tool \"nowhere\" is not a tool of this view's server"#));
    assert!(!world.has_heard("perform"));
    assert_eq!(world.view.in_flight(), 0);
}

#[test]
fn h_15_the_guard_follows_the_list() {
    let mut world = World::new("list mutates");
    world.open();
    world
        .session
        .set_tools(Arc::new(tools(r#"[{"name":"secret","annotations":{"readOnlyHint":true}}]"#)));
    call(&mut world, "look");
    call(&mut world, "secret");
    world.run_for(ms(1_000));
    assert!(world.has_heard(r#"tool \"look\" is not a tool of this view's server"#));
    assert!(world.has_heard("perform: tools/call secret"));
}

#[test]
fn h_14_q12_a_view_lists_what_it_may_call() {
    let mut world = World::new("tools/list");
    world.open();
    world.view.list_tools(world.now).unwrap();
    world.run_for(ms(100));
    let answer = world.timeline.iter().rev().find(|line| line.from == "host").unwrap();
    assert!(answer.what.contains("refresh") && !answer.what.contains("secret"), "{}", answer.what);
}

#[test]
fn h_72_what_is_not_offered_is_no_such_method() {
    let mut bare = setup();
    bare.capabilities = Default::default();
    bare.prompts = false;
    let mut world = World::with("bare host", bare, opening());
    world.open();
    let methods = [
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "ui/open-link",
        "ui/download-file",
        "ui/message",
        "ui/update-model-context",
        "sampling/createMessage",
        "prompts/get",
        "__proto__",
        "constructor",
        "ui/nothing",
    ];
    for (id, method) in (100..).zip(methods) {
        world.inject(json!({"jsonrpc":"2.0","id":id,"method":method,"params":{}}).to_string());
        let answer = &world.timeline.iter().rev().find(|line| line.to == "view").unwrap().what;
        assert!(
            answer.contains(&format!(r#""id":{id},"error":{{"code":-32601"#)),
            "{method}: {answer}"
        );
    }
    // H-70: and nothing of the kind is forwarded either.
    assert!(!world.has_heard("perform"));
}

#[test]
fn h_56_a_double_mount_is_told_once() {
    let mut world = World::new("strict mode");
    world.delay = ms(100);
    tell_all(&mut world);
    world.restart_view();
    world.run_for(ms(5_000));
    let inputs = world.told().iter().filter(|method| method.ends_with("tool-input")).count();
    assert_eq!(inputs, 1);
    assert!(world.view.is_ready());
}

#[test]
fn q7_reload_in_mid_call_settles_the_call_and_tells_everything_again() {
    let mut world = World::new("reload");
    world.open();
    tell_all(&mut world);
    world.chapter("the server takes its time, and the frame dies");
    world.server.latency = None;
    call(&mut world, "look");
    world.run_for(ms(100));
    assert_eq!(world.session.in_flight(), 1);
    world.reload();
    assert_eq!(world.session.in_flight(), 0);
    assert!(world.has_heard("abort: the view was loaded anew"));
    world.run_for(ms(100));
    let inputs = world.told().iter().filter(|method| method.ends_with("tool-input")).count();
    assert_eq!(inputs, 2, "once for each document");
    // The old call's answer comes after all; the new document must not take it for its own.
    world.answer_call(0, Ok("{}"));
    world.run_for(ms(100));
    assert!(!world.has_heard("view refused"));
}

#[test]
fn atk_37_a_reload_loop_is_ended() {
    let mut world = World::new("reload loop");
    for _ in 0..100 {
        world.run_for(ms(10));
        world.reload();
    }
    world.run_for(ms(60_000));
    assert!(world.has_heard("host closed: ReloadLoop"), "{:?}", world.heard);
}

#[test]
fn r_04_initialized_twice_opens_once() {
    let mut world = World::new("double initialized");
    world.open();
    tell_all(&mut world);
    world.inject(r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#);
    // H-58: with params, too.
    world.inject(r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized","params":{}}"#);
    world.run_for(ms(100));
    assert_eq!(world.told().len(), 2);
}

#[test]
fn h_130_h_131_teardown_waits_for_the_answer() {
    let mut world = World::new("teardown");
    world.open();
    world.session.close(world.now, Reason::Closed);
    world.drain();
    assert!(!world.session.is_closed());
    world.run_for(ms(100));
    assert!(world.has_heard("view saves its things"));
    assert!(world.has_heard("host closed: Closed"));
}

#[test]
fn h_131_teardown_of_a_dead_view_is_bounded() {
    let mut world = World::new("dead view");
    world.open();
    world.delay = ms(3_600_000);
    world.session.close(world.now, Reason::Closed);
    world.run_for(ms(5_000));
    assert!(world.session.is_closed());
}

#[test]
fn h_131_an_error_or_rubbish_is_an_answer_to_the_teardown() {
    let answers = [
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no handler"}}"#,
        r#"{"jsonrpc":"2.0","id":"0","result":{}}"#,
        // R-31: the reference view answers so when its handler returns nothing.
        r#"{"jsonrpc":"2.0","id":0}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":null}"#,
    ];
    for answer in answers {
        let mut world = World::new(answer);
        world.open();
        world.delay = ms(3_600_000);
        world.session.close(world.now, Reason::Closed);
        world.drain();
        world.inject(answer);
        assert!(world.session.is_closed(), "{answer}");
    }
}

#[test]
fn h_134_teardown_racing_a_result_drops_it() {
    let mut world = World::new("race");
    world.open();
    world.server.latency = Some(ms(10_000));
    call(&mut world, "look");
    world.run_for(ms(100));
    world.session.close(world.now, Reason::Closed);
    world.run_for(ms(100));
    assert!(world.session.is_closed());
    assert!(world.has_heard("abort: the view was closed"));
    world.run_for(ms(60_000));
    assert!(!world.has_heard("Answer { call: 1, outcome: Ok"), "{:?}", world.heard);
}

#[test]
fn h_133_a_view_that_was_never_ready_is_just_removed() {
    let mut world = World::new("early close");
    world.session.close(world.now, Reason::Closed);
    world.drain();
    assert!(world.session.is_closed());
    assert_eq!(world.told().len(), 0);
}

#[test]
fn a_view_may_save_by_calling_tools_while_it_closes() {
    let mut world = World::new("last words");
    world.open();
    world.delay = ms(500);
    world.session.close(world.now, Reason::Closed);
    call(&mut world, "look");
    world.run_for(ms(700));
    assert!(world.has_heard("perform: tools/call look"));
}

// HST-1.
#[test]
fn h_75_a_cancelled_call_is_aborted_and_never_answered() {
    let mut world = World::new("cancel");
    world.open();
    world.server.latency = Some(ms(5_000));
    let pending = call(&mut world, "look");
    world.run_for(ms(100));
    world.view.cancel(pending, Some("changed my mind"));
    world.run_for(ms(10_000));
    assert!(world.has_heard("abort: changed my mind"));
    assert!(!world.has_heard(&format!("Answer {{ call: {pending}")));
}

#[test]
fn a_cancelled_call_takes_its_question_with_it() {
    let mut world = World::new("cancelled while asked");
    world.open();
    let pending = call(&mut world, "wipe");
    world.run_for(ms(100));
    world.view.cancel(pending, None);
    world.run_for(ms(5_000));
    assert!(world.has_heard("Withdraw { question: 0 }"), "{:?}", world.heard);
    // The click that crossed it finds nobody, and counts for nothing.
    assert!(world.has_heard("Unheard { question: 0, decision: Allow, late: false }"));
    assert!(!world.has_heard("perform"), "the late effect is never carried out");
    world.person.latency = None;
    call(&mut world, "wipe");
    world.run_for(ms(100));
    assert!(!world.has_heard("perform"), "and the next one is asked about");
    assert_eq!(world.verdicts.last().unwrap().2, "withdrawn");
}

#[test]
fn a_doubled_request_is_neither_done_nor_answered_twice() {
    let mut world = World::new("duplicate");
    world.open();
    call(&mut world, "look");
    world.duplicate_to_host();
    world.run_for(ms(1_000));
    let performed = world.heard.iter().filter(|line| line.starts_with("perform")).count();
    assert_eq!(performed, 1);
    assert!(world.has_heard("is still open"), "{:?}", world.heard);
}

#[test]
fn late_and_doubled_answers_of_the_server_find_nobody() {
    let mut world = World::new("late answers");
    world.open();
    call(&mut world, "look");
    world.run_for(ms(100));
    world.answer_call(0, Ok("{}"));
    world.answer_call(99, Err((1, "x")));
    world.say(5, Decision::AllowAlways);
    world.run_for(ms(100));
    let answers = world.heard.iter().filter(|line| line.starts_with("view: Answer")).count();
    assert_eq!(answers, 1);
}

#[test]
fn a_silent_server_ends_in_an_error() {
    let mut world = World::new("silent server");
    world.open();
    world.server.latency = None;
    let link = world.view.read_resource(world.now, "file:///x").unwrap();
    world.run_for(ms(200_000));
    // The view gives up first, after a minute; the abort follows its cancellation.
    assert!(world.has_heard(&format!("Answer {{ call: {link}, outcome: Err(TimedOut)")));
    assert_eq!(world.session.in_flight(), 0);
}

#[test]
fn w_6_a_server_that_answers_rubbish_gives_an_error_not_rubbish() {
    let mut world = World::new("rubbish");
    world.open();
    world.server.latency = None;
    call(&mut world, "look");
    world.run_for(ms(100));
    world.answer_call(0, Ok("[1,2]"));
    world.run_for(ms(100));
    assert!(world.has_heard("the result is not an object"), "{:?}", world.heard);
}

#[test]
fn a_strangers_envelope_is_ignored_without_an_answer() {
    let mut world = World::new("stranger");
    world.open();
    let before = world.timeline.iter().filter(|line| line.to == "view").count();
    for text in [
        r#"{"type":"MCP_MESSAGE","payload":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
        r#"{"channel":"ui"}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        r#""{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}""#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#,
        "\u{0}",
        "",
    ] {
        world.inject(text);
    }
    let after =
        world.timeline.iter().filter(|line| line.to == "view" && line.from == "host").count();
    assert_eq!(
        after,
        before
            - world.timeline.iter().filter(|line| line.to == "view" && line.from != "host").count()
    );
    assert!(world.session.is_ready(), "and nothing is broken by it");
}

#[test]
fn w_1_strings_are_read_behind_a_flag() {
    let text = r#""{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}""#;
    for accept_strings in [false, true] {
        let mut world =
            World::with("strings", host::Setup { accept_strings, ..setup() }, opening());
        world.open();
        world.inject(text);
        let answered =
            world.timeline.iter().any(|line| line.what.contains(r#""id":1,"result":{}"#));
        assert_eq!(answered, accept_strings);
    }
}

#[test]
fn p_07_a_view_cannot_play_the_sandbox() {
    let mut world = World::new("spoof");
    world.open();
    for method in ["sandbox-proxy-ready", "sandbox-resource-ready", "sandbox-anything"] {
        world.inject(
            json!({"jsonrpc":"2.0","method":format!("ui/notifications/{method}"),"params":{}})
                .to_string(),
        );
        assert!(world.heard.last().unwrap().contains("sandbox"), "{:?}", world.heard.last());
    }
}

#[test]
fn a_flood_is_refused_and_then_ended() {
    let mut world = World::new("flood");
    world.open();
    let messages =
        (0..50_000).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, id + 1_000));
    for message in messages {
        if world.session.is_closed() {
            break;
        }
        world.inject(message);
    }
    assert!(world.has_heard("over the limit of 300 messages a second"));
    world.run_for(ms(10_000));
    assert!(world.has_heard("host closed: Flood"));
}

#[test]
fn too_many_calls_and_questions_are_refused_by_name() {
    let mut world = World::new("crowd");
    world.open();
    world.server.latency = None;
    world.person.latency = None;
    for _ in 0..300 {
        call(&mut world, "look");
        world.run_for(ms(5));
    }
    assert!(world.has_heard("over the limit of 128 requests in flight"));
    assert_eq!(world.session.in_flight(), 128);
    let mut world = World::new("questions");
    world.open();
    world.person.latency = None;
    for n in 0..20 {
        world.view.open_link(world.now, &format!("https://a.test/{n}")).unwrap();
        world.run_for(ms(5));
    }
    assert!(world.has_heard("over the limit of 16 questions waiting for the user"));
}

#[test]
fn h_80_h_81_h_82_display_modes() {
    let mut world = World::new("modes");
    world.open();
    world.view.request_display_mode(world.now, DisplayMode::Fullscreen).unwrap();
    world.run_for(ms(100));
    // Q1: told first, answered then.
    let order: Vec<_> = world
        .timeline
        .iter()
        .filter(|line| line.from == "host" && line.to == "view" && line.what.contains("ullscreen"))
        .map(|line| line.what.contains("host-context-changed"))
        .collect();
    assert_eq!(order, [false, true, false], "{:?}", world.timeline);
    assert_eq!(world.view.context().display_mode, Some(DisplayMode::Fullscreen));
    // H-82: what cannot be had is answered with what there is.
    world.inject(
        r#"{"jsonrpc":"2.0","id":90,"method":"ui/request-display-mode","params":{"mode":"pip"}}"#,
    );
    let answer = &world.timeline.iter().rev().find(|line| line.to == "view").unwrap().what;
    assert!(answer.ends_with(r#""result":{"mode":"fullscreen"}}"#), "{answer}");
    world.inject(r#"{"jsonrpc":"2.0","id":91,"method":"ui/request-display-mode","params":{"mode":"hologram"}}"#);
    assert!(world.has_heard("refused: ui/request-display-mode"), "-32602");
    // H-80: nor may the host switch to what the view did not declare.
    let pip = HostContext { display_mode: Some(DisplayMode::Pip), ..HostContext::default() };
    assert!(world.session.set_context(Arc::new(pip)).is_err());
}

#[test]
fn h_84_v_06_a_change_of_mode_is_announced_to_a_view_that_declared_it() {
    let mut world = World::new("host switches");
    world.open();
    let context = HostContext::clone(world.session.context());
    let full = HostContext { display_mode: Some(DisplayMode::Fullscreen), ..context };
    world.session.set_context(Arc::new(full)).unwrap();
    world.run_for(ms(10));
    assert_eq!(world.told(), ["ui/notifications/host-context-changed"]);
    assert_eq!(world.view.context().display_mode, Some(DisplayMode::Fullscreen));
}

#[test]
fn h_83_a_mode_that_the_view_did_not_declare_is_declined() {
    let mut opening = opening();
    Arc::make_mut(&mut opening.context).available_display_modes = Some(DisplayMode::ALL.to_vec());
    let mut world = World::with("undeclared", setup(), opening);
    world.open();
    world.view.request_display_mode(world.now, DisplayMode::Pip).unwrap();
    world.run_for(ms(10));
    assert!(!world.has_heard("perform"), "nobody is bothered");
    assert!(
        world.timeline.iter().any(|line| line.what.ends_with(r#""result":{"mode":"inline"}}"#))
    );
}

#[test]
fn h_52_the_answer_to_the_greeting_has_the_context() {
    let mut world = World::new("context");
    world.open();
    assert_eq!(world.view.context().theme, Some(Theme::Dark));
    assert_eq!(world.view.context().display_mode, Some(DisplayMode::Inline));
}

#[test]
fn h_69_a_views_own_call_is_answered_and_not_told_again() {
    let mut world = World::new("no echo");
    world.open();
    call(&mut world, "look");
    world.run_for(ms(100));
    assert!(world.has_heard("view: Answer"));
    assert_eq!(world.told().len(), 0, "{:?}", world.told());
}

#[test]
fn h_71_h_76_every_request_is_judged_in_the_open() {
    let mut world = World::new("judged");
    world.open();
    for name in ["look", "save", "secret"] {
        call(&mut world, name);
    }
    world.run_for(ms(100));
    let rulings = [
        r#"tools/call "look": allowed"#,
        r#"tools/call "save": a person decides (question 0)"#,
        r#"tools/call "secret": refused, denied: tool "secret" is not visible to apps"#,
    ];
    for ruling in rulings {
        assert!(world.timeline.iter().any(|line| line.what == ruling), "{ruling}");
    }
}

#[test]
fn h_85_h_86_sizes_are_clamped_and_coalesced() {
    let mut world = World::new("sizes");
    world.open();
    for height in 1..=100 {
        let size = SizeChangedParams { width: None, height: Some(f64::from(height) * 10.0) };
        world.view.size_changed(size).unwrap();
    }
    world.run_for(ms(100));
    let resizes: Vec<_> = world.heard.iter().filter(|line| line.starts_with("Resize")).collect();
    assert_eq!(resizes.len(), 2, "the first at once, the last in time: {resizes:?}");
    assert!(resizes[1].contains("1000"), "{resizes:?}");
    // Q11: also before `initialized`.
    let mut world = World::new("early size");
    world.inject(
        r#"{"jsonrpc":"2.0","method":"ui/notifications/size-changed","params":{"height":5}}"#,
    );
    assert!(world.has_heard("Resize"));
}

#[test]
fn h_90_h_92_h_95_effects_are_asked_and_answered_with_nothing() {
    let mut world = World::new("effects");
    world.open();
    let now = world.now;
    world.view.open_link(now, "https://a.test/").unwrap();
    world.view.send_message(now, vec![ContentBlock::text("hi")]).unwrap();
    world.inject(
        r#"{"jsonrpc":"2.0","id":50,"method":"ui/download-file","params":{"contents":[{"type":"resource","resource":{"uri":"file:///../../etc/x.csv","text":"1"}}]}}"#,
    );
    // H-99: exactly `{}`, whatever the one who did it answers.
    world.inject(
        r#"{"jsonrpc":"2.0","id":51,"method":"ui/update-model-context","params":{"content":[]}}"#,
    );
    world.run_for(ms(3_000));
    assert!(world.has_heard(r#"ask: Link("https://a.test/")"#));
    assert!(world.has_heard("ask: Message"));
    assert!(world.has_heard(r#"ask: Download(["x.csv"])"#), "H-96");
    let empty =
        |line: &&crate::world::Line| line.from == "host" && line.what.ends_with(r#""result":{}}"#);
    assert_eq!(world.timeline.iter().filter(empty).count(), 4);
    for address in
        ["javascript:alert(1)", "file:///etc/passwd", "http://a.test", "https://b@a.test", "x"]
    {
        let id = world.timeline.len();
        world.inject(
            json!({"jsonrpc":"2.0","id":id,"method":"ui/open-link","params":{"url":address}})
                .to_string(),
        );
        assert!(world.heard.last().unwrap().contains("denied"), "{address}");
    }
}

#[test]
fn h_10_a_tool_for_views_alone_is_not_opened_by_a_page() {
    let all = tools(
        r#"[{"name":"both"},{"name":"model","_meta":{"ui":{"visibility":["model"]}}},{"name":"app","_meta":{"ui":{"visibility":["app"]}}}]"#,
    );
    #[rustfmt::skip]
    let table = [
        ("both",    None),
        ("model",   None),
        ("app",     Some(r#""app" is a tool for its views alone"#)),
        // What there is not is not called: the server says so.
        ("missing", None),
    ];
    for (name, refusal) in table {
        let judged = Session::may_open(&all, name).map_err(|denial| denial.to_string());
        assert_eq!(judged.err().as_deref(), refusal, "{name}");
    }
}

#[test]
fn h_95_the_one_who_decides_about_a_download_has_the_files() {
    let mut world = World::new("download");
    world.open();
    let text = r#"{"jsonrpc":"2.0","id":50,"method":"ui/download-file","params":{"contents":[{"type":"resource","resource":{"uri":"file:///x.csv","text":"1,2"}}]}}"#;
    world.session.hear(world.now, text, &mut world.share).unwrap();
    let asked = std::iter::from_fn(|| world.session.poll()).find_map(|output| match output {
        host::Output::Ask(question) => Some(question.files),
        _ => None,
    });
    let files = asked.unwrap();
    assert_eq!(files[0].name, "x.csv");
    assert_eq!(files[0].body, host::FileBody::Text("1,2".to_owned()));
}

#[test]
fn h_100_content_that_the_host_cannot_take_is_refused() {
    let mut plain = setup();
    let text = transom::wire::Modalities { text: true, ..Default::default() };
    plain.capabilities.message = Some(text);
    plain.capabilities.update_model_context = Some(text);
    let mut world = World::with("text only", plain, opening());
    world.open();
    let image = r#"[{"type":"image","data":"AAAA","mimeType":"image/png"}]"#;
    for (id, method) in [(60, "ui/message"), (61, "ui/update-model-context")] {
        world.inject(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"role":"user","content":{image}}}}}"#));
        assert!(world.heard.last().unwrap().contains("this host takes no image content here"));
    }
    world.inject(r#"{"jsonrpc":"2.0","id":62,"method":"ui/update-model-context","params":{"structuredContent":{}}}"#);
    assert!(world.heard.last().unwrap().contains("structured"));
    world.inject(r#"{"jsonrpc":"2.0","id":63,"method":"ui/message","params":{"role":"assistant","content":[]}}"#);
    assert!(
        world.timeline.iter().any(|line| line.what.contains(r#""id":63,"error":{"code":-32602"#))
    );
}

#[test]
fn h_98_v_16_sampling_is_asked_and_tools_need_their_own_capability() {
    let mut world = World::new("sampling");
    world.open();
    let params = raw(r#"{"messages":[],"maxTokens":10}"#);
    world.view.sample(world.now, RawObject::new(&params).unwrap(), false).unwrap();
    world.run_for(ms(3_000));
    assert!(world.has_heard("ask: Sampling"));
    assert!(world.has_heard("perform: Sample"));
    assert!(world.view.sample(world.now, RawObject::new(&params).unwrap(), true).is_err(), "V-16");
    world.inject(r#"{"jsonrpc":"2.0","id":70,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#);
    assert!(world.heard.last().unwrap().contains("does not offer tools to sampling"));
}

#[test]
fn h_73_list_changes_reach_every_ready_view_that_was_promised_them() {
    let mut world = World::new("lists");
    world.open();
    for list in [List::Tools, List::Resources, List::Prompts] {
        world.session.handle(world.now, Input::ListChanged(list)).unwrap();
    }
    world.run_for(ms(10));
    assert_eq!(world.told().len(), 3);
    let mut quiet = setup();
    quiet.capabilities.server_tools = Some(Default::default());
    let mut world = World::with("not promised", quiet, opening());
    world.open();
    world.session.handle(world.now, Input::ListChanged(List::Tools)).unwrap();
    world.run_for(ms(10));
    assert_eq!(world.told().len(), 0, "H-72");
}

#[test]
fn h_110_h_111_h_113_h_118_a_views_tools_live_as_long_as_the_view() {
    let mut world = World::new("app tools");
    world.open();
    assert!(world.session.call_app_tool(world.now, "paint", RawObject::default()).is_err());
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(10));
    let list = r#""method":"tools/list","params":{}}"#;
    let mut lines = world.timeline.iter().filter(|line| line.to == "view");
    assert!(lines.any(|line| line.what.contains(list)), "views take params for granted");
    assert!(world.has_heard(r#"AppTools([AppTool { name: "paint""#));
    world.session.call_app_tool(world.now, "paint", RawObject::default()).unwrap();
    world.run_for(ms(3_000));
    assert!(world.has_heard(r#"ask: AppTool("paint")"#), "H-115");
    assert!(world.has_heard("AppAnswer { call: 1, outcome: Result("));
    world.reload();
    assert!(world.has_heard("AppTools([])"), "H-111");
    world.run_for(ms(100));
    assert!(
        world.session.call_app_tool(world.now, "paint", RawObject::default()).is_err(),
        "H-112"
    );
}

#[test]
fn a_view_offers_no_tool_that_is_too_large_to_draw() {
    let mut world = World::new("large tools");
    world.open();
    world.delay = ms(3_600_000);
    world.session.list_app_tools(world.now).unwrap();
    world.drain();
    let tool = |name: &str, count: usize| {
        let properties: serde_json::Map<_, _> =
            (0..count).map(|n| (format!("p{n}"), json!({}))).collect();
        json!({"name":name,"inputSchema":{"type":"object","properties":properties}})
    };
    let list = [tool("small", 3), tool("large", 100_000), tool("other", 3)];
    world.inject(json!({"jsonrpc":"2.0","id":0,"result":{"tools":list}}).to_string());
    let heard = world.heard.iter().find(|line| line.starts_with("AppTools(")).unwrap();
    assert_eq!(heard.matches("AppTool {").count(), 2);
    assert!(!heard.contains(r#"name: "large""#));
    assert_eq!(world.session.app_tools_too_large(), ["large".into()]);
    assert!(world.session.call_app_tool(world.now, "large", RawObject::default()).is_err());
}

#[test]
fn a_views_tools_are_not_read_otherwise_than_they_are_written() {
    let mut world = World::new("reserved");
    world.open();
    world.delay = ms(3_600_000);
    world.session.list_app_tools(world.now).unwrap();
    world.drain();
    let schema = r#"{"$serde_json::private::RawValue":"{\"type\":\"object\"}"}"#;
    let tools = format!(r#"[{{"name":"paint","inputSchema":{schema}}}]"#);
    world.inject(format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"tools":{tools}}}}}"#));
    assert!(world.has_heard("AppTools([])"), "{:?}", world.heard);
}

#[test]
fn h_116_h_117_a_views_tools_are_few_and_do_not_pose_as_the_servers() {
    let mut world = World::new("many tools");
    world.open();
    world.delay = ms(3_600_000);
    world.session.list_app_tools(world.now).unwrap();
    world.drain();
    let tool = |name: &str| json!({"name":name,"inputSchema":{"type":"object"}});
    let mut list: Vec<_> = (0..80).map(|n| tool(&format!("t{n}"))).collect();
    list.splice(0..0, [tool("look"), tool(""), tool("t5"), json!({"name":"odd"})]);
    world.inject(json!({"jsonrpc":"2.0","id":0,"result":{"tools":list}}).to_string());
    let heard = world.heard.iter().find(|line| line.starts_with("AppTools(")).unwrap();
    assert_eq!(heard.matches("AppTool {").count(), 50);
    assert!(!heard.contains(r#"name: "look""#));
    // Slow and large.
    world
        .session
        .set_policy(Arc::new(Policy { other_app_tools: Stance::Allow, ..Policy::default() }));
    let call = world.session.call_app_tool(world.now, "t1", RawObject::default()).unwrap();
    world.run_for(ms(31_000));
    assert!(world.has_heard(&format!("AppAnswer {{ call: {call}, outcome: TimedOut")));
    let call = world.session.call_app_tool(world.now, "t1", RawObject::default()).unwrap();
    world.drain();
    let words = "why it failed, at length; ".repeat(20);
    world.inject(
        json!({"jsonrpc":"2.0","id":call,"error":{"code":-32603,"message":words}}).to_string(),
    );
    assert!(world.has_heard(&words), "the model reads it, not a log");
    let call = world.session.call_app_tool(world.now, "t1", RawObject::default()).unwrap();
    world.drain();
    let large = "x".repeat(10_000_001);
    world.inject(
        json!({"jsonrpc":"2.0","id":call,"result":{"content":[{"type":"text","text":large}]}})
            .to_string(),
    );
    assert!(world.has_heard(&format!("AppAnswer {{ call: {call}, outcome: Unusable")));
}

#[test]
fn h_117_changes_of_a_views_tools_are_throttled() {
    let mut world = World::new("list_changed storm");
    world.open();
    for _ in 0..100 {
        world.view.tools_changed().unwrap();
    }
    world.run_for(ms(5_000));
    assert_eq!(world.heard.iter().filter(|line| *line == "AppToolsChanged").count(), 2);
}

#[test]
fn h_132_a_view_may_ask_to_be_closed() {
    let mut world = World::new("request-teardown");
    world.open();
    world.view.request_teardown().unwrap();
    world.run_for(ms(10));
    assert!(world.has_heard("CloseWanted"));
    assert!(world.session.is_ready(), "and the host decides");
}

#[test]
fn w_10_ping_works_both_ways_and_at_any_time() {
    let mut world = World::new("ping");
    // Before the handshake, and answered with exactly `{}` (H-99, V-24).
    world.inject(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert!(
        world.timeline.iter().any(|line| line.what == r#"{"jsonrpc":"2.0","id":"p","result":{}}"#)
    );
    world.open();
    world.session.ping(world.now).unwrap();
    world.run_for(ms(100));
    assert!(world.has_heard("Pong { alive: true }"));
    world.delay = ms(3_600_000);
    world.session.ping(world.now).unwrap();
    world.run_for(ms(10_000));
    assert!(world.has_heard("Pong { alive: false }"));
}

#[test]
fn a_refused_input_changes_nothing() {
    let mut world = World::new("unchanged");
    world.open();
    let picture = |world: &World| {
        (world.session.deadline(), world.session.is_ready(), world.session.in_flight())
    };
    let before = picture(&world);
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud"}}"#,
        r#"{"jsonrpc":"2.0","method":"ui/notifications/sandbox-proxy-ready"}"#,
        "rubbish",
    ] {
        world.inject(text);
        assert_eq!(picture(&world), before, "{text}");
        assert!(world.heard.last().unwrap().starts_with("refused"), "{text}");
    }
}

#[test]
fn d15_the_port_is_offered_only_when_both_ends_can() {
    for (wanted, port) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut world = World::with("port", setup(), host::Opening { port, ..opening() });
        let experimental = if wanted { json!({"transom/port":{}}) } else { json!({}) };
        world.inject(
            json!({"jsonrpc":"2.0","id":"i","method":"ui/initialize","params":{
                "appInfo":{"name":"v","version":"1"},"protocolVersion":"2026-01-26",
                "appCapabilities":{"experimental":experimental}}})
            .to_string(),
        );
        let answer =
            world.timeline.iter().find(|line| line.what.contains(r#""id":"i","result""#)).unwrap();
        assert_eq!(answer.what.contains("transom/port"), wanted && port, "{wanted} {port}");
    }
}

#[test]
fn h_55_versions_are_echoed_or_answered_with_ours() {
    for (asked, answered) in
        [("2026-01-26", "2026-01-26"), ("1999-01-01", "2026-01-26"), ("0.1", "0.1")]
    {
        let mut world = World::new("version");
        world.inject(json!({"jsonrpc":"2.0","id":"i","method":"ui/initialize","params":{"protocolVersion":asked}}).to_string());
        let answer =
            world.timeline.iter().find(|line| line.what.contains(r#""id":"i","result""#)).unwrap();
        assert!(
            answer.what.contains(&format!(r#""protocolVersion":"{answered}""#)),
            "{asked}: {}",
            answer.what
        );
        // H-51: all four members, always.
        for member in ["hostInfo", "hostCapabilities", "hostContext"] {
            assert!(answer.what.contains(member), "{member}");
        }
    }
}

#[test]
fn w_7_a_reason_is_absent_or_a_string() {
    let mut world = World::new("cancelled");
    world.open();
    world.session.tool_cancelled(None).unwrap();
    world.drain();
    assert!(world.timeline.back().unwrap().what.ends_with(r#"tool-cancelled","params":{}}"#));
    assert!(world.session.tool_cancelled(Some("again")).is_err(), "H-68");
    let result = raw("{}");
    assert!(world.session.tool_result(RawObject::new(&result).unwrap()).is_err(), "H-68");
}

#[test]
fn terms_are_the_operators() {
    let terms = Terms { handshake: ms(10), ..Terms::default() };
    let mut world = World::with("short", host::Setup { terms, ..setup() }, opening());
    world.delay = ms(1_000);
    world.run_for(ms(10));
    assert!(world.session.is_closed());
}

#[test]
fn a_view_that_does_not_get_ready_is_told_of_once_and_long_before_its_time_is_over() {
    for (delay, told) in [(20_000, Some(true)), (1, None)] {
        let mut world = World::new("quiet");
        world.delay = ms(delay);
        world.run_for(ms(3_900));
        assert!(!world.has_heard("Quiet"), "{delay}");
        world.run_for(ms(10_000));
        let heard: Vec<_> = world.heard.iter().filter(|line| line.starts_with("Quiet")).collect();
        let expected: Vec<_> =
            told.iter().map(|greeted| format!("Quiet {{ greeted: {greeted} }}")).collect();
        assert_eq!(heard, expected.iter().collect::<Vec<_>>(), "{delay}");
        assert!(!world.session.is_closed());
        // A new instance has its own time.
        if told.is_none() {
            world.delay = ms(20_000);
            world.reload();
            world.run_for(ms(5_000));
            assert!(world.has_heard("Quiet { greeted: false }"), "{:?}", world.heard);
        }
    }
}

#[test]
fn h_53_h_133_a_reload_loop_ends_without_a_word_to_a_document_that_is_not_ready() {
    for restarts in [0, 1] {
        let mut world = World::new("reload loop");
        world.open();
        for _ in 0..restarts {
            world.restart_view();
            world.run_for(ms(10));
        }
        for _ in 0..100 {
            world.run_for(ms(10));
            world.reload();
        }
        world.run_for(ms(60_000));
        assert!(world.has_heard("host closed: ReloadLoop"), "{:?}", world.heard);
    }
    let mut world = World::new("restart loop");
    for _ in 0..100 {
        world.run_for(ms(10));
        world.restart_view();
    }
    world.run_for(ms(60_000));
    assert!(world.has_heard("host closed: ReloadLoop"), "{:?}", world.heard);
    assert!(!world.told().contains(&"ui/resource-teardown"), "{:?}", world.told());
}

#[test]
fn a_reload_and_its_greeting_are_one_new_instance() {
    let mut world = World::new("hot reload");
    world.open();
    for _ in 0..8 {
        world.reload();
        world.run_for(ms(50));
    }
    assert!(world.session.is_ready(), "{:?}", world.heard);
}

#[test]
fn h_53_what_was_meant_for_the_old_document_is_not_sent_to_the_new_one() {
    const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"method":"ui/initialize","params":{}}"#;
    let reload = |world: &mut World| world.session.handle(world.now, Input::Reloaded);
    let greet = |world: &mut World| world.session.hear(world.now, GREETING, &mut world.share);
    for again in [reload, greet] as [fn(&mut World) -> _; 2] {
        let mut world = World::new("not drained in between");
        world.open();
        let arguments = raw("{}");
        world.session.tool_input(RawObject::new(&arguments).unwrap()).unwrap();
        let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
        world.session.hear(world.now, ping, &mut world.share).unwrap();
        again(&mut world).unwrap();
        let outputs = std::iter::from_fn(|| world.session.poll());
        let stale = |output: &host::Output| match output {
            host::Output::Send(text) => !text.contains("hostContext"),
            _ => false,
        };
        assert_eq!(outputs.filter(stale).count(), 0);
    }
}

#[test]
fn a_late_yes_covers_what_was_shown_and_nothing_else() {
    // Without a progress token, nobody is kept waiting for longer than fifty seconds.
    let wipe = |world: &mut World, id: u32, arguments: &str| {
        world.inject(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"wipe","arguments":{arguments}}}}}"#
        ));
    };
    let forced = |meta: &str| format!(r#"{{"what":"the cache"}},"_meta":{meta}"#);
    let token = r#"{"a":1}"#;
    let long = |end: &str| format!(r#"{{"what":"{}{end}"}}"#, "x".repeat(3_000));
    let cache = r#"{"what":"the cache"}"#.to_owned();
    #[rustfmt::skip]
    let table = [
        ("the same",                      cache.clone(), cache.clone(),                         true),
        ("bait",                          cache.clone(), r#"{"what":"everything"}"#.to_owned(), false),
        ("the same meta",                 forced(token), forced(token),                         true),
        ("meta as bait",                  forced(token), forced(r#"{"a":2}"#),                  false),
        ("meta on top",                   cache,         forced(r#"{"force":true}"#),           false),
        // Nor what was too long to be shown whole.
        ("long bait",                     long("a"),     long("b"),                             false),
    ];
    for (name, shown, wanted, covered) in table {
        let mut world = World::new(name);
        world.open();
        world.person.latency = Some(ms(55_000));
        wipe(&mut world, 70, &shown);
        world.run_for(ms(60_000));
        assert!(world.has_heard("Unheard { question: 0, decision: Allow, late: true }"), "{name}");
        assert!(!world.has_heard("perform"), "{name}: {:?}", world.heard);
        world.person.latency = None;
        wipe(&mut world, 71, &wanted);
        assert_eq!(world.has_heard("perform"), covered, "{name}: {:?}", world.heard);
    }
}

#[test]
fn a_late_yes_to_a_file_covers_these_bytes_and_no_others() {
    let save = |world: &mut World, id: u32, text: &str| {
        world.inject(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"ui/download-file","params":{{"contents":[{{"type":"resource","resource":{{"uri":"file:///report.csv","text":"{text}"}}}}]}}}}"#
        ));
    };
    for (wanted, covered) in [("1,2", true), ("evil", false)] {
        let mut world = World::new(wanted);
        world.open();
        world.person.latency = Some(ms(55_000));
        save(&mut world, 70, "1,2");
        world.run_for(ms(60_000));
        assert!(!world.has_heard("perform"), "{wanted}: {:?}", world.heard);
        world.person.latency = None;
        save(&mut world, 71, wanted);
        assert_eq!(world.has_heard("perform"), covered, "{wanted}: {:?}", world.heard);
    }
}

#[test]
fn d6_a_late_yes_to_an_app_tool_counts_next_time_too() {
    let mut world = World::new("late yes, app tool");
    world.open();
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(100));
    world.person.latency = Some(ms(700_000));
    world.session.call_app_tool(world.now, "paint", RawObject::default()).unwrap();
    world.run_for(ms(710_000));
    assert!(world.has_heard("outcome: TimedOut"), "{:?}", world.heard);
    let call = world.session.call_app_tool(world.now, "paint", RawObject::default()).unwrap();
    world.run_for(ms(100));
    assert!(world.has_heard(&format!("AppAnswer {{ call: {call}, outcome: Result(")));
}

#[test]
fn h_15_a_yes_is_judged_by_the_rules_of_its_own_moment() {
    let save = r#"{"name":"save"}"#;
    #[rustfmt::skip]
    let table = [
        ("hidden",      format!(r#"[{}]"#, r#"{"name":"save","_meta":{"ui":{"visibility":["model"]}}}"#), Stance::Ask, Some("not visible to apps")),
        ("gone",        "[]".to_owned(),                                                                 Stance::Ask, Some("not a tool of this view's server")),
        ("destructive", r#"[{"name":"save","annotations":{"destructiveHint":true}}]"#.to_owned(),        Stance::Ask, Some("changed while the user was asked")),
        ("other schema", r#"[{"name":"save","inputSchema":{"type":"object"}}]"#.to_owned(),               Stance::Ask, Some("changed while the user was asked")),
        ("forbidden",   format!("[{save}]"),                                                             Stance::Deny, Some("the policy does not allow")),
        ("more tools",  format!(r#"[{save},{{"name":"late"}}]"#),                                        Stance::Ask, None),
        ("allowed",     format!("[{save}]"),                                                             Stance::Allow, None),
    ];
    for (name, list, stance, refusal) in table {
        let mut world = World::new(name);
        world.open();
        call(&mut world, "save");
        world.run_for(ms(100));
        world.session.set_tools(Arc::new(tools(&list)));
        world.session.set_policy(Arc::new(Policy { other_tools: stance, ..Policy::default() }));
        world.run_for(ms(5_000));
        assert_eq!(world.has_heard("perform"), refusal.is_none(), "{name}: {:?}", world.heard);
        assert!(refusal.is_none_or(|words| world.has_heard(words)), "{name}: {:?}", world.heard);
        assert_eq!(world.view.in_flight(), 0, "{name}");
    }
}

#[test]
fn an_always_in_a_running_session_ends_when_the_tool_says_something_else_of_itself() {
    let save = |more: &str| Arc::new(tools(&format!(r#"[{{"name":"save"{more}}}]"#)));
    for (now, change) in [
        (
            r#","annotations":{"destructiveHint":true}"#,
            "destructiveHint was not said, and is true now",
        ),
        (r#","inputSchema":{"type":"object"}"#, "what it takes as arguments has changed"),
    ] {
        let mut world = World::new("a tool changes");
        world.person.decision = Decision::AllowAlways;
        world.open();
        let questions = |world: &World| world.timeline.iter().filter(|l| l.to == "person").count();
        for (turn, (list, asked)) in [("", 1), ("", 1), (now, 2), (now, 2)].into_iter().enumerate()
        {
            world.session.set_tools(save(list));
            call(&mut world, "save");
            world.run_for(ms(5_000));
            assert_eq!(questions(&world), asked, "{change}, call {turn}");
        }
        assert!(world.has_heard(&format!("since: {change}")), "{:?}", world.heard);
    }
}

#[test]
fn d7_what_a_view_wants_is_written_down_before_anything_comes_of_it() {
    let mut world = World::new("order of the log");
    world.open();
    world.timeline.clear();
    call(&mut world, "save");
    world.run_for(ms(3_000));
    let interesting = |line: &&crate::world::Line| {
        line.from == "gate" || line.to == "person" || line.to == "server"
    };
    let order: Vec<_> =
        world.timeline.iter().filter(interesting).map(|line| (line.from, line.to)).collect();
    assert_eq!(
        order,
        [("gate", "log"), ("host", "person"), ("gate", "log"), ("host", "server")],
        "waits, asked; judged, done"
    );
}

#[test]
fn h_85_a_new_document_gets_its_size_even_if_the_old_one_had_the_same() {
    let mut world = World::new("same size");
    let size = SizeChangedParams { width: None, height: Some(210.0) };
    world.open();
    world.view.size_changed(size).unwrap();
    world.run_for(ms(100));
    world.reload();
    world.run_for(ms(100));
    world.view.size_changed(size).unwrap();
    world.run_for(ms(100));
    assert_eq!(world.heard.iter().filter(|line| line.starts_with("Resize")).count(), 2);
}

#[test]
fn h_85_h_86_a_size_follows_the_room_there_is() {
    use transom::wire::Axis::{self, AtMost, Fixed};
    let room = |world: &mut World, height: Axis| {
        let dimensions = transom::wire::ContainerDimensions { height, ..Default::default() };
        let context = HostContext::clone(world.session.context());
        let context = HostContext { container_dimensions: Some(dimensions), ..context };
        world.session.set_context(Arc::new(context)).unwrap();
        world.drain();
    };
    let mut world = World::new("room");
    room(&mut world, AtMost(600.0));
    world.open();
    world.view.size_changed(SizeChangedParams { width: None, height: Some(900.0) }).unwrap();
    world.run_for(ms(100));
    for height in [800.0, 800.0, 400.0].map(AtMost) {
        room(&mut world, height);
    }
    // Full screen and back: the frame has forgotten what it was.
    room(&mut world, Fixed(1_000.0));
    // What it measures there is the screen, and none of its own.
    world.view.size_changed(SizeChangedParams { width: None, height: Some(1_000.0) }).unwrap();
    world.run_for(ms(100));
    room(&mut world, AtMost(400.0));
    room(&mut world, AtMost(2_000.0));
    let resizes: Vec<_> = world.heard.iter().filter(|line| line.starts_with("Resize")).collect();
    let heights = ["600.0", "800.0", "400.0", "400.0", "900.0"];
    assert_eq!(resizes.len(), heights.len(), "{resizes:?}");
    assert!(resizes.iter().zip(heights).all(|(line, height)| line.contains(height)), "{resizes:?}");
}

#[test]
fn h_81_a_mode_that_is_declined_is_answered_with_the_one_in_force() {
    for (stance, patience) in [(Stance::Deny, 100), (Stance::Ask, 3_000), (Stance::Ask, 55_000)] {
        let mut world = World::new("declined mode");
        world.open();
        world.person.decision = Decision::Deny;
        world.person.latency = (patience < 50_000).then(|| ms(2_000));
        world.session.set_policy(Arc::new(Policy { display_modes: stance, ..Policy::default() }));
        let call = world.view.request_display_mode(world.now, DisplayMode::Fullscreen).unwrap();
        world.run_for(ms(patience));
        let answer =
            format!(r#"Answer {{ call: {call}, outcome: Ok(RawValue({{"mode":"inline"}}))"#);
        assert!(world.has_heard(&answer), "{stance:?}: {:?}", world.heard);
    }
}

#[test]
fn asking_for_a_views_tools_is_answered_even_if_the_view_is_gone() {
    let mut world = World::new("list, then reload");
    world.open();
    world.session.list_app_tools(world.now).unwrap();
    world.drain();
    world.reload();
    assert!(world.has_heard("AppTools([])"), "{:?}", world.heard);
}

#[test]
fn h_111_tools_that_are_not_listed_any_more_cannot_be_called() {
    let mut world = World::new("a list that never comes");
    world.open();
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(100));
    assert!(world.has_heard("paint"));
    world.delay = ms(3_600_000);
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(31_000));
    assert!(world.has_heard("AppTools([])"));
    assert!(world.session.call_app_tool(world.now, "paint", RawObject::default()).is_err());
}

#[test]
fn h_113_a_yes_to_an_app_tool_comes_too_late_for_a_view_that_is_closing() {
    let mut world = World::new("yes while closing");
    world.open();
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(100));
    let call = world.session.call_app_tool(world.now, "paint", RawObject::default()).unwrap();
    world.drain();
    world.delay = ms(4_000);
    world.session.close(world.now, Reason::Closed);
    world.run_for(ms(3_000));
    assert!(!world.told().contains(&"tools/call"), "{:?}", world.told());
    assert!(world.has_heard(&format!("AppAnswer {{ call: {call}, outcome: Gone }}")));
}

#[test]
fn h_97_a_link_to_a_file_is_shown_by_its_address() {
    let mut world = World::new("fetch it for me");
    world.open();
    world.inject(
        r#"{"jsonrpc":"2.0","id":50,"method":"ui/download-file","params":{"contents":[{"type":"resource_link","name":"x","uri":"http://169.254.169.254/report.csv"}]}}"#,
    );
    assert!(
        world.has_heard(r#"ask: Download(["report.csv from http://169.254.169.254/report.csv"])"#),
        "{:?}",
        world.heard
    );
}

#[test]
fn a_driver_is_never_sent_in_circles() {
    let terms = Terms { heartbeat: ms(0), ..Terms::default() };
    let mut world = World::with("no gap", host::Setup { terms, ..setup() }, opening());
    world.open();
    world.person.latency = None;
    call(&mut world, "save");
    world.run_for(ms(2));
    world.session.handle(world.now, Input::Tick).unwrap();
    assert!(world.session.deadline().unwrap() > world.now);
}

#[test]
fn what_waits_for_a_person_takes_up_bounded_memory() {
    let limits = host::Limits { held: 10_000, ..host::Limits::default() };
    let mut world = World::with("hoard", host::Setup { limits, ..setup() }, opening());
    world.open();
    let large = raw(&json!({ "x": "x".repeat(1_000) }).to_string());
    for _ in 0..20 {
        // All of them join the one question about the server's tools.
        world.view.call_tool(world.now, "save", RawObject::new(&large).unwrap()).unwrap();
    }
    world.run_for(ms(100));
    assert!(world.has_heard("over the limit of 10000 bytes waiting for the user"));
    assert_eq!(world.session.in_flight(), 9);
    world.run_for(ms(5_000));
    assert_eq!(world.view.in_flight(), 0);
}

#[test]
fn a_greeting_is_not_a_place_to_store_things() {
    let mut world = World::new("large greeting");
    let greeting = |length: usize| {
        let info = json!({ "name": "x".repeat(length), "version": "1" });
        json!({ "jsonrpc": "2.0", "id": "g", "method": "ui/initialize", "params": { "appInfo": info } })
            .to_string()
    };
    world.inject(greeting(1 << 20));
    assert!(world.heard.last().unwrap().starts_with("refused: ui/initialize"));
    assert!(world.session.app().is_none());
    world.inject(greeting(1 << 10));
    assert!(world.session.app().is_some());
}
