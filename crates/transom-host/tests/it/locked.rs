//! Local and locked down: who may speak to the page's origin, and with what.

use axum::{
    body::Body,
    http::{Request, Response, StatusCode, header},
};
use tower::ServiceExt;
use transom::origin::Origin;
use transom_host::{Host, sandbox::Naming};

fn host() -> Host {
    let origins = ["http://localhost:7420", "http://127.0.0.1:7420"];
    let origins = origins.map(|origin| Origin::parse(origin).unwrap()).to_vec();
    Host::builder(origins, Naming::Localhost { port: 7421 }).build().unwrap()
}

async fn send(host: &Host, request: Request<Body>) -> Response<Body> {
    host.page_router().oneshot(request).await.unwrap()
}

fn get(path: &str, name: &str) -> axum::http::request::Builder {
    Request::get(path).header(header::HOST, name)
}

fn exchange(token: &str) -> Request<Body> {
    Request::post("/api/key")
        .header(header::HOST, "localhost:7420")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(format!(r#"{{"token":"{token}"}}"#)))
        .unwrap()
}

#[tokio::test]
async fn d14_only_our_own_names_are_answered() {
    let host = host();
    #[rustfmt::skip]
    let table = [
        ("localhost:7420",            StatusCode::OK),
        ("127.0.0.1:7420",            StatusCode::OK),
        ("localhost",                 StatusCode::MISDIRECTED_REQUEST),
        ("localhost:7421",            StatusCode::MISDIRECTED_REQUEST),
        ("LOCALHOST:7420",            StatusCode::MISDIRECTED_REQUEST),
        ("rebound.example:7420",      StatusCode::MISDIRECTED_REQUEST),
        ("localhost:7420.evil.test",  StatusCode::MISDIRECTED_REQUEST),
        ("",                          StatusCode::MISDIRECTED_REQUEST),
    ];
    for (name, status) in table {
        let response = send(&host, get("/", name).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), status, "{name}");
    }
    let nameless = Request::get("/").body(Body::empty()).unwrap();
    assert_eq!(send(&host, nameless).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn d14_a_foreign_page_is_refused_everywhere() {
    let host = host();
    for path in ["/", "/api/state", "/api/log", "/ws", "/workbench.js", "/nothing"] {
        for origin in
            ["https://evil.test", "null", "http://localhost:7421", "http://a.localhost:7421"]
        {
            let request = get(path, "localhost:7420").header(header::ORIGIN, origin);
            let response = send(&host, request.body(Body::empty()).unwrap()).await;
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path} from {origin}");
            assert!(!response.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
        }
    }
}

#[tokio::test]
async fn d14_the_token_is_good_once_and_the_state_needs_the_key() {
    let host = host();
    let token = host.token();
    assert_eq!(send(&host, exchange("wrong")).await.status(), StatusCode::UNAUTHORIZED);
    let response = send(&host, exchange(&token)).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = axum::body::to_bytes(response.into_body(), 1 << 16).await.unwrap();
    let key = serde_json::from_slice::<serde_json::Value>(&body).unwrap()["key"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_ne!(key, token);
    assert_eq!(send(&host, exchange(&token)).await.status(), StatusCode::UNAUTHORIZED, "once");
    for (given, status) in [
        (format!("Bearer {key}"), StatusCode::OK),
        (format!("Bearer {token}"), StatusCode::UNAUTHORIZED),
        (key.clone(), StatusCode::UNAUTHORIZED),
        (String::new(), StatusCode::UNAUTHORIZED),
    ] {
        let request =
            get("/api/state?after=-1", "localhost:7420").header(header::AUTHORIZATION, &given);
        let response = send(&host, request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), status, "{given}");
    }
}

#[tokio::test]
async fn the_page_has_a_policy_of_its_own_and_sets_no_cookie() {
    let host = host();
    let response = send(&host, get("/", "localhost:7420").body(Body::empty()).unwrap()).await;
    let headers = response.headers();
    let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("frame-src http://*.localhost:7421;")
    );
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
    assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert!(!headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn two_servers_cannot_have_one_name() {
    let origins = vec![Origin::parse("http://localhost:7420").unwrap()];
    let target = transom_host::upstream::Target::InProcess(transom_host::demo::server());
    let built = Host::builder(origins, Naming::Localhost { port: 7421 })
        .server("demo", target.clone())
        .server("demo", target)
        .build();
    assert!(built.err().unwrap().to_string().contains("two servers named \"demo\""));
}
