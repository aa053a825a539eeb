//! How to follow one view.

use std::path::PathBuf;

use clap::Args;

use super::ServerArguments;

/// Which view to follow, and how.
#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    /// The tool whose view is followed; without it, the first that has one.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The arguments of the tool, as JSON.
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// How long is waited for the server, and for the view, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    pub(crate) wait: u64,
    /// Writes a picture of what a person would see into this file.
    #[arg(long, value_name = "FILE.png")]
    pub(crate) screenshot: Option<PathBuf>,
    /// Tells the view that the person wants less motion.
    #[arg(long)]
    pub(crate) reduced_motion: bool,
    /// The browser; otherwise $CHROMIUM, or the first Chromium that is installed.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) browser: Option<PathBuf>,
    /// A further flag for the browser; may be given several times.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub(crate) browser_flag: Vec<String>,
    /// Prints one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
