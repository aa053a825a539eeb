//! What comes back: every byte, the headers that are a view's business, and one result.

use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};
use transom_server::{HttpProxy, Route};

use super::backend::{self, Seen};
use super::{call, connect, data, outcome};

// RES-13, RES-6, RES-7, DEF-6, DEF-7, DEF-10: one payload, one line of words, no cookies, where it came from.
#[tokio::test]
async fn res_13_a_response_travels_once() {
    let seen = Seen::default();
    for proxy in [backend::tower(&seen), backend::upstream(&seen).await] {
        let client = connect(proxy).await;
        let result =
            call(&client, json!({ "url": "/api/echo?secret=1", "headers": { "X-Mine": "1" } }))
                .await;
        let words = serde_json::to_value(&result.content).expect("it is JSON");
        assert_eq!(words.as_array().map(Vec::len), Some(1));
        let words = words[0]["text"].as_str().expect("text").to_owned();
        assert!(words.starts_with("GET /api/echo 200, ") && words.len() < 60, "{words}");
        let data = data(&result);
        assert_eq!(
            [&data["status"], &data["statusText"], &data["bodyType"]],
            [&json!(200), &json!("OK"), &json!("text")]
        );
        assert_eq!(
            [&data["url"], &data["redirected"], &data["ok"]],
            [&json!("/api/echo?secret=1"), &json!(false), &json!(true)]
        );
        let headers = data["headers"].as_object().expect("an object");
        assert_eq!(headers["x-kind"], "echo");
        assert!(
            !headers.contains_key("set-cookie") && !headers.contains_key("content-length"),
            "{headers:?}"
        );
        let asked: Value =
            serde_json::from_str(data["body"].as_str().expect("text")).expect("it is JSON");
        assert_eq!(
            [&asked["method"], &asked["uri"]],
            [&json!("GET"), &json!("/api/echo?secret=1")]
        );
    }
}

// RES-1, RES-2, RES-3, RES-15, ERR-1: statuses, and bodies where there may be one.
#[tokio::test]
async fn statuses_and_empty_bodies() {
    let client = connect(backend::tower(&Seen::default())).await;
    #[rustfmt::skip]
    let table = [
        ("GET",    "/api/status/200", json!([200, "a body", "text"])),
        ("GET",    "/api/status/404", json!([404, "a body", "text"])),
        ("GET",    "/api/status/599", json!([599, "a body", "text"])),
        ("DELETE", "/api/status/204", json!([204, null, "none"])),
        ("GET",    "/api/status/205", json!([205, null, "none"])),
        ("GET",    "/api/status/304", json!([304, null, "none"])),
        ("HEAD",   "/api/status/200", json!([200, null, "none"])),
        ("GET",    "/api/bytes/none", json!([200, "", "text"])),
        ("GET",    "/api/bytes/latin", json!([200, "Y2Fm6Q==", "base64"])),
        ("GET",    "/api/status/600", json!([null, null, null])),
        ("GET",    "/api/status/999", json!([null, null, null])),
    ];
    for (method, url, expected) in table {
        let data = data(&call(&client, json!({ "method": method, "url": url })).await);
        assert_eq!(
            json!([data["status"], data["body"], data["bodyType"]]),
            expected,
            "{method} {url}"
        );
    }
    let data = data(&call(&client, json!({ "url": "/api/bytes/large" })).await);
    let bytes = BASE64.decode(data["body"].as_str().expect("text").as_bytes()).expect("base64");
    assert_eq!(bytes.len(), 10 << 20);
    // DEF-5: a byte more than the route takes is too much.
    assert_eq!(outcome(&client, json!({ "url": "/api/bytes/larger" })).await, "too_large");
}

// ATK-49, FSE-9, DEF-5: a backend that lies, that never ends, that is silent, that answers with nonsense.
#[tokio::test]
async fn atk_49_a_backend_that_misbehaves_costs_a_bounded_amount() {
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 64 << 10]].concat();
    #[rustfmt::skip]
    let table: [(&[u8], &str); 8] = [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello", "ok"),
        (b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nhello", "timeout"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "network"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello", "network"),
        (b"nonsense\r\n\r\n", "network"),
        (b"", "timeout"),
        (&endless, "too_large"),
    ];
    for (answer, expected) in table {
        let (address, _asked, closed) = backend::raw(answer).await;
        let proxy = HttpProxy::upstream(format!("http://{address}"))
            .route(Route::get("/{*rest}").max_response(32 << 10))
            .patience(Duration::from_secs(20), Duration::from_millis(300));
        let client = connect(proxy).await;
        // A connection without an answer is given up with the request's own patience, which the view may shorten.
        let got = outcome(&client, json!({ "url": "/x", "timeoutMs": 3_000 })).await;
        let name = String::from_utf8_lossy(&answer[..answer.len().min(60)]).into_owned();
        if expected == "ok" {
            assert_eq!(got, 200, "{name}");
        } else {
            assert_eq!(got, expected, "{name}");
            closed.await.expect("the connection is closed");
        }
    }
}

// ERR-5: a view that gives a request up closes the backend's connection.
#[tokio::test]
async fn err_5_a_request_that_is_given_up_ends_at_the_backend() {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
    use rmcp::service::PeerRequestOptions;

    let (address, asked, closed) =
        backend::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()).await;
    let client =
        connect(HttpProxy::upstream(format!("http://{address}")).route(Route::get("/x"))).await;
    let arguments = json!({ "url": "/x" }).as_object().cloned().expect("an object");
    let params = CallToolRequestParams::new("http_request").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let handle = client
        .send_cancellable_request(request, PeerRequestOptions::default())
        .await
        .expect("it is sent");
    asked.await.expect("the backend is asked");
    handle.cancel(None).await.expect("it is told");
    closed.await.expect("the connection is closed");
}
