//! `transom isolation`: a hostile view in a real browser, and what became of everything it tried.

mod attempts;
mod evidence;
mod plan;
mod report;
mod servers;
mod text;
mod traps;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use axum::{
    Json, Router,
    extract::{Path as Route, Query, State},
    http::header,
    response::{Html, IntoResponse},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout, timeout_at},
};
use transom::{
    csp::Grant,
    host::Terms,
    origin::Origin,
    policy::{Domains, Nearby, Policy},
};
use transom_host::{Agreement, Host, sandbox::Naming, upstream::Target};

use crate::{
    arguments::IsolationArguments,
    browser::{self, Browser},
    interrupts::Interrupts,
    listen, nonce,
    progress::patiently,
    terminal,
};
use evidence::{Evidence, Said, Seen};
use plan::Plan;
use report::Report;
use servers::{Cast, Role, server};
use traps::Traps;

/// Tries everything, prints what became of it, and says by the exit code whether it is as it should be.
pub(crate) fn isolation(arguments: &IsolationArguments) -> Result<ExitCode> {
    let program = browser::find(arguments.browser.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = runtime.block_on(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let say = |passed: Duration| eprintln!("transom: trying… ({} s)", passed.as_secs());
        tokio::select! {
            report = patiently(try_all(&program, arguments), say) => report,
            _ = interrupts.next() => bail!("interrupted"),
        }
    })?;
    if arguments.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        terminal::print(&text::print(&report))?;
    }
    Ok(ExitCode::from(report.verdict()))
}

async fn try_all(program: &Path, arguments: &IsolationArguments) -> Result<Report> {
    let (seen, mut news) = mpsc::channel(1024);
    let traps = Traps::set(seen.clone()).await.context("cannot listen on loopback")?;
    let (page, sandbox) = listen::pair(arguments.port).await?;
    let origin = format!("http://localhost:{}", page.port);
    let secret = format!("secret-{}", nonce::fresh());
    let plan = Plan { traps, page: origin.clone(), secret };
    let (ready, _) = watch::channel(false);
    let cast = Arc::new(Cast { plan, seen, ready });
    let (finish, _) = watch::channel(false);
    let desk = Desk { cast: Arc::clone(&cast), finish };
    let mut evidence = Evidence::default();
    let host = if arguments.naive { None } else { Some(build(&cast, &origin, sandbox.port)?) };
    let (router, address) = match &host {
        Some(host) => {
            evidence.secrets.push(host.token());
            let routes = host.guard(routes(desk.clone(), PAGE_SCRIPT)).merge(host.page_router());
            listen::serve(sandbox, &host.sandbox_router());
            (routes, format!("{origin}/isolation#token={}", host.token()))
        }
        None => (naive_routes(desk.clone()), format!("{origin}/isolation")),
    };
    listen::serve(page, &router);
    let folder = tempfile::tempdir().context("there is no place for a profile")?;
    let mut browser = start(program, folder.path(), &arguments.browser_flag).await?;
    let version = browser.version().await?;
    browser.open(&address).await?;
    watch_until_over(&mut evidence, &mut news, &mut browser).await?;
    // What was on its way arrives, and then the page has the last word.
    gather(&mut evidence, &mut news, SETTLE, |_| false).await;
    gather(&mut evidence, &mut news, ARRIVAL, Evidence::has_all_open).await;
    desk.finish.send_replace(true);
    gather(&mut evidence, &mut news, LAST_WORD, Evidence::is_final).await;
    // A page that was sent elsewhere is an escape; one that is merely slow is no finding at all.
    if !evidence.is_final() && browser.address().await?.starts_with(&origin) {
        bail!("the page did not answer within {} s", LAST_WORD.as_secs());
    }
    evidence.downloads = downloads(folder.path()).read_dir().map_or(0, Iterator::count);
    browser.close().await;
    if let Some(host) = host {
        host.close().await;
    }
    Ok(Report { browser: version, naive: arguments.naive, findings: evidence.findings() })
}

/// A browser with a fresh profile and no window, which answers every question with yes, so that what stands in the way is
/// not a question that got no answer.
async fn start(program: &Path, folder: &Path, flags: &[String]) -> Result<Browser> {
    let unsandboxed = browser::is_root(folder).then_some("--no-sandbox");
    let flags = FLAGS.into_iter().chain(unsandboxed).chain(flags.iter().map(String::as_str));
    let mut browser = Browser::start(program, &folder.join("profile"), flags).await?;
    std::fs::create_dir_all(downloads(folder))?;
    let allow = json!({ "behavior": "allow", "downloadPath": downloads(folder) });
    browser.call("Browser.setDownloadBehavior", allow).await?;
    let all = json!({ "permissions": ["geolocation", "clipboardReadWrite", "audioCapture", "videoCapture"] });
    browser.call("Browser.grantPermissions", all).await?;
    let somewhere = json!({ "latitude": 38.7, "longitude": -9.1, "accuracy": 1 });
    browser.on_page("Emulation.setGeolocationOverride", somewhere).await?;
    Ok(browser)
}

fn downloads(folder: &Path) -> PathBuf {
    folder.join("downloads")
}

