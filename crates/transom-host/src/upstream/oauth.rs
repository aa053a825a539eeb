//! Signing in to HTTP servers that ask for it.
//!
//! ```text
//!   401, or 403 insufficient_scope ─▶ invite: find the authorisation server, register, PKCE
//!        ▲                               │ the person signs in, in a browser
//!        │                               ▼
//!   every request ◀─ bearer ◀─ tokens ◀─ complete: the address it sends them back to
//!                      └─ refresh, when they end
//! ```
//!
//! A server chooses all the addresses that this goes to, so none of them is trusted: rmcp reads no more
//! than a megabyte from each, waits half a minute, follows no redirect to another origin, and asks no server
//! at a private address unless the server itself is at one. What we add stands in [`endpoint`].

mod returned;
mod tokens;

pub use returned::Return;
pub use tokens::Tokens;

use std::{fmt, time::Duration};

use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE},
};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationRequest,
    AuthorizationSession, OAuthClientConfig, WWWAuthenticateParams,
};
use tokio::{
    sync::{Mutex, oneshot, watch},
    time::{Instant, timeout},
};
use transom::violation::Quoted;
use url::Url;

use super::{Secret, UnsetVariable, http};
use returned::Pending;
use tokens::{Access, Record, Slot};

/// How we are known where people sign in. Without an id we register ourselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The id we were given, or the https address of a document about us.
    pub client_id: Option<String>,
    /// The secret that came with it.
    pub client_secret: Option<Secret>,
    /// What to ask for, in place of what the server says that it needs.
    pub scopes: Vec<String>,
}

/// Our right to use one server, and how it is got.
pub struct OAuth {
    url: Url,
    registration: Registration,
    redirect: String,
    tokens: Tokens,
    flow: Mutex<Flow>,
    asked: watch::Sender<Option<Challenge>>,
    signed_in: watch::Sender<u64>,
}

/// Where a person signs in, and what becomes of it.
#[derive(Debug)]
pub struct Invitation {
    /// The address to open in a browser. Whoever has it can sign in, but not learn anything from it.
    pub url: Url,
    outcome: oneshot::Receiver<Result<(), NotSignedIn>>,
}

/// Why no person is signed in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSignedIn {
    /// The server, or the place where people sign in, did not do its part.
    #[error("signing in failed: {0}")]
    Failed(String),
    /// An address that people or tokens must not be sent to.
    #[error("signing in is not safe: the server names {got} as its {what}, which is not https")]
    Unsafe {
        /// What it is for.
        what: &'static str,
        /// The address.
        got: Quoted,
    },
    /// The server itself is reached in a way that gives tokens away.
    #[error("signing in needs an https address: a token sent to this one could be read by others")]
    Plain,
    /// No answer in time.
    #[error("the place to sign in did not answer within {0:?}")]
    Silent(Duration),
    /// The person, or the place where they sign in, said no.
    #[error("signing in was refused: {0}")]
    Refused(Quoted),
    /// The invitation is no longer good.
    #[error("the invitation to sign in has ended")]
    Expired,
    /// The configuration names a variable that is not set.
    #[error(transparent)]
    Variable(#[from] UnsetVariable),
}

/// What is going on; two of these are never done at once.
#[derive(Default)]
struct Flow {
    manager: Option<AuthorizationManager>,
    pending: Option<Pending>,
    refreshed: Option<Instant>,
}

/// What a server said when it refused us.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Challenge {
    header: Option<String>,
    /// The rights that are missing, where it is only that.
    missing: Option<String>,
}

impl OAuth {
    /// Prepares to sign in to the server at `url`, whose sign-in page shall send people back to `redirect`.
    pub fn new(url: &Url, registration: Registration, redirect: String, tokens: Tokens) -> Self {
        let mut url = url.clone();
        url.set_fragment(None);
        let (asked, signed_in) = (watch::Sender::new(None), watch::Sender::new(0));
        let flow = Mutex::default();
        Self { url, registration, redirect, tokens, flow, asked, signed_in }
    }

    /// Waits until the server asks for a sign-in, or for more rights.
    pub async fn asked(&self) {
        let _ = self.asked.subscribe().wait_for(Option::is_some).await;
    }

