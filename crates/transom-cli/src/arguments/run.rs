//! Which servers, and how to run a host with them.

use std::{fmt, path::PathBuf};

use clap::{Args, ValueEnum};
use transom::policy::Grantable;
use transom_host::sandbox::Wildcard;
use url::Url;

/// Which servers.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ServerArguments {
    /// A server's HTTP address; may be given several times.
    #[arg(value_name = "URL", value_parser = address)]
    pub(crate) urls: Vec<Url>,
    /// A server to start, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<String>,
    /// What the one server of the command line is called, as in [servers.NAME] of transom.toml.
    ///
    /// Without it, a server is called after its address or command, and is treated like any other: what a section of
    /// transom.toml grants goes to the server that the section itself names, or that you name here.
    #[arg(long, value_name = "NAME", help_heading = "Servers")]
    pub(crate) name: Option<String>,
    /// A file with `mcpServers`, as other hosts have it. Naming it is agreeing to it.
    ///
    /// Servers that are named on the command line take the place of those in transom.toml. A section of it that says
    /// from = "FILE" says how to treat the server of its name in this file.
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) config: Option<PathBuf>,
    /// A variable of your environment for servers that are started, or one with a value: NAME, NAME=VALUE.
    ///
    /// May be given several times. Without it they get who and where you are (PATH, HOME, USER, LANG and their
    /// like) and where tools lie (CARGO_HOME, NVM_DIR, PYENV_ROOT and their like), and nothing that may be a
    /// secret, such as a proxy's address or a token.
    #[arg(long, value_name = "NAME", value_parser = variable, help_heading = "Servers")]
    pub(crate) env: Vec<Variable>,
    /// Something that views of a server may do beside what their policy lets them: WHAT, or SERVER=WHAT where there are
    /// several servers.
    ///
    /// May be given several times, for this run. WHAT is eval, wasm, blob:, data:, blob-images, blob-media, blob-fonts,
    /// data-fonts, blob-fetch, camera, microphone, geolocation or clipboard-write; a permission is had by a view that asks
    /// for it. None of them opens a domain. The page offers what a view was kept from, and remembers what you answer.
    #[arg(long, value_name = "WHAT", value_parser = granting, help_heading = "Servers")]
    pub(crate) grant: Vec<Granting>,
    /// The file with settings, policy and servers, in place of the one that would be found.
    ///
    /// Without it, the first of these is read: $TRANSOM_CONFIG, ./transom.toml,
    /// $XDG_CONFIG_HOME/transom/transom.toml (or ~/.config/transom/transom.toml).
    ///
    /// Naming a file is agreeing to it, for this run. A file that is only found in this folder may be
    /// a stranger's: you are shown in a terminal what it does, and it counts after you said yes. When it changes, you are
    /// asked again. Without a terminal it is refused.
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) toml: Option<PathBuf>,
    /// Reads no transom.toml, wherever there is one.
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
    /// A domain for the frames alone, all of whose names lead to the sandbox's port: `https://*.example-views.com`.
    #[arg(long, value_name = "DOMAIN", value_parser = wildcard, conflicts_with = "sandbox")]
    #[arg(help_heading = "Page")]
    pub(crate) sandbox_domain: Option<Wildcard>,
    /// Reads documents when a view opens, and not already when its server connects.
    #[arg(long, help_heading = "Page")]
    pub(crate) no_prefetch: bool,
    /// Where pins, keys, tokens and the audit are kept between runs.
    ///
    /// The default is $XDG_DATA_HOME/transom (or ~/.local/share/transom).
    #[arg(long, value_name = "FOLDER", help_heading = "Records")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Keeps nothing between runs.
    #[arg(long, conflicts_with = "data_dir", help_heading = "Records")]
    pub(crate) no_data: bool,
    /// Does not write down what views do. Without a data folder nothing is written down anyway.
    #[arg(long, help_heading = "Records")]
    pub(crate) no_audit: bool,
    /// Does nothing for a view before its row of the audit would survive a power failure, not just a crash.
    #[arg(long, conflicts_with = "no_audit", help_heading = "Records")]
    pub(crate) audit_sync: bool,
    /// Removes rows of the audit that are older than this many days, at the start and every hour.
    #[arg(long, value_name = "DAYS", conflicts_with = "no_audit", help_heading = "Records")]
    pub(crate) retain: Option<u32>,
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
    /// A folder or file to watch, in place of this folder; may be given several times.
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
