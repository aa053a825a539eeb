//! The first words with a server: which era it speaks, and who it is.
//!
//! ```text
//!   server/discover ─── answered ────────────────────────▶ stateless
//!        ├── refused ──────────────▶ initialize ──────────▶ greeting
//!        └── silent for a second ──▶ initialize as well
//!                 ├── discover answered, now or a moment after ──▶ stateless
//!                 └── only initialize answered ──────────────────▶ greeting
//! ```
//!
//! The second decides only when we ask again, and nothing about the server: one that is slow to start finds both questions,
//! and what it answers counts.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use tokio::time::timeout;
use transom::{calls::Patience, host::List, violation::Quoted, wire::Implementation};

use super::{
    Call, CallError, CallOptions, ConnectError, Era, Loss, Options, Outcome, Refusal, Request,
    desk::{DISCOVER, INITIALIZE},
    era::{GREETING, LAST_GREETING, STATELESS},
    life::{Life, Terms},
    request::{notification, text},
};

/// Who a server is, as it says itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerIdentity {
    /// Its name and version.
    pub info: Implementation,
    /// Which kind of MCP it speaks.
    pub era: Era,
    /// The version of MCP that is spoken with it.
    pub protocol_version: String,
    /// What it can do.
    pub capabilities: Map<String, Value>,
    /// What it wants a model to know about it.
    pub instructions: Option<String>,
    /// All it said.
    pub raw: Box<RawValue>,
}

impl ServerIdentity {
    /// A server that has not said a word yet.
    pub(super) fn unknown() -> Self {
        Self {
            info: read_info(None),
            era: Era::Greeting,
            protocol_version: String::new(),
            capabilities: Map::new(),
            instructions: None,
            raw: raw(&Map::new()),
        }
    }

    /// Whether it has a list of this kind.
    pub fn has(&self, list: List) -> bool {
        self.capabilities.contains_key(match list {
            List::Tools => "tools",
            List::Resources => "resources",
            List::Prompts => "prompts",
        })
    }

    /// The lists it has.
    pub fn lists(&self) -> impl Iterator<Item = List> {
        [List::Tools, List::Resources, List::Prompts].into_iter().filter(|list| self.has(*list))
    }
}

/// Finds out who the server is, trying first what is remembered of it.
pub(super) async fn greet(
    life: &Arc<Life>,
    guess: Option<Era>,
) -> Result<ServerIdentity, ConnectError> {
    match guess {
        Some(Era::Greeting) => match introduce(life).await {
            // It was replaced by a newer one that does not know the older way.
            Err(ConnectError::Greeting(CallError::Refused(_))) => probe(life).await,
            greeted => greeted,
        },
        Some(Era::Stateless) | None => probe(life).await,
    }
}

/// Greets a server again that has forgotten us. It is the same server; who it is stays as it was.
pub(super) async fn again(life: &Arc<Life>) -> Result<(), CallError> {
    initialize(life)?.outcome().await?;
    life.tell(notification(INITIALIZED, None)).await
}

async fn probe(life: &Arc<Life>) -> Result<ServerIdentity, ConnectError> {
    let mut discover = discover(life)?;
    let quick = timeout(life.options().probe, wait(&mut discover)).await;
    match quick {
        Ok(Ok(result)) => match discovered(life, &result) {
            // It knows the question and speaks the older way all the same.
            Err(ConnectError::Version { .. }) => introduce(life).await,
            discovered => discovered,
        },
        // There is no server to try again with, or nothing that another greeting would change.
        Ok(Err(error)) if is_final(&error) => Err(error.into()),
        Ok(Err(error)) if offers_our_version(&error) => probe_once_more(life).await,
        Ok(Err(_)) => introduce(life).await,
        Err(_) => either(life, discover).await,
    }
}

/// The server refused our version and names it among those it takes.
async fn probe_once_more(life: &Arc<Life>) -> Result<ServerIdentity, ConnectError> {
    let result = discover(life)?.outcome().await?;
    discovered(life, &result)
}

fn offers_our_version(error: &CallError) -> bool {
    #[derive(Deserialize)]
    struct Offer {
        supported: Vec<String>,
    }
    let CallError::Refused(Refusal { code: UNSUPPORTED_VERSION, data: Some(data), .. }) = error
    else {
        return false;
    };
    serde_json::from_str::<Offer>(data.get())
        .is_ok_and(|offer| offer.supported.iter().any(|version| version == STATELESS))
}

