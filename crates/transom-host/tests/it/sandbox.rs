//! Two origins for a frame, their headers, and nothing else.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use transom::csp::{Ceiling, Csp, Declaration, Grant};
use transom::origin::Origin;
use transom::wire::ResourcePermissions;
use transom_host::place::Place;
use transom_host::sandbox::{
    Frame, MountError, Naming, RawPage, Relay, Sandbox, SandboxScript, StableKey, Wildcard,
};
use transom_host::upstream::{Command, Target};

use crate::documents::{URI, read};

pub(crate) const SCRIPT: &str = "/* the sandbox script */ 1 < 2 && \"x\"";
const SCRIPT_HASH: &str = "'sha256-c5bmfsUT4HkhXsBst7tGygTQmI8SZ2cZGwTDh8O1JTc='";
pub(crate) const PORCH: &str = "/* the porch's script */";
const PORT: u16 = 7421;

pub(crate) fn sandbox(naming: Naming) -> Sandbox {
    let [script, porch] = [SCRIPT, PORCH].map(|text| SandboxScript::new(text).unwrap());
    Sandbox::new(naming, StableKey::from_bytes([7; 32]), script, porch)
}

fn local() -> Sandbox {
    sandbox(Naming::Localhost { port: PORT })
}

pub(crate) fn frame(server: &str, html: &str, ui: Value) -> Frame {
    let document = read(server, URI, json!({ "text": html, "_meta": { "ui": ui } }));
    Frame::new(Arc::new(document), place(server), vec![origin("http://localhost:7420")])
}

/// A place of its own for each server.
pub(crate) fn place(server: &str) -> Place {
    Place::of(&Target::Stdio(Command::new("/server", [server])))
}

pub(crate) fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

pub(crate) fn host(origin: &Origin) -> String {
    origin.to_string().split_once("://").unwrap().1.to_owned()
}

async fn get(sandbox: &Sandbox, url: &str) -> Response<Body> {
    let (name, path) = url.split_once("://").unwrap().1.split_once('/').unwrap();
    let request = Request::get(format!("/{path}")).header("host", name).body(Body::empty());
    send(sandbox, request.unwrap()).await
}

async fn send(sandbox: &Sandbox, request: Request<Body>) -> Response<Body> {
    sandbox.router().oneshot(request).await.unwrap()
}

fn header<'a>(response: &'a Response<Body>, name: &str) -> &'a str {
    let mut values = response.headers().get_all(name).iter();
    let value = values.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(values.next().is_none(), "{name} twice");
    value.to_str().unwrap()
}

