//! Published servers of `e2e/servers`, run with Node.

use std::{
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// The entry point of a published server; nothing, said loudly, where it is not installed.
pub(crate) fn script(package: &str) -> Option<String> {
    let servers = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../e2e/servers");
    let script =
        servers.join(format!("node_modules/@modelcontextprotocol/{package}/dist/index.js"));
    if !script.exists() {
        eprintln!("SKIPPED: {package} is not installed; scripts/e2e installs it");
        return None;
    }
    Some(script.to_str().unwrap().to_owned())
}

/// A server on a port of its own, for as long as this value lives.
pub(crate) struct Listening {
    child: Child,
    pub(crate) url: String,
}

impl Listening {
    pub(crate) fn start(script: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("node");
        command.arg(script).env("PORT", port.to_string());
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Self { child: child.unwrap(), url: format!("http://127.0.0.1:{port}/mcp") };
        let listens = |_| {
            std::thread::sleep(std::time::Duration::from_millis(25));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        };
        assert!((0..2400).any(listens), "the server does not listen");
        server
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
