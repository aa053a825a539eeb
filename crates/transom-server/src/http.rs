//! Fetch over MCP: the requests of a view, made by its server under the server's own policy.
//!
//! ```text
//! view: fetch("/api/cart") ─▶ tools/call http_request ─▶ Ask ─▶ Target ─▶ Route ─▶ headers, body ─▶ limits, cache
//!                                                        (parsed once)   (default deny)                   │
//!       Response ◀─ result: one value, bounded ◀─ Incoming: unpacked, counted ◀─ backend, hop by hop ◀────┘
//! ```

mod address;
mod ask;
mod backend;
mod body;
mod cache;
mod credentials;
mod dial;
mod failure;
mod follow;
mod headers;
mod incoming;
mod limits;
mod named_method;
mod path;
mod record;
mod route;
mod run;
mod socket;
mod sockets;
mod stream;
mod tool;

pub use credentials::Credentials;
pub use record::{Decision, HttpRecord};
pub use route::Route;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::Full;
use rmcp::model::{CallToolResponse, CallToolResult, JsonObject, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use url::Url;

use self::backend::{Backend, BoxError};
use self::cache::Cache;
use self::credentials::Prove;
use self::failure::Failure;
use self::limits::{Allowed, Usage};
use self::sockets::Sockets;
use self::stream::{Cancel, Read, Streams};
use crate::refusal::{Refusal, Rule};

/// A backend that the views of a server may use with plain `fetch()`.
///
/// It adds the tool `http_request`, which only views can call. Nothing is open before a [`Route`] opens it, and no request leaves
/// the backend's own origin, not even by a redirect.
///
/// ```
/// use transom_server::{Credentials, HttpProxy, Route, Views};
/// # struct Server;
/// # impl rmcp::ServerHandler for Server {}
///
/// let shop = axum::Router::new().route("/api/cart", axum::routing::get(|| async { "3 apples" }));
/// let proxy = HttpProxy::tower(shop).route(Route::get("/api/cart"));
/// let server = Views::wrap(Server).http(proxy).build()?;
///
/// // Or a server somewhere else, with what proves who asks:
/// let proxy = HttpProxy::upstream("https://api.example.com")
///     .route(Route::get("/v1/orders/{id}"))
///     .route(Route::post("/v1/orders").accepts("application/json"))
///     .credentials(|context| async move {
///         // The backend's own token for whoever is signed in; that of MCP is for this server and goes nowhere else.
///         let user = signed_in(&context).await?;
///         Ok(Credentials::of(user.id).bearer(user.backend_token))
///     });
/// # struct User { id: String, backend_token: String }
/// # async fn signed_in(_: &rmcp::service::RequestContext<rmcp::RoleServer>) -> Result<User, rmcp::ErrorData> { unimplemented!() }
/// # let _ = (server, proxy);
/// # Ok::<(), transom_server::BuildError>(())
/// ```
pub struct HttpProxy {
    place: Behind,
    routes: Vec<Route>,
    own: Vec<(String, String)>,
    hidden: Vec<String>,
    prove: Option<Prove>,
    allowed: Allowed,
    cache: Option<usize>,
    private: bool,
    patience: Duration,
    idle: Duration,
    on_record: Option<Hear>,
}

enum Behind {
    Upstream(String),
    Tower(Backend),
}

type Hear = Arc<dyn Fn(&HttpRecord) + Send + Sync>;

impl HttpProxy {
    /// Asks a server by its origin: `https://api.example.com`.
    ///
    /// The name may resolve to public addresses alone, unless it is itself one of this machine or network (`localhost`, `backend`,
    /// `10.0.0.7`), or [`private`](Self::private) says so.
    pub fn upstream(origin: impl Into<String>) -> Self {
        Self::new(Behind::Upstream(origin.into()))
    }

    /// Asks a service in this process, such as an `axum::Router`: no port is opened.
    pub fn tower<S, B>(service: S) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::new(Behind::Tower(Backend::tower(service)))
    }

    fn new(place: Behind) -> Self {
        Self {
            place,
            routes: Vec::new(),
            own: Vec::new(),
            hidden: Vec::new(),
            prove: None,
            allowed: Allowed::default(),
            cache: None,
            private: false,
            patience: PATIENCE,
            idle: IDLE,
            on_record: None,
        }
    }

    /// Opens something. The first route that takes a request decides about it.
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// Sends a header with every request, whatever the view sends under that name.
    ///
    /// What proves who asks belongs into [`credentials`](Self::credentials), which a view can leave out with `credentials: "omit"`.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.own.push((name.into(), value.into()));
        self
    }

    /// Keeps a header of the backend's from views.
    pub fn hide(mut self, name: impl Into<String>) -> Self {
        self.hidden.push(name.into());
        self
    }

    /// Says who asks, for each call: from what the MCP connection knows, to what the backend wants.
    ///
    /// Limits and the cache are for each person apart. What it refuses is not asked of the backend.
    pub fn credentials<F, Fut>(mut self, prove: F) -> Self
    where
        F: Fn(RequestContext<RoleServer>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Credentials, ErrorData>> + Send + 'static,
    {
        self.prove = Some(Arc::new(move |context| Box::pin(prove(context))));
        self
    }

    /// Limits how many requests one app makes in a minute; 600 unless said.
    pub fn rate(mut self, per_minute: u32) -> Self {
        self.allowed.requests = NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN);
        self
    }

    /// Limits how many bytes one app sends and receives in a minute; 256 MiB unless said.
    pub fn bytes(mut self, per_minute: usize) -> Self {
        let kib = u32::try_from(per_minute.div_ceil(1024)).unwrap_or(u32::MAX);
        self.allowed.bytes = NonZeroU32::new(kib).unwrap_or(NonZeroU32::MIN);
        self
    }

    /// Limits how many requests of one app are under way at once; 32 unless said.
    pub fn at_once(mut self, requests: usize) -> Self {
        self.allowed.at_once = requests;
        self
    }

    /// Keeps responses that allow it, up to so many bytes, for each person apart. Without it nothing is kept.
    pub fn cache(mut self, bytes: usize) -> Self {
        self.cache = Some(bytes);
        self
    }

    /// Lets the backend's name resolve to addresses of a private network. Never to this machine.
    pub fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Limits how long a request may take, and how long the backend may be silent in it; two minutes and 30 seconds unless said.
    pub fn patience(mut self, whole: Duration, silent: Duration) -> Self {
        (self.patience, self.idle) = (whole, silent);
        self
    }

    /// Hears of every call.
    pub fn on_record(mut self, hear: impl Fn(&HttpRecord) + Send + Sync + 'static) -> Self {
        self.on_record = Some(Arc::new(hear));
        self
    }

    /// Verifies it all.
    pub(crate) fn build(self) -> Result<Proxy, Vec<Refusal>> {
        let mut wrong: Vec<_> = self.routes.iter().filter_map(Route::wrong).collect();
        if self.routes.is_empty() {
            wrong.push(
                "opens nothing: add `.route(Route::get(\"/…\"))` for what views may ask".to_owned(),
            );
        }
        let mut own = HeaderMap::new();
        for (name, value) in self.own {
            match (HeaderName::try_from(&name), HeaderValue::try_from(value)) {
                (Ok(name), Ok(value)) => drop(own.insert(name, value)),
                _ => wrong.push(format!(
                    "sends {name:?}, which is no header or has a value that is none"
                )),
            }
        }
        let mut hidden = Vec::new();
        for name in self.hidden {
            match HeaderName::try_from(&name) {
                Ok(name) => hidden.push(name),
                Err(_) => wrong.push(format!("hides {name:?}, which is no header")),
            }
        }
        let place = match self.place {
            Behind::Tower(backend) => {
                Ok((Url::parse("http://localhost").expect("it is one"), backend))
            }
            Behind::Upstream(origin) => connect(&origin, self.private),
        };
        let place = place.map_err(|words| wrong.push(words));
        match place {
            Ok((base, backend)) if wrong.is_empty() => Ok(Proxy {
                tools: tool::all(&self.routes, self.cache.is_some()),
                streams: Arc::new(Streams::new(STREAM_IDLE, STREAM_WHOLE)),
                sockets: Arc::new(Sockets::new(STREAM_IDLE)),
                limits: Usage::new(self.allowed, self.routes.iter().map(|route| route.rate)),
                base,
                backend,
                routes: self.routes,
                own,
                hidden,
                prove: self.prove,
                cache: self.cache.map(Cache::new),
                patience: self.patience,
                idle: self.idle,
                on_record: self.on_record,
                names: credentials::Names::default(),
            }),
            _ => Err(wrong
                .into_iter()
                .map(|words| Refusal::tool(tool::REQUEST, Rule::Server23, words))
                .collect()),
        }
    }
}

