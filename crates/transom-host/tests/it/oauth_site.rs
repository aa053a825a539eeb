//! An MCP server behind a sign-in, with the place to sign in beside it: RFC 9728, 8414, 7591, 7636, 8707.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{net::TcpListener, task::JoinHandle};
use transom_host::upstream::{Endpoint, Target};

/// Both of them, on one port, for as long as this value lives.
pub(crate) struct Site {
    pub(crate) origin: String,
    pub(crate) books: Arc<Mutex<Books>>,
    task: JoinHandle<()>,
}

/// Answers the question for a document, by its name.
pub(crate) type Instead = fn(&str) -> Response;

/// What it knows, and how it behaves.
#[derive(Default)]
pub(crate) struct Books {
    origin: String,
    /// What its documents say in place of the truth; `null` leaves a key out.
    pub(crate) resource: Value,
    pub(crate) metadata: Value,
    /// What a document is answered with instead of JSON.
    pub(crate) instead: Option<Instead>,
    pub(crate) lifetime: u64,
    codes: HashMap<String, Value>,
    /// Tokens that are good, with what they are good for.
    pub(crate) tokens: BTreeMap<String, String>,
    refresh: BTreeMap<String, String>,
    made: u32,
    pub(crate) registered: u32,
    pub(crate) refreshed: u32,
    /// Every token that was sent to the MCP server, good or not.
    pub(crate) seen: BTreeSet<String>,
    /// Every secret that was given out: none of them may be found anywhere.
    pub(crate) secrets: Vec<String>,
    /// What every authorisation was asked for.
    pub(crate) asked: Vec<HashMap<String, String>>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let books = Books { origin: origin.clone(), lifetime: 3_600, ..Books::default() };
        let books = Arc::new(Mutex::new(books));
        let router = Router::new()
            .route("/mcp", post(mcp).get(|| async { StatusCode::METHOD_NOT_ALLOWED }))
            .route("/.well-known/{*name}", get(document))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(Arc::clone(&books));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { origin, books, task }
    }

    pub(crate) fn target(&self) -> Target {
        Target::Http(Endpoint::new(self.url()))
    }

    pub(crate) fn url(&self) -> url::Url {
        format!("{}/mcp", self.origin).parse().unwrap()
    }

    pub(crate) fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Shared = State<Arc<Mutex<Books>>>;

impl Books {
    fn make(&mut self, kind: &str) -> String {
        self.made += 1;
        let secret = format!("{kind}-{}-{}", self.made, &self.origin[self.origin.len() - 5..]);
        self.secrets.push(secret.clone());
        secret
    }

    fn grant(&mut self, scope: &str) -> Value {
        let (token, refresh) = (self.make("access"), self.make("refresh"));
        self.tokens.insert(token.clone(), scope.to_owned());
        self.refresh.insert(refresh.clone(), scope.to_owned());
        json!({
            "access_token": token, "token_type": "Bearer", "expires_in": self.lifetime,
            "refresh_token": refresh, "scope": scope,
        })
    }
}

async fn document(State(books): Shared, Path(name): Path<String>) -> Response {
    let books = books.lock().unwrap();
    if let Some(instead) = books.instead {
        return instead(&name);
    }
    let origin = &books.origin;
    let (mut truth, lies) = match &*name {
        "oauth-protected-resource/mcp" => (
            json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}),
            &books.resource,
        ),
        "oauth-authorization-server" => (
            json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            }),
            &books.metadata,
        ),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    for (key, lie) in lies.as_object().into_iter().flatten() {
        truth[key] = lie.clone();
    }
    Json(truth).into_response()
}

async fn register(State(books): Shared, Json(client): Json<Value>) -> Json<Value> {
    let mut books = books.lock().unwrap();
    books.registered += 1;
    let id = format!("client-{}", books.registered);
    Json(json!({"client_id": id, "redirect_uris": client["redirect_uris"]}))
}

/// The person says yes at once.
async fn authorize(
    State(books): Shared,
    Query(asked): Query<HashMap<String, String>>,
) -> impl IntoResponse {
    let mut books = books.lock().unwrap();
    assert_eq!(asked["response_type"], "code");
    assert_eq!(asked["code_challenge_method"], "S256");
    let code = books.make("code");
    books.codes.insert(code.clone(), json!(asked));
    let mut back = url::Url::parse(&asked["redirect_uri"]).unwrap();
    back.query_pairs_mut()
        .append_pair("code", &code)
        .append_pair("state", &asked["state"])
        .append_pair("iss", &books.origin);
    books.asked.push(asked);
    (StatusCode::FOUND, [(header::LOCATION, back.to_string())])
}

async fn token(State(books): Shared, body: Bytes) -> (StatusCode, Json<Value>) {
    let form: HashMap<String, String> = url::form_urlencoded::parse(&body).into_owned().collect();
    let mut books = books.lock().unwrap();
    let no = |words: &str| {
        (
            StatusCode::BAD_REQUEST,
            Json(json!({"error": "invalid_grant", "error_description": words})),
        )
    };
    if form.get("resource") != Some(&format!("{}/mcp", books.origin)) {
        return no("wrong resource");
    }
    if form["grant_type"] == "refresh_token" {
        let Some(scope) = books.refresh.remove(&form["refresh_token"]) else {
            return no("unknown");
        };
        books.refreshed += 1;
        return (StatusCode::OK, Json(books.grant(&scope)));
    }
    let Some(asked) = books.codes.remove(&form["code"]) else { return no("unknown code") };
    let proof = BASE64URL_NOPAD.encode(&Sha256::digest(&form["code_verifier"]));
    if asked["code_challenge"] != proof || asked["redirect_uri"] != *form["redirect_uri"] {
        return no("not the one who asked");
    }
    let scope = asked["scope"].as_str().unwrap_or_default();
    (StatusCode::OK, Json(books.grant(scope)))
}

async fn mcp(State(books): Shared, headers: HeaderMap, Json(message): Json<Value>) -> Response {
    let mut books = books.lock().unwrap();
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token =
        given.and_then(|given| given.strip_prefix("Bearer ")).unwrap_or_default().to_owned();
    if !token.is_empty() {
        books.seen.insert(token.clone());
    }
    let place = format!("{}/.well-known/oauth-protected-resource/mcp", books.origin);
    let Some(scope) = books.tokens.get(&token) else {
        let challenge = format!("Bearer scope=\"read\", resource_metadata=\"{place}\"");
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    };
    let may_write = scope.split(' ').any(|scope| scope == "write");
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "locked", "version": "1"},
            "capabilities": {"tools": {}},
        }),
        "tools/list" => json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}),
        "tools/call" if message["params"]["name"] == "change" && !may_write => {
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"write\"";
            return (StatusCode::FORBIDDEN, [(header::WWW_AUTHENTICATE, challenge)])
                .into_response();
        }
        "tools/call" => json!({"content": []}),
        method if method.starts_with("notifications/") => {
            return StatusCode::ACCEPTED.into_response();
        }
        _ => return (StatusCode::BAD_REQUEST, Body::from("what?")).into_response(),
    };
    Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into_response()
}
