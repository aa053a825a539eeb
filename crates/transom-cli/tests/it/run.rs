//! `transom run`, from its first line to its end.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use crate::transom::{Place, binary};

/// A running host, and what it prints.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn start(place: &Place, words: &[&str]) -> Self {
        Self::of(place, &[&["run", "--port", "18420"], words].concat())
    }

    pub(crate) fn of(place: &Place, words: &[&str]) -> Self {
        Self::from(place.command(words))
    }

    pub(crate) fn from(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line that begins like this.
    pub(crate) fn line(&mut self, start: &str) -> String {
        let found = self
            .lines
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("no line {start}: {}", self.errors()))
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// The exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    pub(crate) fn errors(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            let _ = self.child.kill();
            let _ = errors.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_is_told_about_once_it_is_known_and_ctrl_c_ends_all() {
    let place = Place::new();
    let binary = binary();
    let words = ["--json", "--", binary.to_str().unwrap(), "demo-server"];
    let mut host = Running::start(&place, &words);
    let first = host.line("transom ");
    assert!(first.contains("http://localhost:") && first.contains("/#token="), "{first}");
    let line = host.line("transom ");
    assert!(line.contains("3 tools, 1 view  ") && line.ends_with("demo-server"), "{line}");
    host.signal("INT");
    host.line("closing…");
    assert_eq!(host.end(), Some(0));
    // As JSON lines, and kept where it is kept by default.
    let mut errors = String::new();
    host.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    let lines: Vec<serde_json::Value> =
        errors.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["fields"]["message"] == "3 tools, 1 view"), "{errors}");
    assert!(place.path().join(".local/share/transom").is_dir());
}

