//! `transom dev`: a host whose server is started again when its files change.
//!
//! ```text
//!   files ──watch──▶ a change, once it is quiet ──▶ the server ends and starts ──▶ views are told
//! ```

mod watch;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Result, bail};
use transom_host::{
    Host,
    upstream::{Secret, Target},
};

use crate::{
    arguments::DevArguments,
    config::{self, Config, ConfiguredServer, Surroundings},
    run::{self, say},
};
use watch::{Filter, Watch};

/// Runs until it is interrupted.
pub(crate) fn dev(arguments: &DevArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    if arguments.run.print_config {
        return run::run(&arguments.run, around);
    }
    let mut config = Config::load(&arguments.run, around)?;
    config::warn(&config.servers);
    let started: Vec<String> = config.servers.iter_mut().filter_map(prepare).collect();
    if started.is_empty() {
        bail!("there is no server to start; name a command: transom dev -- cargo run");
    }
    let folders = folders(arguments, around)?;
    let filter = Filter::new(&folders, &arguments.ignore);
    let watch = Watch::new(folders, filter);
    run::with(&config, async move |host| follow(host, &started, watch).await)
}

/// Makes a server one that its author works on; its name, if it is started by us.
fn prepare(server: &mut ConfiguredServer) -> Option<String> {
    let Target::Stdio(command) = &mut server.target else { return None };
    // It is the author's own, started from their own shell: cargo and the like need what is set there.
    command.inherit = true;
    command.env.retain(|(name, _)| name != DEV);
    command.env.push((DEV.to_owned(), Secret::from("1")));
    command.echo = true;
    server.own = true;
    Some(server.name.clone())
}

fn folders(arguments: &DevArguments, around: &Surroundings<'_>) -> Result<Vec<PathBuf>> {
    if arguments.watch.is_empty() {
        return Ok(vec![around.folder.to_owned()]);
    }
    for path in &arguments.watch {
        if !around.folder.join(path).exists() {
            bail!("there is no {} to watch", path.display());
        }
    }
    Ok(arguments.watch.iter().map(|path| around.folder.join(path)).collect())
}

/// Starts the servers again whenever something has changed.
async fn follow(host: &Host, servers: &[String], mut watch: Watch) {
    say(&format!("  watching    {}", watch.about()));
    loop {
        let changed = watch.changed().await;
        say(&format!("  changed     {changed}; starting again…"));
        for name in servers {
            host.restart(name);
        }
    }
}

/// What tells a server that its author is watching.
const DEV: &str = "TRANSOM_DEV";