/// The server is silent: it ignores what it does not know, or it is slow. It is asked both ways, and chooses.
async fn either(life: &Arc<Life>, mut newer: Call) -> Result<ServerIdentity, ConnectError> {
    let mut older = initialize(life)?;
    let outcome = tokio::select! {
        biased;
        outcome = wait(&mut newer) => return told(life, outcome, older).await,
        outcome = wait(&mut older) => outcome,
    };
    match outcome {
        // Servers that do several things at once may answer the later question first. One that ignores the earlier does not
        // answer it in this moment either.
        Ok(result) => match timeout(life.options().probe / 4, wait(&mut newer)).await {
            Ok(Ok(answer)) if speaks_ours(&answer) => discovered(life, &answer),
            _ => introduced(life, result).await,
        },
        Err(refusal @ CallError::Refused(_)) => match wait(&mut newer).await {
            Ok(result) => discovered(life, &result),
            Err(_) => Err(refusal.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// The server has answered the newer question, while the older one is still open.
async fn told(
    life: &Arc<Life>,
    answer: Outcome,
    mut older: Call,
) -> Result<ServerIdentity, ConnectError> {
    match answer {
        Ok(answer) if speaks_ours(&answer) => discovered(life, &answer),
        Err(error) if is_final(&error) => Err(error.into()),
        Err(error) if offers_our_version(&error) => probe_once_more(life).await,
        _ => introduced(life, wait(&mut older).await?).await,
    }
}

/// Whether an answer to `server/discover` names the version of the stateless era that we speak.
fn speaks_ours(answer: &RawValue) -> bool {
    let answer: Discovered = serde_json::from_str(answer.get()).unwrap_or_default();
    answer.supported_versions.iter().any(|version| version == STATELESS)
}

fn is_final(error: &CallError) -> bool {
    use super::HttpError::Unauthorized;
    matches!(error, CallError::Lost(_) | CallError::Http(Unauthorized { .. }))
}

async fn wait(call: &mut Call) -> Outcome {
    loop {
        match call.next().await {
            Some(super::Update::Done(outcome)) => return outcome,
            Some(super::Update::Progress(_)) => {}
            None => return Err(CallError::Cancelled),
        }
    }
}

fn discover(life: &Arc<Life>) -> Result<Call, CallError> {
    let request = Request::new(DISCOVER);
    Ok(life.call_in(Era::Stateless, &request, first_words(life.options()))?)
}

fn discovered(life: &Arc<Life>, result: &RawValue) -> Result<ServerIdentity, ConnectError> {
    let answer: Discovered = serde_json::from_str(result.get()).unwrap_or_default();
    let versions = answer.supported_versions;
    // There are servers that answer whatever they do not know with an empty result.
    if !versions.iter().any(|version| version == STATELESS) {
        return Err(ConnectError::Version { got: Quoted::new(&versions.join(", ")) });
    }
    let of_meta = answer.meta.get(SERVER_INFO).cloned();
    let info = of_meta.or(answer.server_info);
    let server = ServerIdentity {
        info: read_info(info),
        era: Era::Stateless,
        protocol_version: STATELESS.to_owned(),
        capabilities: answer.capabilities,
        instructions: answer.instructions,
        raw: result.to_owned(),
    };
    agree(life, &server);
    Ok(server)
}

async fn introduce(life: &Arc<Life>) -> Result<ServerIdentity, ConnectError> {
    let result = initialize(life)?.outcome().await?;
    introduced(life, result).await
}

/// Takes the server at its word about the older era.
async fn introduced(
    life: &Arc<Life>,
    result: Box<RawValue>,
) -> Result<ServerIdentity, ConnectError> {
    let answer: Introduced = serde_json::from_str(result.get()).unwrap_or_default();
    let version = answer.protocol_version.unwrap_or_default();
    if !GREETING.contains(&&*version) {
        return Err(ConnectError::Version { got: Quoted::new(&version) });
    }
    let server = ServerIdentity {
        info: read_info(answer.server_info),
        era: Era::Greeting,
        protocol_version: version,
        capabilities: answer.capabilities,
        instructions: answer.instructions,
        raw: result,
    };
    agree(life, &server);
    life.tell(notification(INITIALIZED, None)).await?;
    Ok(server)
}

fn initialize(life: &Arc<Life>) -> Result<Call, CallError> {
    let options = life.options();
    let mut request = Request::new(INITIALIZE);
    request.push("protocolVersion", &text(LAST_GREETING));
    request.push("capabilities", &raw(&options.capabilities()));
    request.push("clientInfo", &raw(&options.client));
    Ok(life.call_in(Era::Greeting, &request, first_words(options))?)
}

fn agree(life: &Life, server: &ServerIdentity) {
    let (era, version) = (server.era, server.protocol_version.clone());
    tracing::debug!(?era, version, "greeted");
    life.agree(Terms { era, version });
}

fn first_words(options: &Options) -> CallOptions {
    CallOptions { progress: false, patience: Some(Patience::flat(options.greeting)) }
}

/// A server that does not say who it is still has a name to be shown under.
fn read_info(info: Option<Value>) -> Implementation {
    let info = info.and_then(|info| serde_json::from_value(info).ok());
    info.unwrap_or_else(|| Implementation::new("unnamed", ""))
}

/// Serialises one of our own values.
pub(super) fn raw<T: serde::Serialize>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("our types have string keys and finite numbers")
}

/// Whether a loss means that the server could not stand the question about its era.
pub(super) fn is_shock(error: &ConnectError) -> bool {
    let ConnectError::Greeting(CallError::Lost(loss)) = error else { return false };
    match &**loss {
        // `cargo run` that did not get as far as a server: the next attempt would fail as this one did.
        Loss::Ended { words: Some(words), .. } => !words.to_string().contains("could not compile"),
        Loss::Ended { words: None, .. } => true,
        _ => false,
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Discovered {
    supported_versions: Vec<String>,
    capabilities: Map<String, Value>,
    instructions: Option<String>,
    server_info: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Introduced {
    protocol_version: Option<String>,
    capabilities: Map<String, Value>,
    instructions: Option<String>,
    server_info: Option<Value>,
}

const INITIALIZED: &str = "notifications/initialized";
/// The code for a version that a server does not take.
const UNSUPPORTED_VERSION: i64 = -32022;
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