    /// Finds out where people sign in. Takes the place of an earlier invitation.
    pub async fn invite(&self) -> Result<Invitation, NotSignedIn> {
        let mut flow = self.flow.lock().await;
        let challenge = self.asked.send_replace(None);
        flow.pending = None;
        let session = within(PATIENCE, self.begin(challenge)).await?;
        let url = endpoint(&self.url, "sign-in page", session.get_authorization_url())?;
        let state = url.query_pairs().find(|(key, _)| key == "state");
        let state = state.map(|(_, state)| state.into_owned()).unwrap_or_default();
        let (tell, outcome) = oneshot::channel();
        let (since, manager) = (Instant::now(), session.auth_manager);
        flow.pending = Some(Pending { state, since, manager, outcome: tell });
        Ok(Invitation { url, outcome })
    }

    /// Takes what a browser came back with. None, if it does not belong to this server's invitation.
    ///
    /// An invitation is good for one return, whatever comes of it.
    pub async fn complete(&self, returned: &Return) -> Option<Result<(), NotSignedIn>> {
        let mut flow = self.flow.lock().await;
        let ours = |pending: &mut Pending| pending.is(&returned.state);
        let pending = flow.pending.take_if(ours)?;
        let outcome = match &returned.code {
            _ if pending.since.elapsed() > GOOD_FOR => Err(NotSignedIn::Expired),
            Err(reason) => Err(NotSignedIn::Refused(Quoted::new(reason))),
            Ok(code) => {
                let (state, issuer) = (&returned.state, returned.issuer.as_deref());

                let exchange =
                    pending.manager.exchange_code_for_token_with_issuer(code, state, issuer);
                within(PATIENCE, async { exchange.await.map_err(failed) }).await.map(drop)
            }
        };
        if outcome.is_ok() {
            flow.manager = Some(pending.manager);
            flow.refreshed = None;
            self.signed_in.send_modify(|times| *times += 1);
        }
        let _ = pending.outcome.send(outcome.clone());
        Some(outcome)
    }

    /// Forgets the tokens.
    pub async fn forget(&self) {
        use rmcp::transport::auth::CredentialStore as _;
        let _ = self.slot(None).clear().await;
        self.flow.lock().await.manager = None;
    }

    /// Counts the sign-ins, for those who wait for the next.
    pub(super) fn signed_in(&self) -> watch::Receiver<u64> {
        self.signed_in.subscribe()
    }

    /// What to send along with a request, once a person has signed in.
    pub(super) async fn bearer(&self) -> Option<HeaderValue> {
        let access = self.access()?;
        if !access.is_due() {
            return header(&access);
        }
        // One that has ended is sent all the same if there is no other: the server says what it wants.
        self.renew(&access.token).await.or_else(|| header(&access))
    }

    /// Another token in the place of one that the server did not take, if there is one.
    pub(super) async fn instead_of(&self, refused: &HeaderValue) -> Option<HeaderValue> {
        let refused = refused.to_str().ok()?.strip_prefix(BEARER)?.to_owned();
        self.renew(&refused).await
    }

    /// Hears what a server says when it refuses us.
    pub(super) fn hear(&self, status: StatusCode, headers: &HeaderMap) {
        let words =
            headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let header = words.filter(|words| words.len() <= MAX_CHALLENGE).find(|words| {
            words.get(..BEARER.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(BEARER))
        });
        let said = header.map(|header| WWWAuthenticateParams::parse(header, &self.url));
        let missing = match (status, said) {
            (StatusCode::UNAUTHORIZED, _) => None,
            (StatusCode::FORBIDDEN, Some(said)) if said.is_insufficient_scope() => {
                Some(said.scope.unwrap_or_default())
            }
            _ => return,
        };
        self.asked.send_replace(Some(Challenge { header: header.map(str::to_owned), missing }));
    }

