//! A server's process, and everything it started.

use std::{
    collections::VecDeque,
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
    Command, ConnectError, StderrHearer,
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
    last: VecDeque<String>,
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
    pub(super) async fn listen(
        self,
        stderr: impl AsyncRead + Unpin,
        echo: bool,
        heard: Option<StderrHearer>,
    ) {
        let mut lines = Lines::new(stderr, MAX_LINE);
        while let Ok(Some(line)) = lines.next().await {
            let Line::Whole(line) = line else { continue };
            let line: String = String::from_utf8_lossy(line).chars().take(MAX_WORDS).collect();
            let line = line.trim_end();
            tracing::debug!(stderr = ?line);
            if echo {
                eprintln!("{}", printable(line));
            }
            if let Some(heard) = &heard {
                heard(line);
            }
            if !line.is_empty() {
                self.0.send_modify(|words| {
                    if words.last.len() == KEPT {
                        words.last.pop_front();
                    }
                    words.last.push_back(line.to_owned());
                });
            }
        }
        self.0.send_modify(|words| words.over = true);
    }

    /// The last words, if there were any. Those of a child that has just ended may still be in the pipe, so
    /// its end is waited for; but whatever it left running may keep that open.
    pub(super) async fn get(&self, patience: Duration) -> Option<Quoted> {
        let _ = timeout(patience, self.0.subscribe().wait_for(|words| words.over)).await;
        let words = self.0.borrow();
        telling(&words.last).map(|line| Quoted::long(&line, MAX_WORDS))
    }
}

/// The line that says what went wrong: the last one that names an error, with what follows it where that is the message;
/// if there is none, the last. Node ends with its version, Rust with a hint, and both after a trace.
fn telling(lines: &VecDeque<String>) -> Option<String> {
    let names_an_error = |line: &&String| {
        let word = line.split([':', ' ', '[', '(']).next().unwrap_or_default();
        let first = word.trim_end_matches("()");
        let is_class = first.ends_with("Error") || first.ends_with("Exception");
        is_class || matches!(&*first.to_ascii_lowercase(), "error" | "fatal" | "panic" | "uncaught")
    };
    let panicked = lines.iter().rposition(|line| line.contains(" panicked at "));
    if let Some(at) = panicked {
        let message = lines.get(at + 1).map_or("", String::as_str);
        return Some(format!("{} {message}", lines[at]).trim_end().to_owned());
    }
    lines.iter().rfind(names_an_error).or_else(|| lines.back()).cloned()
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
/// How many lines are kept.
const KEPT: usize = 50;
/// How much of a line is logged and kept.
const MAX_WORDS: usize = 1024;
/// The same number on every Unix.
#[cfg(unix)]
const SIGTERM: i32 = 15;

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[test]
    fn the_error_is_found_among_the_last_lines() {
        let node = [
            "node:internal/modules/cjs/loader:1228",
            "  throw err;",
            "  ^",
            "Error: Cannot find module '/x/server.js'",
            "    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)",
            "  code: 'MODULE_NOT_FOUND',",
            "}",
            "Node.js v22.1.0",
        ];
        let rust = [
            "thread 'main' panicked at src/main.rs:2:5:",
            "no such port",
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        ];
        let python = [
            "Traceback (most recent call last):",
            "  File \"x\", line 1",
            "ModuleNotFoundError: No module named 'mcp'",
        ];
        let cargo = ["error[E0425]: cannot find value", "error: could not compile `x` (bin \"x\")"];
        #[rustfmt::skip]
        let table: [(&[&str], Option<&str>); 7] = [
            (&node,   Some("Error: Cannot find module '/x/server.js'")),
            (&rust,   Some("thread 'main' panicked at src/main.rs:2:5: no such port")),
            (&python, Some("ModuleNotFoundError: No module named 'mcp'")),
            (&cargo,  Some("error: could not compile `x` (bin \"x\")")),
            (&["TypeError [ERR_X]: odd", "Node.js v22"], Some("TypeError [ERR_X]: odd")),
            (&["going down", "bye"], Some("bye")),
            (&[], None),
        ];
        for (lines, expected) in table {
            let lines = lines.iter().map(|&line| line.to_owned()).collect();
            assert_eq!(telling(&lines).as_deref(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn last_words_are_heard_to_their_end_but_not_for_ever() {
        let words = LastWords::default();
        let (mut theirs, ours) = tokio::io::duplex(64);
        tokio::spawn(words.clone().listen(ours, false, None));
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
