//! Signing in to servers that ask for it, and what a hostile one can do with that.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{Request, StatusCode, header},
    response::IntoResponse,
};
use serde_json::{Value, json};
use tower::ServiceExt;
use transom::{host::ToolCall, origin::Origin};
use transom_host::{
    Host, ServerState, Standing,
    sandbox::Naming,
    upstream::{
        self, CallError, CallOptions, Invitation, NotSignedIn, OAuth, Options, Registration,
        Return, Tokens, Upstream,
    },
};

use crate::oauth_site::{Instead, Site};

const REDIRECT: &str = "http://localhost:7420/oauth/callback";

fn host(sites: &[(&str, &Site)], data: Option<&std::path::Path>) -> Host {
    let origin = Origin::parse("http://localhost:7420").unwrap();
    let mut builder = Host::builder(vec![origin], Naming::Localhost { port: 7421 });
    for (name, site) in sites {
        builder = builder.server(*name, site.target());
    }
    data.into_iter().fold(builder, |builder, data| builder.data(data.to_owned())).build().unwrap()
}

async fn until(host: &Host, name: &str, wanted: impl Fn(&ServerState) -> bool) -> ServerState {
    let mut seen = None;
    loop {
        let (version, states) = host.servers(seen, Duration::from_secs(60)).await;
        if let Some(state) = states.into_iter().find(|state| state.name == name && wanted(state)) {
            return state;
        }
        seen = Some(version);
    }
}

/// What a browser does at the address of an invitation; where it is sent back to.
async fn agree(url: &str) -> String {
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    let response = browser.build().unwrap().get(url).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::FOUND);
    response.headers()[header::LOCATION].to_str().unwrap().to_owned()
}

async fn come_back(host: &Host, address: &str, name: &str) -> (StatusCode, String) {
    let path = address.strip_prefix("http://localhost:7420").unwrap();
    let request = Request::get(path).header(header::HOST, name).body(Body::empty()).unwrap();
    let response = host.page_router().oneshot(request).await.unwrap();
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 1 << 16).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn oauth(site: &Site) -> OAuth {
    OAuth::new(&site.url(), Registration::default(), REDIRECT.to_owned(), Tokens::in_memory())
}

fn returned(address: &str) -> Return {
    Return::parse(address.split_once('?').unwrap().1).unwrap()
}

async fn sign_in(oauth: &OAuth) -> Result<(), NotSignedIn> {
    let invitation: Invitation = oauth.invite().await?;
    let back = agree(invitation.url.as_str()).await;
    oauth.complete(&returned(&back)).await.expect("its own invitation")?;
    invitation.outcome().await
}

async fn signed_in(site: &Site) -> (Arc<OAuth>, Upstream) {
    let oauth = Arc::new(oauth(site));
    let options = || Options { oauth: Some(Arc::clone(&oauth)), ..Options::default() };
    let error = Upstream::connect(site.target(), options()).await.unwrap_err();
    assert!(error.wants_oauth(), "{error:?}");
    sign_in(&oauth).await.unwrap();
    let upstream = Upstream::connect(site.target(), options()).await.unwrap();
    (oauth, upstream)
}

async fn call(upstream: &Upstream, tool: &str) -> upstream::Outcome {
    let call = ToolCall { name: tool.to_owned(), arguments: None, meta: None, request: None };
    let request = upstream::Request::call_tool(&call).unwrap();
    upstream.call(&request, CallOptions::default())?.outcome().await
}

