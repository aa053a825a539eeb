//! What a view says, hears and refuses, on virtual time.

use serde_json::{Value, json};

use super::*;
use crate::wire::{ListChanged, LogLevel};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn raw(value: &Value) -> Box<RawValue> {
    rpc::raw(value)
}

fn started(capabilities: AppCapabilities) -> View {
    View::start(secs(0), Setup { info: Implementation::new("v", "1"), capabilities })
}

/// A view whose handshake is complete, with nothing left to fetch.
fn opened(capabilities: AppCapabilities, host: Value) -> View {
    let mut view = started(capabilities);
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": host });
    hear(&mut view, secs(0), &answer).unwrap();
    assert!(view.is_ready());
    said(&mut view);
    view
}

fn with_tools() -> AppCapabilities {
    let tools = Some(ListChanged { list_changed: true });
    AppCapabilities { tools, ..AppCapabilities::default() }
}

/// A host with everything on offer.
fn rich() -> Value {
    json!({
        "protocolVersion": "2026-01-26",
        "hostInfo": { "name": "h", "version": "1" },
        "hostCapabilities": {
            "openLinks": {}, "downloadFile": {}, "serverTools": {}, "serverResources": {},
            "logging": {}, "updateModelContext": {}, "message": {}, "sampling": { "tools": {} },
        },
        "hostContext": { "availableDisplayModes": ["inline", "pip"], "theme": "dark" },
    })
}

fn hear(view: &mut View, now: Duration, message: &Value) -> Result<(), Violation> {
    view.handle(now, Input::Host(&message.to_string()))
}

fn tell(view: &mut View, method: &str, params: Value) {
    let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    hear(view, secs(0), &message).unwrap();
}

fn answer(view: &mut View, call: u64, result: Value) {
    hear(view, secs(0), &json!({ "jsonrpc": "2.0", "id": call, "result": result })).unwrap();
}

/// Everything it said since it was last asked, messages as they are and the rest in words.
fn said(view: &mut View) -> Vec<String> {
    let words = |output| match output {
        Output::Send(text) => text,
        other => format!("{other:?}"),
    };
    std::iter::from_fn(|| view.poll()).map(words).collect()
}

#[test]
fn every_move() {
    use State::{Asking, Closed, Ready};
    let asking = Asking { deadline: secs(10) };
    let closed = |reason| (Closed, Some(Move::Close(reason)));
    #[rustfmt::skip]
    let table = [
        // from    on                     to, and what it wants done
        (asking, Event::Accepted,        (Ready, Some(Move::Initialized))),
        (asking, Event::Refused,         closed(Reason::Refused)),
        (asking, Event::Close,           closed(Reason::Closed)),
        (asking, Event::Tick(secs(9)),   (asking, None)),
        (asking, Event::Tick(secs(10)),  closed(Reason::Silence)),
        (Ready,  Event::Accepted,        (Ready, None)),
        (Ready,  Event::Refused,         (Ready, None)),
        (Ready,  Event::Close,           closed(Reason::Closed)),
        (Ready,  Event::Tick(secs(99)),  (Ready, None)),
        (Closed, Event::Accepted,        (Closed, None)),
        (Closed, Event::Refused,         (Closed, None)),
        (Closed, Event::Close,           (Closed, None)),
        (Closed, Event::Tick(secs(99)),  (Closed, None)),
    ];
    for (from, on, expected) in table {
        assert_eq!(from.step(on), expected, "{from:?} on {on:?}");
    }
}

#[test]
fn v_01_v_02_v_03_v_04_it_greets_and_says_nothing_else_before_the_answer() {
    let mut view = started(AppCapabilities::default());
    assert_eq!(
        said(&mut view),
        [
            r#"{"jsonrpc":"2.0","id":0,"method":"ui/initialize","params":{"appInfo":{"name":"v","version":"1"},"appCapabilities":{},"protocolVersion":"2026-01-26"}}"#
        ]
    );
    assert_eq!(view.open_link(secs(0), "x"), Err(NotOffered::NotReady));
    assert_eq!(view.size_changed(SizeChangedParams::default()), Err(NotOffered::NotReady));
    view.cancel(0, None);
    assert_eq!(said(&mut view), [""; 0]);
    answer(&mut view, 0, rich());
    let first = r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#;
    assert_eq!(said(&mut view)[0], first);
}

