//! A proxy between a view and its backend: whatever a view asks for, the backend sees what is open and nothing else, and what is read of a
//! stream is what the backend sent.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use axum::response::{IntoResponse, Redirect};
use data_encoding::BASE64;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use transom_server::{Credentials, Fallback, HttpProxy, Route, Views};

/// `{"reads": […]}` are reads of one stream. Any other JSON object is a view's request; and so is text: a line with an address, one
/// with a method, then headers, and after an empty line a body.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let asked = serde_json::from_str(text).unwrap_or_else(|_| written(text));
    WORLD.with(|world| match asked.get("reads").and_then(Value::as_array) {
        Some(reads) => world.read(reads),
        None => world.ask(asked, text),
    });
}

fn written(text: &str) -> Map<String, Value> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.split('\n');
    let url = lines.next().unwrap_or_default();
    let method = lines.next().unwrap_or("GET");
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: Map<_, _> = headers.map(|(name, value)| (name.to_owned(), value.into())).collect();
    let mut asked = json!({ "url": url, "method": method, "headers": headers });
    if !body.is_empty() {
        asked["body"] = body.into();
    }
    asked.as_object().cloned().unwrap_or_default()
}

thread_local! {
    static WORLD: World = World::new();
}

/// One server and one view, for all inputs. Nobody waits in it: its clock jumps.
struct World {
    runtime: Runtime,
    view: RunningService<RoleClient, ()>,
    seen: Seen,
}

type Seen = Arc<Mutex<Vec<(Method, Uri, HeaderMap)>>>;

struct Bare;

impl ServerHandler for Bare {}

impl World {
    fn new() -> Self {
        let seen = Seen::default();
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime needs nothing");
        let proxy = HttpProxy::tower(backend(&seen))
            .route(Route::get("/api/{*rest}").streams())
            .route(Route::post("/api/{*rest}").accepts("text/plain"))
            .header("x-tenant", "acme")
            .credentials(async |_| Ok(Credentials::of("ada").bearer(TOKEN)))
            .rate(u32::MAX)
            .bytes(usize::MAX);
        let server = Views::wrap(Bare).http(proxy).fallback(Fallback::Off).build();
        let server = server.expect("it is sound");
        let view = runtime.block_on(async {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(async move {
                let running = server.serve(theirs).await.expect("the view is accepted");
                let _ = running.waiting().await;
            });
            ().serve(ours).await.expect("it is served")
        });
        Self { runtime, view, seen }
    }

    fn call(&self, tool: &'static str, arguments: Map<String, Value>) -> Value {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.runtime.block_on(self.view.call_tool(request));
        let result = result.expect("a view is answered, whatever it asks for");
        let data = result.structured_content.unwrap_or_default();
        assert_eq!(result.is_error == Some(true), data.get("error").is_some(), "{data}");
        data
    }

    fn ask(&self, asked: Map<String, Value>, text: &str) {
        self.seen.lock().expect("no holder panics").clear();
        let omits = asked.get("credentials").is_some_and(|it| it == "omit");
        let answer = self.call("http_request", asked);
        if let Some(id) = answer.get("streamId").and_then(Value::as_str) {
            self.call("http_stream_cancel", Map::from_iter([("streamId".to_owned(), id.into())]));
        }
        let words = answer.to_string();
        assert!(text.contains(TOKEN) || !words.contains(TOKEN), "{words}");
        match answer.get("error") {
            Some(error) => {
                assert!(CODES.contains(&error["code"].as_str().unwrap_or("")), "{error}")
            }
            None => {
                let status = answer["status"].as_u64().expect("a status");
                assert!(status == 0 || (200..600).contains(&status), "{status}");
            }
        }
        let seen = self.seen.lock().expect("no holder panics");
        assert!(seen.len() <= 21, "twenty hops at most");
        for (method, uri, headers) in seen.iter() {
            assert!([Method::GET, Method::HEAD, Method::POST].contains(method), "{method}");
            check_uri(uri);
            check_headers(headers, omits);
        }
    }

