//! What tests want from an upstream, in few words.

use std::time::Duration;

use serde_json::{Value, value::RawValue};
use tokio::time::timeout;
use transom::calls::Patience;
use transom_host::upstream::{
    Call, CallError, CallOptions, Event, Events, Options, Outcome, Request, Restart, Upstream,
};

/// Short waits, so that a test that fails does so soon.
pub(crate) fn options() -> Options {
    Options {
        probe: Duration::from_millis(200),
        greeting: Duration::from_secs(10),
        patience: Patience::flat(Duration::from_secs(10)),
        ping: Duration::from_millis(500),
        farewell: Duration::from_millis(500),
        restart: Restart { first: Duration::from_millis(20), attempts: 3, ..Restart::default() },
        ..Options::default()
    }
}

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("the test writes JSON")
}

pub(crate) fn request(method: &str, params: &str) -> Request {
    Request::with_params(method, &raw(params)).expect("the test writes params")
}

pub(crate) fn call(upstream: &Upstream, method: &str, params: &str) -> Call {
    upstream.call(&request(method, params), CallOptions::default()).expect("connected")
}

pub(crate) fn patient(upstream: &Upstream, method: &str, patience: Duration) -> Call {
    let options = CallOptions { progress: true, patience: Some(Patience::flat(patience)) };
    upstream.call(&request(method, "{}"), options).expect("connected")
}

/// Calls a method and waits for its outcome, for a while.
pub(crate) async fn outcome(upstream: &Upstream, method: &str, params: &str) -> Outcome {
    settled(call(upstream, method, params)).await
}

pub(crate) async fn settled(call: Call) -> Outcome {
    timeout(BOUND, call.outcome()).await.expect("every call ends within a bounded time")
}

pub(crate) async fn result(upstream: &Upstream, method: &str, params: &str) -> Value {
    let result = outcome(upstream, method, params).await.expect("an answer");
    serde_json::from_str(result.get()).expect("JSON")
}

/// The words that whoever asked gets to see.
pub(crate) fn words(outcome: Outcome) -> String {
    outcome.expect_err("no result").story()
}

pub(crate) fn code(outcome: &Outcome) -> Option<i64> {
    match outcome {
        Err(CallError::Refused(refusal)) => Some(refusal.code),
        _ => None,
    }
}

/// Waits for the next event of a kind, for a while.
pub(crate) async fn event(events: &mut Events, wanted: impl Fn(&Event) -> bool) -> Event {
    let found = async {
        loop {
            let event = events.next().await.expect("the upstream is open");
            if wanted(&event) {
                return event;
            }
        }
    };
    timeout(BOUND, found).await.expect("every event comes within a bounded time")
}

pub(crate) const BOUND: Duration = Duration::from_secs(20);
