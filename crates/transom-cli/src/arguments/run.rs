//! Which servers, and how to run a host with them.

use std::{fmt, path::PathBuf};

use clap::{Args, ValueEnum};
use transom::policy::Grantable;
use transom_host::sandbox::Wildcard;
use url::Url;

use super::{DoorArguments, model::ModelArguments};

/// Which servers.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ServerArguments {
    /// A server's HTTP address; may be given several times.
    #[arg(value_name = "URL", value_parser = address)]
    pub(crate) urls: Vec<Url>,
    /// A server to start, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<String>,
    /// The name of the server on the command line, as in [servers.NAME] of transom.toml.
    ///
    /// Without it, the server gets a name from its address or command, and no section of transom.toml counts for it. A
    /// section counts for the server that it describes itself, or that you name here.
    #[arg(long, value_name = "NAME", help_heading = "Servers")]
    pub(crate) name: Option<String>,
    /// A file with `mcpServers`, as other hosts use it. By naming it you agree to what it starts.
    ///
    /// Servers on the command line replace those in transom.toml. A section of transom.toml with from = "FILE" says how
    /// to treat the server of the same name in this file.
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) config: Option<PathBuf>,
    /// An environment variable for servers that are started: NAME passes yours on, NAME=VALUE sets one.
    ///
    /// May be given several times. Other variables they do not get, except those that say who and where you are
    /// (PATH, HOME, USER, LANG and the like) and where tools are installed (CARGO_HOME, NVM_DIR, PYENV_ROOT and the
    /// like). What may be a secret, such as a proxy's address or a token, is never among them.
    #[arg(long, value_name = "NAME", value_parser = variable, help_heading = "Servers")]
    pub(crate) env: Vec<Variable>,
    /// Allows the views of a server something that is otherwise blocked: WHAT, or SERVER=WHAT where there are several
    /// servers.
    ///
    /// May be given several times, for this run. WHAT is eval, wasm, blob:, data:, blob-images, blob-media, blob-fonts,
    /// data-fonts, blob-fetch, camera, microphone, geolocation or clipboard-write. A permission, such as camera, goes only
    /// to a view that asks for it. None of them opens a domain. When something was blocked for a view, the page offers to
    /// allow it, and remembers your answer.
    #[arg(long, value_name = "WHAT", value_parser = granting, help_heading = "Servers")]
    pub(crate) grant: Vec<Granting>,
    /// The file with settings, policy and servers, instead of the one that would be found.
    ///
    /// Without it, the first of these is read: $TRANSOM_CONFIG, ./transom.toml,
    /// $XDG_CONFIG_HOME/transom/transom.toml (or ~/.config/transom/transom.toml).
    ///
    /// By naming a file you agree to it, for this run. A file that is only found in this folder may be a stranger's: the
    /// terminal shows you what it does, and it counts only after you said yes. When it changes, you are asked again.
    /// Without a terminal it is refused.
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) toml: Option<PathBuf>,
    /// Reads no transom.toml, even where there is one.
    #[arg(long, conflicts_with = "toml", help_heading = "Servers")]
    pub(crate) no_toml: bool,
}

/// Something that is granted to a server.
#[derive(Clone, Debug)]
pub(crate) struct Granting {
    /// Its name; nothing means the only one.
    pub(crate) server: Option<String>,
    pub(crate) what: Grantable,
}

/// A variable for a server.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Nothing takes it from our own environment.
    pub(crate) value: Option<String>,
}

