//! `transom decisions`: what people allowed or forbade for longer, and how to take it back.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use transom_host::{
    audit,
    decisions::{Decisions, OUTDATED, Remembered},
    place::Place,
};

use crate::{
    arguments::{DecisionsArguments, DecisionsCommand},
    audit::FILE as AUDIT,
    config::{Config, Surroundings},
    terminal::{self, clean},
};

/// Does what is wanted.
pub(crate) fn decisions(
    arguments: &DecisionsArguments,
    around: &Surroundings<'_>,
) -> Result<ExitCode> {
    let config = Config::load(&arguments.folder.run(), around)?;
    let folder = config.run.data.value.clone();
    let folder =
        folder.context("nothing is kept, so nothing is remembered; say where with --data-dir")?;
    let decisions = Decisions::new(&folder, config.run.remember.value);
    match &arguments.command {
        DecisionsCommand::List { json } => list(&decisions, &config, *json),
        // Before the first run there is no folder, and nothing in it to take back.
        DecisionsCommand::Forget { all, .. } if !folder.exists() => tell(&[], *all),
        DecisionsCommand::Forget { ids, server, all } => {
            let gone = if *all {
                // Whatever is in the file: this is also the way out of a damaged one.
                let gone = decisions.read().unwrap_or_default();
                decisions.forget_all()?;
                gone
            } else {
                let meant = |entry: &Remembered| {
                    ids.iter().any(|id| id == entry.id().as_str())
                        || server.as_ref().is_some_and(|server| *server == entry.server)
                };
                decisions.forget(meant)?
            };
            write_down(folder.join(AUDIT), &gone)?;
            tell(&gone, *all)
        }
    }
}

fn list(decisions: &Decisions, config: &Config, as_json: bool) -> Result<ExitCode> {
    if decisions.is_outdated() {
        eprintln!("transom: {OUTDATED}");
    }
    let all = decisions.read()?;
    // Of a server that is configured in another way, it does not count.
    let foreign = |entry: &Remembered| {
        let known = config.servers.iter().find(|server| server.name == entry.server);
        known.is_some_and(|server| *Place::of(&server.target).id() != entry.place)
    };
    let mut text = String::new();
    for entry in &all {
        let (id, may) = (entry.id(), if entry.yes { "may always" } else { "may never" });
        if as_json {
            let line = json!({
                "id": id, "server": entry.server, "yes": entry.yes, "words": entry.words(),
                "subject": entry.subject, "at": entry.at, "counts": !foreign(entry),
                "where": entry.whereabouts,
            });
            text += &format!("{line}\n");
            continue;
        }
        let note = if foreign(entry) {
            "; does not count for the server that has this name now"
        } else {
            ""
        };
        let line = format!("{id}  views of {} {may} {}", entry.server, entry.words());
        let place = format!("          at {}{note}", entry.whereabouts);
        text += &format!("{}\n{}\n", clean(&line), clean(&place));
    }
    if all.is_empty() && !as_json {
        text = "nothing is remembered: every question is asked\n".to_owned();
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// In the audit, if there is one. A decision is taken back also when the audit cannot be written.
fn write_down(path: PathBuf, gone: &[Remembered]) -> Result<()> {
    if gone.is_empty() || !path.exists() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let written = runtime.block_on(audit::forgot(&path, gone));
    written.context("the decision is forgotten, but this could not be written into the audit")
}

fn tell(gone: &[Remembered], all: bool) -> Result<ExitCode> {
    if gone.is_empty() && !all {
        bail!(
            "nothing was forgotten: no decision has that name; `transom decisions list` shows their names"
        );
    }
    let lines = gone.iter().map(|entry| {
        let line = format!("forgotten: views of {} {}", entry.server, entry.words());
        format!("{}\n", clean(&line))
    });
    let mut text: String = lines.collect();
    if gone.is_empty() {
        text = "nothing is remembered now\n".to_owned();
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
