//! Published servers, run with Node.

use std::{
    fs::File,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use tokio::net::TcpStream;
use transom_host::upstream::{self, Endpoint, Target};

/// The entry point of a published server; nothing, said loudly, where there is no Node.
pub(crate) fn script(package: &str, test: &str) -> Option<String> {
    static READY: OnceLock<bool> = OnceLock::new();
    if !*READY.get_or_init(prepare) {
        eprintln!("SKIPPED {test}: node is not installed");
        return None;
    }
    let script =
        servers().join(format!("node_modules/@modelcontextprotocol/{package}/dist/index.js"));
    Some(script.to_str().expect("paths are text here").to_owned())
}

pub(crate) fn stdio(script: &str, argument: &str) -> Target {
    Target::Stdio(upstream::Command::new("node", [script, argument]))
}

/// A server on a port of its own, for as long as this value lives.
pub(crate) struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    pub(crate) async fn start(script: &str, argument: &str) -> Self {
        let port = free_port();
        let child = spawn(script, argument, port);
        let listening = Self { child, port };
        listening.ready().await;
        listening
    }

    pub(crate) fn target(&self) -> Target {
        let url = format!("http://127.0.0.1:{}/mcp", self.port);
        Target::Http(Endpoint::new(url.parse().expect("a URL")))
    }

    /// Kills the server and starts it again on the same port: it has forgotten everything.
    pub(crate) async fn replace(&mut self, script: &str, argument: &str) {
        self.kill();
        self.child = spawn(script, argument, self.port);
        self.ready().await;
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    async fn ready(&self) {
        for _ in 0..400 {
            if TcpStream::connect(("127.0.0.1", self.port)).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server does not listen");
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(script: &str, argument: &str, port: u16) -> Child {
    let mut command = Command::new("node");
    command.args([script, argument]).env("PORT", port.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("node starts")
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Installs what the lock file says, unless it is there; whether there is a Node at all.
fn prepare() -> bool {
    if Command::new("node").arg("--version").output().is_err() {
        return false;
    }
    // Each test may be a process of its own, and two installations in one folder ruin each other.
    let lock = File::create(servers().join(".installing")).expect("e2e/servers can be written");
    lock.lock().expect("files can be locked");
    // npm writes this one last.
    if !servers().join("node_modules/.package-lock.json").exists() {
        let installed =
            Command::new("npm").args(["ci", "--ignore-scripts"]).current_dir(servers()).status();
        assert!(installed.is_ok_and(|status| status.success()), "npm ci in e2e/servers failed");
    }
    true
}

fn servers() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../e2e/servers")
}
