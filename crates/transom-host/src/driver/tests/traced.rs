//! Which trace a call belongs to: what servers are told, and what is written of it.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use super::{
    long_calls::{open, slow},
    *,
};

/// A stage whose servers are told, or not.
async fn stage(target: Target, traced: bool) -> Stage {
    Stage::with(|builder| builder.server("slow", target).trace_calls(traced)).await
}

fn parts(call: &Value) -> Vec<String> {
    let parent = call["params"]["_meta"]["traceparent"].as_str().expect("it is told");
    parent.split('-').map(ToOwned::to_owned).collect()
}

#[tokio::test(start_paused = true)]
async fn a_server_is_told_the_hosts_trace_and_never_a_views() {
    let theirs =
        json!({ "traceparent": "00-theirs", "TraceState": "x=1", "baggage": "k=v", "own": 1 });
    for traced in [true, false] {
        let mut slow = slow();
        let stage = stage(slow.target.clone(), traced).await;
        let mut page = stage.load("p1", 1).await;
        open(&mut page, "v1", "show").await;
        let opening = slow.expect("tools/call").await;
        slow.answer(&opening, "here");
        page.hear("v1", "open").await;
        page.greet("v1").await;
        let mut calls = vec![opening];
        for id in [5, 6] {
            page.request("v1", id, "tools/call", json!({ "name": "plain", "_meta": theirs })).await;
            let call = slow.expect("tools/call").await;
            let meta = &call["params"]["_meta"];
            assert_eq!(meta["own"], 1);
            assert!(meta["TraceState"].is_null() && meta["baggage"].is_null(), "{meta}");
            slow.answer(&call, "done");
            page.answer_to("v1", id).await;
            calls.push(call);
        }
        if !traced {
            assert!(calls.iter().all(|call| call["params"]["_meta"]["traceparent"].is_null()));
            continue;
        }
        let seen: Vec<_> = calls.iter().map(parts).collect();
        for parts in &seen {
            let lengths: Vec<_> = parts.iter().map(String::len).collect();
            assert_eq!(lengths, [2, 32, 16, 2], "{parts:?}");
            assert!(!parts.concat().contains("theirs"));
        }
        assert!(seen[0][1] != seen[1][1] && seen[1][1] != seen[2][1], "each is a trace of its own");
        assert_eq!(stage.logged("left out").await, 2, "and its author reads why");
    }
}

/// What is written, of all spans and events.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_followed_from_its_message_to_its_answer_without_what_it_says() {
    let written = Written::default();
    let out = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || out.clone())
        .finish();
    let _here = tracing::subscriber::set_default(subscriber);
    let mut slow = slow();
    let stage = stage(slow.target.clone(), true).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "show").await;
    let opening = slow.expect("tools/call").await;
    slow.answer(&opening, "here");
    page.hear("v1", "open").await;
    page.greet("v1").await;
    let hush = json!({ "name": "plain", "arguments": { "hush": "hush" } });
    page.request("v1", 5, "tools/call", hush).await;
    let call = slow.expect("tools/call").await;
    slow.answer(&call, "hush");
    page.answer_to("v1", 5).await;
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let parent = parts(&call).join("-");
    let of_it: Vec<&str> = text.lines().filter(|line| line.contains(&parent)).collect();
    let has =
        |words: &[&str]| of_it.iter().any(|line| words.iter().all(|word| line.contains(word)));
    // Each line names the spans it is in: the message, the request that it made, the call that came of it.
    assert!(has(&["message{server=slow view=v1", "request{", "judged", "allowed"]), "{text}");
    assert!(
        has(&[
            "message{server=slow view=v1",
            "request{",
            ":call{",
            "the server answered",
            "ok=true"
        ]),
        "{text}"
    );
    assert!(has(&["request{", "ended", "answered"]), "{text}");
    assert!(!of_it.iter().any(|line| line.contains("hush")), "{text}");
}
