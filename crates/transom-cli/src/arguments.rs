//! What can be said on the command line.

mod check;
mod doctor;
mod doors;
mod examples;
mod model;
mod pages;
mod records;
mod replay;
mod run;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::check::{CheckArguments, Given, Level};
pub(crate) use self::doctor::DoctorArguments;
pub(crate) use self::doors::{DoorArguments, PORT, is_loopback, listen, operate, public_origin};
use self::examples::{
    AFTERWORD, AUDIT_EXAMPLES, CHECK_EXAMPLES, COMPLETIONS_EXAMPLES, DECISIONS_EXAMPLES,
    DEV_EXAMPLES, DOCTOR_EXAMPLES, EXAMPLES, EXPOSE_EXAMPLES, INSPECT_EXAMPLES, ISOLATION_EXAMPLES,
    NEW_EXAMPLES, PAGES_EXAMPLES, REPLAY_EXAMPLES, RUN_EXAMPLES,
};
pub(crate) use self::pages::{ExposeArguments, PagesArguments};
pub(crate) use self::records::{
    AuditArguments, AuditCommand, DecisionsArguments, DecisionsCommand,
};
pub(crate) use self::replay::ReplayArguments;
pub(crate) use self::run::{
    DevArguments, Granting, RunArguments, SandboxMode, ServerArguments, address,
};

/// Shows the user interfaces of MCP servers: safely, fast, and with a record of what they did.
///
/// Without a command, `transom` is `transom run`: a host on this machine that connects to MCP servers
/// and shows their views, each frame on an origin of its own. Without a server it runs a demo server of its own.
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
    /// Does all that `run` does. The server also gets TRANSOM_DEV=1 and all of your environment, its standard error
    /// is shown on yours, and you are not asked about views that have changed. A server that does not start is tried
    /// again when a file changes.
    ///
    /// All files of this folder are watched, except hidden ones and those in target, node_modules and the like. A
    /// server that uses transom-server reloads the files of its views itself, in the open page.
    #[command(after_help = DEV_EXAMPLES)]
    Dev(DevArguments),
    /// Writes a project to start from: a server with tools, a view and a test.
    ///
    /// Nothing is built and nothing is downloaded.
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArguments),
    /// Looks at servers and prints what a host would find: who may call which tool, views, policies, findings.
    ///
    /// No view is run and no tool is called. Exit codes: 0 all is well, 1 a view has findings
    /// of severity danger, 2 a server could not be looked at.
    #[command(after_help = INSPECT_EXAMPLES)]
    Inspect(InspectArguments),
    /// Checks servers, in any language, for mistakes that keep their views from being shown.
    ///
    /// Asks a server what a host would ask, once as a host and once as a client without views, and
    /// compares the answers with the rules. It calls tools that open a view and say that they only read, and
    /// no other tool unless --call names it.
    ///
    /// It needs no browser and looks only at what the server answers. It cannot see what a script does when it
    /// runs, what the script draws, or whether it connects to its host.
    ///
    /// Exit codes: 0 no finding that counts, 1 at least one, 2 a server could not be asked.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArguments),
    /// Lets a hostile view try every escape in a real browser, and prints what was blocked.
    ///
    /// Starts the installed Chromium without a window and with a fresh profile. Everything stays on this
    /// machine. Exit codes: 0 all was blocked, 1 something got out or does not work, 2 could not run.
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
    /// What was entered while the page was set up is kept in the data folder.
    #[command(after_help = EXPOSE_EXAMPLES)]
    Expose(ExposeArguments),
    /// Follows one view from its server's first word to its first paint, in a real browser, and says where it breaks.
    ///
    /// Connects, lists, reads, mounts the view in the installed Chromium, calls its tool and looks at what is said and shown.
    /// It stops at the first step that is broken, and says the likely cause and what to change.
    ///
    /// Exit codes: 0 the view is there, 1 a step is broken, 2 could not look.
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArguments),
    /// Serves a recorded server from a trace to any MCP client, or asks a server again what a trace has asked.
    ///
    /// Alone, it answers over standard input and output what the server answered in the trace: `transom run -- transom replay FILE`
    /// shows views without their server. With an address or a command, that server is asked what the recorded one was asked, and the
    /// answers are compared; tools that may change something are not called unless --all says so.
    ///
    /// Exit codes: 0 all is the same, 1 an answer differs, 2 the trace or the server cannot be had.
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArguments),
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

/// What to write.
#[derive(Args, Clone, Debug)]
pub(crate) struct NewArguments {
    /// The server's name, and its folder's.
    pub(crate) name: String,
    /// What the view is made with.
    #[arg(long, value_name = "TEMPLATE", default_value = "html")]
    pub(crate) template: Template,
    /// A checkout of Transom to take transom-server from. The default is the one around this folder.
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
    /// Vue, bundled with esbuild; needs Node.
    Vue,
    /// Svelte, bundled with esbuild; needs Node.
    Svelte,
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

/// How to try the isolation.
#[derive(Args, Clone, Debug)]
pub(crate) struct IsolationArguments {
    /// The browser; otherwise $CHROMIUM, or the first Chromium that is installed.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) browser: Option<PathBuf>,
    /// A further flag for the browser; may be given several times.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub(crate) browser_flag: Vec<String>,
    /// Shows the same documents without a host, in plain frames of one page, to see what a host protects from.
    #[arg(long)]
    pub(crate) naive: bool,
    /// The first port to try; the next port is the sandbox's.
    #[arg(long, default_value_t = 7520)]
    pub(crate) port: u16,
    /// Prints one JSON document instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

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
