//! Starts the binary in a folder of its own, where no configuration of anybody's is found.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// An empty folder, which is also the home.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// The command, ready to be started.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(words).current_dir(self.path()).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    /// Runs it to its end: the exit code, and what it printed on both ways out.
    pub(crate) fn transom(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }
}

/// The binary that was built with these tests.
pub(crate) fn binary() -> PathBuf {
    env!("CARGO_BIN_EXE_transom").into()
}
