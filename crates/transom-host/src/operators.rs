//! What operators ask of a host: whether it lives, whether it can take visitors, and its numbers. For programs on a listener of its own, and
//! never for a page.
//!
//! ```text
//! GET /healthz   200 while its loop runs
//! GET /readyz    200 while it takes new views and can write them down; otherwise 503, and why
//! GET /metrics   numbers, in the text format that Prometheus reads
//! ```
//!
//! What is there holds no secret and no word of a view; still, whoever reads it learns what people do. So no page of a browser is
//! answered, be it a view's or another site's: a request that says that it comes from one is refused, and so is
//! a name in `Host` that is not configured, by which a site could make its own name lead here.

mod text;

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::get,
};
use tokio::sync::{mpsc, oneshot};

use crate::{
    audit::Audit,
    driver::Event,
    metrics::Metrics,
    secret::{Key, ShortToken},
    server::Servers,
};

/// Who may ask.
///
/// Whoever reaches the listener may ask whether the host lives and is ready. Its numbers are for whoever shows the token, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Operators {
    token: Option<String>,
    names: Vec<String>,
}

impl Operators {
    /// Wants this token for `/metrics`, as `Authorization: Bearer TOKEN`: one word of at least 32 letters and digits.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Answers requests to this name, beside those to an address or to `localhost`: what stands in `Host` before the port.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }
}

/// What there is to tell of a host.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) servers: Arc<Servers>,
    pub(crate) audit: Option<Audit>,
}

struct Desk {
    told: Told,
    token: Option<Key>,
    names: Vec<String>,
}

/// The routes.
pub(crate) fn router(told: Told, operators: Operators) -> Result<Router, ShortToken> {
    let token = operators.token.as_deref().map(Key::chosen).transpose()?;
    let desk = Arc::new(Desk { told, token, names: operators.names });
    Ok(Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(readiness))
        .route("/metrics", get(metrics))
        .layer(middleware::from_fn_with_state(Arc::clone(&desk), guard))
        .with_state(desk))
}

async fn guard(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let mut response = match desk.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err((status, words)) => (status, words).into_response(),
    };
    for (name, value) in FIXED {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Desk {
    fn check(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if !host.is_some_and(|host| self.is_ours(host)) || hosts.next().is_some() {
            return Err((
                StatusCode::MISDIRECTED_REQUEST,
                "ask by address, or configure this name\n",
            ));
        }
        // Browsers say both of themselves, and no script can keep them from it.
        let of_a_page = headers.contains_key(header::ORIGIN)
            || headers.get_all("sec-fetch-site").iter().any(|site| site != "none");
        match of_a_page {
            true => Err((StatusCode::FORBIDDEN, "this is for programs, and not for pages\n")),
            false => Ok(()),
        }
    }

    /// An address leads nowhere else, whoever asks for it; a name leads where its owner wants.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((ip, _)) => ip,
            None => host.split_once(':').map_or(host, |(name, _)| name),
        };
        name == "localhost"
            || name.parse::<IpAddr>().is_ok()
            || self.names.iter().any(|it| it == name)
    }
}

async fn health(State(desk): State<Arc<Desk>>) -> (StatusCode, &'static str) {
    match desk.told.events.is_closed() {
        false => (StatusCode::OK, "alive\n"),
        true => (StatusCode::SERVICE_UNAVAILABLE, "closed\n"),
    }
}

async fn readiness(State(desk): State<Arc<Desk>>) -> (StatusCode, &'static str) {
    match desk.told.unready().await {
        None => (StatusCode::OK, "ready\n"),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

async fn metrics(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Response {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if desk.token.as_ref().is_some_and(|token| !token.is(given)) {
        let headers = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, headers, "show the token\n").into_response();
    }
    let ready = desk.told.unready().await.is_none();
    match text::print(&desk.told, ready).await {
        Ok(text) => ([(header::CONTENT_TYPE, text::KIND)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

impl Told {
    /// Why no new view can be opened; nothing, when one can. Neither names a file nor a server.
    pub(crate) async fn unready(&self) -> Option<&'static str> {
        if self.audit.as_ref().is_some_and(|audit| audit.state().borrow().failed.is_some()) {
            return Some("the audit cannot be written\n");
        }
        let (answer, answered) = oneshot::channel();
        // Whoever has no time to hear this has none for a view.
        let asked = self.events.send(Event::Ready(answer));
        let heard = tokio::time::timeout(PATIENCE, async {
            asked.await.ok()?;
            answered.await.ok()
        });
        match heard.await {
            Ok(Some(true)) => None,
            Ok(Some(false)) => Some("it is being closed\n"),
            Ok(None) => Some("it is closed\n"),
            Err(_) => Some("it has too much to do\n"),
        }
    }
}

const FIXED: [(HeaderName, &str); 4] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// How long the loop may take to answer before it counts as too busy.
const PATIENCE: Duration = Duration::from_secs(2);