async fn text(response: Response<Body>) -> String {
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn p_01_and_h_42_page_sandbox_and_guest_are_three_origins() {
    let sandbox = local();
    let one = sandbox.mount(frame("demo", "<p>1", json!({}))).await.unwrap();
    let two = sandbox.mount(frame("demo", "<p>2", json!({}))).await.unwrap();
    let origins = [&one.sandbox_origin, &one.guest_origin, &two.sandbox_origin, &two.guest_origin];
    let mut seen: Vec<&str> = Vec::new();
    for origin in origins {
        let (label, _) = origin.host().split_once('.').unwrap();
        assert!(label.len() >= 26 && label.bytes().all(|b| b.is_ascii_alphanumeric()), "{label}");
        assert_eq!(origin.port(), Some(PORT));
        assert!(!seen.contains(&label), "no label stands for two frames");
        seen.push(label);
    }
    // A view's two frames are one site, so that they need not be two processes; no other frame is on it.
    for mounted in [&one, &two] {
        let (guest, sandbox) = (mounted.guest_origin.host(), mounted.sandbox_origin.host());
        let (_, site) = sandbox.split_once('.').unwrap();
        assert_eq!(site, guest);
        assert_eq!(guest.split_once('.').unwrap().1, "localhost");
    }
    assert_eq!(one.sandbox_url, format!("{}/", one.sandbox_origin));
    assert_eq!(one.guest_url, format!("{}/", one.guest_origin));
    assert_eq!(text(get(&sandbox, &one.guest_url).await).await, "<p>1");
    assert_eq!(text(get(&sandbox, &two.guest_url).await).await, "<p>2");
}

#[tokio::test]
async fn p_04_and_p_14_the_guests_policy_is_a_header() {
    let ui = json!({ "csp": {
        "connectDomains": ["https://api.x.com", "wss://rt.x.com"],
        "resourceDomains": ["https://cdn.x.com"],
        "frameDomains": ["https://www.youtube.com"],
        "baseUriDomains": ["https://cdn.x.com"],
    } });
    #[rustfmt::skip]
    let table = [
        // H-24: nothing declared.
        (json!({}), "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; object-src 'none'; connect-src 'none'; frame-src 'none'; base-uri 'self'; form-action 'none'"),
        (json!({ "csp": {} }), "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self'; media-src 'self' data:; frame-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'"),
        // H-23: all of it.
        (ui, "default-src 'none'; script-src 'self' 'unsafe-inline' https://cdn.x.com; style-src 'self' 'unsafe-inline' https://cdn.x.com; connect-src 'self' https://api.x.com wss://rt.x.com; img-src 'self' data: https://cdn.x.com; font-src 'self' https://cdn.x.com; media-src 'self' data: https://cdn.x.com; frame-src https://www.youtube.com; object-src 'none'; base-uri https://cdn.x.com; form-action 'none'"),
    ];
    let sandbox = local();
    for (ui, expected) in table {
        let mounted = sandbox.mount(frame("demo", "<p>", ui)).await.unwrap();
        let response = get(&sandbox, &mounted.guest_url).await;
        let (sandbox, guest) = (&mounted.sandbox_origin, &mounted.guest_origin);
        let ancestors = format!("frame-ancestors {guest} {sandbox} http://localhost:7420");
        let csp = format!("{expected}; {ancestors}");
        assert_eq!(header(&response, "content-security-policy"), csp);
        assert_eq!(mounted.csp.to_string(), csp, "H-27: what is logged is what is sent");
    }
}

#[tokio::test]
async fn h_41_the_sandbox_page_frames_its_guest_and_nothing_else() {
    let sandbox = local();
    let mut wanted = frame("a <\"b\"> & 'c'", "<p>", json!({ "permissions": { "camera": {} } }));
    wanted.permissions = ResourcePermissions::ALL;
    wanted.page_origins.push(origin("https://page.test"));
    wanted.relay = Relay { message: 1000, rate: 10, pace: 5, bytes: 7, ..Relay::default() };
    let mounted = sandbox.mount(wanted).await.unwrap();
    let response = get(&sandbox, &mounted.sandbox_url).await;
    let (guest, pages) = (&mounted.guest_origin, "http://localhost:7420 https://page.test");
    assert_eq!(
        header(&response, "content-security-policy"),
        format!(
            "default-src 'none'; script-src {SCRIPT_HASH}; frame-src {guest}; object-src 'none'; \
             base-uri 'none'; form-action 'none'; frame-ancestors {pages}"
        )
    );
    assert_eq!(
        header(&response, "permissions-policy"),
        format!("camera=(self \"{guest}\"), microphone=(), geolocation=(), clipboard-write=()")
    );
    assert_eq!(
        text(response).await,
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <title>a &lt;&quot;b&quot;&gt; &amp; &#39;c&#39;</title>\n<body>\n\
             <script data-host=\"{pages}\" data-porch=\"{guest}/porch\" data-allow=\"camera\" \
             data-sandbox=\"allow-scripts allow-same-origin allow-forms\" data-limit=\"1000\" \
             data-rate=\"10\" data-pace=\"5\" data-bytes=\"7\">{SCRIPT}</script>\n"
        )
    );
    // H-30: the outer frame must have what the inner one is to get.
    assert_eq!(mounted.allow, format!("camera {} {guest}", mounted.sandbox_origin));
}

/// What a guest does in its porch's name it does under a policy that is stricter than its own.
#[tokio::test]
async fn h_41_a_porch_frames_its_guest_and_nothing_else() {
    let sandbox = local();
    for (ui, path) in [(json!({}), "/"), (json!({ "domain": "a.test" }), "/x")] {
        let mut wanted = frame("a <\"b\">", "<p>", ui);
        wanted.permissions = ResourcePermissions::ALL;
        let mounted = sandbox.mount(wanted).await.unwrap();
        let response = get(&sandbox, &mounted.porch_url).await;
        let (guest, above) = (&mounted.guest_origin, &mounted.sandbox_origin);
        let path = match path {
            "/" => "/",
            _ => mounted.guest_url.strip_prefix(&guest.to_string()).unwrap(),
        };
        assert_eq!(mounted.porch_url, format!("{guest}{}/porch", path.trim_end_matches('/')));
        let hash = "sha256-";
        let csp = header(&response, "content-security-policy").to_owned();
        let (before, after) = csp.split_once(hash).unwrap();
        assert_eq!(before, "default-src 'none'; script-src '");
        let after = after.split_once('\'').unwrap().1;
        assert_eq!(
            after,
            format!(
                "; frame-src {guest}; object-src 'none'; base-uri 'none'; form-action 'none'; \
                 frame-ancestors {above} http://localhost:7420"
            ),
            "the guest is not above its porch, so that no porch stands in another"
        );
        assert_eq!(
            text(response).await,
            format!(
                "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
                 <title>a &lt;&quot;b&quot;&gt;</title>\n<body>\n<script data-guest=\"{path}\">{PORCH}</script>\n"
            )
        );
    }
}

