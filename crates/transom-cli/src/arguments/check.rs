//! How to check servers.

use std::fmt;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Map, Value};

use super::run::ServerArguments;

/// How to check.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    /// The lowest level that counts for the exit code. Findings below it are printed too.
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
    /// Treats all named servers as one server that is reached in several ways, and compares their answers (server-18).
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
    /// Lists the rules, why they are there and how to mend what they find, and ends.
    #[arg(long)]
    pub(crate) rules: bool,
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Good to know; some hosts or people will mind.
    Note,
    /// Something does not work in some hosts, or is likely to break.
    Warning,
    /// A host that follows the specification does not show the view, or shows it broken.
    Error,
}

impl Level {
    /// From the gravest down.
    pub(crate) const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A tool, and what to call it with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

fn given(text: &str) -> Result<Given, String> {
    let (tool, arguments) = text.split_once('=').unwrap_or((text, "{}"));
    let arguments = serde_json::from_str(arguments).map_err(|_| {
        "expected a tool's name, or NAME={\"key\": \"value\"}; quote it for the shell".to_owned()
    })?;
    Ok(Given { tool: tool.to_owned(), arguments })
}