    /// Reads a stream as somebody else wants to. Every byte that comes is the one that belongs there.
    fn read(&self, reads: &[Value]) {
        let asked = json!({ "url": "/api/stream", "stream": true }).as_object().cloned();
        let answer = self.call("http_request", asked.unwrap_or_default());
        let id = answer["streamId"].as_str().expect("it is a stream").to_owned();
        for read in reads.iter().take(32) {
            let mut read = read.as_object().cloned().unwrap_or_default();
            read.insert("streamId".to_owned(), id.as_str().into());
            let from = read.get("offset").and_then(Value::as_u64);
            let answer = self.call("http_stream_read", read);
            let Some(data) = answer.get("data").and_then(Value::as_str) else { continue };
            let data = BASE64.decode(data.as_bytes()).expect("it is base64");
            let at = answer["offset"].as_u64().expect("a number");
            assert!(from.is_none_or(|from| from == at), "{from:?}, {at}");
            assert_eq!(answer["nextOffset"], at + data.len() as u64);
            let expected = (at..).take(data.len()).map(byte);
            assert!(data.iter().copied().eq(expected), "at {at}");
            assert!(data.len() <= 256 << 10);
            assert!(answer["done"] != true || at + data.len() as u64 == LENGTH, "{at}");
        }
        self.call("http_stream_cancel", Map::from_iter([("streamId".to_owned(), id.into())]));
    }
}

/// Sends `/api/to?WHERE` elsewhere, and writes down whatever arrives.
fn backend(seen: &Seen) -> Router {
    let seen = Arc::clone(seen);
    Router::new().fallback(move |request: Request| {
        let seen = Arc::clone(&seen);
        async move {
            let (parts, _) = request.into_parts();
            let (path, query) = (parts.uri.path().to_owned(), parts.uri.query().map(str::to_owned));
            seen.lock().expect("no holder panics").push((parts.method, parts.uri, parts.headers));
            match (&*path, query) {
                ("/api/to", Some(place)) => Redirect::temporary(&place).into_response(),
                ("/api/stream", _) => {
                    Body::from((0..LENGTH).map(byte).collect::<Vec<_>>()).into_response()
                }
                _ => "here".into_response(),
            }
        }
    })
}

/// What a route opens, in the one spelling that it has.
fn check_uri(uri: &Uri) {
    assert!(uri.authority().is_none_or(|it| it == "localhost"), "{uri}");
    let path = uri.path().to_ascii_lowercase();
    assert!(path.starts_with("/api/") && path.len() > 5, "{path}");
    for never in ["//", "/./", "/../", "\\", "%2e", "%2f", "%5c", "%00", "%0d", "%0a", "#"] {
        assert!(!format!("{path}/").trim_end_matches('/').contains(never), "{path}");
    }
    assert!(!path.ends_with("/..") && !path.ends_with("/."), "{path}");
}

/// The server's own headers, once each, and none that say who asks, from where, or what else is meant.
fn check_headers(headers: &HeaderMap, omits: bool) {
    let all = |name: &str| headers.get_all(name).iter().map(|it| it.as_bytes()).collect::<Vec<_>>();
    assert_eq!(all("x-tenant"), [b"acme"]);
    let proof = format!("Bearer {TOKEN}");
    assert_eq!(all("authorization"), if omits { vec![] } else { vec![proof.as_bytes()] });
    for name in headers.keys().filter(|name| *name != header::AUTHORIZATION && *name != "x-tenant")
    {
        let spelled = spelled(name);
        let theirs =
            NEVER.contains(&&*spelled) || NEVER_LIKE.iter().any(|it| spelled.starts_with(it));
        assert!(!theirs || name == header::HOST && all("host") == [b"localhost"], "{name}");
    }
}

fn spelled(name: &HeaderName) -> String {
    name.as_str().replace('_', "-")
}

const TOKEN: &str = "5c1e-hers-9a1b";
const LENGTH: u64 = 300_001;
const CODES: [&str; 6] = ["network", "blocked", "too_large", "bad_request", "timeout", "protocol"];
const NEVER: [&str; 19] = [
    "authorization",
    "connection",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "origin",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-api-key",
    "x-http-method-override",
    "x-original-url",
    "x-real-ip",
    "x-tenant",
];
const NEVER_LIKE: [&str; 3] = ["proxy-", "sec-", "x-forwarded-"];

/// Of a long period, so that no piece looks like another.
fn byte(at: u64) -> u8 {
    at.wrapping_mul(0x9e37_79b9).to_le_bytes()[2]
}
