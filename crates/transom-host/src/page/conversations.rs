//! Conversations, as the page asks for them: what is new as a stream of lines, wishes, and files to take away.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::{Page, keys::Term};
use crate::conversation::{Seen, Wish, WishError};

pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/api/talk", post(wish).layer(DefaultBodyLimit::max(BODY)))
        .route("/api/talk/news", get(news))
        .route("/api/talk/export", get(export))
}

async fn wish(State(page): State<Arc<Page>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(status) = page.knows(&headers) {
        return status.into_response();
    }
    let wish: Wish = match serde_json::from_slice(&body) {
        Ok(wish) => wish,
        Err(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    // It reads and writes files.
    let conversations = page.conversations.clone();
    let done = tokio::task::spawn_blocking(move || conversations.wish(wish)).await;
    match done {
        Ok(Ok(Some(id))) => Json(json!({ "id": id })).into_response(),
        Ok(Ok(None)) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(error)) => of(&error),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[derive(Deserialize)]
struct Open {
    open: Option<String>,
}

/// A line of JSON whenever something is new. A page that is far away reads the newest of each, and not all between.
async fn news(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Query(Open { open }): Query<Open>,
) -> Response {
    let term = match page.knows(&headers) {
        Ok(term) => term,
        Err(status) => return status.into_response(),
    };
    let Ok(permit) = Arc::clone(&page.streams).try_acquire_owned() else {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    };
    let mut changes = page.conversations.changes();
    changes.mark_changed();
    let follow = Follow { page, open, changes, seen: Seen::default(), term, _permit: permit };
    let lines = stream::unfold(follow, async |mut follow| {
        let line = follow.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(line)), follow))
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    (kind, Body::from_stream(lines)).into_response()
}

/// One page that follows.
struct Follow {
    page: Arc<Page>,
    open: Option<String>,
    changes: watch::Receiver<u64>,
    seen: Seen,
    term: Term,
    _permit: OwnedSemaphorePermit,
}

impl Follow {
    /// The next line; nothing more when the key has ended that it was opened with.
    async fn next(&mut self) -> Option<String> {
        loop {
            let changed = tokio::select! {
                () = self.term.ended() => return None,
                changed = tokio::time::timeout(ALIVE, self.changes.changed()) => changed,
            };
            match changed {
                // An empty line says that we are here, and finds out whether the page is.
                Err(_) => return Some("\n".to_owned()),
                Ok(changed) => changed.ok()?,
            }
            tokio::time::sleep(PACE).await;
            let news = self.page.conversations.news(self.open.as_deref(), &mut self.seen);
            if let Some(news) = news {
                let line = serde_json::to_string(&news).expect("it is JSON");
                return Some(format!("{line}\n"));
            }
        }
    }
}

#[derive(Deserialize)]
struct Export {
    id: String,
    form: String,
}

async fn export(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Query(Export { id, form }): Query<Export>,
) -> Response {
    if let Err(status) = page.knows(&headers) {
        return status.into_response();
    }
    let as_json = form == "json";
    let kind = if as_json { "application/json" } else { "text/markdown; charset=utf-8" };
    match page.conversations.export(&id, as_json) {
        Ok(text) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        Err(error) => of(&error),
    }
}

fn of(error: &WishError) -> Response {
    let status = match error {
        WishError::NoSuch => StatusCode::NOT_FOUND,
        WishError::Refused(_) => StatusCode::CONFLICT,
    };
    refused(status, &error.to_string())
}

fn refused(status: StatusCode, words: &str) -> Response {
    (status, Json(json!({ "error": words }))).into_response()
}

/// The largest wish.
const BODY: usize = 1 << 20;
/// Between two lines: a page draws no faster.
const PACE: Duration = Duration::from_millis(40);
const ALIVE: Duration = Duration::from_secs(25);
