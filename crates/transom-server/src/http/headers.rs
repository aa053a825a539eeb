//! Which headers pass: a view's on the way out, a backend's on the way back.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Map;

use super::failure::Failure;

/// The headers of a view's request that may go on (REQ-1, FSE-8).
///
/// What no page could send is dropped, as a browser does. So is what is the server's business, and what the server sets by itself,
/// under any spelling; a route may open single names of these. A name or value that is none is refused.
pub(crate) fn of_view(
    given: &Map<String, serde_json::Value>,
    opened: &[String],
    servers_own: &HeaderMap,
) -> Result<HeaderMap, Failure> {
    if given.len() > MAX_HEADERS {
        return Err(Failure::bad_request("the request has too many headers"));
    }
    let mut size = 0;
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let Some(value) = value.as_str() else {
            return Err(Failure::bad_request("a header's value is not a string"));
        };
        size += name.len() + value.len();
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| Failure::bad_request("a header's name is none"))?;
        let value = parse_value(value)?;
        let spelled = dashed(&name);
        let own = servers_own.keys().any(|own| dashed(own) == spelled);
        if may_pass(&spelled, &value, opened) && !own {
            headers.append(name, value);
        }
    }
    if size > MAX_SIZE {
        return Err(Failure::bad_request("the request's headers are too large"));
    }
    Ok(headers)
}

/// A value as pages write them: each character is one byte, and none ends the line.
fn parse_value(text: &str) -> Result<HeaderValue, Failure> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let value = bytes.and_then(|bytes| HeaderValue::from_bytes(bytes.trim_ascii()).ok());
    value.ok_or_else(|| Failure::bad_request("a header's value has a character that none has"))
}

/// A name as CGI, WSGI and others read it: there `x_real_ip` is `x-real-ip`.
fn dashed(name: &HeaderName) -> String {
    name.as_str().replace('_', "-")
}

fn may_pass(name: &str, value: &HeaderValue, opened: &[String]) -> bool {
    if FORBIDDEN.contains(&name) || name.starts_with("proxy-") || name.starts_with("sec-") {
        return false;
    }
    let overrides = OVERRIDES.contains(&name);
    if overrides {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_uppercase();
        if ["CONNECT", "TRACE", "TRACK"].iter().any(|never| value.contains(never)) {
            return false;
        }
    }
    let believed =
        BELIEVED.contains(&name) || BELIEVED_KINDS.iter().any(|kind| name.starts_with(kind));
    let servers = SERVERS.contains(&name) || overrides || believed;
    !servers || opened.iter().any(|opened| opened == name)
}

/// The headers of a backend's response that a view may see (RES-6): by name, before anything joins them.
pub(crate) fn of_backend(
    given: &HeaderMap,
    hidden: &[HeaderName],
) -> Map<String, serde_json::Value> {
    let mut headers = Map::new();
    let passes = |name: &HeaderName| {
        let text = name.as_str();
        !STRIPPED.contains(&text) && !text.starts_with("proxy-") && !hidden.contains(name)
    };
    for name in given.keys().filter(|name| passes(name)) {
        let values: Vec<_> =
            given.get_all(name).iter().map(|value| latin1(value.as_bytes())).collect();
        headers.insert(name.as_str().to_owned(), values.join(", ").into());
    }
    headers
}

