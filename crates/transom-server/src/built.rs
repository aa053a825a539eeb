//! Bundles that dev mode makes anew when their sources change.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::stamp::stamp;

/// How a bundle is made of its sources.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    command: &'static str,
    sources: PathBuf,
    folder: PathBuf,
    /// The sources that it was last made of, and how that went.
    last: Arc<Mutex<Option<Attempt>>>,
}

/// The stamp of some sources, and what came of building them.
type Attempt = (u64, Result<(), String>);

impl Built {
    pub(crate) fn new(command: &'static str, sources: &Path, folder: &Path) -> Self {
        let (sources, folder) = (sources.to_owned(), folder.to_owned());
        Self { command, sources, folder, last: Arc::default() }
    }

    /// What dev mode watches.
    pub(crate) fn sources(&self) -> &Path {
        &self.sources
    }

    /// Makes the bundle, unless it was made of these very sources. Those who ask meanwhile wait.
    pub(crate) async fn refresh(&self) -> Result<(), String> {
        let built = self.clone();
        let done = tokio::task::spawn_blocking(move || built.make()).await;
        done.unwrap_or_else(|_| Err("the build was interrupted".to_owned()))
    }

    fn make(&self) -> Result<(), String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.sources);
        if let Some((known, outcome)) = &*last
            && *known == stamp
        {
            return outcome.clone();
        }
        let outcome = self.run();
        *last = Some((stamp, outcome.clone()));
        outcome
    }

    /// Runs the command. What it prints is kept from standard output, which belongs to MCP.
    fn run(&self) -> Result<(), String> {
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut command = Command::new(shell);
        command.arg(option).arg(self.command).current_dir(&self.folder).stdin(Stdio::null());
        let output =
            command.output().map_err(|error| format!("{shell} cannot be started: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stderr, output.stdout].concat();
        let said = String::from_utf8_lossy(&said);
        // Bundlers say first what is wrong, and then where in themselves they noticed.
        let said: String = said.trim().chars().take(MOST_WORDS).collect();
        Err(format!("`{}` failed: {said}", self.command))
    }
}

const MOST_WORDS: usize = 2_000;

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bundle_is_made_once_for_each_state_of_its_sources() {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("src");
        std::fs::create_dir(&sources).unwrap();
        std::fs::write(sources.join("a"), "1").unwrap();
        let command = "echo made >> log; grep -q broken src/a && { echo 'a:1: broken' >&2; exit 1; } || cp src/a out";
        let built = Built::new(command, &sources, folder.path());
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        built.refresh().await.unwrap();
        built.refresh().await.unwrap();
        assert_eq!((read("log").as_str(), read("out").as_str()), ("made\n", "1"));
        std::fs::write(sources.join("a"), "broken").unwrap();
        for _ in 0..2 {
            let error = built.refresh().await.unwrap_err();
            assert!(error.contains("failed: a:1: broken"), "{error}");
        }
        std::fs::write(sources.join("a"), "mended").unwrap();
        built.refresh().await.unwrap();
        assert_eq!((read("log").lines().count(), read("out").as_str()), (3, "mended"));
    }
}
