//! What can be said on the command line.

use std::{fmt, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use transom_host::{audit::Hash, sandbox::Wildcard};
use url::Url;

use crate::{
    check::{Given, Level},
    expose::ExposeArguments,
    pages::PagesArguments,
};

/// Strangers' user interfaces, safely, fast, and with proof.
///
/// Without a command, `transom` is `transom run`: a host on this machine that connects to MCP servers
/// and shows their views, each frame on an origin of its own. Without a server it brings one along.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, max_term_width = 100)]
#[command(after_help = EXAMPLES, after_long_help = AFTERWORD)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a host: connects to servers and shows their views.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArguments),
    /// Runs a host and a server that you are writing: starts it again when its files change.
    ///
    /// All that `run` does, with TRANSOM_DEV=1 and all of your environment for the server, its standard error
    /// on yours, and no question about views that have changed. A server that does not start is tried again
    /// when something changes.
    ///
    /// Watched are all files of this folder but hidden ones and those in target, node_modules and the like. The
    /// files of views are left to a server that uses transom-server: it reloads them in the open page itself.
    #[command(after_help = DEV_EXAMPLES)]
    Dev(DevArguments),
    /// Writes a server with a view to start from: a model's tool, a view's tool, a view, a test.
    ///
    /// Nothing is built and nothing downloaded.
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArguments),
    /// Looks at servers and prints what a host would find: tools by audience, views, policies, findings.
    ///
    /// Nothing of a view is run and no tool is called. Exit codes: 0 all is well, 1 a view has findings
    /// of severity danger, 2 a server could not be looked at.
    #[command(after_help = INSPECT_EXAMPLES)]
    Inspect(InspectArguments),
    /// Checks servers for what keeps views from being shown; in any language, without a browser.
    ///
    /// Asks a server what a host would ask, once as a host and once as a client without views, and
    /// compares the answers with the rules. Tools that open a view and say that they only read are called;
    /// no other is, unless --call names it.
    ///
    /// It is a look at what the server says: what a script does once it runs, whether it shakes hands with
    /// its host and what it draws cannot be seen this way.
    ///
    /// Exit codes: 0 nothing was found that counts, 1 something was, 2 a server could not be asked.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArguments),
    /// Lets a hostile view try every escape in a real browser, and prints what was blocked.
    ///
    /// Starts the installed Chromium without a window and with a fresh profile. Everything stays on this
    /// machine. Exit codes: 0 all is as it should be, 1 something got out or does not work, 2 could not run.
    #[command(after_help = ISOLATION_EXAMPLES)]
    Isolation(IsolationArguments),
    /// Serves sample MCP servers that are web pages, and a host beside them.
    ///
    /// Each page has an origin of its own below localhost. They are bundled from a checkout, with Node; the first time
    /// npm downloads what they are made of.
    #[command(after_help = PAGES_EXAMPLES)]
    Pages(PagesArguments),
    /// Offers an MCP server that is a web page to any MCP client, over standard input and output or HTTP.
    ///
    /// Opens the page in the installed Chromium, in a frame of a page of our own, whose origin the server must allow.
    /// What it was set up with is kept in the data folder.
    #[command(after_help = EXPOSE_EXAMPLES)]
    Expose(ExposeArguments),
    /// Reads the audit: what views did, as it was written down before it happened.
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit(AuditArguments),
    /// Lists what you allowed or forbade for longer than once, and takes it back.
    #[command(after_help = DECISIONS_EXAMPLES)]
    Decisions(DecisionsArguments),
    /// Prints a script that completes commands and options in a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Is the demo server, over standard input and output.
    #[command(hide = true)]
    DemoServer,
}

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
    /// The file with settings, policy and servers, in place of the one that would be found.
    ///
    /// Without it, the first of these is read: $TRANSOM_CONFIG, ./transom.toml,
    /// $XDG_CONFIG_HOME/transom/transom.toml (or ~/.config/transom/transom.toml).
    ///
    /// Naming a file is agreeing to it, for this run. One that is only found in this folder may be anybody's:
    /// it counts once you have seen in a terminal what it does and said yes, and again when it changes. Without a
    /// terminal it is refused.
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) toml: Option<PathBuf>,
    /// Reads no transom.toml, wherever there is one.
    #[arg(long, conflicts_with = "toml", help_heading = "Servers")]
    pub(crate) no_toml: bool,
}