    async fn begin(
        &self,
        challenge: Option<Challenge>,
    ) -> Result<AuthorizationSession, NotSignedIn> {
        if self.url.scheme() != "https" && !http::is_loopback(&self.url) {
            return Err(NotSignedIn::Plain);
        }
        let secret = self.registration.client_secret.as_ref().map(Secret::reveal).transpose()?;
        let header = challenge.as_ref().and_then(|challenge| challenge.header.as_deref());
        let mut manager = self.manager().await?;
        let metadata = self.discover(&manager, header).await?;
        let (issuer, documents) = (metadata.issuer.clone(), takes_documents(&metadata));
        manager.set_metadata(metadata);

        let known = self.tokens.get(&self.key());
        let missing = challenge.and_then(|challenge| challenge.missing);
        let mut scopes = self.scopes(missing.as_deref(), known.as_ref());
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        let known = known.filter(|known| self.fits(known, issuer.as_deref()));
        let client = match (&self.registration.client_id, known) {
            (Some(id), _) if !id.starts_with("https://") => (id.clone(), secret),
            (Some(address), _) if documents => (address.clone(), None),
            // Who asks for more rights is still the same.
            (_, Some(known)) => (known.credentials.client_id, known.secret),
            (_, None) => self.register(&mut manager, &scopes).await?,
        };
        let (id, secret) = client;
        manager.set_credential_store(self.slot(secret.clone()));
        let request = AuthorizationRequest::new(&self.redirect).with_preregistered_client(id);
        let request = request.with_scopes(scopes);
        let request = match secret {
            Some(secret) => request.with_client_secret(secret),
            None => request,
        };
        AuthorizationSession::new(manager, request).await.map_err(|(_, error)| failed(error))
    }

    /// Makes us known, under an id and with a secret if the other side wants one.
    async fn register(
        &self,
        manager: &mut AuthorizationManager,
        scopes: &[String],
    ) -> Result<(String, Option<String>), NotSignedIn> {
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let registered = manager.register_client(NAME, &self.redirect, &scopes).await;
        let OAuthClientConfig { client_id, client_secret, .. } = registered.map_err(failed)?;
        Ok((client_id, client_secret))
    }

    /// What to ask for: what the configuration says; beyond that only what is missing now.
    fn scopes(&self, missing: Option<&str>, known: Option<&Record>) -> Vec<String> {
        let mut scopes = self.registration.scopes.clone();
        if let Some(missing) = missing {
            let had = known.map(|known| known.credentials.granted_scopes.clone());
            scopes.extend(had.unwrap_or_default());
            scopes.extend(missing.split_whitespace().map(str::to_owned));
        }
        let mut seen = std::collections::BTreeSet::new();
        scopes.retain(|scope| seen.insert(scope.clone()));
        scopes
    }

    /// Whether the client of an earlier sign-in can be used again.
    fn fits(&self, known: &Record, issuer: Option<&str>) -> bool {
        known.redirect == self.redirect && known.credentials.issuer.as_deref() == issuer
    }

    /// A token in the place of another. Not asked for twice in a row: a server that refuses all of them
    /// would have us ask for ever.
    async fn renew(&self, old: &str) -> Option<HeaderValue> {
        let mut flow = self.flow.lock().await;
        let record = self.tokens.get(&self.key())?;
        let access = record.access()?;
        if access.token != old {
            return header(&access);
        }
        let lately = |at: Instant| at.elapsed() < BETWEEN_REFRESHES;
        if !record.can_refresh() || flow.refreshed.is_some_and(lately) {
            return None;
        }
        flow.refreshed = Some(Instant::now());
        match within(PATIENCE, self.refresh(&mut flow, &record)).await {
            Ok(()) => header(&self.access()?),
            Err(error) => {
                tracing::warn!(server = self.url.host_str(), %error, "the token was not renewed");
                None
            }
        }
    }

    async fn refresh(&self, flow: &mut Flow, record: &Record) -> Result<(), NotSignedIn> {
        if flow.manager.is_none() {
            flow.manager = Some(self.manager_of(record).await?);
        }
        let manager = flow.manager.as_ref().expect("made just now");
        manager.refresh_token().await.map(drop).map_err(failed)
    }

    /// The manager of an earlier process's sign-in.
    async fn manager_of(&self, record: &Record) -> Result<AuthorizationManager, NotSignedIn> {
        let mut manager = self.manager().await?;
        let metadata = self.discover(&manager, None).await?;
        // A server that has changed where its people sign in gets none of the old tokens sent there.
        if metadata.issuer != record.credentials.issuer {
            return Err(NotSignedIn::Failed("it is another place to sign in now".to_owned()));
        }
        manager.set_metadata(metadata);
        manager.set_credential_store(self.slot(record.secret.clone()));
        let mut config = OAuthClientConfig::new(&record.credentials.client_id, &self.redirect);
        if let Some(secret) = &record.secret {
            config = config.with_client_secret(secret);
        }
        manager.configure_client(config).map_err(failed)?;
        Ok(manager)
    }

