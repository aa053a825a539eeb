//! What a person does at the page beside its views: servers that they add, end and ask themselves, and what they ran.
//!
//! The key is asked for before a body is read. What is asked of a server is one of a few methods, whose params are read, judged by
//! their types and printed again here.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Query, Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Page;
use crate::{
    adding::AddError,
    runs::ShownRun,
    server::Server,
    upstream::{CallOptions, Request as Asking},
};

/// The routes, for pages that show the key.
pub(super) fn routes(page: &Arc<Page>) -> Router<Arc<Page>> {
    Router::new()
        .route("/api/runs", get(runs))
        .route("/api/run", get(run))
        .route("/api/server", get(server))
        .route("/api/ask", post(ask))
        .route("/api/add", post(add))
        .route("/api/keep", post(keep))
        .route("/api/remove", post(remove))
        .route("/api/restart", post(restart))
        // Of these routes alone: a layer would answer for every other address too.
        .route_layer(DefaultBodyLimit::max(BODY))
        .route_layer(middleware::from_fn_with_state(Arc::clone(page), known))
}

async fn known(State(page): State<Arc<Page>>, request: Request, next: Next) -> Response {
    match page.knows(request.headers()) {
        Ok(_) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

#[derive(Deserialize)]
struct Seen {
    seen: Option<u64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Runs", optional_fields))]
pub(crate) struct AllRuns {
    version: u64,
    /// Newest first; nothing, if nothing is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<ShownRun>>,
}

async fn runs(State(page): State<Arc<Page>>, Query(Seen { seen }): Query<Seen>) -> Json<AllRuns> {
    let (version, runs) = page.runs.shown(seen);
    Json(AllRuns { version, runs })
}

#[derive(Deserialize)]
struct Number {
    n: u64,
}

/// The arguments and the answer of a run, as their authors wrote them.
async fn run(State(page): State<Arc<Page>>, Query(Number { n }): Query<Number>) -> Response {
    let Some((arguments, result)) = page.runs.whole(n) else {
        return refuse(StatusCode::NOT_FOUND, "This run is not kept any more.");
    };
    let part = |text: Option<Arc<str>>| text.map_or_else(|| "null".into(), |text| text.to_string());
    let text = format!(r#"{{"arguments":{},"result":{}}}"#, part(arguments), part(result));
    json(text)
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

async fn server(State(page): State<Arc<Page>>, Query(Named { name }): Query<Named>) -> Response {
    let Some(server) = page.servers.get(&name) else { return unknown() };
    let Some(about) = server.about() else {
        return refuse(StatusCode::CONFLICT, "The server is not connected.");
    };
    Json(about).into_response()
}

/// What a person asks a server for themselves.
#[derive(Deserialize)]
struct Asked {
    server: String,
    #[serde(flatten)]
    what: What,
}

#[derive(Deserialize)]
#[serde(tag = "method", content = "params", deny_unknown_fields)]
enum What {
    #[serde(rename = "resources/list")]
    Resources(Cursor),
    #[serde(rename = "resources/templates/list")]
    Templates(Cursor),
    #[serde(rename = "prompts/list")]
    Prompts(Cursor),
    #[serde(rename = "resources/read")]
    Read(Read),
    #[serde(rename = "prompts/get")]
    Prompt(Prompt),
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Cursor {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Read {
    uri: String,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Prompt {
    name: String,
    #[serde(default)]
    arguments: std::collections::BTreeMap<String, String>,
}

impl What {
    /// The method, what it is about, and the params as we print them.
    fn parts(&self) -> (&'static str, &str, serde_json::Result<Box<RawValue>>) {
        let raw = serde_json::value::to_raw_value;
        match self {
            Self::Resources(cursor) => ("resources/list", "", raw(cursor)),
            Self::Templates(cursor) => {
                ("resources/templates/list", "", serde_json::value::to_raw_value(cursor))
            }
            Self::Prompts(cursor) => ("prompts/list", "", serde_json::value::to_raw_value(cursor)),
            Self::Read(read) => {
                ("resources/read", &read.uri, serde_json::value::to_raw_value(read))
            }
            Self::Prompt(prompt) => {
                ("prompts/get", &prompt.name, serde_json::value::to_raw_value(prompt))
            }
        }
    }

    /// Lists change nothing and are asked for whenever a server is looked at.
    fn is_list(&self) -> bool {
        !matches!(self, Self::Read(_) | Self::Prompt(_))
    }
}

async fn ask(State(page): State<Arc<Page>>, Json(asked): Json<Asked>) -> Response {
    let Asked { server, what } = asked;
    let Some(server) = page.servers.get(&server) else { return unknown() };
    let (method, about, params) = what.parts();
    let request = params.ok().and_then(|params| Asking::with_params(method, &params).ok());
    let Some(request) = request else {
        return refuse(StatusCode::BAD_REQUEST, "This cannot be asked.");
    };
    if !what.is_list()
        && let Err(error) = page.door.note_asked(&server, method, about).await
    {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string());
    }
    answer(&server, &request).await
}

async fn answer(server: &Server, request: &Asking) -> Response {
    let call = match server.start(request, CallOptions::default()) {
        Ok(call) => call,
        Err(error) => return refuse(StatusCode::BAD_GATEWAY, &error.to_string()),
    };
    match call.outcome().await {
        Ok(result) if result.get().len() > ANSWER => {
            let words = format!(
                "The answer has {} bytes, which is too much for the page.",
                result.get().len()
            );
            refuse(StatusCode::BAD_GATEWAY, &words)
        }
        Ok(result) => json(result.get().to_owned()),
        Err(error) => refuse(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

#[derive(Serialize)]
struct Added {
    names: Vec<String>,
}

/// What a person wrote: an address, or a server as `mcpServers` files have it. It is for the doorkeeper to read.
async fn add(State(page): State<Arc<Page>>, text: String) -> Response {
    match page.door.ask(&text).await {
        Ok(names) => Json(Added { names }).into_response(),
        Err(words) => refuse(StatusCode::FORBIDDEN, &words),
    }
}

#[derive(Serialize)]
struct Kept {
    file: String,
}

async fn keep(State(page): State<Arc<Page>>, Json(Named { name }): Json<Named>) -> Response {
    match page.door.keep(&name).await {
        Ok(file) => Json(Kept { file }).into_response(),
        Err(words) => refuse(StatusCode::FORBIDDEN, &words),
    }
}

async fn remove(State(page): State<Arc<Page>>, Json(Named { name }): Json<Named>) -> Response {
    done(page.door.remove(&name).await)
}

async fn restart(State(page): State<Arc<Page>>, Json(Named { name }): Json<Named>) -> Response {
    done(page.door.restart(&name).await)
}

fn done(outcome: Result<bool, AddError>) -> Response {
    match outcome {
        Ok(true) => StatusCode::NO_CONTENT.into_response(),
        Ok(false) => unknown(),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

fn unknown() -> Response {
    refuse(StatusCode::NOT_FOUND, "There is no such server.")
}

fn json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn refuse(status: StatusCode, words: &str) -> Response {
    #[derive(Serialize)]
    struct Refused<'a> {
        error: &'a str,
    }
    (status, Json(Refused { error: words })).into_response()
}

/// How much a person may send at once, and how large an answer may be that is passed on, in bytes.
const BODY: usize = 256 << 10;
const ANSWER: usize = 32 << 20;
