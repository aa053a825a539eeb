//! What a redirect may change, and what is said of a request that came to nothing after the backend had it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use transom_server::{Credentials, Decision, HttpProxy, HttpRecord, Route};

use super::backend::{self, Seen};
use super::policy::header;
use super::{call, connect, data, outcome};

fn records(proxy: HttpProxy) -> (HttpProxy, Arc<Mutex<Vec<HttpRecord>>>) {
    let records: Arc<Mutex<Vec<HttpRecord>>> = Arc::default();
    let kept = Arc::clone(&records);
    let proxy =
        proxy.on_record(move |record| kept.lock().expect("no holder panics").push(record.clone()));
    (proxy, records)
}

// FSE-6: each hop has the headers that its own route opens.
#[tokio::test]
async fn fse_6_a_hop_has_the_headers_of_its_own_route() {
    let seen = Seen::default();
    let proxy = backend::bare(&seen)
        .route(Route::get("/api/to/{code}").allow_header("authorization").allow_header("x-api-key"))
        .route(Route::get("/api/echo").allow_header("x-api-key"))
        .credentials(|_| async { Ok(Credentials::of("ada").header("x-proof", "hers")) });
    let client = connect(proxy).await;
    let headers = json!({ "authorization": "mine", "x-api-key": "key", "x-plain": "1" });
    let ask = json!({ "url": "/api/to/302?/api/echo", "headers": headers });
    assert_eq!(outcome(&client, ask).await, 200);
    let [first, second] = <[Value; 2]>::try_from(seen.all()).expect("two requests");
    for (asked, authorization) in [(first, &["mine"][..]), (second, &[])] {
        assert_eq!(header(&asked, "authorization"), authorization);
        assert_eq!(header(&asked, "x-api-key"), ["key"]);
        assert_eq!(header(&asked, "x-plain"), ["1"]);
        assert_eq!(header(&asked, "x-proof"), ["hers"]);
    }
}

// FSE-6, FSE-16: who was allowed to read does not come to write, and who was allowed one write does not come to another.
#[tokio::test]
async fn fse_16_a_redirect_leads_to_no_other_write() {
    let seen = Seen::default();
    let proxy = backend::bare(&seen)
        .route(Route::get("/api/to/{code}"))
        .route(Route::get("/api/status/{code}"))
        .route(Route::get("/api/echo").writes())
        .route(Route::post("/api/to/{code}"))
        .route(Route::post("/api/echo"));
    let client = connect(proxy).await;
    #[rustfmt::skip]
    let table = [
        ("GET",  302, "/api/status/200",         json!(200)),
        ("GET",  307, "/api/echo",               json!("blocked")),
        ("POST", 303, "/api/status/200",         json!(200)),
        ("POST", 303, "/api/echo",               json!("blocked")),
        ("POST", 307, "/api/echo",               json!("blocked")),
        ("POST", 307, "/api/to/303?/api/status/200", json!(200)),
    ];
    for (method, code, to, expected) in table {
        let ask = json!({ "method": method, "url": format!("/api/to/{code}?{to}") });
        assert_eq!(outcome(&client, ask).await, expected, "{method} {code} {to}");
    }
}

// FSE-10: a redirect is no way around a route's own limit.
#[tokio::test]
async fn fse_10_a_hop_counts_for_its_own_route() {
    let seen = Seen::default();
    let proxy = backend::bare(&seen)
        .route(Route::get("/api/to/{code}"))
        .route(Route::get("/api/echo").rate(2));
    let client = connect(proxy).await;
    let ask = || json!({ "url": "/api/to/302?/api/echo" });
    assert_eq!(outcome(&client, ask()).await, 200);
    assert_eq!(outcome(&client, ask()).await, 200);
    assert_eq!(outcome(&client, ask()).await, "blocked");
}

// ERR-3: a 429 says that nothing was done; what the backend has done already is never answered so.
#[tokio::test]
async fn err_3_what_the_backend_has_done_is_not_said_to_be_undone() {
    let seen = Seen::default();
    let (proxy, records) = records(backend::tower(&seen).bytes(8 << 10));
    let client = connect(proxy).await;
    let ask =
        json!({ "method": "POST", "url": "/api/large/9000", "body": "x", "bodyType": "text" });
    let result = data(&call(&client, ask).await);
    assert_eq!(result["error"]["code"], "too_large", "{result}");
    assert_eq!(result["error"]["reached"], true);
    let result = data(&call(&client, json!({ "url": "/api/to/302?/admin" })).await);
    assert_eq!(
        result["error"],
        json!({ "code": "blocked", "message": result["error"]["message"], "reached": true })
    );
    let result = data(&call(&client, json!({ "url": "/admin" })).await);
    assert_eq!(result["error"].get("reached"), None);
    assert_eq!(seen.all().len(), 2);
    let told = records.lock().expect("no holder panics");
    let told: Vec<_> = told.iter().map(|record| (record.decision, record.reached)).collect();
    let expected =
        [(Decision::Limited, true), (Decision::Refused, true), (Decision::Refused, false)];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_backend_that_is_not_there_was_not_reached() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let (proxy, records) = records(backend::open(HttpProxy::upstream(format!("http://{address}"))));
    let client = connect(proxy).await;
    let result = data(&call(&client, json!({ "url": "/api/x" })).await);
    assert_eq!(result["error"]["code"], "network");
    assert_eq!(result["error"].get("reached"), None);
    let records = records.lock().expect("no holder panics");
    assert_eq!((records[0].decision, records[0].reached), (Decision::Failed, false));
}

// ATK-53: what was kept for somebody who proved who they are is not for somebody of that name who did not.
#[tokio::test]
async fn atk_53_what_is_kept_belongs_to_what_was_proved() {
    let seen = Seen::default();
    let proxy = backend::tower(&seen).cache(1 << 20).credentials(|context| async move {
        let token = context.meta.0.0.get("example.com/person").and_then(Value::as_str);
        Ok(Credentials::of("ada").bearer(token.unwrap_or_default()))
    });
    let client = connect(proxy).await;
    let ask = async |token: &str, credentials: &str| {
        let ask = json!({ "url": "/api/cached/max-age~60", "credentials": credentials });
        data(&super::call_as(&client, token, ask).await)["body"].clone()
    };
    assert_eq!(ask("one", "include").await, "answer 1");
    assert_eq!(ask("one", "same-origin").await, "answer 1");
    assert_eq!(ask("two", "include").await, "answer 2", "another token");
    assert_eq!(ask("one", "omit").await, "answer 3", "no token at all");
    assert_eq!(ask("two", "omit").await, "answer 3");
    assert_eq!(ask("one", "include").await, "answer 1");
}