/// Without the value, which may be a secret.
impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How to run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The page's port; the next port is the sandbox's. If one is busy, the next free pair is taken.
    ///
    /// The default is 7420.
    #[arg(long, help_heading = "Page")]
    pub(crate) port: Option<u16>,
    /// Opens the page in the browser.
    #[arg(long, help_heading = "Page")]
    pub(crate) open: bool,
    /// Where frames get their origins: names below localhost, or a port each.
    #[arg(long, value_name = "MODE", help_heading = "Page")]
    pub(crate) sandbox: Option<SandboxMode>,
    /// A domain for the frames alone; all names below it lead to the sandbox's port: `https://*.example-views.com`.
    #[arg(long, value_name = "DOMAIN", value_parser = wildcard, conflicts_with = "sandbox")]
    #[arg(help_heading = "Page")]
    pub(crate) sandbox_domain: Option<Wildcard>,
    /// Reads a document only when its view opens, and not already when its server connects.
    #[arg(long, help_heading = "Page")]
    pub(crate) no_prefetch: bool,
    #[command(flatten)]
    pub(crate) doors: DoorArguments,
    /// The page may add servers that are programs, give them variables of your environment, and write them to
    /// transom.toml, without a question in the terminal. Whoever has the page can then run anything as you.
    #[arg(long, help_heading = "Page")]
    pub(crate) allow_commands: bool,
    /// Where pins, keys, tokens and the audit are kept between runs.
    ///
    /// The default is $XDG_DATA_HOME/transom (or ~/.local/share/transom).
    #[arg(long, value_name = "FOLDER", help_heading = "Records")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Keeps nothing between runs.
    #[arg(long, conflicts_with = "data_dir", help_heading = "Records")]
    pub(crate) no_data: bool,
    /// Keeps no record of what views do. Without a data folder there is none anyway.
    #[arg(long, help_heading = "Records")]
    pub(crate) no_audit: bool,
    /// Waits for the disk before anything is done for a view: the audit then survives a power failure, not only a crash.
    #[arg(long, conflicts_with = "no_audit", help_heading = "Records")]
    pub(crate) audit_sync: bool,
    /// Removes rows of the audit that are older than this many days, at the start and every hour.
    #[arg(long, value_name = "DAYS", conflicts_with = "no_audit", help_heading = "Records")]
    pub(crate) retain: Option<u32>,
    /// Writes all messages of views and servers into a new file, without secrets: a trace that the page opens and
    /// `transom replay` plays.
    #[arg(long, value_name = "FILE", help_heading = "Records")]
    pub(crate) record: Option<PathBuf>,
    /// Writes the log to standard error as JSON lines; RUST_LOG says how much.
    #[arg(long, help_heading = "Records")]
    pub(crate) json: bool,
    /// Prints the configuration and where each value comes from, and ends. Secrets are not shown.
    #[arg(long, help_heading = "Records")]
    pub(crate) print_config: bool,
}

/// How to run a server that is being written.
#[derive(Args, Clone, Debug)]
pub(crate) struct DevArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// A folder or file to watch, instead of this folder; may be given several times.
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub(crate) watch: Vec<PathBuf>,
    /// Files or folders to leave out, by name or ending, as in data or '*.log'; may be given several times.
    #[arg(long, value_name = "NAME", help_heading = "Files")]
    pub(crate) ignore: Vec<String>,
}

/// Where frames get their origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SandboxMode {
    /// A name below localhost for each frame.
    Names,
    /// A port for each frame, where `*.localhost` does not resolve.
    Ports,
}

/// Reads the address of a server.
pub(crate) fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    // The text is not repeated: an address may hold a token.
    url.ok_or_else(|| {
        "expected an address such as http://localhost:3001/mcp; a program to start stands after --"
            .to_owned()
    })
}

fn granting(text: &str) -> Result<Granting, String> {
    let (server, what) = match text.rsplit_once('=') {
        Some((server, what)) => (Some(server.to_owned()), what),
        None => (None, text),
    };
    what.parse().map(|what| Granting { server, what }).map_err(|_| {
        let names: Vec<_> = Grantable::all().map(Grantable::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn variable(text: &str) -> Result<Variable, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let sound =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match sound {
        true => Ok(Variable { name: name.to_owned(), value }),
        false => Err(format!("{name:?} is no name of a variable; write NAME or NAME=VALUE")),
    }
}

fn wildcard(text: &str) -> Result<Wildcard, String> {
    Wildcard::parse(text).map_err(|error| error.to_string())
}
