//! `transom pages`: sample servers that are web pages, each on an origin of its own, and a host beside them.

mod samples;
mod site;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, anyhow, bail};
use transom::origin::Origin;
use transom_host::Host;
use transom_web::packages;

use crate::{
    arguments::PagesArguments,
    config::{self, Config, Surroundings},
    listen,
    run::{self, say},
};
use site::Site;

/// Serves until it is interrupted.
pub(crate) fn pages(arguments: &PagesArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let checkout = checkout(arguments.path.as_deref(), around.folder)?;
    let config = Config::load(&arguments.run, around)?;
    config::warn(&config.servers);
    say("bundling the sample pages (the first time, npm downloads what they are made of)…");
    let (built, lock) = build(&checkout)?;
    run::with(&config, async |host| {
        if let Err(error) = serve(arguments, &built, &lock, host).await {
            eprintln!("transom: {error:#}");
        }
    })
}

async fn serve(
    arguments: &PagesArguments,
    built: &Path,
    lock: &fs::File,
    host: &Host,
) -> Result<()> {
    let both = listen::one(arguments.pages_port).await?;
    // The pages that really are there, and `transom expose` where it always is.
    let mut clients: Vec<String> = host.page_origins().iter().map(Origin::to_string).collect();
    clients.push(EXPOSE.to_owned());
    clients.extend(arguments.allow.iter().map(Origin::to_string));
    let site = Site::read(built, both.port, &clients)?;
    lock.unlock().context("cannot unlock the sample pages")?;
    for (name, address, words) in site.addresses() {
        say(&format!("  {name:<11} {address:<34} {words}"));
    }
    listen::serve(both, &site.router());
    std::future::pending().await
}

/// The checkout that was named, or the one that we stand in.
fn checkout(named: Option<&Path>, here: &Path) -> Result<PathBuf> {
    let is_checkout = |folder: &Path| folder.join(SAMPLES).join("build.mjs").is_file();
    if let Some(named) = named {
        let folder = here.join(named);
        if !is_checkout(&folder) {
            bail!("{} is no checkout of Transom: it has no {SAMPLES}", named.display());
        }
        return Ok(folder);
    }
    here.ancestors().find(|folder| is_checkout(folder)).map(Path::to_owned).context(
        "the sample pages are in a checkout of Transom; stand in one, or name it with --path",
    )
}

/// Bundles the pages; the folder that they are in, and the lock that keeps others from writing there. Nothing is written
/// among the sources.
fn build(checkout: &Path) -> Result<(PathBuf, fs::File)> {
    let sources = checkout.join(SAMPLES);
    let work = checkout.join("target/pages");
    fs::create_dir_all(&work).with_context(|| format!("cannot use {}", work.display()))?;
    // Two that begin at the same time would install over each other.
    let lock = fs::File::create(work.join("lock")).context("cannot lock the sample pages")?;
    lock.lock().context("cannot lock the sample pages")?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(sources.join(file), work.join(file))
            .with_context(|| format!("{} is not whole", sources.display()))?;
    }
    packages::install(&work).map_err(|words| anyhow!(words))?;
    let built = work.join("built");
    let mut node = Command::new("node");
    node.arg(sources.join("build.mjs")).arg(&built);
    packages::run(&mut node, &work).map_err(|words| anyhow!(words))?;
    Ok((built, lock))
}

const SAMPLES: &str = "examples/pages";
/// Where `transom expose` is, unless it is told otherwise.
const EXPOSE: &str = "http://localhost:7450";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_from_inside_a_checkout_and_nowhere_else() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(checkout(None, here).unwrap().join(SAMPLES).is_dir());
        let elsewhere = tempfile::tempdir().unwrap();
        let words = checkout(None, elsewhere.path()).unwrap_err().to_string();
        assert!(words.contains("--path"), "{words}");
        let words = checkout(Some(elsewhere.path()), here).unwrap_err().to_string();
        assert!(words.contains("examples/pages"), "{words}");
    }
}
