//! A host inside an axum application that has a page of its own.
//!
//! `cargo run -p transom-host --example embed`, then open the address that it prints, or sign in with the code at its end. Each load of
//! the page gets a key of its own, so it can be reloaded, and opened in as many tabs as one likes.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::RawQuery,
    http::{
        HeaderMap, StatusCode,
        header::{CONTENT_TYPE, COOKIE, SET_COOKIE},
    },
    response::{Html, IntoResponse as _, Redirect},
    routing::{get, post},
};
use tokio::net::TcpListener;
use transom::origin::Origin;
use transom_host::{Host, PagePolicy, demo, sandbox::Naming, upstream::Target};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listen = |port| TcpListener::bind(("127.0.0.1", port));
    let (page, frames) = (listen(7620).await?, listen(7621).await?);
    let origin = Origin::parse("http://localhost:7620")?;
    let host = Host::builder(vec![origin], Naming::Localhost { port: 7621 })
        .server("demo", Target::InProcess(demo::server()))
        // The page has a form to sign in, which no page of a host has by itself.
        .page_policy(PagePolicy::default().forms())
        .build()?;
    let host = Arc::new(host);
    let script = |text: &'static str| {
        get(move || async move { ([(CONTENT_TYPE, "text/javascript")], text) })
    };
    let own = signing_in(&host)
        .route("/", get(async || Html(include_str!("embed/page.html"))))
        .route("/page.js", script(include_str!("embed/page.js")))
        .route("/transom.js", script(transom_web::HOST));
    let (own, sandbox) = (host.guard(own).merge(host.api_router()), host.sandbox_router());
    // Served with limits on what a stranger who connects may take.
    tokio::join!(transom_host::serve(page, own), transom_host::serve(frames, sandbox));
    Ok(())
}

/// How this application knows its user; yours has a way of its own. Whoever opens the printed address has a cookie for the day,
/// and whoever has the cookie gets a key for each load of the page. On this machine that is every program that the browser talks to:
/// cookies know no ports. On a domain of its own, over https, a cookie is its application's alone.
fn signing_in(host: &Arc<Host>) -> Router {
    let day = host.page_key(Duration::from_secs(24 * 60 * 60));
    println!("http://localhost:7620/enter?{}", day.reveal());
    let (code, host) = (day.clone(), Arc::clone(host));
    let enter = move |given: &str| match code.is(given) {
        true => {
            let cookie = format!("day={given}; HttpOnly; SameSite=Strict; Path=/");
            ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        false => StatusCode::UNAUTHORIZED.into_response(),
    };
    let by_form = enter.clone();
    let sign_in = async move |form: String| by_form(form.trim_start_matches("code="));
    let enter = async move |code: RawQuery| enter(code.0.as_deref().unwrap_or_default());
    let key = async move |headers: HeaderMap| {
        let cookies = headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut cookies = cookies.split("; ").filter_map(|cookie| cookie.strip_prefix("day="));
        if !cookies.any(|code| day.is(code)) {
            return Err(StatusCode::UNAUTHORIZED);
        }
        Ok(host.page_key(Duration::from_secs(60 * 60)).reveal().to_owned())
    };
    Router::new().route("/enter", get(enter).post(sign_in)).route("/key", post(key))
}