#[test]
fn a_domain_for_frames_is_where_the_page_may_frame_from() {
    let place = Place::new();
    let words = ["--no-data", "--sandbox-domain", "https://*.views.example"];
    let mut host = Running::start(&place, &words);
    let first = host.line("transom ");
    let (_, port) = first.split_once("http://localhost:").unwrap();
    let port = port.split('/').next().unwrap();
    let mut page = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(page, "GET / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    page.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("frame-src https://*.views.example;"), "{answer}");
    let note = host.line("note ");
    assert!(note.contains("views below views.example can set cookies for one another"), "{note}");
}

#[test]
fn the_token_of_a_page_that_is_opened_is_in_no_process_list() {
    // What stands in for the opener tells what it was given, as everybody on the machine could read it.
    let opener = "#!/bin/sh\nstat -c %a \"$1\" > mode\ncat \"$1\" > page\necho \"$1\" > file\necho \"$@\" > part\nmv part given\n";
    let place = Place::new().with("bin/xdg-open", opener);
    let path = place.path().join("bin/xdg-open");
    let mut mode = std::fs::metadata(&path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    for words in [&["--data-dir", "data"][..], &["--no-data"]] {
        let mut command = place.command(&[&["run", "--port", "18620", "--open"], words].concat());
        let rest = std::env::var("PATH").unwrap_or_default();
        let bin = place.path().join("bin");
        command.env("PATH", format!("{}:{rest}", bin.display())).env("TMPDIR", place.path());
        let mut host = Running::from(command);
        let first = host.line("transom ");
        let (_, token) = first.split_once("#token=").unwrap();
        let token = token.split_whitespace().next().unwrap();
        let read = |name: &str| std::fs::read_to_string(place.path().join(name));
        let given = loop {
            match read("given") {
                Ok(given) => break given,
                Err(_) => std::thread::yield_now(),
            }
        };
        assert!(!given.contains(token), "{given}");
        assert_eq!(read("mode").unwrap(), "600\n");
        assert!(read("page").unwrap().contains(&format!("/#token={token}\"")), "it leads there");
        let file = read("file").unwrap();
        host.signal("INT");
        assert_eq!(host.end(), Some(0));
        assert!(!std::path::Path::new(file.trim()).exists(), "and is gone with the host");
        std::fs::remove_file(place.path().join("given")).unwrap();
    }
}

#[test]
fn a_token_that_goes_over_plain_http_to_another_machine_is_warned_of() {
    let toml = "[servers.far]\nurl = \"http://far.test/mcp\"\nheaders = { Authorization = \"Bearer hush\" }\n\
                [servers.near]\nurl = \"http://localhost:1/mcp\"\nheaders = { Authorization = \"Bearer hush\" }\n\
                [servers.safe]\nurl = \"https://far.test/mcp\"\nheaders = { Authorization = \"Bearer hush\" }\n";
    let place = Place::new().with("transom.toml", toml);
    let (code, _, errors) = place.transom(&["run", "--print-config", "--toml", "transom.toml"]);
    assert_eq!(code, 0);
    let warnings: Vec<&str> = errors.lines().filter(|line| line.contains("warning")).collect();
    let [warning] = &*warnings else { panic!("{errors}") };
    assert!(
        warning.contains("far: Authorization is sent to http://far.test/mcp without"),
        "{warning}"
    );
    assert!(!errors.contains("hush"), "{errors}");
}

/// As somebody would who wants the host's memory: each socket announces 16 MiB, and sends as much as is taken.
#[cfg(target_os = "linux")]
#[test]
fn sockets_without_a_key_take_little_memory() {
    const SOCKETS: usize = 150;
    let place = Place::new();
    let mut host = Running::start(&place, &["--no-data"]);
    let first = host.line("transom ");
    let (_, port) = first.split_once("http://localhost:").unwrap();
    let port = port.split('/').next().unwrap().to_owned();
    host.line("demo ");
    let resident = || -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", host.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let before = resident();
    let mut sockets = vec![];
    for _ in 0..SOCKETS {
        let mut socket = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        write!(
            socket,
            "GET /ws HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .unwrap();
        let mut answer = [0; 12];
        socket.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 101");
        let _ = socket.write_all(&[0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4]);
        // Where nobody reads, there is an end to what can be written.
        let _ = socket.write_all(&vec![b'x'; 1 << 20]);
        sockets.push(socket);
    }
    let grown = resident().saturating_sub(before) / 1024;
    assert!(grown < SOCKETS / 5, "{SOCKETS} sockets took {grown} MiB");
}

/// Whether a process runs; one that is dead and not yet buried does not.
pub(crate) fn is_alive(id: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
}

#[test]
fn ctrl_c_twice_leaves_at_once_and_leaves_nobody_behind() {
    // It goes neither when its input ends nor when it is asked to.
    let stubborn = format!(
        "echo $$ > id; trap '' TERM; '{}' demo-server; while :; do sleep 1; done",
        binary().display()
    );
    let toml = format!("[servers.stubborn]\ncommand = \"sh\"\nargs = [\"-c\", {stubborn:?}]");
    let place = Place::new().with("transom.toml", &toml);
    let mut host = Running::start(&place, &["--no-data", "--toml", "transom.toml"]);
    assert!(host.line("stubborn ").contains("3 tools, 1 view"));
    host.signal("INT");
    host.line("closing…");
    host.signal("INT");
    assert_eq!(host.end(), Some(130));
    let id = std::fs::read_to_string(place.path().join("id")).unwrap();
    let gone = |_| {
        std::thread::yield_now();
        !is_alive(id.trim())
    };
    assert!((0..10_000).any(gone), "the server outlived its host");
    assert!(!place.path().join(".local").exists());
}

#[test]
fn a_server_that_cannot_start_says_what_to_do_and_the_others_run() {
    let toml = format!(
        "[servers.good]\ncommand = {:?}\nargs = [\"demo-server\"]\n[servers.bad]\ncommand = \"no-such-program-here\"\n[servers.nobody]\ngrants = [\"wasm\"]",
        binary().to_str().unwrap()
    );
    let place = Place::new().with("transom.toml", &toml);
    let mut host = Running::start(&place, &["--no-data", "--toml", "transom.toml"]);
    assert!(host.line("settings").contains("transom.toml (--toml)"));
    // Whoever names a file agrees to it unread, and is told what it does.
    host.line("server bad: starts no-such-program-here");
    assert!(host.line("server good: ").contains("demo-server"));
    let bad = host.line("bad ");
    assert!(bad.contains("is it installed, and its folder in PATH?"), "{bad}");
    host.line("good ");
    host.signal("TERM");
    assert_eq!(host.end(), Some(0));
    let errors = host.errors();
    assert!(errors.contains("[servers.nobody] is for a server that is not there"), "{errors}");
}

/// A terminal: the keyboard's end, and the end that a program gets.
#[cfg(target_os = "linux")]
fn terminal() -> (std::fs::File, Stdio) {
    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let keyboard = openpt(flags).unwrap();
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let terminal = ioctl_tiocgptpeer(&keyboard, flags).unwrap();
    (keyboard.into(), terminal.into())
}

#[cfg(target_os = "linux")]
#[test]
fn enter_prints_an_address_that_was_not_there_before_and_ctrl_d_ends_nothing() {
    let place = Place::new();
    let (mut keyboard, input) = terminal();
    let mut command = place.command(&["run", "--port", "18420", "--no-data"]);
    command.stdin(input);
    let mut host = Running::from(command);
    let token = |line: &str| {
        let (_, token) = line.split_once("/#token=").unwrap();
        token.split_whitespace().next().unwrap().to_owned()
    };
    let mut tokens = vec![token(&host.line("transom "))];
    assert!(host.line("Enter").contains("prints a new address"));
    for _ in 0..2 {
        keyboard.write_all(b"\n").unwrap();
        tokens.push(token(&host.line("page")));
    }
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 3, "each is another one");
    // The end of what is typed, and then the end that is meant.
    keyboard.write_all(b"\x04").unwrap();
    host.signal("INT");
    assert!(host.line("closing").starts_with("closing"));
    assert_eq!(host.end(), Some(0));
}

#[test]
fn what_comes_through_a_pipe_prints_no_address() {
    let place = Place::new();
    let mut command = place.command(&["run", "--port", "18420", "--no-data"]);
    command.stdin(Stdio::piped());
    let mut host = Running::from(command);
    host.line("transom ");
    let mut pipe = host.child.stdin.take().unwrap();
    pipe.write_all(b"\n\n\n").unwrap();
    drop(pipe);
    host.line("demo");
    host.signal("INT");
    let rest: Vec<String> = host.lines.by_ref().map(Result::unwrap).collect();
    assert!(
        !rest.iter().any(|line| line.contains("#token=") || line.contains("Enter")),
        "{rest:?}"
    );
    assert_eq!(host.end(), Some(0));
}
