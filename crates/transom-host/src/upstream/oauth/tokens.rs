//! The tokens of all servers that a person has signed in to: in memory and, with a data folder, in a
//! file that only its owner can read.

use std::{
    collections::BTreeMap,
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kept::{Kept, Stamp};

/// The tokens of all servers, by the address of the server.
#[derive(Clone)]
pub struct Tokens(Arc<Inner>);

struct Inner {
    kept: Option<Kept>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    stamp: Option<Stamp>,
    records: BTreeMap<String, Record>,
}

/// What is known of one server.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// Where its sign-in page sends people back to: a client that was registered with another address is
    /// of no use.
    pub(super) redirect: String,
    /// The secret that came with a registration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
    pub(super) credentials: StoredCredentials,
}

/// A token, and when it ends if that is known.
pub(super) struct Access {
    pub(super) token: String,
    ends: Option<u64>,
}

impl Tokens {
    /// Tokens that are forgotten at the end.
    pub fn in_memory() -> Self {
        Self(Arc::new(Inner { kept: None, known: Mutex::default() }))
    }

    /// Tokens in a file of the data folder.
    pub fn open(folder: &Path) -> Self {
        Self(Arc::new(Inner { kept: Some(Kept::new(folder, FILE)), known: Mutex::default() }))
    }

    pub(super) fn get(&self, server: &str) -> Option<Record> {
        self.look().records.get(server).cloned()
    }

    /// Changes what is known, in the file as well where there is one.
    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Record>)) {
        let Some(kept) = &self.0.kept else {
            return change(&mut self.known().records);
        };
        let hold = kept.hold();
        let mut known = self.look();
        change(&mut known.records);
        let contents = Contents { version: VERSION, servers: known.records.clone() };
        let text = serde_json::to_string_pretty(&contents).expect("strings and numbers are JSON");
        match hold.and_then(|hold| hold.write(&text)) {
            Ok(()) => known.stamp = kept.stamp(),
            // The person is signed in all the same, for as long as this process lives.
            Err(error) => {
                tracing::warn!(file = %kept.path().display(), %error, "a token could not be kept");
            }
        }
    }

    /// What the file says now. One that cannot be read costs another sign-in and nothing else.
    fn look(&self) -> MutexGuard<'_, Known> {
        let mut known = self.known();
        let Some(kept) = &self.0.kept else { return known };
        let stamp = kept.stamp();
        if stamp.is_none() || known.stamp == stamp {
            return known;
        }
        match kept.read(MAX_BYTES).map(|text| parse(&text.unwrap_or_default())) {
            Ok(Some(records)) => *known = Known { stamp, records },
            _ => {
                known.stamp = stamp;
                tracing::warn!(file = %kept.path().display(), "the file with tokens cannot be read");
            }
        }
        known
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(…)")
    }
}

impl Record {
    /// The token itself.
    pub(super) fn access(&self) -> Option<Access> {
        let token = self.token_response()?;
        let from = self.credentials.token_received_at;
        let lasts = token.get("expires_in").and_then(Value::as_u64);
        let ends = from.zip(lasts).map(|(from, lasts)| from.saturating_add(lasts));
        Some(Access { token: token.get("access_token")?.as_str()?.to_owned(), ends })
    }

    pub(super) fn can_refresh(&self) -> bool {
        self.token_response().is_some_and(|token| token.get("refresh_token").is_some())
    }

    /// The type has no accessors of its own; its JSON is that of RFC 6749, 5.1.
    fn token_response(&self) -> Option<Value> {
        serde_json::to_value(self.credentials.token_response.as_ref()?).ok()
    }
}

impl Access {
    /// Whether it ends within the next half minute.
    pub(super) fn is_due(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.ends.is_some_and(|ends| ends < now.saturating_add(30))
    }
}

/// The place of one server among the tokens, as rmcp wants it.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) tokens: Tokens,
    pub(super) server: String,
    pub(super) redirect: String,
    pub(super) secret: Option<String>,
}

#[async_trait::async_trait]
impl CredentialStore for Slot {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.tokens.get(&self.server).map(|record| record.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let record =
            Record { redirect: self.redirect.clone(), secret: self.secret.clone(), credentials };
        self.tokens.change(|records| {
            records.insert(self.server.clone(), record);
        });
        Ok(())
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.tokens.change(|records| {
            records.remove(&self.server);
        });
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    servers: BTreeMap<String, Record>,
}

fn parse(text: &str) -> Option<BTreeMap<String, Record>> {
    let contents: Contents = serde_json::from_str(text).ok()?;
    (contents.version == VERSION).then_some(contents.servers)
}

const FILE: &str = "tokens.json";
const VERSION: u32 = 1;
/// Far more servers than a person signs in to.
const MAX_BYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_token_is_there_after_the_end_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let slot = |server: &str| Slot {
            tokens: Tokens::open(folder.path()),
            server: server.to_owned(),
            redirect: "http://localhost:7420/oauth".to_owned(),
            secret: None,
        };
        let credentials = json!({ "client_id": "us", "token_response": null });
        let credentials: StoredCredentials = serde_json::from_value(credentials).unwrap();
        slot("https://a.test/mcp").save(credentials).await.unwrap();
        let kept = slot("https://a.test/mcp").load().await.unwrap();
        assert_eq!(kept.unwrap().client_id, "us");
        assert!(slot("https://a.test/other").load().await.unwrap().is_none());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let about = std::fs::metadata(folder.path().join(FILE)).unwrap();
            assert_eq!(about.permissions().mode() & 0o777, 0o600);
        }
    }
}