#[tokio::test]
async fn a_server_that_asks_is_signed_in_to_once() {
    let (site, folder) = (Site::start().await, tempfile::tempdir().unwrap());
    let first = host(&[("locked", &site)], Some(folder.path()));
    let asks = until(&first, "locked", |state| state.state == Standing::SignIn).await;
    assert_eq!(asks.words, "asks you to sign in at 127.0.0.1");
    let address = asks.sign_in.unwrap().url;
    let back = agree(&address).await;
    let (status, words) = come_back(&first, &back, "localhost:7420").await;
    assert_eq!(status, StatusCode::OK, "{words}");
    assert!(words.starts_with("You are signed in to locked."), "{words}");
    let ready = until(&first, "locked", |state| state.state == Standing::Ready).await;
    assert_eq!((ready.words.as_str(), ready.sign_in.is_none()), ("1 tool, 0 views", true));
    {
        let books = site.books();
        assert_eq!(books.asked[0]["resource"], site.url().as_str(), "RFC 8707");
        assert_eq!(books.asked[0]["scope"], "read", "what the challenge says, no more");
        assert_eq!(books.registered, 1);
    }
    assert!(first.restart("locked"));
    until(&first, "locked", |state| state.state == Standing::Connecting).await;
    until(&first, "locked", |state| state.state == Standing::Ready).await;
    assert_eq!(site.books().asked.len(), 1, "nobody had to sign in again");
    first.close().await;

    // Who listens at an address of this machine may be another program in the next run: it is not given the token.
    let second = host(&[("locked", &site)], Some(folder.path()));
    until(&second, "locked", |state| state.state == Standing::SignIn).await;
    assert!(!folder.path().join("tokens.json").exists());
    let log = first.log().after(0, Duration::ZERO).await;
    let books = site.books();
    // Neither the log nor the page has ever seen a secret.
    let shown = serde_json::to_string(&(log, ready.tools, ready.findings)).unwrap();
    let state = address.split("state=").nth(1).unwrap().split('&').next().unwrap();
    for secret in books.secrets.iter().map(String::as_str).chain([state]) {
        assert!(!shown.contains(secret) && !words.contains(secret), "{secret} in {shown}");
    }
}

#[tokio::test]
async fn only_who_was_invited_comes_back_and_only_once() {
    let site = Site::start().await;
    let host = host(&[("locked", &site)], None);
    let asks = until(&host, "locked", |state| state.sign_in.is_some()).await;
    let back = agree(&asks.sign_in.unwrap().url).await;
    let (before, state) = back.split_once("state=").unwrap();
    let (state, after) = state.split_once('&').unwrap();
    let longer = format!("{back}&junk={}", "x".repeat(20_000));
    let wrong = [
        format!("{before}state=guessed&{after}"),
        format!("{before}state=&{after}"),
        format!("{before}{after}"),
        format!("{back}&state={state}"),
        format!("{back}&code=another"),
        longer,
        REDIRECT.to_owned(),
    ];
    for address in &wrong {
        let (status, words) = come_back(&host, address, "localhost:7420").await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{address}");
        assert!(words.contains("not a sign-in that was asked for"), "{words}");
    }
    let (status, _) = come_back(&host, &back, "rebound.example:7420").await;
    assert_eq!(status, StatusCode::MISDIRECTED_REQUEST, "D14");
    // None of that used the invitation up, or did anything.
    assert!(site.books().tokens.is_empty());
    assert_eq!(come_back(&host, &back, "localhost:7420").await.0, StatusCode::OK);
    until(&host, "locked", |state| state.state == Standing::Ready).await;
    let (status, _) = come_back(&host, &back, "localhost:7420").await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "once");
}

#[tokio::test]
async fn who_is_refused_is_asked_again() {
    let site = Site::start().await;
    let host = host(&[("locked", &site)], None);
    let asks = until(&host, "locked", |state| state.sign_in.is_some()).await;
    let first = asks.sign_in.unwrap().url;
    let state = first.split("state=").nth(1).unwrap().split('&').next().unwrap();
    let back = format!("{REDIRECT}?error=access_denied&error_description=no+way&state={state}");
    let (status, words) = come_back(&host, &back, "localhost:7420").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(words.contains("access_denied: no way"), "{words}");
    let again = |state: &ServerState| state.sign_in.as_ref().is_some_and(|at| at.url != first);
    until(&host, "locked", again).await;
}

#[tokio::test]
async fn a_token_that_ended_is_renewed_and_one_that_was_revoked_is_asked_for_anew() {
    let site = Site::start().await;
    let (oauth, upstream) = signed_in(&site).await;
    // Revoked before its time: the refresh token is still good.
    site.books().tokens.clear();
    call(&upstream, "look").await.unwrap();
    assert_eq!(site.books().refreshed, 1);
    // Revoked again at once: nobody is asked for tokens in a circle, the person is asked.
    site.books().tokens.clear();
    let error = call(&upstream, "look").await.unwrap_err();
    assert!(
        matches!(error, CallError::Http(upstream::HttpError::Unauthorized { .. })),
        "{error:?}"
    );
    assert_eq!(site.books().refreshed, 1);
    oauth.asked().await;
    sign_in(&oauth).await.unwrap();
    call(&upstream, "look").await.unwrap();
    assert_eq!(site.books().registered, 1, "we are still who we were");
}

