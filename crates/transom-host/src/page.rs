//! The page's own origin: its files, its key, its state and its socket. Every request is checked for
//! where it comes from before anything else looks at it.

mod conversations;
pub(crate) mod desk;
mod greeting;
mod keys;
mod policy;
mod socket;
mod watching;

pub(crate) use keys::Keys;
pub use keys::PageKey;
pub use policy::{PagePolicy, SourceAmongFrames};

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Query, RawQuery, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc, oneshot};
use transom::origin::Origin;

use crate::{
    adding::Door,
    conversation::Conversations,
    crowd::{Crowd, Most},
    decisions::DecisionId,
    driver::{Event, LeftView, ShownDecision, ShownDecisions, ShownLeft},
    envelope::{self, Hello},
    log::{Line, LineKind, Log},
    metrics::Metrics,
    page::keys::Term,
    runs::Runs,
    secret::Key,
    serve::let_in,
    server::{ServerState, Servers},
    timeline::Timeline,
    upstream::Return,
};

/// What the page's routes share.
pub(crate) struct Page {
    /// The page's own origins: what `Host` and `Origin` must name.
    pub(crate) origins: Vec<Origin>,
    /// What its answers may do in a browser.
    pub(crate) policy: HeaderValue,
    /// Good once.
    pub(crate) token: Mutex<Option<Key>>,
    /// Good as often as whoever has it likes: the operator's own.
    pub(crate) standing: Option<Key>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) conversations: Conversations,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) servers: Arc<Servers>,
    /// What people have decided and can take back.
    pub(crate) decisions: ShownDecisions,
    /// Views whose page is gone.
    pub(crate) left: ShownLeft,
    pub(crate) log: Arc<Log>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) connections: AtomicU64,
    /// The sockets, those without a hello included.
    pub(crate) sockets: Crowd,
    /// How many requests may wait for news at a time.
    pub(crate) polls: Semaphore,
    /// How many pages may follow conversations at a time.
    pub(crate) streams: Arc<Semaphore>,
    /// What pages have said and the gate has not heard yet, in bytes.
    pub(crate) room: Arc<Semaphore>,
    /// The tool that a fresh page opens by itself.
    pub(crate) first: Option<First>,
    /// Where servers come in while the host runs.
    pub(crate) door: Door,
    /// What people ran.
    pub(crate) runs: Arc<Runs>,
}

/// A tool to open when the page is first shown.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct First {
    pub(crate) server: String,
    pub(crate) tool: String,
}

/// The routes of the page's origin: the page that this crate brings along, and what it asks for.
pub(crate) fn router(page: Arc<Page>) -> Router {
    let files = [
        ("/", "text/html; charset=utf-8", transom_web::WORKBENCH_HTML),
        ("/workbench.js", "text/javascript; charset=utf-8", transom_web::WORKBENCH),
        ("/workbench.css", "text/css; charset=utf-8", transom_web::WORKBENCH_CSS),
    ];
    let mut router = Router::new();
    for (path, kind, text) in files {
        router =
            router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }));
    }
    for &(name, text) in transom_web::WORKBENCH_FILES {
        let kind = if name.ends_with(".svg") { "image/svg+xml" } else { files[1].1 };
        let file = move || async move { ([(header::CONTENT_TYPE, kind)], text) };
        router = router.route(&format!("/workbench/{name}"), get(file));
    }
    guarded(Arc::clone(&page), router).merge(api(page))
}

/// What a page asks for: its key, the servers, the log, the socket, and the way back from a sign-in.
pub(crate) fn api(page: Arc<Page>) -> Router {
    // What is sent here is a token or an id, and it is sent before its sender has shown a key.
    let told = Router::new()
        .route("/api/key", post(exchange))
        .route("/api/forget", post(forget))
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn(in_time));
    told.merge(conversations::routes())
        .route("/api/state", get(state))
        .route("/api/log", get(log))
        .merge(watching::routes())
        .route("/ws", get(socket::upgrade))
        .route(CALLBACK, get(signed_in))
        .merge(desk::routes(&page))
        .layer(middleware::from_fn_with_state(Arc::clone(&page), guard))
        .with_state(page)
}

