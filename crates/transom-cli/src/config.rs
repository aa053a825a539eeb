//! What is in force: the command line, then `transom.toml`, then the defaults of the house.

mod agreed;
mod doors;
mod effects;
mod file;
mod find;
mod keeping;
mod limits;
mod model;
mod print;
mod reader;
mod rules;
mod run;
mod servers;
mod setting;
mod times;

use std::{io::Read as _, sync::Arc};

use anyhow::{Context as _, Result, bail};
use transom_host::upstream::Target;

use crate::{
    arguments::{RunArguments, ServerArguments},
    terminal::clean,
};
use agreed::Agreed;
use effects::{Effects, Show};
use file::{Parsed, Text};
use limits::Caps;
use reader::Reader;

pub(crate) use find::{Found, Surroundings};
pub(crate) use keeping::Keeping;
pub(crate) use model::{Config, ConfiguredServer, Frames};
pub(crate) use setting::Source;

impl Config {
    /// Puts it together for a run. A file that was only found counts if the person agrees to it: the text that
    /// is read here is what the person is shown, what is hashed and what is in force.
    pub(crate) fn load(arguments: &RunArguments, around: &Surroundings<'_>) -> Result<Self> {
        let found = match arguments.servers.no_toml {
            true => None,
            false => around.find_toml(arguments.servers.toml.as_deref()),
        };
        let text = found.as_ref().map(|found| read(found, around)).transpose()?;
        let text = text.unwrap_or_default();
        let path = found.as_ref().map(|found| found.path.clone()).unwrap_or_default();
        let file = Text { path: &path, text: &text };
        let named = found.as_ref().is_none_or(|found| found.named);
        let path = Arc::new(path.clone());
        let reader = Reader { arguments, around, text: &file, path, named };
        let parsed = file.parse()?;
        let agreed = Agreed::new(around, !arguments.no_data);
        let begun = (!arguments.servers.no_toml).then(|| around.folder.join(find::NAME));
        let place = found.as_ref().map(|found| around.folder.join(&found.path)).or(begun);
        let keeping = Keeping {
            agreed: agreed.clone(),
            path: place,
            text: text.clone(),
            named: found.as_ref().is_some_and(|found| found.named),
        };
        let config = load(&reader, found, &parsed, keeping)?;
        if let Some(found) = &config.file {
            agreed.check(found, &text, &parsed, around)?;
        }
        Ok(config)
    }

    /// Puts it together where only the servers matter.
    pub(crate) fn of_servers(servers: &ServerArguments, around: &Surroundings<'_>) -> Result<Self> {
        let arguments = RunArguments { servers: servers.clone(), ..RunArguments::default() };
        Self::load(&arguments, around)
    }
}

fn load(
    reader: &Reader<'_>,
    found: Option<Found>,
    parsed: &Parsed<'_>,
    keeping: Keeping,
) -> Result<Config> {
    let file = &parsed.file;
    let run = reader.run(&file.run)?;
    let rules = reader.rules(&file.policy)?;
    let views = reader.views(&file.limits)?;
    let away = reader.away(&file.limits)?;
    let caps = reader.caps(&Caps::default(), &file.limits, &views)?;
    let json = reader.listed_file()?;
    let servers = reader.servers(file, json.as_ref(), &rules, &caps, &views)?;
    let toml = found.as_ref().filter(|found| found.named);
    let toml = toml.map(|_| Effects::of_toml(&parsed.table, Show::Masked).lines);
    let json = json.map(|json| Effects::of_json(&json, Show::Masked).lines);
    let named = [toml, json].into_iter().flatten().flatten().collect();
    let has = |name: &str| servers.iter().any(|server| server.name == name);
    let without = |entry: &file::ServerTable| entry.command.is_none() && entry.url.is_none();
    let entries = || file.servers.iter();
    let absent = entries().filter(|(name, entry)| without(entry) && !has(name));
    let absent = absent.map(|(name, _)| name.clone()).collect();
    let disabled = entries().filter(|(_, entry)| entry.disabled);
    let disabled = disabled.map(|(name, _)| name.clone()).collect();
    let allow_commands = reader.arguments.allow_commands;
    Ok(Config {
        file: found,
        run,
        rules,
        caps,
        views,
        away,
        servers,
        absent,
        disabled,
        named,
        keeping,
        allow_commands,
    })
}

/// What a file with `mcpServers` does, for a person who decides about it.
pub(crate) fn effects_of(json: &serde_json::Value) -> Vec<String> {
    Effects::of_json(json, Show::Whole).lines
}

/// Warns the author of the configuration before anything is sent.
pub(crate) fn warn(servers: &[ConfiguredServer]) {
    for server in servers {
        if let Target::Http(endpoint) = &server.target
            && let Some(warning) = endpoint.warning()
        {
            eprintln!("transom: warning: {}: {}", clean(&server.name), clean(&warning));
        }
    }
}

/// Reads a file that a stranger may have written, so its length is limited.
fn read(found: &Found, around: &Surroundings<'_>) -> Result<String> {
    let Found { path, why, .. } = found;
    let mut text = String::new();
    let file = std::fs::File::open(around.folder.join(path));
    let read = file.and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    let size = read.with_context(|| {
        format!("cannot read {} ({why}); name a file that is there", path.display())
    })?;
    if size as u64 > LONGEST {
        bail!("{} ({why}) is longer than {LONGEST} bytes", path.display());
    }
    Ok(text)
}

/// The longest `transom.toml`, in bytes.
const LONGEST: u64 = 1 << 20;

#[cfg(test)]
mod tests;
