//! What to do with what was kept: the audit and decisions.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use transom_host::audit::Hash;

use super::run::{RunArguments, ServerArguments};

/// Where what was kept is.
#[derive(Args, Clone, Debug)]
pub(crate) struct FolderArguments {
    /// The folder that holds what is kept, in place of the one that `transom run` would use.
    #[arg(long, value_name = "FOLDER", global = true)]
    data_dir: Option<PathBuf>,
    /// The file with settings, which may name that folder.
    #[arg(long, value_name = "FILE", global = true)]
    toml: Option<PathBuf>,
    /// Reads no transom.toml, wherever there is one.
    #[arg(long, conflicts_with = "toml", global = true)]
    no_toml: bool,
}

impl FolderArguments {
    /// As `transom run` would have been told.
    pub(crate) fn run(&self) -> RunArguments {
        let Self { data_dir, toml, no_toml } = self.clone();
        let servers = ServerArguments { toml, no_toml, ..ServerArguments::default() };
        RunArguments { servers, data_dir, ..RunArguments::default() }
    }
}

/// What to do with the audit.
#[derive(Args, Clone, Debug)]
pub(crate) struct AuditArguments {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
    #[command(flatten)]
    pub(crate) folder: FolderArguments,
}

/// What to do with the audit.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Prints the rows for people.
    List {
        /// How many rows to print, counted from the last.
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
        /// For how many days rows are kept.
        #[arg(long, value_name = "DAYS")]
        retain: u32,
    },
}

/// What to do with decisions.
#[derive(Args, Clone, Debug)]
pub(crate) struct DecisionsArguments {
    #[command(subcommand)]
    pub(crate) command: DecisionsCommand,
    #[command(flatten)]
    pub(crate) folder: FolderArguments,
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
    /// Takes decisions back: you are asked again the next time. A host that is running follows from its next message on.
    #[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(["ids", "server", "all"]))]
    Forget {
        /// The names that `list` prints.
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        /// All of one server.
        #[arg(long, value_name = "NAME")]
        server: Option<String>,
        /// All decisions, and a damaged file too.
        #[arg(long, conflicts_with_all = ["ids", "server"])]
        all: bool,
    },
}

fn hash(text: &str) -> Result<Hash, String> {
    let expected = "expected the 64 hexadecimal digits of a head";
    Hash::parse(text).ok_or_else(|| expected.to_owned())
}