#[test]
fn a_host_that_will_not_talk_closes_the_view_at_once() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":0}"#,
    ] {
        let mut view = started(AppCapabilities::default());
        let _ = view.handle(secs(1), Input::Host(answer));
        assert!(view.is_closed(), "{answer}");
        assert_eq!(said(&mut view).last().unwrap(), "Closed(Refused)", "{answer}");
        assert_eq!(view.deadline(), None);
    }
}

#[test]
fn v_07_v_08_a_mode_is_asked_for_only_if_the_host_has_it() {
    let mut view = opened(AppCapabilities::default(), rich());
    let missing = Err(NotOffered::Missing);
    assert_eq!(view.request_display_mode(secs(0), DisplayMode::Fullscreen), missing);
    let call = view.request_display_mode(secs(0), DisplayMode::Pip).unwrap();
    answer(&mut view, call, json!({ "mode": "inline" }));
    assert!(said(&mut view)[1].contains(r#"Ok(RawValue({"mode":"inline"}))"#));
    tell(&mut view, method::HOST_CONTEXT_CHANGED, json!({ "availableDisplayModes": [] }));
    assert_eq!(view.request_display_mode(secs(0), DisplayMode::Pip), missing);
    let mut silent = opened(AppCapabilities::default(), json!({}));
    assert_eq!(silent.request_display_mode(secs(0), DisplayMode::Inline), missing);
}

#[test]
fn v_11_a_change_of_context_is_merged_key_by_key() {
    let mut view = opened(AppCapabilities::default(), rich());
    // docs/reference/mcp-apps.md §4.2 "Context": under its older name, too.
    tell(&mut view, "ui/host-context-change", json!({ "locale": "de" }));
    assert_eq!(said(&mut view), ["ContextChanged"]);
    assert_eq!(view.context().locale.as_deref(), Some("de"));
    assert!(view.context().theme.is_some());
}

#[test]
fn v_16_sampling_and_its_tools_need_a_capability_each() {
    let params = raw(&json!({ "messages": [], "maxTokens": 1 }));
    let params = RawObject::new(&params).unwrap();
    #[rustfmt::skip]
    let table = [
        (json!({}),                            false, false),
        (json!({ "sampling": {} }),            true,  false),
        (json!({ "sampling": { "tools": {} } }), true, true),
    ];
    for (capabilities, plain, with_tools) in table {
        let host = json!({ "hostCapabilities": capabilities });
        let mut view = opened(AppCapabilities::default(), host);
        assert_eq!(view.sample(secs(0), params, false).is_ok(), plain, "{capabilities}");
        assert_eq!(view.sample(secs(0), params, true).is_ok(), with_tools, "{capabilities}");
    }
}

#[test]
fn v_17_tools_are_answered_if_they_were_declared() {
    let list = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" });
    let call =
        json!({ "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": { "name": "t" } });
    let mut view = opened(with_tools(), rich());
    hear(&mut view, secs(0), &list).unwrap();
    hear(&mut view, secs(0), &call).unwrap();
    let heard = said(&mut view);
    assert!(heard[0].starts_with("ToolsListed { request: Number(5)"), "{heard:?}");
    assert!(heard[1].starts_with(r#"ToolCalled { request: String("c"), name: "t""#), "{heard:?}");
    let mut view = opened(AppCapabilities::default(), rich());
    for request in [list, call] {
        assert!(hear(&mut view, secs(0), &request).is_err());
        assert!(said(&mut view)[0].contains("-32601"));
    }
}

#[test]
fn v_20_changes_of_its_tools_are_announced_only_if_it_said_so() {
    let quiet = AppCapabilities { tools: Some(ListChanged::default()), ..with_tools() };
    for (capabilities, announced) in
        [(AppCapabilities::default(), false), (quiet, false), (with_tools(), true)]
    {
        let mut view = opened(capabilities, rich());
        assert_eq!(view.tools_changed().is_ok(), announced);
        assert_eq!(said(&mut view).len(), usize::from(announced));
    }
}

#[test]
fn v_23_a_teardown_is_answered_with_an_object_and_once() {
    // docs/reference/mcp-apps.md §4.2 "Teardown": with a reason or without.
    for params in [json!({}), json!({ "reason": "bye" }), json!({ "reason": null })] {
        let mut view = opened(AppCapabilities::default(), rich());
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "ui/resource-teardown", "params": params });
        hear(&mut view, secs(0), &request).unwrap();
        assert!(said(&mut view)[0].starts_with("TearDown"), "{params}");
        view.answer(&Id::Number(0), Ok(RawObject::default()));
        view.answer(&Id::Number(0), Ok(RawObject::default()));
        assert_eq!(said(&mut view), [r#"{"jsonrpc":"2.0","id":0,"result":{}}"#]);
    }
}

#[test]
fn v_24_a_ping_is_answered_with_nothing_at_any_time() {
    let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" });
    for mut view in [started(AppCapabilities::default()), opened(with_tools(), rich())] {
        hear(&mut view, secs(0), &ping).unwrap();
        assert_eq!(said(&mut view).pop().unwrap(), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    }
}

#[test]
fn v_25_a_denial_is_an_error_or_is_error() {
    #[rustfmt::skip]
    let table = [
        (json!({ "result": {} }),                                       "Ok(RawValue({}))"),
        (json!({ "result": { "isError": true } }),                      "Err(NotDone)"),
        (json!({ "error": { "code": -32000, "message": "denied" } }),   r#"Err(Refused { code: -32000, message: "denied" })"#),
        (json!({ "result": [] }),                                       "Err(Refused { code: -32603"),
    ];
    for (outcome, expected) in table {
        let mut view = opened(AppCapabilities::default(), rich());
        let call = view.open_link(secs(0), "https://a.test/").unwrap();
        let mut message = outcome;
        message["jsonrpc"] = json!("2.0");
        message["id"] = json!(call);
        let _ = hear(&mut view, secs(0), &message);
        let heard = said(&mut view).pop().unwrap();
        assert!(heard.contains(expected), "{message}: {heard}");
        assert_eq!(view.in_flight(), 0);
    }
    // A tool's own `isError` is its result.
    let mut view = opened(AppCapabilities::default(), rich());
    let call = view.call_tool(secs(0), "t", RawObject::default()).unwrap();
    answer(&mut view, call, json!({ "isError": true }));
    assert!(said(&mut view)[1].contains(r#"Ok(RawValue({"isError":true}))"#));
}

#[test]
fn v_28_any_version_and_half_an_answer_will_do() {
    for host in [json!({ "protocolVersion": "1999" }), json!({}), json!({ "hostContext": null })] {
        let view = opened(AppCapabilities::default(), host.clone());
        let version = host["protocolVersion"].as_str().unwrap_or(PROTOCOL_VERSION);
        assert_eq!(view.host().protocol_version, version);
        assert_eq!(*view.context(), HostContext::default());
    }
}

#[test]
fn v_29_the_same_again_is_not_news() {
    let mut view = opened(AppCapabilities::default(), rich());
    for _ in 0..2 {
        tell(&mut view, method::TOOL_INPUT, json!({}));
        tell(&mut view, method::TOOL_RESULT, json!({ "_meta": {} }));
    }
    assert_eq!(said(&mut view), ["Input(RawValue({}))", r#"Result(RawValue({"_meta":{}}))"#]);
    // docs/reference/mcp-apps.md §4.2 "Cancel": under its older name, too.
    tell(&mut view, "ui/tool-cancelled", json!({ "reason": null }));
    assert_eq!(said(&mut view), ["Cancelled { reason: None }"]);
}

#[test]
fn v_32_ids_count_up_and_an_answer_to_no_question_is_ignored() {
    let mut view = opened(AppCapabilities::default(), rich());
    let calls = [(); 3].map(|()| view.open_link(secs(0), "x").unwrap());
    assert_eq!(calls, [1, 2, 3]);
    said(&mut view);
    for id in [json!(0), json!(4), json!(-1), json!("x"), json!("2x")] {
        let spoof = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        let violation = hear(&mut view, secs(0), &spoof).unwrap_err();
        assert!(matches!(violation, Violation::UnknownId { .. }), "{id}");
    }
    assert_eq!((said(&mut view).len(), view.in_flight()), (0, 3));
    // W-3: the reference takes a number in quotes for the number.
    hear(&mut view, secs(0), &json!({ "jsonrpc": "2.0", "id": "2", "result": {} })).unwrap();
    assert_eq!(view.in_flight(), 2);
}

#[test]
fn v_33_a_minute_without_a_sign_of_life_and_the_host_is_told() {
    let mut view = opened(AppCapabilities::default(), rich());
    let tool = view.call_tool(secs(0), "t", RawObject::default()).unwrap();
    let link = view.open_link(secs(0), "x").unwrap();
    said(&mut view);
    for token in [tool, link] {
        let params = json!({ "progressToken": token, "progress": 1 });
        let progress =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        hear(&mut view, secs(50), &progress).unwrap();
    }
    assert_eq!(said(&mut view).len(), 1, "only a tool call was sent with a token");
    assert_eq!(view.deadline(), Some(secs(60)));
    view.handle(secs(60), Input::Tick).unwrap();
    let given_up = |call| {
        [
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{call},"reason":"no answer in time"}}}}"#
            ),
            format!("Answer {{ call: {call}, outcome: Err(TimedOut) }}"),
        ]
    };
    assert_eq!(said(&mut view), given_up(link));
    assert_eq!(view.deadline(), Some(secs(110)));
    view.handle(secs(110), Input::Tick).unwrap();
    assert_eq!(said(&mut view), given_up(tool));
    assert_eq!(view.deadline(), None);
}

#[test]
fn v_34_what_a_bare_host_does_not_offer_is_not_asked_for() {
    let mut view = opened(AppCapabilities::default(), json!({}));
    let now = secs(0);
    let data = raw(&json!("x"));
    let files = DownloadFileParams { contents: vec![] };
    let line = LogParams { level: LogLevel::Info, logger: None, data: &data };
    let missing = Err(NotOffered::Missing);
    assert_eq!(view.open_link(now, "x"), missing);
    assert_eq!(view.download_file(now, &files), missing);
    assert_eq!(view.send_message(now, vec![]), missing);
    assert_eq!(view.update_model_context(now, &UpdateModelContextParams::default()), missing);
    assert_eq!(view.call_tool(now, "t", RawObject::default()), missing);
    assert_eq!(view.list_tools(now), missing);
    assert_eq!(view.read_resource(now, "x:"), missing);
    assert_eq!(view.log(&line), Err(NotOffered::Missing));
    assert_eq!((said(&mut view).len(), view.in_flight()), (0, 0));
    // V-10, V-22: these take no capability.
    assert!(view.size_changed(SizeChangedParams::default()).is_ok());
    assert!(view.request_teardown().is_ok());
}

#[test]
fn every_open_call_is_told_of_the_end() {
    let mut view = opened(AppCapabilities::default(), rich());
    let call = view.open_link(secs(0), "x").unwrap();
    said(&mut view);
    view.close();
    let told = format!("Answer {{ call: {call}, outcome: Err(Closed) }}");
    assert_eq!(said(&mut view), [told.as_str(), "Closed(Closed)"]);
    assert!(hear(&mut view, secs(0), &json!({})).is_err());
    assert_eq!(view.open_link(secs(0), "x"), Err(NotOffered::NotReady));
}
