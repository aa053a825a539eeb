//! Where requests get to: redirects, hop by hop.

use serde_json::json;

use super::backend::{self, Seen};
use super::{call, connect, data, outcome};

// RES-10, RES-11, RES-12, ATK-43, FSE-6, DEF-15.
#[tokio::test]
async fn res_12_every_hop_is_judged() {
    let seen = Seen::default();
    for proxy in [backend::tower(&seen), backend::upstream(&seen).await] {
        let client = connect(proxy).await;
        #[rustfmt::skip]
        let table = [
            // method, first answer, where to, what arrives there, or the failure
            ("GET",    301, "/api/echo",                 json!("GET")),
            ("POST",   301, "/api/echo",                 json!("GET")),
            ("POST",   302, "/api/echo?x=1",             json!("GET")),
            ("POST",   303, "/api/echo",                 json!("GET")),
            ("DELETE", 303, "/api/echo",                 json!("GET")),
            ("DELETE", 302, "/api/echo",                 json!("DELETE")),
            ("POST",   307, "/api/echo",                 json!("POST")),
            ("POST",   308, "../echo",                   json!("POST")),
            ("GET",    302, "/admin",                    json!("blocked")),
            ("GET",    302, "../../admin",               json!("blocked")),
            ("GET",    302, "https://evil.test/api/x",   json!("blocked")),
            ("GET",    302, "//evil.test/api/x",         json!("blocked")),
            ("GET",    302, "http://169.254.169.254/api/x", json!("blocked")),
            ("GET",    302, "http://user:pw@localhost/api/x", json!("blocked")),
            ("GET",    302, "data:text/plain,x",         json!("blocked")),
            ("GET",    302, "/api/%2e%2e%2fadmin",       json!("blocked")),
        ];
        for (method, code, to, expected) in table {
            let before = seen.all().len();
            let arguments = json!({ "method": method, "url": format!("/api/to/{code}?{to}"), "body": "b", "bodyType": if method == "POST" { "text" } else { "none" } });
            let data = data(&call(&client, arguments).await);
            if let Some(code) = data["error"].get("code") {
                assert_eq!(*code, expected, "{method} {code} {to}");
                assert_eq!(seen.all().len(), before + 1, "nobody but the first is asked: {to}");
                continue;
            }
            let asked = seen.last();
            assert_eq!(
                [&asked["method"], &data["redirected"]],
                [&expected, &json!(true)],
                "{method} {code} {to}"
            );
            assert_eq!(asked["body"] == "", expected != "POST");
            assert!(data["url"].as_str().expect("text").starts_with("/api/echo"));
        }
        let hops = |left: u32| json!({ "url": format!("/api/hops/{left}") });
        assert_eq!(outcome(&client, hops(20)).await, 200);
        assert_eq!(outcome(&client, hops(21)).await, "network");
        assert_eq!(outcome(&client, json!({ "url": "/api/loop" })).await, "network");

        let ask = |redirect: &str, code: u16| json!({ "url": format!("/api/to/{code}?/api/echo"), "redirect": redirect });
        assert_eq!(outcome(&client, ask("error", 302)).await, "network");
        let opaque = data(&call(&client, ask("manual", 302)).await);
        let expected = json!({ "status": 0, "statusText": "", "headers": {}, "body": null, "bodyType": "none", "url": "/api/to/302?/api/echo", "redirected": false, "ok": false, "type": "opaqueredirect" });
        assert_eq!(opaque, expected, "nothing of the redirect is told");
    }
}