#[tokio::test]
async fn all_pages_carry_the_same_guards_and_no_cookie() {
    let sandbox = local();
    let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    let raw = sandbox.mount_raw(raw_page(Ceiling::AnyTls)).await.unwrap();
    for url in [&mounted.sandbox_url, &mounted.porch_url, &mounted.guest_url, &raw.url] {
        let response = get(&sandbox, url).await;
        assert_eq!(response.status(), StatusCode::OK);
        // A frame on its parent's site may share its process; one that has a site for itself asks for its own.
        let asks_for_a_process = response.headers().contains_key("origin-agent-cluster");
        assert_eq!(asks_for_a_process, url == &raw.url);
        #[rustfmt::skip]
        let table = [
            ("content-type",                 "text/html; charset=utf-8"),
            ("cache-control",                "no-store"),
            ("referrer-policy",              "no-referrer"),
            ("x-content-type-options",       "nosniff"),
            ("x-dns-prefetch-control",       "off"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy",   "same-origin"),
            ("permissions-policy",           "camera=(), microphone=(), geolocation=(), clipboard-write=()"),
        ];
        for (name, expected) in table {
            assert_eq!(header(&response, name), expected, "{name}");
        }
        for absent in ["set-cookie", "server", "clear-site-data", "access-control-allow-origin"] {
            assert!(!response.headers().contains_key(absent), "{absent}");
        }
        let csp = header(&response, "content-security-policy");
        assert!(Csp::parse_header(csp).is_ok(), "{csp}");
    }
}

/// A guest can set a cookie for its own name and all names below it: its sandbox's is one.
#[tokio::test]
async fn a_cookie_that_a_guest_set_for_its_sandbox_changes_nothing() {
    let sandbox = local();
    for ui in [json!({}), json!({ "domain": "a.test" })] {
        let mounted = sandbox.mount(frame("demo", "<p>", ui)).await.unwrap();
        for url in [&mounted.sandbox_url, &mounted.porch_url, &mounted.guest_url] {
            let (name, path) = url.split_once("://").unwrap().1.split_once('/').unwrap();
            let plain = get(&sandbox, url).await;
            for cookie in ["a=b".to_owned(), "__Host-a=; ;;=\t".to_owned(), "a".repeat(100_000)] {
                let request = Request::get(format!("/{path}")).header("host", name);
                let request = request.header("cookie", cookie).body(Body::empty()).unwrap();
                let response = send(&sandbox, request).await;
                assert_eq!(response.status(), plain.status());
                assert_eq!(response.headers(), plain.headers());
                assert_eq!(text(response).await, text(get(&sandbox, url).await).await);
            }
        }
    }
}

#[tokio::test]
async fn p_15_nothing_else_is_served() {
    let sandbox = local();
    let mounted = sandbox.mount(frame("demo", "<p>secret", json!({}))).await.unwrap();
    let names = [host(&mounted.sandbox_origin), host(&mounted.guest_origin)];
    #[rustfmt::skip]
    let paths = [
        "/x", "//", "/.", "/index.html", "/sandbox.js", "/favicon.ico", "/robots.txt", "/..", "/%2e",
        "/%00", "/.well-known/security.txt", "/;x", "/http://localhost/", "/a?/",
    ];
    for name in &names {
        for path in paths {
            let request = Request::get(path).header("host", name).body(Body::empty()).unwrap();
            refused(send(&sandbox, request).await, StatusCode::NOT_FOUND, path).await;
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"] {
            let request = Request::builder().method(method).uri("/").header("host", name);
            let response = send(&sandbox, request.body(Body::from("x")).unwrap()).await;
            assert_eq!(header(&response, "allow"), "GET, HEAD");
            refused(response, StatusCode::METHOD_NOT_ALLOWED, method).await;
        }
    }
}

/// A refusal has no body, and no policy that would let anything in.
async fn refused(response: Response<Body>, status: StatusCode, row: &str) {
    assert_eq!(response.status(), status, "{row}");
    let csp = header(&response, "content-security-policy");
    assert_eq!(csp, "default-src 'none'; frame-ancestors 'none'");
    assert_eq!(header(&response, "cache-control"), "no-store");
    assert_eq!(text(response).await, "", "{row}");
}

#[tokio::test]
async fn a_name_that_we_did_not_make_is_nobodys() {
    let sandbox = local();
    let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    let name = host(&mounted.guest_origin);
    let (label, _) = name.split_once('.').unwrap();
    let hostile = [
        String::new(),
        "localhost".into(),
        format!("localhost:{PORT}"),
        format!("127.0.0.1:{PORT}"),
        format!("[::1]:{PORT}"),
        "evil.test".into(),
        format!("evil.test:{PORT}"),
        format!("{label}.evil.test:{PORT}"),
        format!("{label}.localhost"),
        format!("{label}.localhost:80"),
        format!("{label}.localhost.:{PORT}"),
        format!("x.{name}"),
        format!("{name}0"),
        format!("{name} "),
        format!("{name},{name}"),
        format!("{name}/"),
        format!("x@{name}"),
        format!("http://{name}"),
        name.to_uppercase(),
        format!("{}.localhost:{PORT}", &label[1..]),
        format!("{name}\u{e9}"),
        "a".repeat(100_000),
    ];
    for text in &hostile {
        let request = Request::get("/").header("host", text.as_bytes()).body(Body::empty());
        refused(send(&sandbox, request.unwrap()).await, StatusCode::MISDIRECTED_REQUEST, text)
            .await;
    }
    let none = Request::get("/").body(Body::empty()).unwrap();
    refused(send(&sandbox, none).await, StatusCode::MISDIRECTED_REQUEST, "none").await;
    let two = Request::get("/").header("host", &name).header("host", &name);
    let two = two.body(Body::empty()).unwrap();
    refused(send(&sandbox, two).await, StatusCode::MISDIRECTED_REQUEST, "two").await;
    let other = Request::get(format!("http://evil.test:{PORT}/")).header("host", &name);
    let other = other.body(Body::empty()).unwrap();
    refused(send(&sandbox, other).await, StatusCode::MISDIRECTED_REQUEST, "another address").await;
    // As HTTP/2 has it: the name in the address, and no header.
    let http2 = Request::get(format!("http://{name}/")).body(Body::empty()).unwrap();
    assert_eq!(send(&sandbox, http2).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn p_12_only_a_frame_gets_a_page() {
    let sandbox = local();
    let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    for origin in [&mounted.sandbox_origin, &mounted.guest_origin] {
        for (wanted, status) in [
            ("iframe", StatusCode::OK),
            ("document", StatusCode::FORBIDDEN),
            ("script", StatusCode::FORBIDDEN),
            ("serviceworker", StatusCode::FORBIDDEN),
            ("empty", StatusCode::FORBIDDEN),
            ("", StatusCode::FORBIDDEN),
        ] {
            let request = Request::get("/").header("host", host(origin));
            let request = request.header("sec-fetch-dest", wanted).body(Body::empty()).unwrap();
            assert_eq!(send(&sandbox, request).await.status(), status, "{wanted}");
        }
    }
}

#[tokio::test]
async fn the_document_is_served_as_it_is_and_without_a_copy() {
    let sandbox = local();
    let html = "<!doctype html><script src=a></script>\u{feff}\u{1f600}\r\n</html>";
    let wanted = frame("demo", html, json!({}));
    let document = wanted.document.clone();
    let mounted = sandbox.mount(wanted).await.unwrap();
    let response = get(&sandbox, &mounted.guest_url).await;
    assert_eq!(header(&response, "content-length"), html.len().to_string());
    let served = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    assert_eq!(served, html);
    assert_eq!(served.as_ptr(), document.html.as_ptr());

    let head = Request::builder().method(Method::HEAD).uri("/");
    let head = head.header("host", host(&mounted.guest_origin)).body(Body::empty()).unwrap();
    let response = send(&sandbox, head).await;
    assert_eq!(header(&response, "content-length"), html.len().to_string());
    assert_eq!(text(response).await, "");
}

#[tokio::test]
async fn h_25_the_host_restricts_and_never_widens() {
    let sandbox = local();
    let ui = json!({
        "csp": { "connectDomains": ["https://a.test", "https://b.test"] },
        "permissions": { "camera": {}, "microphone": {} },
    });
    let mut wanted = frame("demo", "<p>", ui);
    let sources = ["https://b.test", "https://c.test"].map(|s| s.to_owned()).to_vec();
    let agreed = transom::wire::ResourceCsp { connect_domains: sources, ..Default::default() };
    wanted.declaration = Some(Declaration::read(&agreed).0);
    wanted.permissions =
        ResourcePermissions { camera: true, geolocation: true, ..Default::default() };
    let mounted = sandbox.mount(wanted.clone()).await.unwrap();
    // H-32: what is told to the view is what was granted.
    assert_eq!(mounted.declaration.unwrap().connect.len(), 1);
    assert_eq!(mounted.permissions.to_allow(), "camera");
    let response = get(&sandbox, &mounted.guest_url).await;
    let csp = header(&response, "content-security-policy");
    assert!(csp.contains("connect-src 'self' https://b.test;"), "{csp}");
    // Nothing declared stays nothing declared, whatever the host would agree to.
    let mut undeclared = frame("demo", "<p>", json!({}));
    undeclared.declaration = wanted.declaration;
    let mounted = sandbox.mount(undeclared).await.unwrap();
    assert!(mounted.csp.to_string().contains("connect-src 'none';"));
    assert_eq!(mounted.declaration, None);
}

#[tokio::test]
async fn scripts_and_fonts_are_the_operators_to_grant() {
    let sandbox = local();
    let mut wanted = frame("demo", "<p>", json!({ "csp": {} }));
    wanted.grants = vec![Grant::Wasm, Grant::Blob];
    wanted.fonts = vec![origin("https://fonts.test")];
    let csp = sandbox.mount(wanted).await.unwrap().csp.to_string();
    assert!(csp.contains("script-src 'self' 'unsafe-inline' blob: 'wasm-unsafe-eval';"), "{csp}");
    assert!(csp.contains("worker-src 'self' blob:;"), "{csp}");
    assert!(csp.contains("font-src 'self' https://fonts.test;"), "{csp}");
}

#[tokio::test]
async fn names_live_as_long_as_their_frame() {
    let sandbox = local();
    let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    let urls = [&mounted.sandbox_url, &mounted.porch_url, &mounted.guest_url].map(String::clone);
    assert_eq!(sandbox.pages_served(), 3);
    for url in &urls {
        assert_eq!(get(&sandbox, url).await.status(), StatusCode::OK);
        assert_eq!(get(&sandbox, url).await.status(), StatusCode::OK, "a view may reload itself");
    }
    mounted.unmount();
    for url in &urls {
        refused(get(&sandbox, url).await, StatusCode::MISDIRECTED_REQUEST, url).await;
    }
    assert_eq!(sandbox.pages_served(), 0);
}

#[tokio::test]
async fn a_reloaded_page_finds_the_same_names_with_the_new_document() {
    let sandbox = local();
    let mut mounted = sandbox.mount(frame("demo", "<p>old", json!({}))).await.unwrap();
    let (sandbox_url, guest_url) = (mounted.sandbox_url.clone(), mounted.guest_url.clone());
    let mut next = frame("demo", "<p>new", json!({ "csp": {} }));
    next.page_origins = vec![origin("http://localhost:9999")];
    sandbox.remount(&mut mounted, next).unwrap();
    assert_eq!((&mounted.sandbox_url, &mounted.guest_url), (&sandbox_url, &guest_url));
    assert!(mounted.csp.to_string().ends_with(" http://localhost:9999"));
    let page = text(get(&sandbox, &sandbox_url).await).await;
    assert!(page.contains("data-host=\"http://localhost:9999\""), "{page}");
    let response = get(&sandbox, &guest_url).await;
    assert_eq!(header(&response, "content-security-policy"), mounted.csp.to_string());
    assert_eq!(text(response).await, "<p>new");

    let stranger = frame("other", "<p>evil", json!({}));
    assert!(matches!(sandbox.remount(&mut mounted, stranger), Err(MountError::OtherServer)));
    let moved = frame("demo", "<p>moved", json!({ "domain": "a.test" }));
    assert!(matches!(sandbox.remount(&mut mounted, moved), Err(MountError::OtherServer)));
    assert_eq!(text(get(&sandbox, &guest_url).await).await, "<p>new", "a refusal changes nothing");
}

#[tokio::test]
async fn a_frame_that_nobody_can_embed_is_refused() {
    let sandbox = local();
    let with = |pages: Vec<Origin>| {
        let mut frame = frame("demo", "<p>", json!({}));
        frame.page_origins = pages;
        sandbox.mount(frame)
    };
    assert!(matches!(with(vec![]).await, Err(MountError::NoPage)));
    let v6 = with(vec![origin("http://[::1]:7420")]).await.unwrap_err();
    assert!(v6.to_string().contains("open it by name"), "{v6}");
    let many = (1..=17).map(|n| origin(&format!("http://localhost:{n}"))).collect();
    assert!(matches!(with(many).await, Err(MountError::TooManyPages(17))));
    assert_eq!(sandbox.pages_served(), 0);
}

#[tokio::test]
async fn the_number_of_frames_has_a_limit() {
    let sandbox = local();
    let wanted = frame("demo", "<p>", json!({}));
    let mut mounted = Vec::new();
    let full = loop {
        match sandbox.mount(wanted.clone()).await {
            Ok(frame) => mounted.push(frame),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, MountError::Full), "{full}");
    assert_eq!((mounted.len(), sandbox.pages_served()), (4096, 12_288));
    mounted.pop();
    assert!(sandbox.mount(wanted).await.is_ok());
}

fn raw_page(ceiling: Ceiling) -> RawPage {
    RawPage {
        ceiling,
        permissions: ResourcePermissions::default(),
        page_origins: vec![origin("http://localhost:7420")],
        relay: Relay::default(),
    }
}

#[tokio::test]
async fn h_44_and_p_19_a_raw_page_waits_for_html_below_the_operators_ceiling() {
    let sandbox = local();
    let mut page = raw_page(Ceiling::AnyTls);
    page.permissions = ResourcePermissions { clipboard_write: true, ..Default::default() };
    let raw = sandbox.mount_raw(page).await.unwrap();
    assert_eq!(raw.allow, format!("clipboard-write {}", raw.origin));
    let response = get(&sandbox, &raw.url).await;
    let csp = header(&response, "content-security-policy").to_owned();
    assert_eq!(
        csp,
        "default-src 'none'; script-src 'self' 'unsafe-inline' https:; style-src 'self' \
         'unsafe-inline' https:; connect-src 'self' https: wss:; img-src 'self' data: https:; \
         font-src 'self' https:; media-src 'self' data: https:; frame-src https:; object-src \
         'none'; base-uri 'self'; form-action 'none'; frame-ancestors http://localhost:7420"
    );
    // A hash would switch inline scripts off, and the document's with them.
    assert!(!csp.contains("sha256") && !csp.contains("nonce"));
    let body = text(response).await;
    assert!(!body.contains("data-guest"), "{body}");
    assert!(body.contains("data-allow=\"clipboard-write\""), "{body}");

    let nothing = Ceiling::Listed(Declaration::default());
    let raw = sandbox.mount_raw(raw_page(nothing)).await.unwrap();
    assert!(raw.csp.to_string().contains("connect-src 'self';"), "{}", raw.csp);
    drop(raw);
    assert_eq!(sandbox.pages_served(), 1);
}

#[tokio::test]
async fn a_domain_of_the_operators_names_the_frames() {
    let sandbox = sandbox(Naming::Domain(Wildcard::parse("https://*.sandbox.example").unwrap()));
    let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    assert_eq!(mounted.guest_origin.scheme(), "https");
    assert!(mounted.guest_origin.host().ends_with(".sandbox.example"));
    // TLS ends in front of us; the name arrives as the browser wrote it.
    assert_eq!(get(&sandbox, &mounted.guest_url).await.status(), StatusCode::OK);
}

#[test]
fn a_script_that_would_break_its_page_is_refused() {
    for text in ["a</script>b", "a</SCRIPT b", "a<!--b", "a\r\nb", "a\0b"] {
        assert!(SandboxScript::new(text).is_err(), "{text:?}");
    }
    assert!(SandboxScript::new("\"<\\/script>\"").is_ok());
}