/// Each byte is one character, as `Headers` has them.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// What no page may send, by the Fetch standard.
const FORBIDDEN: [&str; 21] = [
    "accept-charset",
    "accept-encoding",
    "access-control-request-headers",
    "access-control-request-method",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "date",
    "dnt",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "referer",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// What pages may send, and what tells a backend who asks: the server says that, unless a route opens it.
const SERVERS: [&str; 6] = [
    "access-control-request-private-network",
    "authorization",
    "forwarded",
    "user-agent",
    "x-api-key",
    "x-real-ip",
];

/// A method or an address in a header goes around the routes (FSE-11).
const OVERRIDES: [&str; 11] = [
    "x-http-method",
    "x-http-method-override",
    "x-http-host-override",
    "x-host",
    "x-method-override",
    "x-original-host",
    "x-original-method",
    "x-original-uri",
    "x-original-url",
    "x-rewrite-url",
    "x-override-url",
];

/// What some gateway sets, and what the programs behind it believe: where a request comes from, and who was let in.
const BELIEVED: [&str; 14] = [
    "akamai-client-ip",
    "client-ip",
    "fastly-client-ip",
    "fly-client-ip",
    "remote-addr",
    "remote-user",
    "true-client-ip",
    "wl-proxy-client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-middleware-subrequest",
    "x-originating-ip",
    "x-proxyuser-ip",
    "x-sendfile-type",
];

/// The same, by how their names begin.
const BELIEVED_KINDS: [&str; 14] = [
    "cf-",
    "ssl-client-",
    "x-accel-",
    "x-amzn-",
    "x-appengine-",
    "x-auth-request-",
    "x-azure-",
    "x-client-cert",
    "x-envoy-",
    "x-forwarded-",
    "x-ms-client-principal",
    "x-original-forwarded-",
    "x-remote-",
    "x-ssl-client-",
];

/// What is between the backend and the server, or would be believed by a page that trusts it.
const STRIPPED: [&str; 17] = [
    "alt-svc",
    "connection",
    "content-encoding",
    "content-length",
    "keep-alive",
    "nel",
    "public-key-pins",
    "public-key-pins-report-only",
    "report-to",
    "server-timing",
    "set-cookie",
    "set-cookie2",
    "strict-transport-security",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
];

const MAX_HEADERS: usize = 100;
const MAX_SIZE: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("no object") };
        object
    }

    fn passed(given: Value) -> Result<Vec<String>, &'static str> {
        let headers = of_view(&object(given), &[], &HeaderMap::new());
        let names =
            |headers: HeaderMap| headers.keys().map(|name| name.as_str().to_owned()).collect();
        headers.map(names).map_err(|failure| failure.words)
    }

    // REQ-1, ATK-46, ATK-47, FSE-8, FSE-11: what a page may not send, in any spelling.
    #[test]
    fn req_1_forbidden_headers_do_not_pass() {
        let more = [
            "Proxy-Authorization",
            "proxy-x",
            "Sec-Fetch-Site",
            "sec-",
            "X-Forwarded-For",
            "x-forwarded-host",
            "X-Forwarded-Prefix",
            "X-Original-URL",
            "X-Rewrite-URL",
            "CF-Connecting-IP",
            "X-Remote-User",
            "X-Envoy-Original-Path",
        ];
        let all = FORBIDDEN.iter().chain(&SERVERS).chain(&BELIEVED).chain(&OVERRIDES).chain(&more);
        for name in all {
            let spellings = [(*name).to_owned(), name.to_ascii_uppercase(), name.replace('-', "_")];
            for name in spellings {
                assert_eq!(
                    passed(json!({ &name: "1", "accept": "*/*" })),
                    Ok(vec!["accept".to_owned()]),
                    "{name}"
                );
            }
        }
        for name in OVERRIDES {
            for method in ["TRACE", "track", "x, Connect", "DELETE"] {
                assert_eq!(passed(json!({ name: method })), Ok(vec![]), "{name}: {method}");
            }
            let opened = |method: &str| {
                of_view(&object(json!({ name: method })), &[name.to_owned()], &HeaderMap::new())
            };
            assert_eq!(opened("DELETE").expect("it is sound").len(), 1);
            assert_eq!(
                opened("TRACE").expect("it is sound").len(),
                0,
                "not even where it is opened"
            );
        }
    }

    // ATK-46: lines that end early, folds, names that are none.
    #[test]
    fn atk_46_what_is_no_header_is_refused() {
        let table = [
            json!({ "x": "a\r\nhost: evil.test" }),
            json!({ "x": "a\nb" }),
            json!({ "x": "a\rb" }),
            json!({ "x": "a\u{0}b" }),
            json!({ "x": "a\r\n b" }),
            json!({ "x\r\nhost": "evil.test" }),
            json!({ "": "a" }),
            json!({ "x y": "a" }),
            json!({ "x:": "a" }),
            json!({ "\u{e4}": "a" }),
            json!({ "x": "\u{20ac}" }),
            json!({ "x": 1 }),
            json!({ "x": ["a"] }),
            json!({ "x": null }),
            json!({ "x": { "toString": "a" } }),
            json!({ "x": "a".repeat(MAX_SIZE) }),
        ];
        for given in table {
            assert!(passed(given.clone()).is_err(), "{given}");
        }
        let many: Map<_, _> = (0..=MAX_HEADERS).map(|at| (format!("x-{at}"), json!("1"))).collect();
        assert!(passed(Value::Object(many)).is_err());
    }

    // ATK-51: names that are special elsewhere are names like others.
    #[test]
    fn atk_51_prototype_names_are_plain_names() {
        let given = json!({ "__proto__": "a", "constructor": "b", "hasownproperty": "c", "x-cafe": "\u{e9}" });
        let names = ["__proto__", "constructor", "hasownproperty", "x-cafe"].map(str::to_owned);
        assert_eq!(passed(given), Ok(names.to_vec()));
    }

    #[test]
    fn what_the_server_sets_is_never_the_views() {
        let own: HeaderMap =
            [("x-tenant".parse().expect("a name"), HeaderValue::from_static("acme"))]
                .into_iter()
                .collect();
        let opened = ["x-tenant".to_owned(), "authorization".to_owned()];
        let given =
            object(json!({ "X-Tenant": "evil", "x_tenant": "evil", "Authorization": "mine" }));
        let headers = of_view(&given, &opened, &own).expect("it is sound");
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["authorization"]);
    }

    // RES-6, ATK-49, DEF-6.
    #[test]
    fn res_6_what_is_between_server_and_backend_stays_there() {
        let mut given = HeaderMap::new();
        for name in STRIPPED.iter().chain(&["proxy-authenticate", "x-internal"]) {
            given.append(*name, HeaderValue::from_static("secret"));
            given.append(*name, HeaderValue::from_static("second"));
        }
        given.append("vary", HeaderValue::from_static("accept"));
        given.append("vary", HeaderValue::from_static("origin"));
        given.append("x-latin", HeaderValue::from_bytes(b"caf\xe9").expect("it is a value"));
        let hidden = [HeaderName::from_static("x-internal")];
        let expected = json!({ "vary": "accept, origin", "x-latin": "caf\u{e9}" });
        assert_eq!(Value::Object(of_backend(&given, &hidden)), expected);
    }
}
