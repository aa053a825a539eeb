//! Who may ask a host what: pages at their public origin, people with a token, programs of operators.

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, header},
    response::Html,
    routing::{get, post},
};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use transom::{csp::Source, origin::Origin};
use transom_host::{
    BuildError, Host, Operators, PagePolicy,
    sandbox::{Naming, Wildcard},
    upstream::{CallOptions, Request as UpstreamRequest, TraceParent, Upstream},
};

use crate::{http_peer::WebServer, wishes::options};

const PUBLIC: &str = "https://transom.example.com";
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

type Headers<'a> = &'a [(&'a str, &'a str)];

fn builder() -> transom_host::Builder {
    let naming = Naming::Domain(Wildcard::parse("https://*.example-views.net").unwrap());
    Host::builder(vec![Origin::parse(PUBLIC).unwrap()], naming)
}

async fn send(router: Router, request: Request<Body>) -> (u16, HeaderMap, String) {
    let response = router.oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    (head.status.as_u16(), head.headers, String::from_utf8_lossy(&body).into_owned())
}

fn exchange(token: &str) -> Request<Body> {
    Request::post("/api/key")
        .header(header::HOST, "transom.example.com")
        .header(header::ORIGIN, PUBLIC)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(format!(r#"{{"token":"{token}"}}"#)))
        .unwrap()
}

#[tokio::test]
async fn behind_a_proxy_the_public_origin_counts_and_nothing_that_a_client_says_of_it() {
    let host = builder().build().unwrap();
    #[rustfmt::skip]
    let table: &[(Headers<'_>, u16)] = &[
        (&[("host", "transom.example.com")],                                              200),
        (&[("host", "transom.example.com"), ("origin", PUBLIC)],                          200),
        // What proxies add is for others: whoever reaches us without one could write it too.
        (&[("host", "evil.test"), ("x-forwarded-host", "transom.example.com")],           421),
        (&[("host", "127.0.0.1:7420"), ("x-forwarded-host", "transom.example.com")],      421),
        (&[("host", "evil.test"), ("forwarded", "host=transom.example.com;proto=https")], 421),
        (&[("host", "transom.example.com"), ("x-forwarded-host", "evil.test")],           200),
        (&[("host", "transom.example.com"), ("x-forwarded-proto", "http")],               200),
        // The address that it listens at is no name of it: a site that makes its own name lead there has that one.
        (&[("host", "localhost:7420")],                                                   421),
        (&[("host", "transom.example.com:443")],                                          421),
        (&[("host", "transom.example.com.")],                                             421),
        (&[("host", "transom.example.com"), ("host", "evil.test")],                       400),
        (&[("host", "transom.example.com"), ("origin", "http://transom.example.com")],    403),
        (&[("host", "transom.example.com"), ("origin", "https://x.example-views.net")],   403),
        (&[("host", "transom.example.com"), ("origin", "null")],                          403),
        (&[("host", "transom.example.com"), ("origin", PUBLIC), ("origin", "https://evil.test")], 403),
        (&[],                                                                             400),
    ];
    for (headers, expected) in table {
        let mut request = Request::get("/");
        for (name, value) in *headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        let (status, answer, _) = send(host.page_router(), request).await;
        assert_eq!(status, *expected, "{headers:?}");
        assert!(!answer.contains_key("access-control-allow-origin"));
    }
}

#[tokio::test]
async fn the_operators_token_opens_the_page_again_and_again_and_each_time_with_a_key_of_its_own() {
    let host = builder().standing_token(TOKEN).build().unwrap();
    let key = async |token: &str| send(host.page_router(), exchange(token)).await;
    let (first, second) = (key(TOKEN).await, key(TOKEN).await);
    assert_eq!((first.0, second.0), (200, 200));
    assert_ne!(first.2, second.2);
    for wrong in ["", &TOKEN[1..], &TOKEN.to_uppercase(), &format!("{TOKEN} ")] {
        assert_eq!(key(wrong).await.0, 401, "{wrong}");
    }
    // What is printed is good once, as ever.
    let printed = host.token();
    assert_eq!((key(&printed).await.0, key(&printed).await.0), (200, 401));
    for short in ["", "password", &TOKEN[1..]] {
        let refused = builder().standing_token(short).build();
        assert!(matches!(refused, Err(BuildError::ShortToken(_))), "{short}");
    }
}

#[tokio::test]
async fn a_page_of_an_applications_own_has_what_was_added_and_never_less_than_that() {
    let policy = PagePolicy::default().forms().images(Source::parse("https://cdn.test").unwrap());
    let host = builder().page_policy(policy).build().unwrap();
    // Routes that would loosen what frames rely on.
    let loose = [
        (header::CONTENT_SECURITY_POLICY, "default-src *; frame-ancestors *"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "unsafe-none"),
        (header::REFERRER_POLICY, "unsafe-url"),
    ];
    let own = Router::new()
        .route("/", get(async move || (loose, Html("<form method=post action=/in>"))))
        .route("/in", post(async || "in"));
    let router = host.guard(own).merge(host.api_router());
    let request = |path: &str, method: &str| {
        let request = Request::builder().method(method).uri(path);
        request.header(header::HOST, "transom.example.com").body(Body::empty()).unwrap()
    };
    let (status, headers, _) = send(router.clone(), request("/", "GET")).await;
    assert_eq!(status, 200);
    let policies: Vec<_> = headers.get_all(header::CONTENT_SECURITY_POLICY).iter().collect();
    let [policy] = &*policies else { panic!("{policies:?}") };
    let policy = policy.to_str().unwrap();
    for part in [
        "script-src 'self';",
        "img-src 'self' data: https://cdn.test;",
        "frame-src https://*.example-views.net;",
        "form-action 'self';",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{part} in {policy}");
    }
    assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
    assert_eq!(headers[header::REFERRER_POLICY], "origin");
    // A form of another site reaches nothing.
    let mut foreign = request("/in", "POST");
    foreign.headers_mut().insert(header::ORIGIN, "https://evil.test".parse().unwrap());
    assert_eq!(send(router.clone(), foreign).await.0, 403);
    assert_eq!(send(router, request("/in", "POST")).await.0, 200);
    let among =
        PagePolicy::default().connect(Source::parse("https://*.example-views.net").unwrap());
    let words = builder().page_policy(among).build().unwrap_err().to_string();
    assert!(words.contains("names https://*.example-views.net, where the frames"), "{words}");
}

#[tokio::test]
async fn no_page_reads_what_operators_ask() {
    let host = builder().build().unwrap();
    let operators = || Operators::default().token(TOKEN).name("transom.internal");
    let bearer = format!("Bearer {TOKEN}");
    let ours = ("host", "10.0.0.7:9464");
    #[rustfmt::skip]
    let table: &[(&str, Headers<'_>, u16)] = &[
        ("/healthz", &[ours],                                                   200),
        ("/healthz", &[("host", "localhost:9464")],                             200),
        ("/healthz", &[("host", "[::1]:9464")],                                 200),
        ("/healthz", &[("host", "transom.internal:9464")],                      200),
        // A name that its owner made lead here; and no name.
        ("/healthz", &[("host", "evil.test:9464")],                             421),
        ("/healthz", &[("host", "10.0.0.7.evil.test:9464")],                    421),
        ("/healthz", &[("host", "[10.0.0.7.evil.test]:9464")],                  421),
        ("/healthz", &[],                                                       421),
        ("/healthz", &[ours, ("host", "localhost")],                            421),
        // A page of a browser, be it a view's.
        ("/healthz", &[ours, ("origin", "http://x.localhost:7421")],            403),
        ("/healthz", &[ours, ("origin", "null")],                               403),
        ("/readyz",  &[ours, ("sec-fetch-site", "cross-site")],                 403),
        ("/metrics", &[ours, ("sec-fetch-site", "same-origin"), ("authorization", &bearer)], 403),
        // A person who types the address.
        ("/readyz",  &[ours, ("sec-fetch-site", "none")],                       200),
        ("/metrics", &[ours],                                                   401),
        ("/metrics", &[ours, ("authorization", TOKEN)],                         401),
        ("/metrics", &[ours, ("authorization", "Bearer ")],                     401),
        ("/metrics", &[ours, ("authorization", &bearer)],                       200),
        ("/api/state", &[ours],                                                 404),
    ];
    for (path, headers, expected) in table {
        let mut request = Request::get(*path);
        for (name, value) in *headers {
            request = request.header(*name, *value);
        }
        let router = host.operator_router(operators()).unwrap();
        let (status, answer, body) = send(router, request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, *expected, "{path} {headers:?}");
        assert!(!answer.contains_key("access-control-allow-origin") && !body.contains(TOKEN));
    }
    // The page's own listener has none of it.
    for path in ["/healthz", "/readyz", "/metrics"] {
        let request = Request::get(path).header("host", "transom.example.com");
        let (status, ..) = send(host.page_router(), request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, 404, "{path}");
    }
    let short = host.operator_router(Operators::default().token("short"));
    assert!(short.is_err());
}

#[tokio::test]
async fn over_http_a_trace_stands_in_a_header_as_in_the_message_and_without_one_in_neither() {
    let server = WebServer::start(|exchange| async move {
        let Some(mut exchange) = exchange.greeted("").await else { return };
        let header = exchange.header("traceparent").map(ToOwned::to_owned);
        let meta = exchange.body["params"]["_meta"]["traceparent"].clone();
        exchange.answer(json!({ "header": header, "meta": meta })).await;
    })
    .await;
    let upstream = Upstream::connect(server.target(), options()).await.unwrap();
    let trace = TraceParent::new().unwrap();
    let request = || UpstreamRequest::new("any");
    let call = async |request: UpstreamRequest| {
        let call = upstream.call(&request, CallOptions::default()).unwrap();
        let answer = call.outcome().await.unwrap();
        serde_json::from_str::<Value>(answer.get()).unwrap()
    };
    let traced = call(request().in_trace(trace)).await;
    assert_eq!(traced, json!({ "header": trace.to_string(), "meta": trace.to_string() }));
    assert_eq!(call(request()).await, json!({ "header": null, "meta": null }));
}
