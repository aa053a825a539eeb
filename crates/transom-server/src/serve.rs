//! One line that serves a server: over standard input and output, or over streamable HTTP.

mod arguments;
#[cfg(feature = "serve-http")]
mod http;

use std::io::{self, IsTerminal as _};
use std::{env, fmt};

use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;
use rmcp::{ServerHandler, ServiceExt as _};

use self::arguments::Asked;
#[cfg(feature = "serve-http")]
pub use self::http::HttpServer;
use crate::handler::WithViews;
use crate::refusal::BuildError;
use crate::wrap::Views;

impl<S: ServerHandler> Views<S> {
    /// Builds the server and serves it, as the words on the command line say.
    ///
    /// Without any it speaks over standard input and output, as hosts start servers. `--http [ADDR]` serves
    /// streamable HTTP (feature `serve-http`), `--help` says so. It is [`Views::build`] and [`serve`] in one.
    ///
    /// ```no_run
    /// # use transom_server::{ServeError, View, Views};
    /// # struct Board;
    /// # impl rmcp::ServerHandler for Board {}
    /// # #[derive(View)]
    /// # #[view(uri = "ui://board", html = "<!doctype html><h1>Board</h1>")]
    /// # struct Face;
    /// #[tokio::main]
    /// async fn main() -> Result<(), ServeError> {
    ///     Views::wrap(Board).view::<Face>().serve().await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What [`Views::build`] refuses, words that are not understood, an address that cannot be had.
    pub async fn serve(self) -> Result<(), ServeError> {
        serve(self.build()?).await
    }
}

/// Serves any server as the words on the command line say: the second half of [`Views::serve`].
///
/// # Errors
///
/// Words that are not understood, an address that cannot be had, a connection that fails.
pub async fn serve<S: ServerHandler + Clone>(server: S) -> Result<(), ServeError> {
    let mut words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_default();
    match arguments::read(words).map_err(ServeError::Words)? {
        Asked::Help => say(&arguments::help(&program, &server.get_info())),
        Asked::Version => {
            let me = server.get_info().server_info;
            say(&format!("{} {}\n", me.name, me.version))
        }
        Asked::Stdio => serve_stdio(server).await,
        Asked::Http { address, names } => over_http(server, address, names).await,
    }
}

/// Serves over standard input and output until the client closes them.
///
/// # Errors
///
/// The client's first words are none that begin a conversation, or the connection fails.
pub async fn serve_stdio<S: ServerHandler>(server: S) -> Result<(), ServeError> {
    // A person who starts it by hand would wait for something to happen.
    if io::stdin().is_terminal() {
        eprintln!("{WAITING}");
    }
    let running = match server.serve(stdio()).await {
        Ok(running) => running,
        // Whoever started it went away before the first word. Hosts do that when they are closed.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Connection(Box::new(error))),
    };
    running.waiting().await.map_err(|error| ServeError::Connection(Box::new(error)))?;
    Ok(())
}

#[cfg(feature = "serve-http")]
async fn over_http<S: ServerHandler + Clone>(
    server: S,
    address: std::net::SocketAddr,
    names: Vec<String>,
) -> Result<(), ServeError> {
    let bound = HttpServer::bind(address).await;
    let mut http = bound.map_err(|error| ServeError::Address(address, error))?;
    for name in names {
        http = http.name(name);
    }
    say(&format!("{}\n", http.url()))?;
    if !address.ip().is_loopback() {
        eprintln!("{OPEN}");
    }
    http.serve(server, interrupted()).await;
    Ok(())
}

#[cfg(not(feature = "serve-http"))]
async fn over_http<S: ServerHandler + Clone>(
    _: S,
    _: std::net::SocketAddr,
    _: Vec<String>,
) -> Result<(), ServeError> {
    Err(ServeError::Words(WITHOUT_HTTP.to_owned()))
}

/// Waits for Ctrl-C, or for the signal with which services are ended.
#[cfg(feature = "serve-http")]
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut ended) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = ended.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// Prints to standard output. A reader that is gone is no failure of ours.
fn say(words: &str) -> Result<(), ServeError> {
    use std::io::Write as _;
    let mut out = io::stdout().lock();
    match out.write_all(words.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(ServeError::Connection(Box::new(error)))
        }
        _ => Ok(()),
    }
}

/// Why a server is not served. `main` may return it: it prints as the sentence it is.
#[non_exhaustive]
pub enum ServeError {
    /// The views cannot be served.
    Build(BuildError),
    /// The words on the command line are not understood; the sentence says what to write.
    Words(String),
    /// The address is taken, or not one of this machine.
    Address(std::net::SocketAddr, io::Error),
    /// The connection could not begin, or failed.
    Connection(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Words(words) => f.write_str(words),
            Self::Address(address, error) => write!(
                f,
                "cannot listen at {address}: {error}; choose another, as in --http 127.0.0.1:0, which takes a free port"
            ),
            Self::Connection(error) => write!(f, "the connection failed: {error}"),
        }
    }
}

/// The sentence itself: `main` prints its error this way, and a person reads it.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Build(error) => Some(error),
            Self::Address(_, error) => Some(error),
            Self::Connection(error) => Some(&**error),
            Self::Words(_) => None,
        }
    }
}

impl From<BuildError> for ServeError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

// A server may also be given to `serve` with a transport of rmcp's own.
const _: () = {
    fn _any_server<S: ServerHandler>(server: WithViews<S>) -> impl ServerHandler + Clone {
        server
    }
};

const WAITING: &str = "this is an MCP server: it speaks over standard input and output, and waits for a host to do so. \
    `transom dev -- COMMAND` is one; --help says more";
#[cfg(feature = "serve-http")]
const OPEN: &str = "every program that reaches this address may call every tool: put something in front of it that checks who is asking";
#[cfg(not(feature = "serve-http"))]
const WITHOUT_HTTP: &str = "this server was built without HTTP: add \"serve-http\" to the features of transom-server in its \
    Cargo.toml, as in transom-server = { version = \"0.1\", features = [\"serve-http\"] }";