    async fn manager(&self) -> Result<AuthorizationManager, NotSignedIn> {
        http::prepare_tls();
        let mut manager = AuthorizationManager::new(self.url.clone()).await.map_err(failed)?;
        manager.set_credential_store(self.slot(None));
        Ok(manager)
    }

    async fn discover(
        &self,
        manager: &AuthorizationManager,
        challenge: Option<&str>,
    ) -> Result<AuthorizationMetadata, NotSignedIn> {
        let found = manager.resolve_metadata_from_challenge(challenge).await.map_err(failed)?;
        let metadata = found.metadata;
        endpoint(&self.url, "sign-in page", &metadata.authorization_endpoint)?;
        endpoint(&self.url, "token endpoint", &metadata.token_endpoint)?;
        if let Some(address) = &metadata.registration_endpoint {
            endpoint(&self.url, "registration endpoint", address)?;
        }
        Ok(metadata)
    }

    fn access(&self) -> Option<Access> {
        self.tokens.get(&self.key())?.access()
    }

    fn slot(&self, secret: Option<String>) -> Slot {
        let (tokens, redirect) = (self.tokens.clone(), self.redirect.clone());
        Slot { tokens, server: self.key(), redirect, secret }
    }

    fn key(&self) -> String {
        self.url.to_string()
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("server", &self.url.host_str()).finish_non_exhaustive()
    }
}

impl Invitation {
    /// Waits until a person has signed in, or has not.
    pub async fn outcome(self) -> Result<(), NotSignedIn> {
        match timeout(GOOD_FOR, self.outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) | Err(_) => Err(NotSignedIn::Expired),
        }
    }

    /// Who asks for the password.
    pub fn place(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

/// An address that a server named, if people and tokens may be sent there: over https, or on this
/// machine where the server is on it too.
fn endpoint(server: &Url, what: &'static str, address: &str) -> Result<Url, NotSignedIn> {
    let refused = || NotSignedIn::Unsafe { what, got: Quoted::new(address) };
    let url = Url::parse(address).map_err(|_| refused())?;
    let local = http::is_loopback(server) && http::is_loopback(&url) && url.scheme() == "http";
    let bare = url.username().is_empty() && url.password().is_none();
    if bare && (url.scheme() == "https" || local) { Ok(url) } else { Err(refused()) }
}

/// Whether the other side takes the address of a document about us for an id.
fn takes_documents(metadata: &AuthorizationMetadata) -> bool {
    let said = metadata.additional_fields.get("client_id_metadata_document_supported");
    said.and_then(serde_json::Value::as_bool).unwrap_or(false)
}

async fn within<T>(
    patience: Duration,
    doing: impl Future<Output = Result<T, NotSignedIn>>,
) -> Result<T, NotSignedIn> {
    timeout(patience, doing).await.unwrap_or(Err(NotSignedIn::Silent(patience)))
}

/// In words that a stranger had a hand in, so they are cut short and stay on one line. Not as short as
/// others: what is wrong with a chain of documents stands at its end.
fn failed(error: AuthError) -> NotSignedIn {
    let words = error.to_string();
    let plain = words.chars().map(|c| if c.is_control() { ' ' } else { c });
    NotSignedIn::Failed(plain.take(MAX_WORDS).collect())
}

fn header(access: &Access) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("{BEARER}{}", access.token)).ok()?;
    value.set_sensitive(true);
    Some(value)
}

const NAME: &str = "Transom";
const BEARER: &str = "Bearer ";
/// How long all that a server can have us ask may take together.
const PATIENCE: Duration = Duration::from_secs(45);
/// How long an invitation is good for.
const GOOD_FOR: Duration = Duration::from_secs(3_600);
const BETWEEN_REFRESHES: Duration = Duration::from_secs(20);
const MAX_WORDS: usize = 400;
const MAX_CHALLENGE: usize = 8 << 10;
