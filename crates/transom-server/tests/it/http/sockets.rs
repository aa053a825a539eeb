//! WebSockets of views, to a real backend in this process and on a port.

use axum::Router;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use transom_server::{Credentials, HttpProxy, Route};

use super::{call_tool, connect, data};
use crate::clients::Connected;

fn router() -> Router {
    let upgrade =
        |upgrade: WebSocketUpgrade| async move { upgrade.protocols(["chat"]).on_upgrade(echo) };
    let flood = |upgrade: WebSocketUpgrade| async move { upgrade.on_upgrade(flood) };
    let plain = || async { "no socket" };
    Router::new()
        .route("/ws/echo", any(upgrade))
        .route("/ws/flood", any(flood))
        .route("/ws/plain", any(plain))
        .route("/closed", any(upgrade))
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let answer = match message {
            Message::Text(text) if text == "goodbye" => {
                Message::Close(Some(CloseFrame { code: 4001, reason: "bye".into() }))
            }
            Message::Text(text) if text == "drop" => return,
            message @ (Message::Text(_) | Message::Binary(_)) => message,
            _ => continue,
        };
        if socket.send(answer).await.is_err() {
            return;
        }
    }
}

async fn flood(mut socket: WebSocket) {
    while socket.send(Message::Text("x".into())).await.is_ok() {}
}

fn open(proxy: HttpProxy) -> HttpProxy {
    proxy.route(Route::socket("/ws/{kind}").max_request(1_000)).credentials(|context| async move {
        let person = context.meta.0.0.get("example.com/person").and_then(Value::as_str);
        Ok(Credentials::of(person.unwrap_or("ada")))
    })
}

/// The same backend in this process, and on a port.
async fn clients() -> [Connected; 2] {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move { axum::serve(listener, router()).await });
    [
        connect(open(HttpProxy::tower(router()))).await,
        connect(open(HttpProxy::upstream(format!("http://{address}")))).await,
    ]
}

async fn call(client: &Connected, tool: &'static str, arguments: Value) -> Value {
    let result = call_tool(client, tool, "ada", arguments).await;
    data(&result)
}

async fn dial(client: &Connected, path: &str, protocols: Value) -> Value {
    call(client, "ws_connect", json!({ "url": path, "protocols": protocols })).await
}

/// Everything until the end.
async fn rest(client: &Connected, id: &Value) -> (Vec<Value>, Value) {
    let mut messages = vec![];
    loop {
        let after = messages.last().map(|message: &Value| message["seq"].clone());
        let mut arguments = json!({ "connectionId": id });
        if let Some(after) = after {
            arguments["afterSeq"] = after;
        }
        let answer = call(client, "ws_receive", arguments).await;
        messages.extend(answer["messages"].as_array().cloned().unwrap_or_default());
        if answer["done"] == true {
            return (messages, answer["closed"].clone());
        }
    }
}

// WSK-1, WSK-6, WSK-9: text and bytes arrive as they were sent, in their order, and once.
#[tokio::test]
async fn wsk_6_messages_arrive_in_their_order_and_once() {
    for client in clients().await {
        let opened = dial(&client, "/ws/echo?x=1", json!(["chat"])).await;
        let id = &opened["connectionId"];
        assert_eq!(opened["protocol"], "chat", "{opened}");
        for (seq, payload) in
            [json!({ "text": "k\u{e4}se" }), json!({ "base64": "AP8=" }), json!({ "text": "" })]
                .into_iter()
                .enumerate()
        {
            let mut arguments = payload;
            arguments["connectionId"] = id.clone();
            arguments["seq"] = seq.into();
            assert_eq!(call(&client, "ws_send", arguments.clone()).await["seq"], seq);
            // An answer that was lost: nothing is sent twice.
            assert_eq!(call(&client, "ws_send", arguments).await["seq"], seq);
        }
        let gap = json!({ "connectionId": id, "seq": 9, "text": "x" });
        assert_eq!(call(&client, "ws_send", gap).await["error"]["code"], "bad_request");
        let large = json!({ "connectionId": id, "seq": 3, "text": "x".repeat(1_001) });
        assert_eq!(call(&client, "ws_send", large).await["error"]["code"], "too_large");
        call(&client, "ws_send", json!({ "connectionId": id, "seq": 3, "text": "goodbye" })).await;
        let (messages, closed) = rest(&client, id).await;
        let expected = [
            json!({ "seq": 0, "text": "k\u{e4}se" }),
            json!({ "seq": 1, "base64": "AP8=" }),
            json!({ "seq": 2, "text": "" }),
        ];
        assert_eq!(messages, expected);
        assert_eq!(closed, json!({ "code": 4001, "reason": "bye", "wasClean": true }));
        let gone = call(&client, "ws_receive", json!({ "connectionId": id })).await;
        assert_eq!(gone["error"]["code"], "bad_request");
    }
}

