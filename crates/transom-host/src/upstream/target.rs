//! Where a server is, and on which terms we talk to it.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use transom::{calls::Patience, policy::Reach, wire::Implementation};
use url::Url;

use super::{Ask, InProcess, Memo, OAuth, Remembered, Times};

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Target {
    /// A program to be started, which talks over its standard input and output.
    Stdio(Command),
    /// A streamable HTTP endpoint.
    Http(Endpoint),
    /// A server in this process.
    InProcess(InProcess),
}

/// A program and how to start it.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The program, looked up in `PATH` unless it is a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, beside the few variables that every child gets.
    pub env: Vec<(String, Secret)>,
    /// Whether it gets all of our environment and not just those few: for a server that is its user's own.
    pub inherit: bool,
    /// Its working directory; ours, unless said otherwise.
    pub cwd: Option<PathBuf>,
    /// Whether what it writes to its standard error goes to ours as well, for its author to read.
    pub echo: bool,
}

/// An HTTP address and what is sent along with every request.
#[derive(Clone)]
pub struct Endpoint {
    /// The address.
    pub url: Url,
    /// Headers, such as `Authorization`.
    pub headers: Vec<(String, Secret)>,
}

/// A value that no log shows.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// The value itself.
    Value(String),
    /// The name of the environment variable that holds it.
    Env(String),
    /// `Bearer` and the value of an environment variable.
    BearerEnv(String),
}

/// On which terms we talk to a server.
#[derive(Clone)]
pub struct Options {
    /// Who we say we are.
    pub client: Implementation,
    /// Whether we say that we show views, as a host does; a client that only reads text does not.
    pub views: bool,
    /// What is answered when the server asks us something; nothing, unless there is a person to ask.
    pub ask: Option<Arc<dyn Ask>>,
    /// How to sign in to an HTTP server that asks for it; not at all, unless there is a person to do it.
    pub oauth: Option<Arc<OAuth>>,
    /// Remembers which era a server speaks.
    pub memo: Arc<dyn Memo>,
    /// How long the server may leave open which era it speaks before we assume the older one.
    pub probe: Duration,
    /// How long the first exchange may take in all: programs that download themselves are slow.
    pub greeting: Duration,
    /// How long a call may take, unless its own options say otherwise.
    pub patience: Patience,
    /// How long a server may take to list its tools, all pages together.
    pub listing: Duration,
    /// How long a server that let a call run out of time has to answer a ping.
    pub ping: Duration,
    /// How long a server that should end has, before it is asked harder; and then again.
    pub farewell: Duration,
    /// How a server that went away is started again.
    pub restart: Restart,
    /// What a server may use up.
    pub limits: UpstreamLimits,
    /// Who is told each line that a program writes to its standard error.
    pub stderr: Option<StderrHearer>,
    /// Who hears every message, both ways.
    pub overhear: Option<Arc<dyn Overhear>>,
}

/// Hears every message of a connection as it travels. It must not wait for anything.
pub trait Overhear: Send + Sync {
    /// A message goes to the server.
    fn sent(&self, text: &str);
    /// A message, or what should be one, came from the server.
    fn received(&self, text: &str);
}

/// Who is told each line of a program's standard error. It must not wait for anything.
pub type StderrHearer = Arc<dyn Fn(&str) + Send + Sync>;

/// How often, and how soon, a server that went away is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// The wait before the first attempt; doubled for each further one.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// Attempts in a row before it is given up.
    pub attempts: u32,
    /// How long a server must have lived for the count to start anew.
    pub healthy: Duration,
}

/// What a server may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamLimits {
    /// The longest message, in bytes.
    pub message: usize,
    /// The deepest nesting of a message. No limit, unless one is set: nothing here follows what is only
    /// passed on, and looking for it makes reading a large result a third dearer.
    pub depth: usize,
    /// The longest params of a notification that is passed on, in bytes.
    pub notification: usize,
    /// Calls in flight.
    pub calls: usize,
    /// Bytes that wait to be written to the server.
    pub unsent: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Tools of one server.
    pub tools: usize,
    /// The texts of all of them, in bytes.
    pub listed: usize,
}

impl Command {
    /// A program with arguments and nothing else.
    pub fn new(
        program: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self { program: program.into(), args, ..Self::default() }
    }
}

impl Endpoint {
    /// An address without further headers.
    pub fn new(url: Url) -> Self {
        Self { url, headers: vec![] }
    }

    /// The address without the places where credentials and tokens hide; the path says enough.
    pub fn plain_url(&self) -> String {
        let mut url = self.url.clone();
        // Both fail only for addresses that have no place for credentials.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }

    /// What whoever configured it should know: that what it sends along can be read on its way.
    pub fn warning(&self) -> Option<String> {
        let Self { url, headers } = self;
        let host = url.host_str().unwrap_or_default();
        // What stays on this machine passes no other machine.
        if url.scheme() != "http" || Reach::of(host) == Reach::Machine {
            return None;
        }
        let what = match &**headers {
            [] if url.username().is_empty() && url.password().is_none() => return None,
            [] => "the credentials in its address are".to_owned(),
            headers => {
                let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
                format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
            }
        };
        let plain = self.plain_url();
        Some(format!(
            "{what} sent to {plain} without encryption, where others on the way can read it; use https://"
        ))
    }

    /// Sends a token along that an environment variable holds.
    #[must_use]
    pub fn bearer_env(mut self, variable: impl Into<String>) -> Self {
        self.headers.push(("Authorization".to_owned(), Secret::BearerEnv(variable.into())));
        self
    }

    /// Sends a token along.
    #[must_use]
    pub fn bearer(mut self, token: &str) -> Self {
        self.headers.push(("Authorization".to_owned(), Secret::Value(format!("Bearer {token}"))));
        self
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers = &self.headers;
        f.debug_struct("Endpoint")
            .field("url", &self.plain_url())
            .field("headers", headers)
            .finish()
    }
}

impl Target {
    /// The name under which the memo knows this server. Holds no secret.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Stdio(Command { program, args, .. }) => format!("stdio {program} {args:?}"),
            Self::Http(endpoint) => endpoint.plain_url(),
            Self::InProcess(server) => format!("in-process {}", server.name()),
        }
    }
}

