//! A web server that does everything wrong.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use transom_host::upstream::{
    CallError, CallOptions, ConnectError, Event, Health, HttpError, Loss, Rubbish, Secret, Target,
    Update, Upstream,
};

use crate::{
    http_peer::{Exchange, WebServer},
    node::free_port,
    wishes::{call, code, event, options, outcome, patient, request, result, settled, words},
};

/// Fails a call by what the server says to `bad`, and checks that `good` is answered.
async fn a_bad_answer<F>(script: impl Fn(Exchange) -> F + Send + Sync + 'static) -> CallError
where
    F: Future<Output = ()> + Send + 'static,
{
    let script = Arc::new(script);
    let server = WebServer::start(move |exchange| {
        let script = Arc::clone(&script);
        async move {
            let Some(mut exchange) = exchange.greeted("").await else { return };
            match exchange.method() {
                "good" => exchange.answer(json!({"ok": true})).await,
                _ => script(exchange).await,
            }
        }
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let error = outcome(&upstream, "bad", "{}").await.unwrap_err();
    assert_eq!(result(&upstream, "good", "{}").await["ok"], true);
    assert_eq!(upstream.health(), Health::Up);
    error
}

#[tokio::test]
async fn garbage_fails_its_call() {
    for (mime, body) in [
        ("application/json", "garbage"),
        ("application/json", r#"{"jsonrpc":"2.0","id":"#),
        ("application/json", ""),
        ("application/json", "{}"),
        ("application/json", "\u{0}"),
        ("text/html", "<h1>It works!</h1>"),
    ] {
        let error = a_bad_answer(move |mut exchange| async move {
            exchange.respond("200 OK", &format!("Content-Type: {mime}\r\n"), body).await;
        })
        .await;
        match mime {
            "application/json" => assert!(matches!(error, CallError::Rubbish(_)), "{error:?}"),
            _ => {
                let expected = matches!(error, CallError::Http(HttpError::ContentType { .. }));
                assert!(expected, "{error:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_to_somebody_else_fails_its_call() {
    for body in [
        r#"{"jsonrpc":"2.0","id":4000,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
        "[]",
    ] {
        let error = a_bad_answer(move |mut exchange| async move {
            exchange.respond("200 OK", "Content-Type: application/json\r\n", body).await;
        })
        .await;
        assert!(matches!(error, CallError::Http(HttpError::NoAnswer)), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_over_a_notification_is_not_waited_for() {
    let server = WebServer::start(|exchange| async move {
        if exchange.method() == "notifications/initialized" {
            std::future::pending::<()>().await;
        }
        exchange.greeted("").await;
    })
    .await;
    let error = Upstream::connect(server.target(), options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Greeting(CallError::Timeout)), "{error:?}");
}

#[tokio::test]
async fn a_session_is_replaced_even_if_who_noticed_does_not_wait_for_it() {
    let greeted = Arc::new(AtomicU32::new(0));
    let server = WebServer::start(move |exchange| {
        let greeted = Arc::clone(&greeted);
        async move {
            if exchange.method() == "initialize" {
                let session = greeted.fetch_add(1, Ordering::SeqCst) + 1;
                // Slow enough that the call that noticed is taken back before the answer.
                tokio::time::sleep(Duration::from_millis(100 * u64::from(session - 1))).await;
                exchange.greeted(&format!("s{session}")).await;
                return;
            }
            let session = exchange.header("mcp-session-id").map(str::to_owned);
            let Some(mut exchange) = exchange.greeted("").await else { return };
            match session.as_deref() {
                Some("s2") => exchange.answer(json!({})).await,
                _ => exchange.respond("404 Not Found", "", "").await,
            }
        }
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let mut events = upstream.events();
    let impatient = call(&upstream, "any", "{}");
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(impatient);
    event(&mut events, |event| matches!(event, Event::Restarted)).await;
    assert!(outcome(&upstream, "any", "{}").await.is_ok());
}

#[tokio::test]
async fn half_a_body_fails_its_call() {
    let error = a_bad_answer(|mut exchange| async move {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n";
        exchange.write(format!("{head}{{\"jsonrpc\":")).await;
    })
    .await;
    assert!(matches!(error, CallError::Http(HttpError::Broken(_))), "{error:?}");
}

#[tokio::test]
async fn what_is_no_http_fails_its_call() {
    let error = a_bad_answer(|mut exchange| async move {
        exchange.write("SSH-2.0-OpenSSH_9.9\r\n").await;
    })
    .await;
    assert!(matches!(error, CallError::Http(HttpError::Broken(_))), "{error:?}");
}

#[tokio::test]
async fn a_hundred_megabytes_fail_their_call_and_are_not_kept() {
    // Announced, not announced, and as an event.
    let error = a_bad_answer(|mut exchange| async move {
        let head = "Content-Type: application/json\r\nContent-Length: 104857600\r\n\r\n";
        exchange.write(format!("HTTP/1.1 200 OK\r\n{head}")).await;
    })
    .await;
    assert!(matches!(error, CallError::Http(HttpError::Rubbish(Rubbish::TooLong { .. }))));
    for (mime, begin) in [("application/json", "{\"a\":\""), ("text/event-stream", "data: ")] {
        let error = a_bad_answer(move |mut exchange| async move {
            exchange.write(format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n\r\n{begin}")).await;
            let megabyte = vec![b'x'; 1 << 20];
            for _ in 0..100 {
                exchange.write(&megabyte).await;
            }
        })
        .await;
        let too_long =
            matches!(error, CallError::Http(HttpError::Rubbish(Rubbish::TooLong { .. })));
        assert!(too_long, "{error:?}");
    }
}

#[tokio::test]
async fn a_bad_status_is_told_with_its_words() {
    let error = a_bad_answer(|mut exchange| async move {
        exchange.respond("503 Service Unavailable", "", "come back\r\nlater").await;
    })
    .await;
    assert!(error.story().contains("503") && error.story().contains("come back"));
    assert!(!error.story().contains('\n'), "a log line stays one line");
    let error = a_bad_answer(|mut exchange| async move {
        let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"mismatch"}}"#;
        exchange.respond("400 Bad Request", "Content-Type: application/json\r\n", body).await;
    })
    .await;
    assert_eq!(code(&Err(error)), Some(-32020));
}

#[tokio::test]
async fn an_accepted_request_without_an_answer_fails() {
    let error = a_bad_answer(|mut exchange| async move {
        exchange.respond("202 Accepted", "", "").await;
    })
    .await;
    assert!(matches!(error, CallError::Http(HttpError::ContentType { .. })), "{error:?}");
}

#[tokio::test]
async fn a_stream_without_an_answer_fails_its_call() {
    let error = a_bad_answer(|mut exchange| async move {
        exchange.stream().await;
        exchange.write(": nothing\n\ndata: garbage\n\ndata: {\"jsonrpc\"").await;
    })
    .await;
    assert!(matches!(error, CallError::Http(HttpError::NoAnswer)), "{error:?}");
}

#[tokio::test]
async fn silence_ends_in_a_timeout_and_the_server_is_told() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let server = WebServer::start(move |exchange| {
        let told = told.clone();
        async move {
            let body = exchange.body.clone();
            if body["method"] == "notifications/cancelled" {
                let _ = told.send(body);
            }
            let Some(mut exchange) = exchange.greeted("").await else { return };
            match exchange.method() {
                "ping" => exchange.answer(json!({})).await,
                _ => std::future::pending().await,
            }
        }
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let silent = patient(&upstream, "silent", Duration::from_millis(200));
    let id = silent.id().unwrap();
    assert!(matches!(settled(silent).await, Err(CallError::Timeout)));
    assert_eq!(heard.recv().await.unwrap()["params"]["requestId"], id);
    assert_eq!(upstream.health(), Health::Up);
}

#[tokio::test]
async fn a_foreign_redirect_is_not_followed_and_no_token_leaves() {
    let (told, mut heard) = mpsc::unbounded_channel::<String>();
    let elsewhere = WebServer::start(move |mut exchange| {
        let _ = told.send(exchange.path.clone());
        async move { exchange.respond("200 OK", "", "").await }
    })
    .await;
    let place = format!("http://localhost:{}/steal", elsewhere.port);
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let place = place.clone();
        let server = WebServer::start(move |mut exchange| {
            let place = place.clone();
            async move { exchange.respond(status, &format!("Location: {place}\r\n"), "").await }
        })
        .await;
        let target = Target::Http(server.endpoint().bearer("hush"));
        let error = Upstream::connect(target, options()).await.unwrap_err();
        let ConnectError::Greeting(CallError::Http(HttpError::Redirect { .. })) = error else {
            panic!("{error:?}")
        };
    }
    assert!(heard.try_recv().is_err());
}

#[tokio::test]
async fn a_move_within_the_origin_is_followed() {
    let server = WebServer::start(|mut exchange| async move {
        if exchange.path == "/mcp" {
            return exchange.respond("307 Temporary Redirect", "Location: /mcp/\r\n", "").await;
        }
        if let Some(mut exchange) = exchange.greeted("").await {
            exchange.answer(json!({"path": exchange.path})).await;
        }
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    assert_eq!(result(&upstream, "where", "{}").await["path"], "/mcp/");
}

#[tokio::test]
async fn a_server_that_asks_who_we_are_is_named() {
    let server = WebServer::start(|mut exchange| async move {
        let challenge = "WWW-Authenticate: Bearer resource_metadata=\"https://a.test/x\"\r\n";
        exchange.respond("401 Unauthorized", challenge, "").await;
    })
    .await;
    let error = Upstream::connect(server.target(), options()).await.unwrap_err();
    assert!(error.wants_oauth(), "{error:?}");
    let ConnectError::Greeting(error) = error else { panic!("{error:?}") };
    assert!(error.story().contains("OAuth") && error.story().contains("resource_metadata"));
}

#[tokio::test]
async fn configured_headers_go_along_with_every_request() {
    let server = WebServer::start(|exchange| async move {
        assert_eq!(exchange.header("authorization"), Some("Bearer hush"));
        assert_eq!(exchange.header("x-tenant"), Some("blue"));
        if exchange.method() != "server/discover" && exchange.method() != "initialize" {
            assert_eq!(exchange.header("mcp-protocol-version"), Some("2025-11-25"));
        }
        if let Some(mut exchange) = exchange.greeted("").await {
            exchange.answer(json!({})).await;
        }
    })
    .await;
    let mut endpoint = server.endpoint().bearer("hush");
    endpoint.headers.push(("X-Tenant".to_owned(), Secret::Value("blue".to_owned())));
    let upstream = Upstream::connect(Target::Http(endpoint), options()).await.unwrap();
    assert!(outcome(&upstream, "any", "{}").await.is_ok());
}

#[tokio::test]
async fn a_header_that_would_break_the_request_is_refused() {
    let server = WebServer::start(|_| async {}).await;
    let endpoint = server.endpoint().bearer("a\r\nX-Evil: 1");
    let error = Upstream::connect(Target::Http(endpoint), options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Header(_)), "{error:?}");
}

#[tokio::test]
async fn nobody_there_is_told() {
    let url = format!("http://127.0.0.1:{}/mcp", free_port()).parse().unwrap();
    let target = Target::Http(transom_host::upstream::Endpoint::new(url));
    let error = Upstream::connect(target, options()).await.unwrap_err();
    let ConnectError::Greeting(CallError::Lost(loss)) = error else { panic!("{error:?}") };
    assert!(matches!(&*loss, Loss::Unreachable(HttpError::Connect(_))), "{loss:?}");
}

#[tokio::test]
async fn a_server_that_vanishes_is_looked_for_again() {
    let server = WebServer::start(|exchange| async move {
        if let Some(mut exchange) = exchange.greeted("").await {
            exchange.answer(json!({})).await;
        }
    })
    .await;
    let mut options = options();
    options.restart.attempts = 2;
    let upstream = Upstream::connect(server.target(), options).await.unwrap();
    let mut events = upstream.events();
    drop(server);
    // The listener is closed when its task is.
    tokio::task::yield_now().await;
    let words = words(outcome(&upstream, "any", "{}").await);
    assert!(words.contains("no connection"), "{words}");
    event(&mut events, |event| matches!(event, Event::Down(_))).await;
    event(&mut events, |event| matches!(event, Event::Gone(_))).await;
}

type Played = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A server whose sessions are valid once, for the first `good` requests.
fn forgetful(good: u32) -> impl Fn(Exchange) -> Played + Send + Sync + 'static {
    let (sessions, served) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    move |exchange: Exchange| {
        let (sessions, served) = (Arc::clone(&sessions), Arc::clone(&served));
        Box::pin(async move {
            if exchange.method() == "initialize" {
                assert_eq!(exchange.header("mcp-session-id"), None);
                let session = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                exchange.greeted(&format!("s{session}")).await;
                return;
            }
            let session = exchange.header("mcp-session-id").map(str::to_owned);
            let Some(mut exchange) = exchange.greeted("").await else { return };
            let stale =
                session.as_deref() == Some("s1") && served.fetch_add(1, Ordering::SeqCst) >= good;
            if stale {
                exchange.respond("404 Not Found", "", "").await;
            } else {
                exchange.answer(json!({"session": session})).await;
            }
        })
    }
}

#[tokio::test]
async fn a_session_that_is_lost_is_replaced_and_the_call_is_made_again() {
    let server = WebServer::start(forgetful(1)).await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let mut events = upstream.events();
    assert_eq!(result(&upstream, "any", "{}").await["session"], "s1");
    // Several at once find out together; one of them greets.
    let calls: Vec<_> = (0..8).map(|_| call(&upstream, "any", "{}")).collect();
    for call in calls {
        let answer = settled(call).await.unwrap();
        assert!(answer.get().contains("s2"), "{answer}");
    }
    event(&mut events, |event| matches!(event, Event::Restarted)).await;
    assert_eq!(upstream.health(), Health::Up);
}

#[tokio::test]
async fn a_session_that_is_lost_at_once_ends_in_an_error() {
    let server = WebServer::start(|exchange| async move {
        if let Some(mut exchange) = exchange.greeted("same").await {
            exchange.respond("404 Not Found", "", "").await;
        }
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let error = outcome(&upstream, "any", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Http(HttpError::SessionLost)), "{error:?}");
}

#[tokio::test]
async fn closing_ends_the_session() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let server = WebServer::start(move |exchange| {
        if exchange.verb == "DELETE" {
            let _ = told.send(exchange.header("mcp-session-id").map(str::to_owned));
        }
        async move {
            exchange.greeted("mine").await;
        }
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    upstream.close().await;
    assert_eq!(heard.recv().await.unwrap().as_deref(), Some("mine"));
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_where_it_broke() {
    let server = WebServer::start(|exchange| async move {
        if exchange.verb == "GET" {
            let Some(last) = exchange.header("last-event-id").map(str::to_owned) else {
                exchange.greeted("").await;
                return;
            };
            let mut exchange = exchange;
            exchange.stream().await;
            match &*last {
                // Breaks once more, between two events.
                "e1" => exchange.event("e2", &progress(2)).await,
                "e2" => {
                    exchange.event("e3", &progress(3)).await;
                    let answer = json!({"jsonrpc": "2.0", "id": ID.load(Ordering::SeqCst), "result": {"ok": 1}});
                    exchange.event("e4", &answer).await;
                }
                other => panic!("{other}"),
            }
            return;
        }
        let Some(mut exchange) = exchange.greeted("").await else { return };
        let id = exchange.body["id"].as_u64().unwrap();
        ID.store(u32::try_from(id).unwrap(), Ordering::SeqCst);
        exchange.stream().await;
        exchange.write("retry: 10\n").await;
        exchange.event("e1", &progress(1)).await;
        // Half an event is forgotten, not delivered.
        exchange.write("id: e9\ndata: {\"jsonrpc\":\"2.0\",").await;
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let options = CallOptions { progress: true, ..CallOptions::default() };
    let mut running = upstream.call(&request("work", "{}"), options).unwrap();
    let mut seen = vec![];
    let outcome = loop {
        match running.next().await.unwrap() {
            Update::Progress(params) => {
                let params: Value = serde_json::from_str(params.get()).unwrap();
                seen.push(params["progress"].as_u64().unwrap());
            }
            Update::Done(outcome) => break outcome,
        }
    };
    assert_eq!(seen, [1, 2, 3]);
    assert_eq!(outcome.unwrap().get(), r#"{"ok":1}"#);
}

static ID: AtomicU32 = AtomicU32::new(0);

fn progress(progress: u32) -> Value {
    let params = json!({"progressToken": ID.load(Ordering::SeqCst), "progress": progress});
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

#[tokio::test]
async fn a_stream_that_always_breaks_is_left() {
    let server = WebServer::start(|exchange| async move {
        let resumed = exchange.header("last-event-id").is_some();
        let mut exchange = if resumed {
            exchange
        } else {
            let Some(exchange) = exchange.greeted("").await else { return };
            exchange
        };
        exchange.stream().await;
        exchange.write("retry: 1\nid: e1\ndata:\n\n").await;
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let error = outcome(&upstream, "work", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Http(HttpError::NoAnswer)), "{error:?}");
}

#[tokio::test]
async fn the_standing_stream_tells_what_changed_and_is_answered() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let server = WebServer::start(move |mut exchange| {
        let told = told.clone();
        async move {
            if exchange.verb == "GET" {
                exchange.stream().await;
                let changed =
                    json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"});
                exchange.event("1", &changed).await;
                let roots = json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"});
                exchange.event("2", &roots).await;
                return std::future::pending().await;
            }
            if exchange.method().is_empty() {
                let _ = told.send(exchange.body.clone());
            }
            if let Some(mut exchange) = exchange.greeted("").await {
                exchange.respond("202 Accepted", "", "").await;
            }
        }
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let mut events = upstream.events();
    let answer = heard.recv().await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("r"), &json!(-32601)));
    event(&mut events, |event| matches!(event, Event::ListChanged(_))).await;
}

#[tokio::test]
async fn a_storm_on_a_stream_stops_nothing() {
    let server = WebServer::start(|exchange| async move {
        let Some(mut exchange) = exchange.greeted("").await else { return };
        if exchange.method() == "other" {
            return exchange.answer(json!({})).await;
        }
        exchange.stream().await;
        let line =
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}});
        let events = format!("data: {line}\n\n").repeat(1000);
        for _ in 0..50 {
            exchange.write(&events).await;
        }
        let answer = exchange.result(json!({"ok": true}));
        exchange.event("1", &answer).await;
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let storm = call(&upstream, "storm", "{}");
    assert!(outcome(&upstream, "other", "{}").await.is_ok());
    assert!(settled(storm).await.is_ok());
}