fn connect(origin: &str, private: bool) -> Result<(Url, Backend), String> {
    let wrong = |why: &str| format!("asks {origin:?}, {why}");
    let url = Url::parse(origin)
        .map_err(|_| wrong("which is no address: write https://api.example.com"))?;
    let plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || url.path() != "/" || !plain {
        return Err(wrong(
            "which is more than an origin: write https://api.example.com, and put paths into routes",
        ));
    }
    let backend = Backend::upstream(&url, private, address::system()).map_err(|why| wrong(&why))?;
    Ok((url, backend))
}

/// A proxy, verified.
pub(crate) struct Proxy {
    tools: Vec<Tool>,
    streams: Arc<Streams>,
    sockets: Arc<Sockets>,
    base: Url,
    backend: Backend,
    routes: Vec<Route>,
    own: HeaderMap,
    hidden: Vec<HeaderName>,
    prove: Option<Prove>,
    limits: Usage,
    cache: Option<Cache>,
    patience: Duration,
    idle: Duration,
    on_record: Option<Hear>,
    names: credentials::Names,
}

impl Proxy {
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub(crate) async fn call(
        &self,
        name: &str,
        mut arguments: JsonObject,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let result = match name {
            tool::READ => self.read(arguments, &context).await,
            tool::CANCEL => self.cancel(arguments, &context).await,
            tool::WS_CONNECT => return self.ws_connect(arguments, &context).await.into(),
            tool::WS_SEND => self.ws_send(arguments, &context).await,
            tool::WS_RECEIVE => self.ws_receive(arguments, &context).await,
            tool::WS_CLOSE => self.ws_close(arguments, &context).await,
            _ => {
                if name == tool::STREAM {
                    arguments.insert("stream".to_owned(), true.into());
                }
                return self.request(arguments, context).await.into();
            }
        };
        result.unwrap_or_else(|failure| tool::failed(&failure, false)).into()
    }

