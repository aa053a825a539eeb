//! What may be asked: headers, credentials, limits, kept responses, the record.

use std::sync::{Arc, Mutex};

use data_encoding::BASE64;
use rmcp::ErrorData;
use serde_json::{Value, json};
use transom_server::{Credentials, Decision, HttpProxy, HttpRecord, Route, Views};

use super::backend::{self, Seen};
use super::{Bare, call, call_as, connect, data, outcome};

pub(crate) fn header(asked: &Value, name: &str) -> Vec<String> {
    let headers = asked["headers"].as_array().expect("a list");
    headers
        .iter()
        .filter(|pair| pair[0] == name)
        .map(|pair| pair[1].as_str().expect("text").to_owned())
        .collect()
}

fn with_persons(proxy: HttpProxy) -> HttpProxy {
    proxy.header("x-tenant", "acme").credentials(|context| async move {
        let person =
            context.meta.0.0.get("example.com/person").and_then(Value::as_str).map(str::to_owned);
        match person.as_deref() {
            Some("mallory") => {
                Err(ErrorData::internal_error("the vault at 10.0.0.7 is sealed", None))
            }
            Some(person) => Ok(Credentials::of(person)
                .bearer(format!("token of {person}"))
                .header("x-key", person)),
            None => Ok(Credentials::nobody()),
        }
    })
}

// REQ-2, REQ-3, ATK-47, ATK-48, DEF-3: the server's headers always win, and prove nothing where the view wants that.
#[tokio::test]
async fn req_2_what_the_server_sets_always_wins() {
    let seen = Seen::default();
    for proxy in [backend::tower(&seen), backend::upstream(&seen).await] {
        let client = connect(with_persons(proxy)).await;
        let hostile = json!({
            "Authorization": "Bearer mine", "cookie": "a=1", "X-Api-Key": "mine", "X-KEY": "mine", "x-tenant": "evil", "Host": "evil.test",
            "x-forwarded-for": "127.0.0.1", "content-length": "7", "transfer-encoding": "chunked", "accept-encoding": "br", "x-mine": "1",
        });
        for (credentials, proof, key) in [
            ("same-origin", vec!["Bearer token of ada"], vec!["ada"]),
            ("include", vec!["Bearer token of ada"], vec!["ada"]),
            ("omit", vec![], vec![]),
        ] {
            let arguments =
                json!({ "url": "/api/echo", "headers": hostile, "credentials": credentials });
            assert_eq!(data(&call_as(&client, "ada", arguments).await)["status"], 200);
            let asked = seen.last();
            assert_eq!(header(&asked, "authorization"), proof, "{credentials}");
            assert_eq!(header(&asked, "x-key"), key);
            assert_eq!(header(&asked, "x-tenant"), ["acme"]);
            assert_eq!(header(&asked, "x-mine"), ["1"]);
            for name in
                ["cookie", "x-api-key", "x-forwarded-for", "transfer-encoding", "content-type"]
            {
                assert_eq!(header(&asked, name), Vec::<String>::new(), "{name}");
            }
            assert!(!header(&asked, "host").contains(&"evil.test".to_owned()));
            assert!(!header(&asked, "accept-encoding").contains(&"br".to_owned()));
        }
        // ERR-11, FSE-15: why there are no credentials is none of the view's business.
        let refused = call_as(&client, "mallory", json!({ "url": "/api/echo" })).await;
        let text = serde_json::to_string(&refused).expect("it is JSON");
        assert_eq!(data(&refused)["error"]["code"], "blocked");
        assert!(!text.contains("vault") && !text.contains("10.0.0.7"), "{text}");
    }
}