#[tokio::test]
async fn a_token_that_is_about_to_end_is_renewed_before_it_is_sent() {
    let site = Site::start().await;
    site.books().lifetime = 5;
    let (_, upstream) = signed_in(&site).await;
    assert_eq!(site.books().refreshed, 1);
    call(&upstream, "look").await.unwrap();
}

#[tokio::test]
async fn rights_that_are_missing_are_asked_for_beside_those_there_are() {
    let site = Site::start().await;
    let (oauth, upstream) = signed_in(&site).await;
    assert!(call(&upstream, "change").await.is_err());
    oauth.asked().await;
    sign_in(&oauth).await.unwrap();
    call(&upstream, "change").await.unwrap();
    let books = site.books();
    assert_eq!(books.asked[1]["scope"], "read write");
    assert_eq!(books.asked[1]["client_id"], books.asked[0]["client_id"]);
}

#[tokio::test]
async fn a_configured_client_is_not_registered() {
    let site = Site::start().await;
    let scopes = vec!["cards".to_owned()];
    let client_id = Some("transom".to_owned());
    let registration = Registration { client_id, scopes, client_secret: None };
    let tokens = Tokens::in_memory();
    let oauth = OAuth::new(&site.url(), registration, REDIRECT.to_owned(), tokens);
    sign_in(&oauth).await.unwrap();
    let books = site.books();
    assert_eq!(books.registered, 0);
    assert_eq!((&*books.asked[0]["client_id"], &*books.asked[0]["scope"]), ("transom", "cards"));
}

#[tokio::test]
async fn tokens_of_one_server_are_never_sent_to_another() {
    let (one, other) = (Site::start().await, Site::start().await);
    let host = host(&[("one", &one), ("other", &other)], None);
    let invited = |state: &ServerState| state.sign_in.is_some();
    let at_one = until(&host, "one", invited).await.sign_in.unwrap().url;
    let at_other = until(&host, "other", invited).await.sign_in.unwrap().url;
    // The code of one with the state of the other: what a mix-up looks like (RFC 9207).
    let (of_one, of_other) = (agree(&at_one).await, agree(&at_other).await);
    let state = |address: &str| {
        address.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned()
    };
    let mixed = of_one.replace(&state(&of_one), &state(&of_other));
    let (status, words) = come_back(&host, &mixed, "localhost:7420").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(words.contains("not signed in to other") && words.contains("issuer"), "{words}");
    assert_eq!(come_back(&host, &of_one, "localhost:7420").await.0, StatusCode::OK);
    until(&host, "one", |state| state.state == Standing::Ready).await;
    // The one whose return was used up is invited anew.
    let again = |state: &ServerState| state.sign_in.as_ref().is_some_and(|at| at.url != at_other);
    let at_other = until(&host, "other", again).await.sign_in.unwrap().url;
    assert_eq!(come_back(&host, &agree(&at_other).await, "localhost:7420").await.0, StatusCode::OK);
    until(&host, "other", |state| state.state == Standing::Ready).await;
    let (one, other) = (one.books(), other.books());
    assert!(one.seen.iter().all(|token| one.tokens.contains_key(token)), "{:?}", one.seen);
    assert!(other.seen.iter().all(|token| other.tokens.contains_key(token)), "{:?}", other.seen);
}

