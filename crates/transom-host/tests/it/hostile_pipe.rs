//! A server on pipes that does everything wrong. No call may hang, and no other may suffer.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json, value::RawValue};
use transom::host::List;
use transom_host::upstream::{
    Answer, Ask, CallError, ConnectError, Era, Event, Health, Loss, NotCalled, Options, Refusal,
    Rubbish, Update, Upstream, UpstreamLimits,
};

use crate::{
    pipe_peer::{Peer, connected, server},
    wishes::{call, code, event, options, outcome, patient, result, settled, words},
};

/// Fails a first call by what the server says, and checks that a second one is answered.
async fn a_bad_answer(answer: &str) -> CallError {
    let (upstream, mut peer) = connected(options()).await;
    let bad = call(&upstream, "bad", "{}");
    let good = call(&upstream, "good", "{}");
    let request = peer.expect("bad").await;
    let other = peer.expect("good").await;
    peer.say(&answer.replace("ID", &request["id"].to_string())).await;
    let error = settled(bad).await.unwrap_err();
    peer.answer(&other, json!({"ok": true})).await;
    assert_eq!(settled(good).await.unwrap().get(), r#"{"ok":true}"#);
    assert_eq!(upstream.health(), Health::Up);
    error
}

#[tokio::test(start_paused = true)]
async fn half_a_message_fails_its_call() {
    let error = a_bad_answer(r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"ty"#).await;
    assert!(matches!(error, CallError::Rubbish(Rubbish::Malformed(_))), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_no_object_fails_its_call() {
    for result in ["null", "[]", "7", r#""text""#] {
        let error =
            a_bad_answer(&format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#)).await;
        assert!(matches!(error, CallError::Rubbish(_)), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_a_version_fails_its_call() {
    let error = a_bad_answer(r#"{"id":ID,"result":{}}"#).await;
    assert!(matches!(error, CallError::Rubbish(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_without_a_message_is_an_error() {
    let error = a_bad_answer(r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32001}}"#).await;
    assert_eq!(code(&Err(error)), Some(-32001));
    let error = a_bad_answer(r#"{"jsonrpc":"2.0","id":ID,"error":{}}"#).await;
    assert_eq!(code(&Err(error)), Some(-32603));
    let error = a_bad_answer(r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#).await;
    assert!(matches!(error, CallError::Rubbish(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_keeps_its_code_its_words_and_its_data() {
    let error = a_bad_answer(
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":99999999999,"message":"odd","data":[ 1 ]}}"#,
    )
    .await;
    let error = error.to_error();
    assert_eq!((error.code, &*error.message), (99_999_999_999, "odd"));
    assert_eq!(error.data.unwrap().get(), "[ 1 ]");
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_no_text_fail_their_call() {
    let (upstream, mut peer) = connected(options()).await;
    let bad = call(&upstream, "bad", "{}");
    let id = peer.expect("bad").await["id"].clone();
    let mut line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":""#).into_bytes();
    line.extend([0xff, 0xfe]);
    line.extend(b"\"}}\n");
    peer.write(&line).await;
    let error = settled(bad).await.unwrap_err();
    assert!(matches!(error, CallError::Rubbish(Rubbish::NotText)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn garbage_is_passed_over() {
    let (upstream, mut peer) = connected(options()).await;
    let good = call(&upstream, "good", "{}");
    let request = peer.expect("good").await;
    for line in
        ["Server is listening", "", "{", "]", "[1,2,{", "{}", "null", "\0\0\0", "\u{feff}{}"]
    {
        peer.say(line).await;
    }
    peer.write(&[0xff, 0xfe, b'\n']).await;
    peer.answer(&request, json!({})).await;
    assert!(settled(good).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_hundred_megabytes_in_one_line_fail_their_call_and_are_not_kept() {
    // The id first, as most write it, and last, as the TypeScript SDK does.
    for (open, close) in [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"a":""#, r#""}}"#),
        (r#"{"result":{"a":""#, r#""},"jsonrpc":"2.0","id":ID}"#),
    ] {
        let (upstream, mut peer) = connected(options()).await;
        let big = call(&upstream, "big", "{}");
        let good = call(&upstream, "good", "{}");
        let id = peer.expect("big").await["id"].to_string();
        let other = peer.expect("good").await;
        tokio::spawn(async move {
            peer.write(open.replace("ID", &id).as_bytes()).await;
            let megabyte = vec![b'x'; 1 << 20];
            for _ in 0..100 {
                peer.write(&megabyte).await;
            }
            peer.say(&close.replace("ID", &id)).await;
            peer.answer(&other, json!({})).await;
            peer.listen_on().await;
        });
        let error = settled(big).await.unwrap_err();
        assert!(matches!(error, CallError::Rubbish(Rubbish::TooLong { .. })), "{error:?}");
        assert!(settled(good).await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn silence_ends_in_a_timeout_and_the_server_is_told() {
    let (upstream, mut peer) = connected(options()).await;
    let silent = patient(&upstream, "silent", Duration::from_secs(3));
    let request = peer.expect("silent").await;
    assert!(matches!(settled(silent).await, Err(CallError::Timeout)));
    let cancelled = peer.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    // It is asked whether it is alive; it is, and stays.
    let ping = peer.expect("ping").await;
    peer.answer(&ping, json!({})).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(upstream.health(), Health::Up);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_is_started_again() {
    let target = server(|mut peer, start| async move {
        peer.greet().await;
        if start == 0 {
            return peer.listen_on().await;
        }
        let request = peer.expect("work").await;
        peer.answer(&request, json!({"start": start})).await;
        peer.listen_on().await;
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    let mut events = upstream.events();
    let hung = patient(&upstream, "work", Duration::from_secs(3));
    assert!(matches!(settled(hung).await, Err(CallError::Timeout)));
    let down = event(&mut events, |event| matches!(event, Event::Down(_))).await;
    assert!(matches!(down, Event::Down(ref loss) if matches!(**loss, Loss::Hung(_))), "{down:?}");
    event(&mut events, |event| matches!(event, Event::Restarted)).await;
    assert_eq!(result(&upstream, "work", "{}").await["start"], 1);
}

#[tokio::test(start_paused = true)]
async fn death_in_mid_call_fails_what_was_in_flight_and_starts_again() {
    let target = server(|mut peer, start| async move {
        peer.greet().await;
        let request = peer.expect("work").await;
        if start == 0 {
            peer.expect("other").await;
            return;
        }
        peer.answer(&request, json!({"start": start})).await;
        peer.listen_on().await;
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    let mut events = upstream.events();
    let calls = [call(&upstream, "work", "{}"), call(&upstream, "other", "{}")];
    for call in calls {
        let words = words(settled(call).await);
        assert_eq!(words, "the server went away during the call: the server ended");
    }
    event(&mut events, |event| matches!(event, Event::Down(_))).await;
    event(&mut events, |event| matches!(event, Event::Restarted)).await;
    assert_eq!(result(&upstream, "work", "{}").await["start"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_always_dies_is_given_up() {
    let target = server(|mut peer, start| async move {
        if start == 0 {
            peer.greet().await;
        }
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    let mut events = upstream.events();
    event(&mut events, |event| matches!(event, Event::Gone(_))).await;
    assert_eq!(upstream.health(), Health::Gone);
    let request = crate::wishes::request("work", "{}");
    let refused = upstream.call(&request, Default::default()).unwrap_err();
    assert_eq!(refused, NotCalled::NotConnected);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_at_all_is_not_connected_to() {
    let target = server(|peer, _| peer.listen_on());
    let error = Upstream::connect(target, options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Greeting(CallError::Timeout)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_version_from_another_world_is_not_connected_to() {
    let target = server(|mut peer, _| async move {
        let discover = peer.expect("server/discover").await;
        peer.refuse(&discover, -32601).await;
        let initialize = peer.expect("initialize").await;
        peer.answer(&initialize, json!({"protocolVersion": "1999-01-01"})).await;
        peer.listen_on().await;
    });
    let error = Upstream::connect(target, options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Version { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn doubled_late_and_invented_answers_settle_nothing_else() {
    let (upstream, mut peer) = connected(options()).await;
    let one = call(&upstream, "one", "{}");
    let two = call(&upstream, "two", "{}");
    let first = peer.expect("one").await;
    let second = peer.expect("two").await;
    peer.answer(&first, json!({"n": 1})).await;
    peer.answer(&first, json!({"n": "doubled"})).await;
    peer.answer(&json!({"id": 4_000}), json!({"n": "invented"})).await;
    peer.answer(&json!({"id": second["id"].to_string()}), json!({"n": "a string"})).await;
    peer.say(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#).await;
    assert_eq!(settled(one).await.unwrap().get(), r#"{"n":1}"#);
    two.cancel("changed my mind");
    peer.answer(&second, json!({"n": "late"})).await;
    peer.expect("notifications/cancelled").await;
    let three = call(&upstream, "three", "{}");
    let third = peer.expect("three").await;
    peer.answer(&third, json!({"n": 3})).await;
    assert_eq!(settled(three).await.unwrap().get(), r#"{"n":3}"#);
}

#[tokio::test(start_paused = true)]
async fn no_field_of_a_result_is_lost() {
    let (upstream, mut peer) = connected(options()).await;
    let odd = r#"{"content":[{"type":"widget","x" : 1e3},{"type":"text"}],"tools":[],"isError":"false","_meta":{"a/b":[null]},"big":123456789012345678901234567890, "z":"\u00e9"}"#;
    let pending = call(&upstream, "tools/call", r#"{"name":"odd"}"#);
    let id = peer.expect("tools/call").await["id"].clone();
    peer.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{odd}}}"#)).await;
    assert_eq!(settled(pending).await.unwrap().get(), odd);
}

#[tokio::test(start_paused = true)]
async fn a_million_levels_deep_is_passed_on_or_passed_over() {
    let (open, close) = ("[".repeat(1_000_000), "]".repeat(1_000_000));
    let deep = format!(r#"{{"a":{open}{close}}}"#);
    let (upstream, mut peer) = connected(options()).await;
    let pending = call(&upstream, "deep", "{}");
    let id = peer.expect("deep").await["id"].clone();
    peer.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{deep}}}"#)).await;
    assert_eq!(settled(pending).await.unwrap().get(), deep);

    let mut events = upstream.events();
    upstream.refresh();
    let id = peer.expect("tools/list").await["id"].clone();
    let tools = format!(r#"[{{"name":"deep","inputSchema":{deep}}},{{"name":"flat"}}]"#);
    peer.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{tools}}}}}"#)).await;
    event(&mut events, |event| matches!(event, Event::ListChanged(List::Tools))).await;
    assert!(upstream.tools().get("flat").is_some() && upstream.tools().get("deep").is_none());
}

#[tokio::test(start_paused = true)]
async fn progress_comes_in_the_order_of_the_wire_even_if_that_is_odd() {
    let (upstream, mut peer) = connected(options()).await;
    let mut running = patient(&upstream, "work", Duration::from_secs(5));
    let request = peer.expect("work").await;
    let token = &request["params"]["_meta"]["progressToken"];
    assert_eq!(token.as_u64(), running.id());
    for progress in [3, 1, 2] {
        progressed(&mut peer, token, progress).await;
    }
    progressed(&mut peer, &json!("mine"), 9).await;
    progressed(&mut peer, &json!(77), 9).await;
    peer.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#).await;
    peer.answer(&request, json!({})).await;
    let mut seen = vec![];
    while let Some(Update::Progress(params)) = running.next().await {
        let params: Value = serde_json::from_str(params.get()).unwrap();
        seen.push(params["progress"].as_u64().unwrap());
    }
    assert_eq!(seen, [3, 1, 2]);
}

async fn progressed(peer: &mut Peer, token: &Value, progress: u64) {
    let params = json!({"progressToken": token, "progress": progress});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
    peer.say(&message.to_string()).await;
}

#[tokio::test(start_paused = true)]
async fn progress_keeps_a_call_alive() {
    let (upstream, mut peer) = connected(options()).await;
    let running = patient(&upstream, "work", Duration::from_secs(3));
    let request = peer.expect("work").await;
    // The total is as long as the idle time here: the call ends in spite of all progress.
    for progress in 0..10 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        progressed(&mut peer, &request["params"]["_meta"]["progressToken"], progress).await;
    }
    assert!(matches!(settled(running).await, Err(CallError::Timeout)));
    let options = transom_host::upstream::CallOptions {
        progress: true,
        patience: Some(transom::calls::Patience {
            idle: Duration::from_secs(2),
            total: Duration::from_secs(60),
        }),
    };
    let running = upstream.call(&crate::wishes::request("more", "{}"), options).unwrap();
    let request = loop {
        let message = peer.next().await.unwrap();
        match &message["method"] {
            method if method == "more" => break message,
            method if method == "ping" => peer.answer(&message, json!({})).await,
            _ => {}
        }
    };
    for progress in 0..10 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        progressed(&mut peer, &request["params"]["_meta"]["progressToken"], progress).await;
    }
    peer.answer(&request, json!({})).await;
    assert!(settled(running).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn h_75_a_call_that_nobody_wants_is_taken_back() {
    let (upstream, mut peer) = connected(options()).await;
    drop(call(&upstream, "dropped", "{}"));
    let request = peer.expect("dropped").await;
    let cancelled = peer.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    call(&upstream, "cancelled", "{}").cancel("the view is gone");
    peer.expect("cancelled").await;
    let cancelled = peer.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["reason"], "the view is gone");
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_notifications_stops_nothing_and_fills_nothing() {
    let (upstream, mut peer) = connected(options()).await;
    let mut events = upstream.events();
    let pending = call(&upstream, "work", "{}");
    let request = peer.expect("work").await;
    let storm = tokio::spawn(async move {
        for n in 0..50_000 {
            peer.say(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"n":{n}}}}}"#
            ))
            .await;
        }
        peer.answer(&request, json!({})).await;
        peer
    });
    assert!(settled(pending).await.is_ok());
    let mut peer = storm.await.unwrap();
    // A listener that slept learns that it missed something, and then gets the newest.
    assert!(matches!(events.next().await, Some(Event::Missed(_))));
    let Some(Event::Log(params)) = events.next().await else { panic!("a log line") };
    assert!(params.get().contains("497"), "{params}");
    let again = call(&upstream, "again", "{}");
    let request = peer.expect("again").await;
    peer.answer(&request, json!({})).await;
    assert!(settled(again).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn h_73_changed_tools_are_listed_again_and_everybody_is_told_once() {
    let (upstream, mut peer) = connected(options()).await;
    let mut listeners = [upstream.events(), upstream.events()];
    assert!(upstream.tools().get("new").is_none());
    for _ in 0..100 {
        peer.say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#).await;
    }
    let list = peer.expect("tools/list").await;
    peer.answer(&list, json!({"tools": [{"name": "new"}, 7]})).await;
    for events in &mut listeners {
        event(events, |event| matches!(event, Event::ListChanged(List::Tools))).await;
    }
    assert!(upstream.tools().get("new").is_some(), "H-15: the list is there when it is told");
    assert_eq!(upstream.tools().dropped(), 1);
    peer.say(r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#).await;
    let changed = |event: &Event| matches!(event, Event::ListChanged(List::Resources));
    event(&mut listeners[0], changed).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_of_many_pages_is_followed_up_to_a_bound() {
    let target = server(|mut peer, _| async move {
        peer.greet_with(json!([])).await;
        while let Some(list) = peer.next().await {
            let page = list["params"]["cursor"].as_str().map_or(0, |page| page.parse().unwrap());
            let (tools, next) = (json!([{"name": format!("t{page}")}]), (page + 1).to_string());
            peer.answer(&list, json!({"tools": tools, "nextCursor": next})).await;
        }
    });
    let limits = UpstreamLimits { pages: 5, ..UpstreamLimits::default() };
    let upstream = Upstream::connect(target, Options { limits, ..options() }).await.unwrap();
    let mut events = upstream.events();
    upstream.refresh();
    event(&mut events, |event| matches!(event, Event::ListChanged(List::Tools))).await;
    let listing = upstream.tools();
    assert_eq!(listing.iter().count(), 5);
    assert_eq!(listing.cut().map(|cut| cut.to_string()).as_deref(), Some("more than 5 pages"));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_goes_in_circles_is_left() {
    let target = server(|mut peer, _| async move {
        peer.greet().await;
        while let Some(list) = peer.next().await {
            peer.answer(&list, json!({"tools": [{"name": "t"}], "nextCursor": "same"})).await;
        }
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    let mut events = upstream.events();
    upstream.refresh();
    event(&mut events, |event| matches!(event, Event::ListChanged(List::Tools))).await;
    assert_eq!(upstream.tools().iter().count(), 1);
    assert!(upstream.tools().cut().is_some());
}

#[tokio::test(start_paused = true)]
async fn what_the_server_asks_is_answered() {
    let (_upstream, mut peer) = connected(options()).await;
    let table = [
        ("ping", None),
        ("roots/list", Some(-32601)),
        ("sampling/createMessage", Some(-32601)),
        ("elicitation/create", Some(-32601)),
        ("no/such/thing", Some(-32601)),
    ];
    for (number, (method, code)) in table.into_iter().enumerate() {
        // Its numbers are its own: the same as ours, and of another type.
        for id in [json!(number), json!(format!("s{number}"))] {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}});
            peer.say(&request.to_string()).await;
            let answer = peer.next().await.unwrap();
            assert_eq!(answer["id"], id);
            assert_eq!(answer["error"]["code"].as_i64(), code, "{method}");
            assert_eq!(answer["result"].is_object(), code.is_none(), "{method}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_makes_us_busy_not_large() {
    let limits = UpstreamLimits { unsent: 1 << 20, ..UpstreamLimits::default() };
    let (upstream, peer) = connected(Options { limits, ..options() }).await;
    let params = format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000));
    let request = crate::wishes::request("big", &params);
    let mut calls = vec![];
    let refused = loop {
        match upstream.call(&request, Default::default()) {
            Ok(call) => calls.push(call),
            Err(error) => break error,
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(refused, NotCalled::Busy);
    assert!(calls.len() < 20, "{}", calls.len());
    drop(peer);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_questions_to_us_is_bounded() {
    let limits = UpstreamLimits { unsent: 1 << 20, ..UpstreamLimits::default() };
    let (upstream, mut peer) = connected(Options { limits, ..options() }).await;
    let pending = call(&upstream, "work", "{}");
    let request = peer.expect("work").await;
    for id in 0..50_000 {
        peer.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
    }
    peer.answer(&request, json!({})).await;
    assert!(settled(pending).await.is_ok(), "what it does not read does not stop what we read");
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_taken_apart() {
    let (upstream, mut peer) = connected(options()).await;
    let calls = [call(&upstream, "one", "{}"), call(&upstream, "two", "{}")];
    let ids = [peer.expect("one").await["id"].clone(), peer.expect("two").await["id"].clone()];
    let answers = ids.map(|id| json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    peer.say(&json!([7, answers[0], {}, answers[1]]).to_string()).await;
    for call in calls {
        assert!(settled(call).await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_the_first_question_costs_a_moment_and_is_remembered() {
    let target = server(|mut peer, start| async move {
        // Not a word about `server/discover`, and the second time it is not even asked.
        if start == 0 {
            peer.expect("server/discover").await;
        }
        let initialize = peer.expect("initialize").await;
        peer.answer(&initialize, json!({"protocolVersion": "2024-11-05"})).await;
        peer.expect("notifications/initialized").await;
        peer.listen_on().await;
    });
    let options = options();
    for _ in 0..2 {
        let began = tokio::time::Instant::now();
        let upstream = Upstream::connect(target.clone(), options.clone()).await.unwrap();
        assert_eq!(upstream.server().era, Era::Greeting);
        assert_eq!(upstream.server().protocol_version, "2024-11-05");
        assert!(began.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_first_question_is_greeted_the_older_way() {
    let target = server(|mut peer, start| async move {
        if start == 0 {
            peer.expect("server/discover").await;
            return;
        }
        peer.greet().await;
        peer.listen_on().await;
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    assert_eq!(upstream.server().era, Era::Greeting);
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_of_the_stateless_era_is_recognised_after_all() {
    let target = server(|mut peer, _| async move {
        let discover = peer.expect("server/discover").await;
        let initialize = peer.expect("initialize").await;
        peer.refuse(&initialize, -32601).await;
        peer.answer(&discover, json!({"supportedVersions": ["2026-07-28"]})).await;
        peer.listen_on().await;
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    assert_eq!(upstream.server().era, Era::Stateless);
}

/// It was not there when it was asked, and finds both questions when it is. What it answers counts, in whatever order.
#[tokio::test(start_paused = true)]
async fn a_slow_server_of_both_eras_is_not_taken_for_an_old_one() {
    for newer_first in [true, false] {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let target = server(move |mut peer, _| {
            let tell = tell.clone();
            async move {
                let discover = peer.expect("server/discover").await;
                let initialize = peer.expect("initialize").await;
                tokio::time::sleep(Duration::from_secs(3)).await;
                let newer = json!({"supportedVersions": ["2026-07-28"]});
                let older = json!({"protocolVersion": "2025-11-25"});
                if newer_first {
                    peer.answer(&discover, newer).await;
                    peer.answer(&initialize, older).await;
                } else {
                    peer.answer(&initialize, older).await;
                    peer.answer(&discover, newer).await;
                }
                while let Some(message) = peer.next().await {
                    let _ = tell.send(message["method"].clone());
                }
            }
        });
        let upstream = Upstream::connect(target, options()).await.unwrap();
        assert_eq!(upstream.server().era, Era::Stateless, "newer first: {newer_first}");
        let asked = call(&upstream, "asked", "{}");
        assert_eq!(told.recv().await.unwrap(), "asked", "nobody greets what is stateless");
        drop(asked);
    }
}

#[tokio::test(start_paused = true)]
async fn input_required_is_refused_by_name() {
    let target = server(|mut peer, _| async move {
        let discover = peer.expect("server/discover").await;
        peer.answer(&discover, json!({"supportedVersions": ["2026-07-28"]})).await;
        while let Some(message) = peer.next().await {
            let meta = &message["params"]["_meta"];
            assert!(meta["io.modelcontextprotocol/clientCapabilities"]["extensions"].is_object());
            let result = match message["method"].as_str() {
                Some("wants") => json!({"resultType": "input_required", "requestState": "s",
                    "inputRequests": {"q": {"method": "elicitation/create"}}}),
                Some("talks") => json!({"resultType": "complete", "a": "input_required"}),
                _ => continue,
            };
            peer.answer(&message, result).await;
        }
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    let error = outcome(&upstream, "wants", "{}").await.unwrap_err();
    let CallError::InputRequired(raw) = error else { panic!("{error:?}") };
    assert!(raw.get().contains("requestState"));
    assert!(outcome(&upstream, "talks", "{}").await.is_ok());
}

/// Says yes to every elicitation and refuses the rest.
struct Yes;

impl Ask for Yes {
    fn capabilities(&self) -> serde_json::Map<String, Value> {
        [("elicitation".to_owned(), json!({}))].into_iter().collect()
    }

    fn ask(&self, method: &str, _: Option<&RawValue>) -> Answer {
        let yes = method == "elicitation/create";
        let refusal = Refusal::no_such_method(method);
        let answer = crate::wishes::raw(r#"{"action":"accept"}"#);
        Box::pin(async move { if yes { Ok(answer) } else { Err(refusal) } })
    }
}

#[tokio::test(start_paused = true)]
async fn input_required_is_given_where_there_is_somebody_to_ask() {
    let target = server(|mut peer, _| async move {
        let discover = peer.expect("server/discover").await;
        let said = &discover["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert!(said["elicitation"].is_object() && said["extensions"].is_object());
        peer.answer(&discover, json!({"supportedVersions": ["2026-07-28"]})).await;
        let mut ids = vec![];
        while let Some(message) = peer.next().await {
            let (params, id) = (&message["params"], message["id"].clone());
            if message["method"] != "wants" {
                continue;
            }
            assert!(!ids.contains(&id), "each round has a number of its own");
            ids.push(id);
            let question = |method: &str| json!({"method": method, "params": {}});
            let wanted = |questions: Value, state: &str| json!({"resultType": "input_required", "inputRequests": questions, "requestState": state});
            let result = match params["requestState"].as_str() {
                None => wanted(json!({"name": question("elicitation/create")}), "one"),
                Some("one") => {
                    assert_eq!(params["inputResponses"]["name"]["action"], "accept");
                    assert_eq!(params["kept"], "as it was");
                    wanted(json!({}), "two")
                }
                Some("two") if params["more"] == true => {
                    wanted(json!({"s": question("sampling/createMessage")}), "three")
                }
                Some("two") => {
                    assert_eq!(params["inputResponses"], Value::Null, "answers go along once");
                    json!({"resultType": "complete", "rounds": ids.len()})
                }
                other => panic!("{other:?}"),
            };
            peer.answer(&message, result).await;
        }
    });
    let options = Options { ask: Some(Arc::new(Yes)), ..options() };
    let upstream = Upstream::connect(target, options).await.unwrap();
    assert_eq!(result(&upstream, "wants", r#"{"kept":"as it was"}"#).await["rounds"], 3);
    let refused = outcome(&upstream, "wants", r#"{"kept":"as it was","more":true}"#).await;
    assert!(matches!(refused, Err(CallError::InputRequired(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_always_wants_more_is_refused_in_the_end() {
    let target = server(|mut peer, _| async move {
        let discover = peer.expect("server/discover").await;
        peer.answer(&discover, json!({"supportedVersions": ["2026-07-28"]})).await;
        while let Some(message) = peer.next().await {
            peer.answer(&message, json!({"resultType": "input_required", "requestState": "s"}))
                .await;
        }
    });
    let upstream = Upstream::connect(target, options()).await.unwrap();
    let refused = outcome(&upstream, "wants", "{}").await;
    assert!(matches!(refused, Err(CallError::InputRequired(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_server_asks_goes_to_whom_there_is_to_ask() {
    let (_upstream, mut peer) = connected(Options { ask: Some(Arc::new(Yes)), ..options() }).await;
    peer.say(r#"{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}}"#).await;
    let answer = peer.next().await.unwrap();
    assert_eq!((&answer["id"], &answer["result"]["action"]), (&json!("e"), &json!("accept")));
    peer.say(r#"{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{}}"#).await;
    assert_eq!(peer.next().await.unwrap()["error"]["code"], -32601);
}

#[tokio::test(start_paused = true)]
async fn closing_fails_what_is_in_flight_and_lets_the_server_leave() {
    let (upstream, mut peer) = connected(options()).await;
    let pending = call(&upstream, "work", "{}");
    peer.expect("work").await;
    upstream.close().await;
    assert!(matches!(settled(pending).await, Err(CallError::Lost(_))));
    assert!(peer.next().await.is_none(), "the pipe is closed");
}