// WSK-4, WSK-5: how it ends is told as browsers tell it.
#[tokio::test]
async fn wsk_5_the_end_has_its_code() {
    for client in clients().await {
        #[rustfmt::skip]
        let table = [
            (json!({ "code": 3001, "reason": "enough" }), json!({ "code": 3001, "reason": "enough", "wasClean": true })),
            (json!({ "code": 1000 }),                     json!({ "code": 1000, "reason": "", "wasClean": true })),
            (json!({}),                                   json!({ "code": 1005, "reason": "", "wasClean": true })),
        ];
        for (mut arguments, expected) in table {
            let id = dial(&client, "/ws/echo", json!([])).await["connectionId"].clone();
            arguments["connectionId"] = id.clone();
            call(&client, "ws_close", arguments).await;
            assert_eq!(rest(&client, &id).await.1, expected);
        }
        let id = dial(&client, "/ws/echo", json!([])).await["connectionId"].clone();
        for odd in [
            json!({ "code": 1001 }),
            json!({ "code": 5000 }),
            json!({ "code": 3000, "reason": "x".repeat(124) }),
        ] {
            let mut odd = odd;
            odd["connectionId"] = id.clone();
            assert_eq!(call(&client, "ws_close", odd).await["error"]["code"], "bad_request");
        }
        call(&client, "ws_send", json!({ "connectionId": id, "seq": 0, "text": "drop" })).await;
        let expected = json!({ "code": 1006, "reason": "", "wasClean": false });
        assert_eq!(rest(&client, &id).await.1, expected);
    }
}

// WSK-7, WSK-11, ATK-58: what no route opens, what is no WebSocket, and what speaks another protocol.
#[tokio::test]
async fn wsk_11_only_what_is_open_is_connected_to() {
    for client in clients().await {
        #[rustfmt::skip]
        let table = [
            ("/closed",                 json!([]),          "blocked"),
            ("//evil.test/ws/echo",     json!([]),          "blocked"),
            ("wss://evil.test/ws/echo", json!([]),          "blocked"),
            ("/ws/../closed",           json!([]),          "blocked"),
            ("/ws/plain",               json!([]),          "network"),
            ("/ws/none",                json!([]),          "network"),
            ("/ws/echo",                json!(["other"]),   "protocol"),
            ("/ws/echo",                json!(["a\r\nb"]),  "bad_request"),
        ];
        for (path, protocols, expected) in table {
            let opened = dial(&client, path, protocols).await;
            assert_eq!(opened["error"]["code"], expected, "{path}: {opened}");
        }
        let plain = call(&client, "http_request", json!({ "url": "/ws/plain" })).await;
        assert_eq!(plain["error"]["code"], "blocked", "it is open for sockets alone");
    }
}

// WSK-8: messages that nobody reads do not pile up.
#[tokio::test]
async fn wsk_8_what_is_not_read_ends_it() {
    for client in clients().await {
        let id = dial(&client, "/ws/flood", json!([])).await["connectionId"].clone();
        let closed = loop {
            let answer =
                call(&client, "ws_receive", json!({ "connectionId": id, "waitMs": 10 })).await;
            assert!(answer["messages"].as_array().expect("a list").len() <= 1_001);
            if answer["done"] == true {
                break answer["closed"].clone();
            }
        };
        assert_eq!(closed["code"], 1013);
    }
}

// FSE-13: a connection is one person's.
#[tokio::test]
async fn fse_13_another_person_has_no_use_for_it() {
    let [client, _] = clients().await;
    let id = dial(&client, "/ws/echo", json!([])).await["connectionId"].clone();
    for tool in ["ws_receive", "ws_send"] {
        let arguments = json!({ "connectionId": id, "seq": 0, "text": "x" });
        let result = data(&call_tool(&client, tool, "eve", arguments).await);
        assert_eq!(result["error"]["code"], "bad_request", "{tool}");
    }
    let many = (0..20).map(|_| dial(&client, "/ws/echo", json!([])));
    let mut open = 0;
    for opened in many {
        open += usize::from(opened.await.get("connectionId").is_some());
    }
    assert_eq!(open, 15, "with the first there are sixteen");
}

// FSE-10: what is dialled at the same time is counted together.
#[tokio::test]
async fn fse_10_connections_that_are_opened_at_once_are_counted_too() {
    for client in clients().await {
        let dials = (0..30).map(|_| dial(&client, "/ws/echo", json!([])));
        let opened = futures_util::future::join_all(dials).await;
        let open = opened.iter().filter(|opened| opened.get("connectionId").is_some()).count();
        assert!(open <= 16, "{open} are open");
    }
}

// WSK-10: a connection that nobody polls is ended, at the backend too. One that is polled lives on.
#[tokio::test(start_paused = true)]
async fn wsk_10_what_is_not_polled_for_a_minute_ends() {
    let (gone, mut ended) = tokio::sync::mpsc::channel(1);
    let wait = move |upgrade: WebSocketUpgrade| async move {
        upgrade.on_upgrade(async move |mut socket| {
            while let Some(Ok(_)) = socket.recv().await {}
            let _ = gone.send(tokio::time::Instant::now()).await;
        })
    };
    let router = Router::new().route("/ws/wait", any(wait));
    let client = connect(open(HttpProxy::tower(router))).await;
    let id = dial(&client, "/ws/wait", json!([])).await["connectionId"].clone();
    let receive = json!({ "connectionId": id, "waitMs": 25_000 });
    for _ in 0..6 {
        assert_eq!(call(&client, "ws_receive", receive.clone()).await["done"], false);
    }
    let polled = tokio::time::Instant::now();
    let silent = ended.recv().await.expect("the backend sees the end") - polled;
    assert!(silent.as_secs() >= 60, "{silent:?}");
    assert_eq!(call(&client, "ws_receive", receive).await["error"]["code"], "bad_request");
}