/// Puts routes of an application's own behind the same checks, under the same headers.
pub(crate) fn guarded(page: Arc<Page>, routes: Router) -> Router {
    routes.layer(middleware::from_fn_with_state(page, guard))
}

/// A body that never ends holds a connection, and what it has sent.
async fn in_time(request: Request, next: Next) -> Response {
    let answered = tokio::time::timeout(BODY_TIME, next.run(request)).await;
    answered.unwrap_or_else(|_| StatusCode::REQUEST_TIMEOUT.into_response())
}

/// D14: a name that rebinds to us has another `Host`; a foreign page has another `Origin`.
async fn guard(State(page): State<Arc<Page>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = page.check(request.headers()) {
        return refusal.into_response();
    }
    if page.knows(request.headers()).is_ok() {
        let_in(request.extensions());
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, page.policy.clone());
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What a page is made of beside its door.
pub(crate) struct Shown {
    pub(crate) policy: HeaderValue,
    pub(crate) standing: Option<Key>,
    pub(crate) decisions: ShownDecisions,
    pub(crate) left: ShownLeft,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) conversations: Conversations,
    pub(crate) first: Option<First>,
}

impl Page {
    pub(crate) fn new(origins: Vec<Origin>, door: Door, shown: Shown) -> Arc<Self> {
        let Shown {
            policy,
            standing,
            decisions,
            left,
            metrics,
            timeline,
            runs,
            conversations,
            first,
        } = shown;
        Arc::new(Self {
            origins,
            policy,
            token: Mutex::new(Some(Key::new())),
            standing,
            keys: Arc::new(Keys::new()),
            conversations,
            events: door.events.clone(),
            servers: Arc::clone(&door.servers),
            decisions,
            left,
            log: Arc::clone(&door.log),
            metrics,
            timeline,
            connections: AtomicU64::new(0),
            sockets: Crowd::new(SOCKETS),
            polls: Semaphore::new(POLLS),
            streams: Arc::new(Semaphore::new(POLLS)),
            room: Arc::new(Semaphore::new(ROOM as usize)),
            first,
            door,
            runs,
        })
    }

    fn check(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        // Of two of a kind, a proxy on the way may have looked at the other one.
        let alone = |name: &header::HeaderName| headers.get_all(name).iter().count() == 1;
        let text = |name| headers.get(&name).filter(|_| alone(&name))?.to_str().ok();
        let host = text(header::HOST).ok_or(StatusCode::BAD_REQUEST)?;
        let ours = |origin: &Origin| {
            origin.to_string().split_once("://").is_some_and(|(_, name)| name == host)
        };
        if !self.origins.iter().any(ours) {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        match text(header::ORIGIN) {
            None if headers.contains_key(header::ORIGIN) => Err(StatusCode::FORBIDDEN),
            None => Ok(()),
            Some(origin) if self.origins.iter().any(|ours| ours.to_string() == origin) => Ok(()),
            Some(_) => Err(StatusCode::FORBIDDEN),
        }
    }

    /// How long a page may stay that says this hello; nothing, when it is none of ours.
    fn admits(&self, hello: &Hello) -> Option<Term> {
        let short = hello.page.len() <= 64 && hello.tab.len() <= 64;
        let term = self.keys.find(&hello.key)?;
        (hello.version == envelope::VERSION && short).then_some(term)
    }

    fn knows(&self, headers: &HeaderMap) -> Result<Term, StatusCode> {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        self.keys.find(given).ok_or(StatusCode::UNAUTHORIZED)
    }
}

#[derive(Deserialize)]
struct Token {
    token: String,
}

#[derive(Serialize)]
struct Exchanged {
    key: String,
}

/// A token that was printed is good once; the operator's own as often as it is given, each time for a key of its own.
async fn exchange(
    State(page): State<Arc<Page>>,
    Json(Token { token }): Json<Token>,
) -> Result<Json<Exchanged>, StatusCode> {
    let mut kept = page.token.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.take_if(|kept| kept.is(&token)).is_some() {
        return Ok(Json(Exchanged { key: page.keys.own().reveal().to_owned() }));
    }
    match &page.standing {
        Some(standing) if standing.is(&token) => {
            Ok(Json(Exchanged { key: page.keys.give(WEEK).reveal().to_owned() }))
        }
        _ => Err(StatusCode::UNAUTHORIZED),
    }
}

#[derive(Deserialize)]
struct After {
    #[serde(default)]
    after: i64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "State", optional_fields))]
