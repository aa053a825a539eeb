//! How to replay a trace.

use std::path::PathBuf;

use clap::Args;

use super::ServerArguments;

/// What to replay, and to whom.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArguments {
    /// The trace, as `transom run --record` or the page wrote it.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    /// Which server of the trace, where it has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Answers a call with other arguments than those of the trace as the same tool was answered next.
    #[arg(long)]
    pub(crate) loose: bool,
    /// Takes as long for each answer as it took in the trace.
    #[arg(long)]
    pub(crate) real_time: bool,
    /// Calls tools again, too, that do not say that they only read.
    #[arg(long)]
    pub(crate) all: bool,
    /// Prints what was compared as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ReplayArguments {
    /// Whether a server is to be asked, and none to be played.
    pub(crate) fn names_a_server(&self) -> bool {
        let ServerArguments { urls, program, config, .. } = &self.servers;
        !urls.is_empty() || !program.is_empty() || config.is_some()
    }
}