/// A variable for a server.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Nothing takes it from our own environment.
    pub(crate) value: Option<String>,
}

/// The value is nobody's business.
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
    /// The page's port; its neighbour is the sandbox's. A busy one means the next free pair.
    ///
    /// 7420, unless said.
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
    /// $XDG_DATA_HOME/transom (or ~/.local/share/transom), unless said.
    #[arg(long, value_name = "FOLDER", help_heading = "Records")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Keeps nothing between runs.
    #[arg(long, conflicts_with = "data_dir", help_heading = "Records")]
    pub(crate) no_data: bool,
    /// Does not write down what views do. Without a data folder nothing is, either.
    #[arg(long, help_heading = "Records")]
    pub(crate) no_audit: bool,
    /// Lets nothing be done for a view before its row has survived a power failure, not just a crash.
    #[arg(long, conflicts_with = "no_audit", help_heading = "Records")]
    pub(crate) audit_sync: bool,
    /// Removes rows of the audit that are older than so many days, at the start and every hour.
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

/// What to write.
#[derive(Args, Clone, Debug)]
pub(crate) struct NewArguments {
    /// The server's name, and its folder's.
    pub(crate) name: String,
    /// What the view is made with.
    #[arg(long, value_name = "TEMPLATE", default_value = "html")]
    pub(crate) template: Template,
    /// A checkout of Transom to take transom-server from; the one around this folder, unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
}

/// What a view is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// One HTML file, without a build step.
    Html,
    /// An askama template, checked by the compiler.
    Askama,
    /// React, bundled with esbuild; needs Node.
    React,
}

/// How to inspect.
#[derive(Args, Clone, Debug)]
pub(crate) struct InspectArguments {
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    /// Prints one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How to check.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    /// The least level that counts for the exit code: what is below is printed all the same.
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    pub(crate) level: Level,
    /// A rule to leave out; may be given several times, or with commas between.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Calls a tool, with these arguments: NAME, or NAME={"key": "value"}; may be given several times.
    #[arg(long, value_name = "CALL", value_parser = given)]
    pub(crate) call: Vec<Given>,
    /// Calls no tool, not even one that says that it only reads.
    #[arg(long, conflicts_with = "call")]
    pub(crate) no_call: bool,
    /// Says that all that are named are one server, and compares what they answer (server-18).
    #[arg(long)]
    pub(crate) same: bool,
    /// How many seconds each answer may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) timeout: u16,
    /// Prints one JSON document instead of text.
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,
    /// Prints a SARIF 2.1.0 log instead of text.
    #[arg(long)]
    pub(crate) sarif: bool,
    /// Lists the rules, with why and how to mend what they find, and ends.
    #[arg(long)]
    pub(crate) rules: bool,
}

/// How to try the isolation.
#[derive(Args, Clone, Debug)]
pub(crate) struct IsolationArguments {
    /// The browser; otherwise $CHROMIUM, or the first Chromium that is installed.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) browser: Option<PathBuf>,
    /// A further flag for the browser; may be given several times.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub(crate) browser_flag: Vec<String>,
    /// Shows the same documents without a host, in plain frames of one page: what it protects from.
    #[arg(long)]
    pub(crate) naive: bool,
    /// The first port to try; its neighbour is the sandbox's.
    #[arg(long, default_value_t = 7520)]
    pub(crate) port: u16,
    /// Prints one JSON document instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the audit.
#[derive(Args, Clone, Debug)]
pub(crate) struct AuditArguments {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
    /// The folder that holds it, in place of the one that `transom run` would use.
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
    /// The file with settings, which may name that folder.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) toml: Option<PathBuf>,
    /// Reads no transom.toml, wherever there is one.
    #[arg(long, conflicts_with = "toml", global = true)]
    pub(crate) no_toml: bool,
}

/// What to do with the audit.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Prints the rows for people.
    List {
        /// Only so many of the last.
        #[arg(long, value_name = "ROWS")]
        last: Option<usize>,
    },
    /// Prints the rows as JSON lines, with what is needed to verify them, and the head at the end.
    ///
    /// The hash of each row covers the text of `row` as it stands in the line, and a salted hash of
    /// `detail`. So an export without details can be verified too, and a detail that is shown later can be
    /// checked against it.
    Export {
        /// Leaves the details out: tools, addresses, ids, reasons.
        #[arg(long)]
        redact: bool,
    },
    /// Checks that no row was changed, removed or moved.
    ///
    /// Exit codes: 0 all is well, 1 it was touched, 2 it could not be read.
    Verify {
        /// A head that was printed before: it must be in the log, or the tail was cut.
        #[arg(long, value_name = "HASH", value_parser = hash)]
        head: Option<Hash>,
        /// An export to verify, in place of the audit itself.
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
    },
    /// Removes old rows, and writes down that it did; what stays can be verified as before.
    Prune {
        /// Keeps the rows of so many days.
        #[arg(long, value_name = "DAYS")]
        retain: u32,
    },
}