pub(crate) struct PageState {
    version: u64,
    servers: Vec<ServerState>,
    decisions: Vec<ShownDecision>,
    /// Views whose page is gone, and which another one can take over.
    left: Vec<LeftView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<First>,
}

async fn state(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Query(After { after }): Query<After>,
) -> Result<Json<PageState>, StatusCode> {
    let term = page.knows(&headers)?;
    let _waits = page.polls.try_acquire().map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let news = page.servers.after(u64::try_from(after).ok(), POLL);
    let (version, servers) = within(term, news).await?;
    let decisions = page.decisions.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let left = page.left.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Json(PageState { version, servers, decisions, left, open: page.first.clone() }))
}

/// Waits for news only as long as the key is good that they were asked for with.
async fn within<T>(mut term: Term, news: impl Future<Output = T>) -> Result<T, StatusCode> {
    tokio::select! {
        news = news => Ok(news),
        () = term.ended() => Err(StatusCode::UNAUTHORIZED),
    }
}

#[derive(Deserialize)]
struct Forgotten {
    id: DecisionId,
}

/// A person takes a decision back.
async fn forget(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Json(Forgotten { id }): Json<Forgotten>,
) -> Result<StatusCode, StatusCode> {
    page.knows(&headers)?;
    let (done, told) = oneshot::channel();
    let gone = |_| StatusCode::SERVICE_UNAVAILABLE;
    page.events
        .send(Event::Forget { id, done })
        .await
        .map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let found = told.await.map_err(gone)?;
    if found { Ok(StatusCode::NO_CONTENT) } else { Err(StatusCode::NOT_FOUND) }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Entries"))]
pub(crate) struct Lines {
    entries: Vec<Line>,
}

async fn log(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Query(After { after }): Query<After>,
) -> Result<Json<Lines>, StatusCode> {
    let term = page.knows(&headers)?;
    let _waits = page.polls.try_acquire().map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let entries = within(term, page.log.after(u64::try_from(after).unwrap_or(0), POLL)).await?;
    Ok(Json(Lines { entries }))
}

/// Where the browser comes back to after signing in. Whoever has the state of an open invitation is the
/// one who was invited; there is nothing else to know them by, and nothing for a stranger to see.
async fn signed_in(State(page): State<Arc<Page>>, RawQuery(query): RawQuery) -> Response {
    let returned = query.as_deref().and_then(Return::parse);
    let outcome = match &returned {
        Some(returned) => page.servers.returned(returned).await,
        None => None,
    };
    let (status, words) = match outcome {
        Some((name, Ok(()))) => (StatusCode::OK, format!("You are signed in to {name}.")),
        Some((name, Err(error))) => {
            (StatusCode::BAD_REQUEST, format!("You are not signed in to {name}: {error}."))
        }
        None => {
            page.log.write(
                LineKind::Error,
                "page",
                "a browser came back from a sign-in that was not asked for",
            );
            (StatusCode::BAD_REQUEST, "This is not a sign-in that was asked for here.".to_owned())
        }
    };
    // As text: a server's words have a part in it.
    let words = format!("{words}\n\nYou can close this window and go back to Transom.\n");
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (status, headers, words).into_response()
}

/// Where people come back to after signing in.
pub(crate) const CALLBACK: &str = "/oauth/callback";

const FIXED: [(header::HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Where a browser does not tell a frame its ancestors, the sandbox knows its host by this.
    (header::REFERRER_POLICY, "origin"),
    (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// How long a key is good that the operator's token was exchanged for.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many bytes of what pages say wait for the gate before their sockets do.
pub(crate) const ROOM: u32 = 64 << 20;
/// How long a page waits for news before it asks again.
const POLL: Duration = Duration::from_secs(25);
/// How many sockets there may be: waiting with their hello, and with it said.
pub(crate) const SOCKETS: Most = Most { strangers: 64, known: 256 };
/// How many requests may wait for news: each page has three.
pub(crate) const POLLS: usize = 3 * SOCKETS.known;
/// How much may be sent where no socket is used, and how long that may take.
const BODY: usize = 4 << 10;
const BODY_TIME: Duration = Duration::from_secs(10);