fn build(cast: &Arc<Cast>, origin: &str, sandbox: u16) -> Result<Host> {
    let target = |role| Target::InProcess(server(cast, role));
    // The ally that the view declares is a listener of this machine, like all the others, which it must not reach.
    let ally: Nearby = cast.plan.traps.ally.trim_start_matches("http://").parse()?;
    let domains = Domains { private: vec![ally], ..Domains::default() };
    let policy = Policy { domains, ..Policy::default() };
    let all = Agreement {
        grants: Grant::ALL.to_vec(),
        policy: Some(policy.clone()),
        ..Agreement::default()
    };
    let host = Host::builder(vec![Origin::parse(origin)?], Naming::Localhost { port: sandbox })
        .server("stranger", target(Role::Stranger))
        .server_with("granted", target(Role::Stranger), all)
        .server("neighbour", target(Role::Neighbour))
        .policy(policy)
        // Seven views open at once, on a machine that may be busy, and how fast is not the question.
        .terms(Terms { handshake: PATIENCE, ..Terms::default() })
        .build()?;
    Ok(host)
}

/// Notes what is seen and clicks where a view wants it, until nothing more is to be expected.
async fn watch_until_over(
    evidence: &mut Evidence,
    news: &mut mpsc::Receiver<Seen>,
    browser: &mut Browser,
) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while !evidence.is_complete() && Instant::now() < end {
        let wanted = evidence.click.clone();
        let mut time = end - Instant::now();
        if wanted.is_some() {
            // A click before the view is painted is lost, so it is repeated until the view says that it was clicked. The
            // browser may not confirm a click that was lost.
            if let Ok(clicked) = timeout(CLICK, browser.click(40, 40)).await {
                clicked?;
            }
            time = CLICK_AGAIN;
        }
        let over = |evidence: &Evidence| evidence.click != wanted || evidence.is_complete();
        gather(evidence, news, time, over).await;
    }
    Ok(())
}

async fn gather(
    evidence: &mut Evidence,
    news: &mut mpsc::Receiver<Seen>,
    time: Duration,
    enough: impl Fn(&Evidence) -> bool,
) {
    let end = Instant::now() + time;
    while !enough(evidence) {
        let Ok(Some(seen)) = timeout_at(end, news.recv()).await else { return };
        evidence.note(seen);
    }
}

/// What the page's routes share.
#[derive(Clone)]
struct Desk {
    cast: Arc<Cast>,
    finish: watch::Sender<bool>,
}

fn routes(desk: Desk, script: &'static str) -> Router {
    let file = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text).into_response() })
    };
    Router::new()
        .route("/isolation", get(async || Html(include_str!("isolation/page.html"))))
        .route("/isolation/page.js", file("text/javascript; charset=utf-8", script))
        .route(
            "/isolation/page.css",
            file("text/css; charset=utf-8", include_str!("isolation/page.css")),
        )
        .route("/isolation/host.js", file("text/javascript; charset=utf-8", transom_web::HOST))
        .route(
            "/isolation/plan",
            get(async |State(desk): State<Desk>| Json(desk.cast.plan.mount())),
        )
        .route("/isolation/report", post(report))
        .route("/isolation/finish", get(finish))
        .with_state(desk)
}

async fn report(State(desk): State<Desk>, body: String) {
    let said: Value = serde_json::from_str(&body).unwrap_or_default();
    desk.cast.hear(Said::deserialize_lossy(&said)).await;
}

async fn finish(State(desk): State<Desk>) {
    let _ = desk.finish.subscribe().wait_for(|over| *over).await;
}

async fn ready(State(desk): State<Desk>) {
    let _ = desk.cast.ready.subscribe().wait_for(|ready| *ready).await;
}

/// Without a host, and with every door that a careless one leaves open.
fn naive_routes(desk: Desk) -> Router {
    let documents = Router::new()
        .route("/isolation/naive/{server}", get(naive))
        .route("/isolation/ready", get(ready))
        .route(
            "/isolation/worker.js",
            get(async || ([(header::CONTENT_TYPE, "text/javascript")], "")),
        )
        .route("/api/state", get(async || "{}"))
        .with_state(desk.clone());
    routes(desk, include_str!("isolation/naive-page.js")).merge(documents)
}

#[derive(Deserialize)]
struct Which {
    view: String,
}

async fn naive(
    State(desk): State<Desk>,
    Route(server): Route<String>,
    Query(Which { view }): Query<Which>,
) -> Html<String> {
    let plan = &desk.cast.plan;
    if server == "neighbour" {
        return Html(plan.naive_neighbour());
    }
    Html(plan.naive_stranger(&view))
}

/// What stops a view must be the host, and no flag.
const FLAGS: [&str; 7] = [
    "--headless",
    "--enable-unsafe-swiftshader",
    "--disable-popup-blocking",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--window-size=800,1200",
];
const PAGE_SCRIPT: &str = include_str!("isolation/page.js");
/// How long the attempts together may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long after the last attempt something may still arrive that must not.
const SETTLE: Duration = Duration::from_secs(2);
/// How long is waited for what no host can stop.
const ARRIVAL: Duration = Duration::from_secs(20);
/// How long the page may take to say what it knows.
const LAST_WORD: Duration = Duration::from_secs(60);
/// How long the browser may take to confirm a click, and how soon one that had no effect is repeated.
const CLICK: Duration = Duration::from_secs(10);
const CLICK_AGAIN: Duration = Duration::from_millis(500);
