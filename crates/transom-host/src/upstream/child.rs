//! A server's process, and everything it started.

use std::{
    io,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::{
    io::AsyncRead,
    process::{ChildStdin, ChildStdout},
    sync::watch,
    time::timeout,
};
use transom::violation::Quoted;

use super::{
    Command, ConnectError,
    lines::{Line, Lines},
};

/// A process group. Dropping it kills the whole group.
#[derive(Debug)]
pub(super) struct Child(Box<dyn ChildWrapper>);

/// What a child wrote to its standard error last.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWords(Arc<watch::Sender<Words>>);

#[derive(Debug, Default)]
struct Words {
    last: String,
    /// There will be no more.
    over: bool,
}

impl Child {
    /// Starts the program in a process group of its own.
    pub(super) fn start(command: &Command) -> Result<Self, ConnectError> {
        let mut wrapped = CommandWrap::from(prepare(command)?);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
        let failed = |error| ConnectError::Spawn { program: Quoted::new(&command.program), error };
        wrapped.spawn().map(Self).map_err(failed)
    }

    /// Its input and output, the first time.
    pub(super) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        Some((self.0.stdin().take()?, self.0.stdout().take()?))
    }

    /// Its standard error, the first time.
    pub(super) fn stderr(&mut self) -> Option<impl AsyncRead + Send + Unpin + use<>> {
        self.0.stderr().take()
    }

    /// Waits for its end.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }

    /// Ends it: its input is closed already, so it may leave by itself; then it is told to; then it is
    /// made to. Each takes at most as long as given.
    pub(super) async fn end(&mut self, each: Duration) {
        if timeout(each, self.wait()).await.is_ok() {
            return;
        }
        #[cfg(unix)]
        if self.0.signal(SIGTERM).is_ok() && timeout(each, self.wait()).await.is_ok() {
            return;
        }
        self.kill();
        let _ = timeout(each, self.wait()).await;
    }

    /// Kills whatever is left of the group: a wrapper may be gone while what it wrapped is not.
    fn kill(&mut self) {
        let _ = self.0.start_kill();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

impl LastWords {
    /// Reads a child's standard error to its end: each line goes to the log, the last ones are kept. With
    /// `echo` each goes to our own standard error too.
    pub(super) async fn listen(self, stderr: impl AsyncRead + Unpin, echo: bool) {
        let mut lines = Lines::new(stderr, MAX_LINE);
        while let Ok(Some(line)) = lines.next().await {
            let Line::Whole(line) = line else { continue };
            let line: String = String::from_utf8_lossy(line).chars().take(MAX_WORDS).collect();
            let line = line.trim_end();
            tracing::debug!(stderr = ?line);
            if echo {
                eprintln!("{}", printable(line));
            }
            // A program's last line with words says most; traces end in blank ones.
            if !line.is_empty() {
                self.0.send_modify(|words| line.clone_into(&mut words.last));
            }
        }
        self.0.send_modify(|words| words.over = true);
    }

    /// The last words, if there were any. Those of a child that has just ended may still be in the pipe, so
    /// its end is waited for; but whatever it left running may keep that open.
    pub(super) async fn get(&self, patience: Duration) -> Option<Quoted> {
        let _ = timeout(patience, self.0.subscribe().wait_for(|words| words.over)).await;
        let words = self.0.borrow();
        (!words.last.is_empty()).then(|| Quoted::new(&words.last))
    }
}

/// Without what would move the cursor.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

fn prepare(command: &Command) -> Result<tokio::process::Command, ConnectError> {
    let mut prepared = tokio::process::Command::new(&command.program);
    prepared.args(&command.args);
    if !command.inherit {
        prepared.env_clear();
        let ours = INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        prepared.envs(ours);
    }
    for (name, value) in &command.env {
        prepared.env(name, value.reveal()?);
    }
    if let Some(cwd) = &command.cwd {
        prepared.current_dir(cwd);
    }
    prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(prepared)
}

/// What every child gets of our environment: who and where it is, and where the tools lie by which servers
/// are started. The rest may hold secrets that are none of its business; so may the address of a proxy.
#[rustfmt::skip]
const INHERITED: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR",
    "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
    "NVM_DIR", "FNM_DIR", "VOLTA_HOME", "DENO_DIR", "BUN_INSTALL",
    "PYENV_ROOT", "VIRTUAL_ENV", "UV_CACHE_DIR",
    "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "GOPATH", "GOROOT", "JAVA_HOME",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    // What programs on Windows do not start without.
    "SystemRoot", "SystemDrive", "PATHEXT", "COMSPEC", "TEMP", "TMP",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramFiles", "ProgramData",
];
/// The longest line of a child's standard error.
const MAX_LINE: usize = 16 << 10;
/// How much of a line is logged and kept.
const MAX_WORDS: usize = 1024;
/// The same number on every Unix.
#[cfg(unix)]
const SIGTERM: i32 = 15;

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn last_words_are_heard_to_their_end_but_not_for_ever() {
        let words = LastWords::default();
        let (mut theirs, ours) = tokio::io::duplex(64);
        tokio::spawn(words.clone().listen(ours, false));
        let patience = Duration::from_secs(1);
        // Another process, perhaps a child of it, keeps the pipe.
        theirs.write_all(b"sorry\n").await.unwrap();
        assert_eq!(words.get(patience).await, Some(Quoted::new("sorry")));
        // It is asked for before it is there.
        let speak = async {
            theirs.write_all(b"very sorry\n\n").await.unwrap();
            drop(theirs);
        };
        let (heard, ()) = tokio::join!(biased; words.get(patience), speak);
        assert_eq!(heard, Some(Quoted::new("very sorry")));
    }
}