/// What to do with decisions.
#[derive(Args, Clone, Debug)]
pub(crate) struct DecisionsArguments {
    #[command(subcommand)]
    pub(crate) command: DecisionsCommand,
    /// The folder that holds them, in place of the one that `transom run` would use.
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
    /// The file with settings, which may name that folder.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) toml: Option<PathBuf>,
    /// Reads no transom.toml, wherever there is one.
    #[arg(long, conflicts_with = "toml", global = true)]
    pub(crate) no_toml: bool,
}

/// What to do with decisions.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum DecisionsCommand {
    /// Prints them, each with the name that `forget` takes.
    List {
        /// Prints JSON lines instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Takes decisions back: whoever asks for the same is asked about again, in a host that runs from its next
    /// message on.
    #[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(["ids", "server", "all"]))]
    Forget {
        /// The names that `list` prints.
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        /// All of one server.
        #[arg(long, value_name = "NAME")]
        server: Option<String>,
        /// Everything, and a damaged file too.
        #[arg(long, conflicts_with_all = ["ids", "server"])]
        all: bool,
    },
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

fn given(text: &str) -> Result<Given, String> {
    let (tool, arguments) = text.split_once('=').unwrap_or((text, "{}"));
    let arguments = serde_json::from_str(arguments).map_err(|_| {
        "expected a tool's name, or NAME={\"key\": \"value\"}; quote it for the shell".to_owned()
    })?;
    Ok(Given { tool: tool.to_owned(), arguments })
}

fn hash(text: &str) -> Result<Hash, String> {
    let expected = "expected the 64 hexadecimal digits of a head";
    Hash::parse(text).ok_or_else(|| expected.to_owned())
}

fn wildcard(text: &str) -> Result<Wildcard, String> {
    Wildcard::parse(text).map_err(|error| error.to_string())
}

const EXAMPLES: &str = "Examples:
  transom                                        the demo server, in this process
  transom run http://localhost:3001/mcp          a server over HTTP
  transom run -- npx -y some-mcp-server --stdio  a server that is started
  transom inspect http://localhost:3001/mcp      a look without a browser
  transom new board                              a server with a view to start from
  transom dev -- cargo run -q                    a server that you are writing, started again when it changes
  transom check -- cargo run -q                  what keeps its views from being shown, and how to mend it
  transom isolation                              proof that a hostile view stays in
  transom completions bash                       completions for your shell

`transom run --help` says more about each option.";

const AFTERWORD: &str = "Examples:
  transom                                        the demo server, in this process
  transom run http://localhost:3001/mcp          a server over HTTP
  transom run -- npx -y some-mcp-server --stdio  a server that is started
  transom run --config mcp.json                  all servers of a file
  transom run --print-config                     what would be used, and why
  transom inspect http://localhost:3001/mcp      a look without a browser
  transom check -- cargo run -q                  what keeps its views from being shown, and how to mend it

Files:
  transom.toml        settings, policy and servers; docs/transom.toml shows every key. One that is found in this
                      folder counts after you have agreed to it, in a terminal; --toml names one, --no-toml none
  the data folder     pins of documents, decisions, the key for stable names, tokens of servers, the audit,
                      the transom.toml files that you agreed to

Environment:
  TRANSOM_CONFIG      the transom.toml to read
  RUST_LOG            what is logged, as in info or transom_host=debug

Exit codes:
  0 done    1 findings (check), findings of severity danger (inspect), a log that was touched (audit verify)
  2 could not run    130 Ctrl-C twice";

const RUN_EXAMPLES: &str = "Examples:
  transom run                                    the servers of transom.toml, or else the demo
  transom run http://localhost:3001/mcp          a server over HTTP
  transom run -- npx -y some-mcp-server --stdio  a server that is started
  transom run --config mcp.json --open           all servers of a file, and the page in the browser
  transom run --sandbox-domain 'https://*.example-views.com'
  transom run --print-config                     what would be used, and why";

const DEV_EXAMPLES: &str = "Examples:
  transom dev -- cargo run -q                    started again when a file changes
  transom dev --open -- node server.js           and the page in the browser
  transom dev --watch src --watch Cargo.toml --ignore '*.snap' -- cargo run -q";

const NEW_EXAMPLES: &str = "Examples:
  transom new board
  transom new board --template react
  transom new board --path ../transom            with transom-server from a checkout";

const INSPECT_EXAMPLES: &str = "Examples:
  transom inspect http://localhost:3001/mcp
  transom inspect -- npx -y some-mcp-server --stdio
  transom inspect --config mcp.json --json | jq '.servers[].views[].csp'
  transom inspect                                the servers of transom.toml, or else the demo";

const CHECK_EXAMPLES: &str = "Examples:
  transom check -- cargo run -q                  a server that is started
  transom check http://localhost:3001/mcp --call 'show={\"team\": \"db\"}'
  transom check --same http://localhost:3001/mcp -- cargo run -q
  transom check --level error --ignore server-12,document-09 --sarif -- cargo run -q > check.sarif
  transom check --rules                          the rules, and why";

const ISOLATION_EXAMPLES: &str = "Examples:
  transom isolation
  transom isolation --naive                      the same without a host, to see the difference
  transom isolation --browser /usr/bin/chromium --json";

const PAGES_EXAMPLES: &str = "Examples:
  transom pages                                  the samples, a client for them, and a host
  transom pages --allow https://client.example   and another page may connect";

const EXPOSE_EXAMPLES: &str = "Examples:
  transom expose http://json.localhost:7430/?example     to whoever started it, over standard input and output
  transom expose https://server.example/ --window        a setup that a person must see
  transom expose https://server.example/ --http 7480     over HTTP, at http://127.0.0.1:7480/mcp";

const AUDIT_EXAMPLES: &str = "Examples:
  transom audit list --last 20
  transom audit verify --head 5f0c…              the head that was printed at the last exit
  transom audit export --redact > audit.jsonl
  transom audit verify --export audit.jsonl
  transom audit prune --retain 90";

const DECISIONS_EXAMPLES: &str = "Examples:
  transom decisions list
  transom decisions forget 5f0c91aa
  transom decisions forget --server board
  transom decisions forget --all";

const COMPLETIONS_EXAMPLES: &str = "Examples:
  transom completions bash > ~/.local/share/bash-completion/completions/transom
  transom completions zsh > ~/.zfunc/_transom
  transom completions fish > ~/.config/fish/completions/transom.fish";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn addresses_and_a_program_may_stand_together() {
        let words =
            ["transom", "run", "http://a.test/mcp", "https://b.test", "--", "npx", "-y", "c"];
        let Some(Command::Run(run)) = Cli::parse_from(words).command else { panic!("run") };
        assert_eq!((run.servers.urls.len(), run.servers.program.len()), (2, 3));
    }

    #[test]
    fn what_is_no_address_says_what_is() {
        for words in [["transom", "ftp://a.test"], ["transom", "inspekt"]] {
            let error = Cli::try_parse_from(words).unwrap_err().to_string();
            assert!(error.contains("a program to start stands after --"), "{error}");
        }
    }
}
