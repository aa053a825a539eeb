//! `transom inspect`: what a host would find at a server, without a page and without running anything.

mod report;
mod text;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use transom_host::{
    documents::Severity,
    upstream::{Options, Upstream},
};

use crate::{
    arguments::InspectArguments,
    config::{self, Config, ConfiguredServer, Surroundings},
    interrupts::Interrupts,
    progress::patiently,
    terminal::{self, clean},
};
use report::Report;

/// Looks at every server, prints what it found, and says by the exit code how bad it is.
pub(crate) fn inspect(arguments: &InspectArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let config = Config::of_servers(&arguments.servers, around)?;
    config::warn(&config.servers);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let inspected = runtime.block_on(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        tokio::select! {
            inspected = look_at_all(config.servers) => inspected,
            // Dropping the connections kills what was started.
            _ = interrupts.next() => bail!("interrupted"),
        }
    })?;
    print(&inspected, arguments.json)?;
    Ok(ExitCode::from(inspected.verdict()))
}

/// What came of it, in the order of the configuration.
#[derive(Serialize)]
struct Inspected {
    servers: Vec<Outcome>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Seen(Box<Report>),
    Failed { name: String, error: String },
}

impl Inspected {
    fn verdict(&self) -> u8 {
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
        let danger = |outcome: &Outcome| match outcome {
            Outcome::Seen(report) => report.gravest() == Some(Severity::Danger),
            Outcome::Failed { .. } => false,
        };
        match &*self.servers {
            servers if servers.iter().any(failed) => 2,
            servers if servers.iter().any(danger) => 1,
            _ => 0,
        }
    }
}

/// All at once: the slowest counts, not the sum.
async fn look_at_all(servers: Vec<ConfiguredServer>) -> Result<Inspected> {
    let looks: Vec<_> = servers.into_iter().map(|server| tokio::spawn(look_at(server))).collect();
    let mut outcomes = vec![];
    for look in looks {
        outcomes.push(look.await?);
    }
    Ok(Inspected { servers: outcomes })
}

async fn look_at(server: ConfiguredServer) -> Outcome {
    let say = |doing: &'static str| {
        let name = server.name.clone();
        move |passed: std::time::Duration| {
            eprintln!("transom: {}: {doing} ({} s)", clean(&name), passed.as_secs());
        }
    };
    let connect = Upstream::connect(server.target.clone(), Options::default());
    let upstream = match patiently(connect, say("connecting…")).await {
        Ok(upstream) => upstream,
        Err(error) => return Outcome::Failed { name: server.name, error: error.advice() },
    };
    let report = patiently(Report::of(&server, &upstream), say("reading its views…")).await;
    upstream.close().await;
    Outcome::Seen(Box::new(report))
}

fn print(inspected: &Inspected, json: bool) -> Result<()> {
    for outcome in &inspected.servers {
        if let Outcome::Failed { name, error } = outcome {
            eprintln!("transom: {}: {}", clean(name), clean(error));
        }
    }
    if json {
        return Ok(terminal::print(&format!("{}\n", serde_json::to_string_pretty(inspected)?))?);
    }
    let seen = inspected.servers.iter().filter_map(|outcome| match outcome {
        Outcome::Seen(report) => Some(text::print(report)),
        Outcome::Failed { .. } => None,
    });
    Ok(terminal::print(&seen.collect::<Vec<_>>().join("\n"))?)
}
