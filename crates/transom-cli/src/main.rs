//! The `transom` command.

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

mod mcp_servers;
mod listen;
mod run;

/// Strangers' user interfaces, safely, fast, and with proof.
///
/// Without a command it runs a host with a built-in demo server and prints the address of its page.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a host: connects to servers and shows their views.
    #[command(after_help = EXAMPLES)]
    Run(RunArguments),
}

#[derive(Args, Clone, Debug)]
struct RunArguments {
    /// A server's HTTP address.
    #[arg(value_name = "URL")]
    url: Option<url::Url>,
    /// A server to start, with its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    server: Vec<String>,
    /// A file with `mcpServers`, as other hosts have it.
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// The page's port; its neighbour is the sandbox's. A busy one means the next free pair.
    #[arg(long, default_value_t = 7420)]
    port: u16,
    /// Opens the page in the browser.
    #[arg(long)]
    open: bool,
    /// Writes the log as JSON lines.
    #[arg(long)]
    json: bool,
    /// Where pins and keys are kept between runs; nowhere, unless said.
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<std::path::PathBuf>,
    /// Gives every frame a port instead of a name, where `*.localhost` does not resolve.
    #[arg(long, value_parser = ["names", "ports"], default_value = "names")]
    sandbox: String,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let arguments = match cli.command {
        Some(Command::Run(arguments)) => arguments,
        None => cli.run,
    };
    match run::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("transom: {error:#}");
            ExitCode::from(2)
        }
    }
}

const EXAMPLES: &str = "Examples:
  transom                                        the demo server, in this process
  transom run http://localhost:3001/mcp          a server over HTTP
  transom run -- npx -y some-mcp-server --stdio  a server that is started
  transom run --config mcp.json                  all servers of a file";