// BOD-1, BOD-2, BOD-3, REQ-3, REQ-4, DEF-11: bytes arrive as they were sent, with the type that belongs to them.
#[tokio::test]
async fn bod_2_bodies_arrive_byte_for_byte() {
    let seen = Seen::default();
    let client = connect(backend::tower(&seen)).await;
    let odd = "{ \"n\": 12345678901234567890.10, \"a\":1, \"a\": 2, \"__proto__\": {} }\n";
    #[rustfmt::skip]
    let table = [
        (json!({ "method": "POST", "body": odd, "bodyType": "text", "headers": { "content-type": "application/json" } }), odd.as_bytes(), "application/json"),
        (json!({ "method": "POST", "body": "k\u{e4}se", "bodyType": "text" }), "k\u{e4}se".as_bytes(), "text/plain;charset=UTF-8"),
        (json!({ "method": "POST", "body": { "b": 1, "a": [] }, "bodyType": "json" }), b"{\"b\":1,\"a\":[]}", "application/json"),
        (json!({ "method": "POST", "body": "AP8=", "bodyType": "base64" }), b"\x00\xff", ""),
        (json!({ "method": "POST", "body": "a=1&a=2", "bodyType": "urlEncoded" }), b"a=1&a=2", "application/x-www-form-urlencoded;charset=UTF-8"),
        (json!({ "method": "POST" }), b"", ""),
        (json!({ "method": "GET", "body": "ignored", "bodyType": "text" }), b"", ""),
    ];
    for (mut arguments, bytes, content_type) in table {
        arguments["url"] = "/api/echo".into();
        assert_eq!(outcome(&client, arguments.clone()).await, 200, "{arguments}");
        let asked = seen.last();
        assert_eq!(asked["body"], BASE64.encode(bytes), "{arguments}");
        assert_eq!(header(&asked, "content-type").join(""), content_type, "{arguments}");
    }
}

// FSE-5, FSE-11, FSE-15, FSE-18, DEF-1: what no route opens is refused, looks the same whether or not it exists, and asks nobody.
#[tokio::test]
async fn fse_5_what_no_route_opens_reaches_nobody() {
    let seen = Seen::default();
    let client = connect(backend::tower(&seen)).await;
    #[rustfmt::skip]
    let table = [
        (json!({ "url": "/api/echo", "method": "POST", "body": "_method=DELETE", "bodyType": "urlEncoded" }), "blocked"),
        (json!({ "url": "/api/echo?_method=DELETE", "method": "POST" }), "blocked"),
        (json!({ "url": "/admin" }), "blocked"),
        (json!({ "url": "/no/such/path" }), "blocked"),
        (json!({ "url": "/apikeys" }), "blocked"),
        (json!({ "url": "/api/../admin" }), "blocked"),
        (json!({ "url": "//evil.test/api/x" }), "blocked"),
        (json!({ "url": "https://evil.test/api/x" }), "blocked"),
        (json!({ "url": "/api/x", "method": "PATCH" }), "blocked"),
        (json!({ "url": "/api/x", "method": "TRACE" }), "blocked"),
        (json!({ "url": "/api/x", "method": "PUT", "body": "x", "bodyType": "text" }), "blocked"),
        (json!({ "url": "/api/x", "method": "DELETE", "body": "x", "bodyType": "text" }), "blocked"),
        (json!({ "url": "/api/x", "method": "POST", "body": "?", "bodyType": "base64" }), "bad_request"),
        (json!({ "url": "/api/x", "method": "POST", "body": "x".repeat((1 << 20) + 1) }), "too_large"),
        (json!({ "url": "/api/x", "headers": { "x": "a\r\nb" } }), "bad_request"),
        (json!({ "url": "/api/x", "timeoutMs": 0 }), "bad_request"),
        (json!({ "nothing": "at all" }), "bad_request"),
    ];
    for (arguments, expected) in table {
        assert_eq!(
            outcome(&client, arguments.clone()).await,
            expected,
            "{}",
            &arguments.to_string()[..80.min(arguments.to_string().len())]
        );
    }
    assert_eq!(seen.all(), Vec::<Value>::new());
    let [first, second] = [
        call(&client, json!({ "url": "/admin" })).await,
        call(&client, json!({ "url": "/no/such" })).await,
    ];
    assert_eq!(data(&first), data(&second));
}

// ERR-3, FSE-10: too much is a real response that says when to come back.
#[tokio::test]
async fn err_3_too_much_is_a_429() {
    let seen = Seen::default();
    let client = connect(with_persons(backend::tower(&seen)).rate(2)).await;
    let ask = || json!({ "url": "/api/echo" });
    for expected in [200, 200, 429] {
        assert_eq!(data(&call_as(&client, "ada", ask()).await)["status"], expected);
    }
    let limited = data(&call_as(&client, "ada", ask()).await);
    assert!(
        limited["headers"]["retry-after"]
            .as_str()
            .and_then(|text| text.parse::<u32>().ok())
            .is_some_and(|seconds| seconds > 0),
        "{limited}"
    );
    assert_eq!(limited["headers"]["x-transom-synthetic"], "limit");
    assert_eq!(
        data(&call_as(&client, "eve", ask()).await)["status"],
        200,
        "another person has their own"
    );
    assert_eq!(seen.all().len(), 3);
}

