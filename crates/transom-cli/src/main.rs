//! The `transom` command.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{CommandFactory as _, Parser as _};

mod arguments;
mod audit;
mod browser;
mod check;
mod config;
mod decisions;
mod dev;
mod devtools;
mod doctor;
mod doorkeeper;
mod doors;
mod enter;
mod expose;
mod identity;
mod inspect;
mod interrupts;
mod isolation;
mod listen;
mod mcp_servers;
mod names;
mod new;
mod nonce;
mod open;
mod pages;
mod progress;
mod replay;
mod run;
mod terminal;

use arguments::{Cli, Command};
use config::Surroundings;

/// Views hold on to what was sent until it is confirmed, so that many small pieces live and die out of order; the
/// system's own allocator makes a call of one in a thousand views cost half as much again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match obey(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("transom: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn obey(cli: Cli) -> Result<ExitCode> {
    let folder = std::env::current_dir().context("this folder is gone; change to another")?;
    let variable = |name: &str| std::env::var_os(name);
    let around = Surroundings { folder: &folder, variable: &variable, terminal: &terminal::Person };
    match cli.command {
        None => run::run(&cli.run, &around),
        Some(Command::Run(arguments)) => run::run(&arguments, &around),
        Some(Command::Dev(arguments)) => dev::dev(&arguments, &around),
        Some(Command::New(arguments)) => new::new(&arguments, &around),
        Some(Command::Inspect(arguments)) => inspect::inspect(&arguments, &around),
        Some(Command::Check(arguments)) => check::check(&arguments, &around),
        Some(Command::Isolation(arguments)) => isolation::isolation(&arguments),
        Some(Command::Pages(arguments)) => pages::pages(&arguments, &around),
        Some(Command::Doctor(arguments)) => doctor::doctor(&arguments, &around),
        Some(Command::Replay(arguments)) => replay::replay(&arguments, &around),
        Some(Command::Expose(arguments)) => expose::expose(&arguments, &around),
        Some(Command::Audit(arguments)) => audit::audit(&arguments, &around),
        Some(Command::Decisions(arguments)) => decisions::decisions(&arguments, &around),
        Some(Command::Completions { shell }) => complete(shell),
        Some(Command::DemoServer) => serve_demo(),
    }
}

fn complete(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut script = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "transom", &mut script);
    terminal::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The demo as a program of its own, so that other hosts can be tried on it, and our own as with any
/// server that is started.
fn serve_demo() -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(transom_host::demo::serve(tokio::io::stdin(), tokio::io::stdout()));
    Ok(ExitCode::SUCCESS)
}
