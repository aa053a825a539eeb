//! What the gate says of requests and decisions, so that it can be written down: everything, once.

use std::sync::Arc;

use serde_json::json;
use transom::{
    host::{Input, Opening, Which},
    policy::{Claimed, Decided, Decision, Policy, Stance, Subject},
    rpc::Id,
    violation::Violation,
    wire::RawObject,
};

use crate::world::{World, ms, opening, setup, tools};

fn call(world: &mut World, name: &str) {
    world.view.call_tool(world.now, name, RawObject::default()).unwrap();
    world.drain();
}

#[test]
fn d7_every_request_has_one_verdict() {
    let mut world = World::new("verdicts");
    world.open();
    let long = "x".repeat(500);
    let table = [
        (r#""method":"ping""#, "allowed"),
        (r#""method":"tools/list""#, "allowed"),
        (r#""method":"resources/read","params":{"uri":"file:///x"}"#, "allowed"),
        (r#""method":"ui/download-file","params":{"contents":[]}"#, "allowed"),
        (r#""method":"ui/request-display-mode","params":{"mode":"pip"}"#, "allowed"),
        (r#""method":"tools/call","params":{"name":"look"}"#, "allowed"),
        (r#""method":"tools/call","params":{}"#, "refused, tools/call: "),
        (r#""method":"tools/call","params":{"name":"secret"}"#, "refused, denied: tool"),
        (r#""method":"__proto__""#, "refused, no such method: \"__proto__\""),
        (&format!(r#""method":"{long}""#), "refused, no such method: \"xxx"),
        (
            r#""method":"ui/open-link","params":{"url":"javascript:x"}"#,
            "refused, denied: the address",
        ),
    ];
    for (id, (text, verdict)) in (100..).zip(table) {
        world.verdicts.clear();
        world.inject(format!(r#"{{"jsonrpc":"2.0","id":{id},{text}}}"#));
        let spoken: Vec<&str> = world.verdicts.iter().map(|(.., words)| &**words).collect();
        assert_eq!(spoken.len(), 1, "{text}: {spoken:?}");
        assert!(spoken[0].starts_with(verdict), "{text}: {spoken:?}");
        let (which, method, _) = &world.verdicts[0];
        assert!(matches!(which, Which::View { id: Id::Number(number), .. } if *number == id));
        assert!(method.is_none_or(|method| text.contains(method)), "{method:?}");
    }
    world.run_for(ms(1_000));
    world.assert_settled();
}

#[test]
fn d7_a_call_of_the_views_tool_has_a_verdict_of_its_own() {
    let mut world = World::new("app verdicts");
    world.open();
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(100));
    world.verdicts.clear();
    let paint =
        |world: &mut World| world.session.call_app_tool(world.now, "paint", RawObject::default());
    let call = paint(&mut world).unwrap();
    world.run_for(ms(5_000));
    let policy = Policy { other_app_tools: Stance::Deny, ..Policy::default() };
    world.session.set_policy(Arc::new(policy));
    paint(&mut world).unwrap_err();
    world.drain();
    let expected = [(Some(call), "allowed"), (None, "refused, denied: the policy does not allow")];
    assert_eq!(world.verdicts.len(), 2);
    for ((which, method, words), (call, verdict)) in world.verdicts.iter().zip(expected) {
        assert_eq!((which, *method), (&Which::App { call }, Some("tools/call")));
        assert!(words.starts_with(verdict), "{words}");
    }
    world.assert_settled();
}

#[test]
fn a_person_who_said_no_is_not_asked_again_at_once() {
    let mut world = World::new("nagging");
    world.open();
    world.person.decision = Decision::Deny;
    let mut asked = vec![];
    // Another address is not another question.
    for n in 0..120 {
        let before = world.heard.iter().filter(|line| line.starts_with("ask: ")).count();
        world.view.open_link(world.now, &format!("https://a.test/{n}")).unwrap();
        world.run_for(ms(1_000));
        if world.heard.iter().filter(|line| line.starts_with("ask: ")).count() > before {
            asked.push(n);
            world.run_for(ms(1_100));
        }
    }
    assert!(world.has_heard("refused by the user a moment ago"), "{:?}", world.heard);
    let gaps: Vec<i32> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.windows(2).all(|pair| pair[0] < pair[1]), "each time longer: {asked:?}");
    // What is not about addresses may be asked.
    world.person.decision = Decision::Allow;
    call(&mut world, "wipe");
    world.run_for(ms(5_000));
    assert!(world.has_heard("perform: tools/call wipe"));
}

#[test]
fn questions_that_nobody_waits_for_are_few() {
    let mut world = World::new("orphans");
    world.open();
    world.person.latency = None;
    for n in 0..10 {
        world.inject(format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"ui/open-link","params":{{"url":"https://a.test/{n}"}}}}"#,
            100 + n
        ));
    }
    world.run_for(ms(51_000));
    let withdrawn = world.heard.iter().filter(|line| line.starts_with("Withdraw")).count();
    assert_eq!(withdrawn, 6, "{:?}", world.heard);
    world.say(9, Decision::Deny);
    world.say(9, Decision::Deny);
    world.say(0, Decision::Allow);
    world.say(77, Decision::Allow);
    world.run_for(ms(10));
    for (question, late) in [(9, true), (9, false), (0, false), (77, false)] {
        let line = format!("Unheard {{ question: {question}, ");
        let found = |heard: &&String| heard.starts_with(&line) && heard.contains(&late.to_string());
        assert!(world.heard.iter().any(|heard| found(&heard)), "{line} {late}: {:?}", world.heard);
    }
    world.assert_settled();
}

#[test]
fn a_reload_takes_back_what_was_asked() {
    let mut world = World::new("reload while asked");
    world.open();
    world.person.latency = None;
    call(&mut world, "wipe");
    world.run_for(ms(100));
    world.reload();
    assert!(world.has_heard("Withdraw { question: 0 }"), "{:?}", world.heard);
    assert_eq!(verdicts(&world)[1..], ["withdrawn"]);
}

#[test]
fn refused_bytes_weigh_as_much_as_refused_messages() {
    let mut world = World::new("few and large");
    world.open();
    let junk =
        format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"x":"{}"}}}}"#, "x".repeat(8_000_000));
    let sent = (0..100).take_while(|_| {
        world.session.hear(world.now, &junk, &mut world.share).ok();
        world.drain();
        !world.has_heard("view saves its things") && world.session.is_ready()
    });
    // Sixty-four megabytes are the burst; as many again, and it is over.
    assert!(sent.count() < 20, "a hundred would not have been too many messages");
    world.run_for(ms(10_000));
    assert!(world.has_heard("host closed: Flood"));
}

#[test]
fn a_view_cannot_answer_a_call_of_its_tool_before_it_is_sent() {
    let mut world = World::new("held back");
    world.open();
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(100));
    let policy = Policy { other_app_tools: Stance::Allow, ..Policy::default() };
    world.session.set_policy(Arc::new(policy));
    world.delay = ms(3_600_000);
    let mut calls = vec![];
    for _ in 0..2 {
        calls.push(world.session.call_app_tool(world.now, "paint", RawObject::default()).unwrap());
        while world.session.poll().is_some() {}
    }
    for call in &calls {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{call},"result":{{}}}}"#);
        let refused = world.session.hear(world.now, &answer, &mut world.share);
        assert!(matches!(refused, Err(Violation::UnknownId { .. })), "{refused:?}");
    }
    let said = |world: &mut World| {
        std::iter::from_fn(|| world.session.poll())
            .map(|output| format!("{output:?}"))
            .collect::<Vec<_>>()
    };
    // Sent once, however often the driver says so; given up, it is not sent at all.
    world.session.send_app_call(world.now, calls[0]);
    world.session.send_app_call(world.now, calls[0]);
    world.session.give_up_app_call(calls[0]);
    let sent = said(&mut world);
    assert!(
        matches!(&*sent, [one] if one.starts_with("Send(") && one.contains("paint")),
        "{sent:?}"
    );
    world.session.give_up_app_call(calls[1]);
    world.session.send_app_call(world.now, calls[1]);
    assert_eq!(said(&mut world), [format!("AppAnswer {{ call: {}, outcome: NotSent }}", calls[1])]);
    // Nor is a view told of a call that is gone with the instance before it.
    let call = world.session.call_app_tool(world.now, "paint", RawObject::default()).unwrap();
    world.session.handle(world.now, Input::Reloaded).unwrap();
    said(&mut world);
    world.session.send_app_call(world.now, call);
    assert_eq!(said(&mut world), [""; 0]);
}

#[test]
fn h_116_a_tool_of_the_view_goes_when_the_server_gets_one_of_its_name() {
    let mut world = World::new("clash");
    world.open();
    world.session.list_app_tools(world.now).unwrap();
    world.run_for(ms(100));
    let call = world.session.call_app_tool(world.now, "paint", RawObject::default()).unwrap();
    world.session.set_tools(Arc::new(tools(r#"[{"name":"paint"}]"#)));
    world.drain();
    assert!(world.has_heard("AppTools([])"), "{:?}", world.heard);
    assert!(world.session.call_app_tool(world.now, "paint", RawObject::default()).is_err());
    // Nor does the call go out that a person is asked about.
    world.run_for(ms(5_000));
    assert!(world.has_heard(&format!("AppAnswer {{ call: {call}, outcome: Gone }}")));
    assert!(!world.told().contains(&"tools/call"));
}

#[test]
fn reading_has_a_rule_too() {
    let read =
        r#"{"jsonrpc":"2.0","id":100,"method":"resources/read","params":{"uri":"file:///x"}}"#;
    #[rustfmt::skip]
    let table = [
        (Stance::Allow, "perform: Read { method: \"resources/read\", uri: Some(\"file:///x\")"),
        (Stance::Ask,   "ask: Read(\"file:///x\")"),
        (Stance::Deny,  "the policy does not allow \"reading from the server\""),
    ];
    for (reads, expected) in table {
        let policy = Arc::new(Policy { reads, ..Policy::default() });
        let mut world = World::with("reads", setup(), Opening { policy, ..opening() });
        world.open();
        world.inject(read);
        assert!(world.has_heard(expected), "{reads:?}: {:?}", world.heard);
    }
}

/// The verdicts, in words.
fn verdicts(world: &World) -> Vec<&str> {
    world.verdicts.iter().map(|(.., words)| &**words).collect()
}

/// Asks for a file that the view only names; what became of it.
fn save_linked(world: &mut World, id: u32, uri: &str) -> String {
    world.verdicts.clear();
    let contents = json!([{ "type": "resource_link", "name": "x", "uri": uri }]);
    let params = json!({ "contents": contents });
    let text =
        json!({ "jsonrpc": "2.0", "id": id, "method": "ui/download-file", "params": params });
    world.inject(text.to_string());
    world.run_for(ms(5_000));
    world.verdicts.iter().map(|(.., words)| words.as_str()).collect::<Vec<_>>().join("; ")
}

// H-97: its server is asked for it, which is a read like any other.
#[test]
fn what_may_not_be_read_is_not_saved_either() {
    let mut world = World::new("linked files");
    world.open();
    assert_eq!(save_linked(&mut world, 100, "file:///a.csv"), "allowed");
    // Where reading is asked about, the question for the file is enough, and a "never" is one.
    let policy = Policy { reads: Stance::Ask, ..Policy::default() };
    world.session.set_policy(Arc::new(policy));
    let subject = Subject::Read("file:///b.csv".to_owned());
    let mut decided = Decided::default();
    decided.remember(&subject, Decision::DenyAlways, &Claimed::default());
    world.session.set_decided(world.now, decided);
    let words = save_linked(&mut world, 101, "file:///b.csv");
    assert!(words.starts_with("refused, denied: refused by the user"), "{words}");
    assert_eq!(save_linked(&mut world, 102, "file:///c.csv"), "allowed");
    let policy = Policy { reads: Stance::Deny, ..Policy::default() };
    world.session.set_policy(Arc::new(policy));
    let words = save_linked(&mut world, 103, "file:///c.csv");
    assert!(words.starts_with("refused, denied: the policy does not allow \"reading"), "{words}");
    world.assert_settled();
}

// A name could pass for an address, and another reader could stop in the middle of one.
#[test]
fn h_97_what_is_no_address_is_not_read_for_a_file() {
    let mut world = World::new("no addresses");
    world.open();
    for (id, uri) in (100..).zip(["", "csv", "/etc/passwd", "../x", "file:///a\0.csv", "//a/b"]) {
        let words = save_linked(&mut world, id, uri);
        assert!(words.starts_with("refused, denied: the address"), "{uri:?}: {words}");
    }
    world.assert_settled();
}