#[tokio::test]
async fn a_hostile_server_sends_nobody_anywhere() {
    let elsewhere = Site::start().await;
    let away = &elsewhere.origin;
    let of_metadata = |lie: Value| (Value::Null, lie);
    let of_resource = |lie: Value| (lie, Value::Null);
    #[rustfmt::skip]
    let table = [
        (of_metadata(json!({"authorization_endpoint": "http://evil.test/authorize"})), "not safe"),
        (of_metadata(json!({"authorization_endpoint": "file:///etc/passwd"})),         "not safe"),
        (of_metadata(json!({"authorization_endpoint": "javascript:alert(1)"})),        "not safe"),
        (of_metadata(json!({"authorization_endpoint": "https://you@evil.test/"})),     "not safe"),
        (of_metadata(json!({"authorization_endpoint": "nonsense"})),                   "not safe"),
        (of_metadata(json!({"token_endpoint": "http://169.254.169.254/token"})),       "not safe"),
        (of_metadata(json!({"token_endpoint": "file:///dev/zero"})),                   "not safe"),
        (of_metadata(json!({"registration_endpoint": "http://10.0.0.1/"})),            "not safe"),
        (of_metadata(json!({"registration_endpoint": "https://10.0.0.1/"})),           "address not allowed"),
        (of_metadata(json!({"issuer": "https://accounts.test"})),                      "issuer mismatch"),
        (of_metadata(json!({"code_challenge_methods_supported": ["plain"]})),          "S256"),
        (of_metadata(json!({"registration_endpoint": null})),                          "registration not supported"),
        (of_resource(json!({"resource": "https://bank.test/mcp"})),                    "resource mismatch"),
        (of_resource(json!({"resource": format!("{away}/mcp")})),                      "resource mismatch"),
        (of_resource(json!({"authorization_servers": ["http://169.254.169.254"]})),    "none published"),
        (of_resource(json!({"authorization_servers": ["http://192.168.1.1/"]})),       "none published"),
        (of_resource(json!({"authorization_servers": ["file:///etc/passwd"]})),        "none published"),
    ];
    for ((resource, metadata), words) in table {
        let site = Site::start().await;
        let row = format!("{resource} {metadata}");
        {
            let mut books = site.books();
            (books.resource, books.metadata) = (resource, metadata);
        }
        let oauth = Arc::new(oauth(&site));
        let options = Options { oauth: Some(Arc::clone(&oauth)), ..Options::default() };
        Upstream::connect(site.target(), options).await.unwrap_err();
        let error = oauth.invite().await.unwrap_err().to_string();
        assert!(error.contains(words) && error.len() < 600, "{row}: {error}");
        assert!(site.books().asked.is_empty());
    }
    assert_eq!(elsewhere.books().registered, 0);
}

#[tokio::test]
async fn documents_of_any_size_or_place_end_in_words() {
    fn endless(_: &str) -> axum::response::Response {
        let body = vec![b' '; 3 << 20];
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
    fn away(name: &str) -> axum::response::Response {
        // Whoever follows this one asks somebody on behalf of a stranger.
        let place = format!("http://127.0.0.2:1/.well-known/{name}");
        (StatusCode::FOUND, [(header::LOCATION, place)]).into_response()
    }
    fn around(name: &str) -> axum::response::Response {
        (StatusCode::FOUND, [(header::LOCATION, format!("/.well-known/{name}"))]).into_response()
    }
    fn local(_: &str) -> axum::response::Response {
        (StatusCode::FOUND, [(header::LOCATION, "file:///etc/passwd")]).into_response()
    }
    #[rustfmt::skip]
    let table: [(Instead, &str); 4] = [
        (endless, "exceeds 1048576 bytes"),
        (away,    "non-same-origin"),
        (around,  "redirects"),
        (local,   "non-same-origin"),
    ];
    for (instead, words) in table {
        let site = Site::start().await;
        site.books().instead = Some(instead);
        let error = oauth(&site).invite().await.unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_place_to_sign_in_that_never_answers_is_given_up() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap()).parse().unwrap();
    let tokens = Tokens::in_memory();
    let oauth = OAuth::new(&url, Registration::default(), REDIRECT.to_owned(), tokens);
    let began = tokio::time::Instant::now();
    oauth.invite().await.unwrap_err();
    assert!(began.elapsed() <= Duration::from_secs(60), "{:?}", began.elapsed());
}

#[tokio::test]
async fn no_token_goes_to_a_server_that_others_can_listen_to() {
    let url = "http://mcp.example/mcp".parse().unwrap();
    let tokens = Tokens::in_memory();
    let oauth = OAuth::new(&url, Registration::default(), REDIRECT.to_owned(), tokens);
    assert_eq!(oauth.invite().await.unwrap_err(), NotSignedIn::Plain);
}