// REQ-8, ATK-53: what each mode does, against an origin that counts; and nobody gets what was kept for somebody else.
#[tokio::test]
async fn atk_53_kept_responses_are_for_one_person() {
    let seen = Seen::default();
    let client = connect(with_persons(backend::tower(&seen)).cache(1 << 20)).await;
    let ask = async |person: &str, path: &str, mode: &str| {
        let data = data(&call_as(&client, person, json!({ "url": path, "cache": mode })).await);
        data.get("body").or_else(|| data["error"].get("code")).cloned().unwrap_or_default()
    };
    let fresh = "/api/cached/max-age~60";
    assert_eq!(ask("ada", fresh, "only-if-cached").await, "network", "nothing is kept yet");
    assert_eq!(ask("ada", fresh, "default").await, "answer 1");
    assert_eq!(ask("ada", fresh, "default").await, "answer 1", "it is fresh");
    assert_eq!(ask("ada", fresh, "only-if-cached").await, "answer 1");
    assert_eq!(ask("eve", fresh, "only-if-cached").await, "network");
    assert_eq!(ask("eve", fresh, "force-cache").await, "answer 2");
    assert_eq!(ask("ada", fresh, "no-store").await, "answer 3");
    assert_eq!(header(&seen.last(), "cache-control"), ["no-cache"]);
    assert_eq!(header(&seen.last(), "pragma"), ["no-cache"]);
    assert_eq!(ask("ada", fresh, "default").await, "answer 1", "no-store keeps nothing");
    assert_eq!(ask("ada", fresh, "no-cache").await, "answer 4");
    assert_eq!(header(&seen.last(), "cache-control"), ["max-age=0"]);
    let stale = "/api/cached/max-age~0";
    assert_eq!(ask("ada", stale, "default").await, "answer 5");
    assert_eq!(ask("ada", stale, "default").await, "answer 6");
    assert_eq!(ask("ada", stale, "force-cache").await, "answer 6", "stale is good enough");
    let never = "/api/cached/no-store";
    assert_eq!(ask("ada", never, "default").await, "answer 7");
    assert_eq!(ask("ada", never, "only-if-cached").await, "network");
}

// FSE-14: every call is written down, with no query, body or token.
#[tokio::test]
async fn fse_14_every_call_is_written_down() {
    let records: Arc<Mutex<Vec<HttpRecord>>> = Arc::default();
    let kept = Arc::clone(&records);
    let proxy = with_persons(backend::tower(&Seen::default()))
        .on_record(move |record| kept.lock().expect("no holder panics").push(record.clone()));
    let client = connect(proxy).await;
    call_as(&client, "ada", json!({ "method": "POST", "url": "/api/echo?token=hush", "body": "hush", "headers": { "x-a": "hush" } })).await;
    call_as(&client, "ada", json!({ "url": "/admin?token=hush" })).await;
    call_as(&client, "ada", json!({ "url": "hush" })).await;
    let records = records.lock().expect("no holder panics");
    let told: Vec<_> = records
        .iter()
        .map(|r| (r.app.as_str(), r.method.as_str(), r.path.as_str(), r.status, r.sent, r.decision))
        .collect();
    let expected = [
        ("ada", "POST", "/api/echo", Some(200), 4, Decision::Allowed),
        ("ada", "GET", "/admin", None, 0, Decision::Refused),
        ("", "GET", "", None, 0, Decision::Refused),
    ];
    assert_eq!(told, expected);
    assert!(records[0].received > 0);
    assert!(!format!("{records:?}").contains("hush"));
}

// server-23: a proxy that opens nothing, or asks somewhere that is no origin, is not built.
#[test]
fn server_23_a_proxy_that_is_not_sound_is_refused() {
    let origins = [
        "api.example.com",
        "ftp://example.com",
        "https://user@example.com",
        "https://example.com/v1",
        "https://example.com?x",
        "file:///etc",
    ];
    let mut proxies: Vec<_> =
        origins.iter().map(|origin| HttpProxy::upstream(*origin).route(Route::get("/x"))).collect();
    proxies.push(HttpProxy::upstream("https://example.com"));
    proxies.push(HttpProxy::upstream("https://example.com").route(Route::get("x")));
    proxies.push(
        HttpProxy::upstream("https://example.com").route(Route::get("/x")).header("a b", "c"),
    );
    proxies.push(
        HttpProxy::upstream("https://example.com").route(Route::get("/x")).header("a", "c\r\nd"),
    );
    for proxy in proxies {
        let words = format!("{proxy:?}");
        let refused = Views::wrap(Bare).http(proxy).build().expect_err(&words);
        assert!(refused.to_string().contains("server-23 tool http_request"), "{refused}");
    }
}