    /// Reads on in a stream. A view that gives a read up has gone, and its stream with it (STR-5).
    async fn read(
        &self,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let read: Read = parse(arguments)?;
        let (person, _) = self.person(context).await?;
        let id = read.stream_id.clone();
        let answer = tokio::select! {
            answer = self.streams.read(&person, read) => answer?,
            () = context.ct.cancelled() => {
                self.streams.cancel(&person, &id);
                return Ok(tool::cancelled());
            }
        };
        let size = answer["nextOffset"]
            .as_u64()
            .zip(answer["offset"].as_u64())
            .map_or(0, |(next, offset)| next - offset);
        if let Err(wait) = self.limits.count(&person, usize::try_from(size).unwrap_or(usize::MAX)) {
            // What is held stays held: the view asks again for the same bytes, later.
            tokio::time::sleep(wait.min(Duration::from_secs(10))).await;
            let offset = answer["offset"].clone();
            return Ok(tool::read(
                serde_json::json!({ "offset": offset, "data": "", "nextOffset": offset, "done": false }),
            ));
        }
        Ok(tool::read(answer))
    }

    async fn cancel(
        &self,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let Cancel { stream_id } = parse(arguments)?;
        let (person, _) = self.person(context).await?;
        self.streams.cancel(&person, &stream_id);
        Ok(tool::cancelled())
    }
}

fn parse<T: serde::de::DeserializeOwned>(arguments: JsonObject) -> Result<T, Failure> {
    let wrong = |_| Failure::bad_request("the arguments are not those of this tool");
    serde_json::from_value(serde_json::Value::Object(arguments)).map_err(wrong)
}

impl fmt::Debug for HttpProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProxy").field("routes", &self.routes).finish_non_exhaustive()
    }
}

const PATIENCE: Duration = Duration::from_secs(120);
const STREAM_IDLE: Duration = Duration::from_secs(60);
const STREAM_WHOLE: Duration = Duration::from_secs(6 * 60 * 60);
const IDLE: Duration = Duration::from_secs(30);