impl Secret {
    /// The value, unless it is in a variable that is not set.
    pub(crate) fn reveal(&self) -> Result<String, UnsetVariable> {
        let read = |name: &str| std::env::var(name).map_err(|_| UnsetVariable(name.to_owned()));
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Env(name) => read(name),
            Self::BearerEnv(name) => Ok(format!("Bearer {}", read(name)?)),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => f.write_str("Value(…)"),
            Self::Env(name) => f.debug_tuple("Env").field(name).finish(),
            Self::BearerEnv(name) => f.debug_tuple("BearerEnv").field(name).finish(),
        }
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::Value(value.to_owned())
    }
}

/// The configuration names an environment variable that is not set, or not text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is not set")]
pub struct UnsetVariable(pub String);

impl Options {
    /// What we can do, as every server is told: show views (H-01), and what [`Ask`] adds.
    pub(super) fn capabilities(&self) -> Map<String, Value> {
        let mut capabilities = self.ask.as_ref().map(|ask| ask.capabilities()).unwrap_or_default();
        if !self.views {
            return capabilities;
        }
        let extensions = capabilities.entry("extensions").or_insert_with(|| Map::new().into());
        if let Value::Object(extensions) = extensions {
            let ui = transom::wire::UiCapability::default();
            let ui = serde_json::to_value(ui).expect("a list of strings is JSON");
            extensions.insert(transom::wire::EXTENSION.to_owned(), ui);
        }
        capabilities
    }
}

impl Default for Options {
    fn default() -> Self {
        let times = Times::default();
        Self {
            client: Implementation::new("transom", env!("CARGO_PKG_VERSION")),
            views: true,
            ask: None,
            oauth: None,
            memo: Arc::new(Remembered::default()),
            probe: Duration::from_secs(1),
            greeting: Duration::from_secs(60),
            patience: times.call,
            listing: times.listing,
            ping: Duration::from_secs(10),
            farewell: Duration::from_secs(2),
            restart: Restart::default(),
            limits: UpstreamLimits::default(),
            stderr: None,
            overhear: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(250),
            longest: Duration::from_secs(30),
            attempts: 6,
            healthy: Duration::from_secs(60),
        }
    }
}

impl Restart {
    /// The wait before an attempt, the first being number 0.
    pub(super) fn wait(&self, attempt: u32) -> Duration {
        self.first.saturating_mul(1_u32 << attempt.min(16)).min(self.longest)
    }
}

impl Default for UpstreamLimits {
    fn default() -> Self {
        Self {
            message: 32 << 20,
            depth: usize::MAX,
            notification: 256 << 10,
            calls: 256,
            unsent: 64 << 20,
            pages: 100,
            tools: 10_000,
            listed: 32 << 20,
        }
    }
}

impl UpstreamLimits {
    pub(super) fn rpc(&self) -> transom::rpc::MessageLimits {
        transom::rpc::MessageLimits { bytes: self.message, depth: self.depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_printed() {
        let mut endpoint =
            Endpoint::new("https://me:hush@a.test/mcp?key=hush".parse().unwrap()).bearer("hush");
        endpoint.headers.push(("X".to_owned(), "hush".into()));
        let target = Target::Http(endpoint);
        assert_eq!(target.key(), "https://a.test/mcp");
        assert!(!format!("{target:?}").contains("hush"));
    }

    #[test]
    fn a_token_that_others_can_read_on_its_way_is_warned_of() {
        let endpoint = |url: &str| Endpoint::new(url.parse().unwrap());
        for url in [
            "https://a.test/mcp",
            "http://localhost:3001/mcp",
            "http://127.0.0.1/",
            "http://[::1]/",
        ] {
            assert_eq!(endpoint(url).bearer("hush").warning(), None, "{url}");
        }
        assert_eq!(endpoint("http://a.test/mcp").warning(), None, "nothing is sent along");
        for (endpoint, words) in [
            (
                endpoint("http://a.test/mcp?k=hush").bearer("hush"),
                "Authorization is sent to http://a.test/mcp without",
            ),
            (
                endpoint("http://192.168.0.7/mcp").bearer_env("HUSH"),
                "Authorization is sent to http://192.168.0.7/mcp",
            ),
            (
                endpoint("http://me:hush@a.test/"),
                "the credentials in its address are sent to http://a.test/",
            ),
        ] {
            let warning = endpoint.warning().unwrap();
            assert!(warning.starts_with(words) && !warning.contains("hush"), "{warning}");
        }
    }

    #[test]
    fn the_wait_doubles_up_to_a_bound() {
        let restart = Restart::default();
        let waits: Vec<u128> = (0..9).map(|n| restart.wait(n).as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(restart.wait(u32::MAX), restart.longest);
    }

    #[test]
    fn h_01_views_are_advertised() {
        let capabilities = Value::Object(Options::default().capabilities());
        assert_eq!(
            capabilities.to_string(),
            r#"{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}"#
        );
        let text = Options { views: false, ..Options::default() };
        assert!(text.capabilities().is_empty());
    }
}
