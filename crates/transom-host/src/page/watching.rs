//! What a page asks for to look closer: the timeline, one moment of it, a trace, and the facts of a view.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use tokio::sync::oneshot;

use super::{After, POLL, Page, within};
use crate::{
    driver::{Event, ViewFacts},
    envelope::ViewId,
    timeline,
};

pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/api/timeline", get(batch))
        .route("/api/timeline/{n}", get(moment))
        .route("/api/trace", get(trace))
        .route("/api/view/{view}", get(facts))
}

/// What came since, once something did. While pages ask for this, everything is kept.
async fn batch(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Query(After { after }): Query<After>,
) -> Result<impl IntoResponse, StatusCode> {
    let term = page.knows(&headers)?;
    let _waits = page.polls.try_acquire().map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    page.timeline.look();
    let after = u64::try_from(after).unwrap_or(0);
    let kept = within(term, page.timeline.after(after, POLL)).await?;
    let head = page.timeline.head();
    lines(move || timeline::batch(&head, &kept)).await
}

/// One moment with all of its message.
async fn moment(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Path(n): Path<u64>,
) -> Result<impl IntoResponse, StatusCode> {
    page.knows(&headers)?;
    let kept = page.timeline.get(n).ok_or(StatusCode::NOT_FOUND)?;
    lines(move || timeline::whole(&kept)).await
}

/// Everything that is kept, as a file.
async fn trace(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, StatusCode> {
    page.knows(&headers)?;
    let (head, kept) = (page.timeline.head(), page.timeline.all());
    lines(move || timeline::trace(&head, &kept)).await
}

/// Prints where no view waits for it.
async fn lines(
    print: impl FnOnce() -> String + Send + 'static,
) -> Result<impl IntoResponse, StatusCode> {
    let text = tokio::task::spawn_blocking(print).await;
    let text = text.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(([(header::CONTENT_TYPE, "application/jsonl; charset=utf-8")], text))
}

async fn facts(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Path(view): Path<String>,
) -> Result<Json<Box<ViewFacts>>, StatusCode> {
    page.knows(&headers)?;
    let view = ViewId::parse(&view).ok_or(StatusCode::NOT_FOUND)?;
    let (done, told) = oneshot::channel();
    let gone = StatusCode::SERVICE_UNAVAILABLE;
    page.events.send(Event::Describe { view, done }).await.map_err(|_| gone)?;
    told.await.map_err(|_| gone)?.map(Json).ok_or(StatusCode::NOT_FOUND)
}
