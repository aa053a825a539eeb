//! `transom check`: what would keep a server's views from being shown, found without a browser.
//!
//! ```text
//!   server ──survey──▶ Survey ──rules──▶ findings ──▶ text, JSON or SARIF, and the exit code
//! ```
//!
//! The questions are in `survey`, the rules are functions of its answers, and the catalogue has the words.

mod catalogue;
mod finding;
mod page;
mod report;
mod resource;
mod result;
mod routes;
mod sarif;
mod schema;
mod script;
mod server;
mod survey;
mod text;
mod tool;
mod view;

use std::{io::IsTerminal as _, process::ExitCode, time::Duration};

use anyhow::{Context as _, Result, bail};

use crate::{
    arguments::CheckArguments,
    config::{self, Config, ConfiguredServer, Surroundings},
    interrupts::Interrupts,
    progress::patiently,
    terminal::{self, clean},
};
use finding::Findings;
use report::{Checked, Outcome, Report};
use survey::{Calls, Plan, Survey};

/// Checks every server, prints what it found, and says by the exit code whether there was anything.
pub(crate) fn check(arguments: &CheckArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    if arguments.rules {
        terminal::print(&text::rules(is_colourful(around)))?;
        return Ok(ExitCode::SUCCESS);
    }
    for id in &arguments.ignore {
        if catalogue::find(id).is_none() {
            bail!("there is no rule {id:?}; --rules lists them");
        }
    }
    let config = Config::of_servers(&arguments.servers, around)?;
    config::warn(&config.servers);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let checked = runtime.block_on(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        tokio::select! {
            checked = check_all(config.servers, arguments) => checked,
            // Dropping the connections kills what was started.
            _ = interrupts.next() => bail!("interrupted"),
        }
    })?;
    print(&checked, arguments, around)?;
    Ok(ExitCode::from(checked.verdict(arguments.level)))
}

/// All at once: the slowest counts, not the sum.
async fn check_all(servers: Vec<ConfiguredServer>, arguments: &CheckArguments) -> Result<Checked> {
    let plan = Plan {
        patience: Duration::from_secs(arguments.timeout.into()),
        calls: Calls { none: arguments.no_call, given: arguments.call.clone() },
    };
    let surveys: Vec<_> =
        servers.into_iter().map(|server| tokio::spawn(survey(server, plan.clone()))).collect();
    let mut surveyed = vec![];
    for survey in surveys {
        surveyed.push(survey.await?);
    }
    if arguments.same {
        compare(&mut surveyed);
    }
    let servers = surveyed.into_iter().map(|(server, survey)| match survey {
        Ok(survey) => Outcome::Seen(judge(&server, survey, &arguments.ignore)),
        Err(error) => Outcome::Failed { name: server.name, error },
    });
    Ok(Checked { servers: servers.collect() })
}

async fn survey(
    server: ConfiguredServer,
    plan: Plan,
) -> (ConfiguredServer, Result<Survey, String>) {
    let name = server.name.clone();
    let say = move |passed: Duration| {
        eprintln!("transom: {}: asking… ({} s)", clean(&name), passed.as_secs());
    };
    let survey = patiently(Survey::of(&server.target, &plan), say).await;
    (server, survey)
}

/// Tells the first what the others answered: they are all the same server.
fn compare(surveyed: &mut [(ConfiguredServer, Result<Survey, String>)]) {
    let Some(((_, Ok(first)), rest)) = surveyed.split_first_mut() else { return };
    for (server, survey) in rest {
        if let Ok(survey) = survey {
            first.others.push(survey.as_other(server.place()));
        }
    }
}

fn judge(server: &ConfiguredServer, survey: Survey, ignored: &[String]) -> Box<Report> {
    let mut findings = Findings::default();
    server::look(&survey, &mut findings);
    let ignores = |id: &str| ignored.iter().any(|other| other.eq_ignore_ascii_case(id));
    Box::new(Report::new(server, survey, findings, ignores))
}

fn print(checked: &Checked, arguments: &CheckArguments, around: &Surroundings<'_>) -> Result<()> {
    for outcome in &checked.servers {
        if let Outcome::Failed { name, error } = outcome {
            eprintln!("transom: {}: {}", clean(name), clean(error));
        }
    }
    let text = match (arguments.json, arguments.sarif) {
        (true, _) => format!("{}\n", serde_json::to_string_pretty(&checked)?),
        (_, true) => format!("{}\n", serde_json::to_string_pretty(&sarif::log(checked))?),
        _ => text::print(checked, is_colourful(around)),
    };
    Ok(terminal::print(&text)?)
}

/// Colour is for people who look at it right now and did not say no.
fn is_colourful(around: &Surroundings<'_>) -> bool {
    let refused = (around.variable)("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !refused
}
