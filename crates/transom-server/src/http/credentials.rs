//! Who asks, and what proves it to the backend.
#![expect(
    clippy::disallowed_types,
    reason = "a keyed hash that differs in every process is what is wanted here"
)]

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::Proxy;
use super::failure::Failure;
use crate::render::BoxFuture;

/// Who a call is made for, and the headers that prove it to the backend.
///
/// ```
/// use transom_server::Credentials;
/// let ada = Credentials::of("ada").bearer("a token of hers");
/// # let _ = ada;
/// ```
#[derive(Clone)]
pub struct Credentials {
    person: String,
    headers: Vec<(String, String)>,
}

impl Credentials {
    /// Of a person, by a name that is theirs alone: limits and kept responses are kept apart by it. It is written down.
    pub fn of(person: impl Into<String>) -> Self {
        Self { person: person.into(), headers: Vec::new() }
    }

    /// Of no person in particular.
    pub fn nobody() -> Self {
        Self::of("nobody")
    }

    /// Sends a token.
    pub fn bearer(self, token: impl AsRef<str>) -> Self {
        self.header("authorization", format!("Bearer {}", token.as_ref()))
    }

    /// Sends a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Credentials")
            .field("person", &self.person)
            .field("headers", &names)
            .finish()
    }
}

pub(crate) type Prove = Arc<
    dyn Fn(RequestContext<RoleServer>) -> BoxFuture<'static, Result<Credentials, ErrorData>>
        + Send
        + Sync,
>;

/// Names for connections, which tell nothing of what they are made of.
#[derive(Default)]
pub(crate) struct Names {
    first: RandomState,
    second: RandomState,
}

impl Names {
    /// A connection by its session and its token: what differs in one of them is another person.
    fn of(&self, context: &RequestContext<RoleServer>) -> String {
        let Some(parts) = context.extensions.get::<http::request::Parts>() else {
            return "local".to_owned();
        };
        let known = ["mcp-session-id", "authorization"]
            .map(|name| parts.headers.get(name).map(HeaderValue::as_bytes));
        format!("{:016x}{:016x}", self.first.hash_one(known), self.second.hash_one(known))
    }
}

impl Names {
    /// Stands for the headers that prove who asks, and tells nothing of them.
    pub(crate) fn of_proof(&self, proof: &HeaderMap) -> [u64; 2] {
        let mut known: Vec<_> =
            proof.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        known.sort_unstable();
        [self.first.hash_one(&known), self.second.hash_one(&known)]
    }
}

impl Proxy {
    /// Who asks, and the headers that prove it.
    pub(crate) async fn person(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(String, HeaderMap), Failure> {
        let Some(prove) = &self.prove else {
            return Ok((self.names.of(context), HeaderMap::new()));
        };
        let refused = |error: &dyn std::fmt::Display| {
            // ERR-11: why is for the server's log alone.
            tracing::warn!(target: "transom::http", "no credentials: {error}");
            Failure::blocked("this server does not know for whom to ask")
        };
        let Credentials { person, headers } =
            prove(context.clone()).await.map_err(|error| refused(&error.message))?;
        let mut proof = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::try_from(name).map_err(|error| refused(&error))?;
            let mut value = HeaderValue::try_from(value).map_err(|error| refused(&error))?;
            value.set_sensitive(true);
            proof.insert(name, value);
        }
        Ok((person, proof))
    }
}
