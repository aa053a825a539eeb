//! `transom doctor`: follows one view from its server's first word to its first paint, in a real browser, and says where it breaks.

mod diagnosis;
mod evidence;
mod text;
mod walk;

use std::{path::Path, process::ExitCode, time::Duration};

use anyhow::{Context as _, Result, bail};
use axum::{
    Json, Router,
    http::header,
    response::{Html, IntoResponse as _},
    routing::get,
};
use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use transom::{
    origin::Origin,
    policy::{Domains, Nearby, Policy},
};
use transom_host::{Agreement, Host, Standing, sandbox::Naming};

use crate::{
    arguments::DoctorArguments,
    browser::{self, Browser},
    config::{self, Config, ConfiguredServer, Surroundings},
    interrupts::Interrupts,
    listen,
    progress::patiently,
    terminal,
};
use evidence::Evidence;
use walk::Report;

/// Walks, prints how far it came, and says by the exit code whether that is all the way.
pub(crate) fn doctor(arguments: &DoctorArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let program = browser::find(arguments.browser.as_deref())?;
    let config = Config::of_servers(&arguments.servers, around)?;
    config::warn(&config.servers);
    let [server] = &*config.servers else {
        bail!("name one server to look at, not {}", config.servers.len())
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = runtime.block_on(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let say = |passed: Duration| eprintln!("transom: looking… ({} s)", passed.as_secs());
        tokio::select! {
            report = patiently(look(&program, server, arguments), say) => report,
            _ = interrupts.next() => bail!("interrupted"),
        }
    })?;
    if arguments.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        terminal::print(&text::print(&report))?;
    }
    Ok(ExitCode::from(u8::from(report.broken().is_some())))
}

async fn look(
    program: &Path,
    server: &ConfiguredServer,
    arguments: &DoctorArguments,
) -> Result<Report> {
    let (page, sandbox) = listen::pair(PORT).await?;
    let origin = Origin::parse(&format!("http://localhost:{}", page.port))?;
    let naming = Naming::Localhost { port: sandbox.port };
    // What a person would be asked about is not what is looked for here; and whoever runs this looks at their own server.
    let domains = Domains { private: vec![Nearby::Loopback], ..Domains::default() };
    let policy = Policy { domains, ..Policy::default() };
    let agreement = Agreement { own: true, policy: Some(policy), ..server.agreement() };
    let mut builder = Host::builder(vec![origin.clone()], naming);
    builder = builder.server_with(&server.name, server.target.clone(), agreement);
    let host = builder.build()?;
    host.keep_timeline();
    let state = settled(&host, Duration::from_secs(arguments.wait)).await;
    let mut evidence = Evidence::new(&server.name, state, &host.trace());
    evidence.choose(arguments.tool.as_deref());
    if evidence.tool.is_some() && evidence.state.state == Standing::Ready {
        let routes = host.guard(routes(evidence.call(arguments.input.as_deref())?));
        listen::serve(page, &routes.merge(host.page_router()));
        listen::serve(sandbox, &host.sandbox_router());
        let folder = tempfile::tempdir().context("there is no place for a profile")?;
        let mut browser = start(program, folder.path(), arguments).await?;
        browser.open(&format!("{origin}/doctor#token={}", host.token())).await?;
        watch(&mut evidence, &host, &mut browser, arguments).await?;
        if let Some(path) = &arguments.screenshot {
            shoot(&mut browser, path).await?;
        }
        browser.close().await;
    }
    host.close().await;
    Ok(walk::walk(&evidence))
}

/// The server, once it is ready or known not to get there.
async fn settled(host: &Host, patience: Duration) -> transom_host::ServerState {
    let end = Instant::now() + patience;
    let mut seen = None;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let (version, mut states) = host.servers(seen, left).await;
        seen = Some(version);
        let state = states.pop().expect("there is one server");
        if state.state != Standing::Connecting || left.is_zero() {
            return state;
        }
    }
}

async fn start(program: &Path, folder: &Path, arguments: &DoctorArguments) -> Result<Browser> {
    let unsandboxed = browser::is_root(folder).then_some("--no-sandbox");
    let reduced = arguments.reduced_motion.then_some("--force-prefers-reduced-motion");
    let flags = FLAGS.into_iter().chain(unsandboxed).chain(reduced);
    let flags = flags.chain(arguments.browser_flag.iter().map(String::as_str));
    Browser::start(program, &folder.join("profile"), flags).await
}

/// Runs the tool on the page and looks again and again, until the view is there or its time is over.
async fn watch(
    evidence: &mut Evidence,
    host: &Host,
    browser: &mut Browser,
    arguments: &DoctorArguments,
) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(arguments.wait);
    while Instant::now() < end && !evidence.is_complete() {
        sleep(AGAIN).await;
        evidence.look(browser).await?;
        evidence.hear(&host.trace(), host.log().after(0, Duration::ZERO).await);
    }
    Ok(())
}

/// A page with the view of one tool and nothing else.
fn routes(tool: Value) -> Router {
    let file = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text).into_response() })
    };
    Router::new()
        .route("/doctor", get(async || Html(include_str!("doctor/page.html"))))
        .route(
            "/doctor/page.js",
            file("text/javascript; charset=utf-8", include_str!("doctor/page.js")),
        )
        .route("/doctor/page.css", file("text/css; charset=utf-8", include_str!("doctor/page.css")))
        .route("/doctor/host.js", file("text/javascript; charset=utf-8", transom_web::HOST))
        .route("/doctor/tool", get(move || async move { Json(tool) }))
}

/// What a person would see.
async fn shoot(browser: &mut Browser, path: &Path) -> Result<()> {
    let shot = browser.on_page("Page.captureScreenshot", json!({ "format": "png" })).await?;
    let data = shot["data"].as_str().unwrap_or_default();
    let bytes = BASE64.decode(data.as_bytes()).context("the browser gave no picture")?;
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

const PORT: u16 = 7540;
const AGAIN: Duration = Duration::from_millis(250);
const FLAGS: [&str; 3] = ["--headless", "--hide-scrollbars", "--window-size=1280,900"];
