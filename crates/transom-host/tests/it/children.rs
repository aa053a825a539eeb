//! Servers that are programs, as bad as programs get.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use transom_host::upstream::{
    CallError, Command, ConnectError, Event, Health, Loss, Options, Secret, Target, Upstream,
};

use crate::wishes::{BOUND, call, event, options, settled};

/// A server in a few lines of shell: greets, then does as the test says.
fn shell(then: &str) -> Command {
    let script = format!(
        r#"say() {{ printf '%s\n' "$1"; }}
        number() {{ printf '%s' "$1" | sed 's/.*"id":\([0-9]*\).*/\1/'; }}
        read -r discover
        say "{{\"jsonrpc\":\"2.0\",\"id\":$(number "$discover"),\"error\":{{\"code\":-32601,\"message\":\"no\"}}}}"
        read -r initialize
        say "{{\"jsonrpc\":\"2.0\",\"id\":$(number "$initialize"),\"result\":{{\"protocolVersion\":\"2025-11-25\"}}}}"
        read -r initialized
        {then}"#
    );
    Command::new("bash", ["-c", &script])
}

/// Never started again: these tests are about one end.
fn once() -> Options {
    let mut options = options();
    options.restart.attempts = 0;
    options
}

/// The process that a test's shell wrote the number of into a call's answer.
async fn process(upstream: &Upstream) -> u32 {
    let answer = settled(call(upstream, "pid", "{}")).await.unwrap();
    let answer: serde_json::Value = serde_json::from_str(answer.get()).unwrap();
    u32::try_from(answer["pid"].as_u64().unwrap()).unwrap()
}

/// Waits until a process is gone or a zombie that nobody has buried yet.
async fn ended(pid: u32) -> bool {
    let gone = async {
        loop {
            match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
                Ok(stat) if !stat.contains(") Z ") => {}
                _ => return,
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(BOUND, gone).await.is_ok()
}

const TELL_GRANDCHILD: &str = r#"read -r ask
    say "{\"jsonrpc\":\"2.0\",\"id\":$(number "$ask"),\"result\":{\"pid\":$!}}""#;

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let target = Target::Stdio(Command::new("no-such-program-anywhere", [""; 0]));
    let error = Upstream::connect(target, options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Spawn { .. }), "{error:?}");
    assert!(error.to_string().contains("no-such-program-anywhere"));
}

#[tokio::test]
async fn a_program_that_fails_is_quoted() {
    let target = Target::Stdio(Command::new("bash", ["-c", "echo 'no licence' >&2; exit 3"]));
    let error = Upstream::connect(target, options()).await.unwrap_err();
    let ConnectError::Greeting(error) = error else { panic!("{error:?}") };
    let story = error.story();
    assert!(story.contains("exit status: 3") && story.contains("no licence"), "{story}");
}

#[tokio::test]
async fn death_in_mid_call_says_how() {
    let target = Target::Stdio(shell("read -r work; echo 'out of luck' >&2; kill -9 $$"));
    let upstream = Upstream::connect(target, once()).await.unwrap();
    let mut events = upstream.events();
    let error = settled(call(&upstream, "work", "{}")).await.unwrap_err();
    assert!(error.story().contains("signal: 9") && error.story().contains("out of luck"));
    event(&mut events, |event| matches!(event, Event::Gone(_))).await;
    assert_eq!(upstream.health(), Health::Gone);
}

#[tokio::test]
async fn the_environment_is_empty_but_for_what_was_said() {
    let mut command = shell(
        r#"read -r ask
        names=$(compgen -e | sort | tr '\n' ' ')
        say "{\"jsonrpc\":\"2.0\",\"id\":$(number "$ask"),\"result\":{\"names\":\"$names\",\"token\":\"$TOKEN\"}}"
        read -r end"#,
    );
    command.env.push(("TOKEN".to_owned(), Secret::Value("hush".to_owned())));
    let upstream = Upstream::connect(Target::Stdio(command), once()).await.unwrap();
    let answer = settled(call(&upstream, "env", "{}")).await.unwrap();
    let answer: serde_json::Value = serde_json::from_str(answer.get()).unwrap();
    assert_eq!(answer["token"], "hush");
    let names: Vec<&str> = answer["names"].as_str().unwrap().split_whitespace().collect();
    // Cargo sets these for every test, and cargo is how a server may be started.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && std::env::var_os("PATH").is_some());
    assert!(names.contains(&"PATH") && !names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    for tool in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        assert_eq!(names.contains(&tool), std::env::var_os(tool).is_some(), "{tool}");
    }
    let allowed = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "TERM",
        "TZ",
        "TMPDIR",
        "LANG",
        "LANGUAGE",
        "GOPATH",
        "GOROOT",
        "VIRTUAL_ENV",
        "TOKEN",
    ];
    let families = ["LC_", "XDG_", "CARGO_", "RUSTUP_", "SSL_CERT_", "ASDF_"];
    let places = ["_DIR", "_HOME", "_ROOT", "_INSTALL", "_CERTS"];
    // A shell sets these by itself.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    for name in names {
        let known = allowed.contains(&name) || own.contains(&name);
        let known = known || families.iter().any(|family| name.starts_with(family));
        let known = known || places.iter().any(|place| name.ends_with(place));
        assert!(known, "{name} is none of its business");
    }
}

#[tokio::test]
async fn a_variable_that_is_not_set_is_named() {
    let mut command = shell("");
    command.env.push(("TOKEN".to_owned(), Secret::Env("NO_SUCH_VARIABLE_HERE".to_owned())));
    let error = Upstream::connect(Target::Stdio(command), options()).await.unwrap_err();
    assert!(error.to_string().contains("NO_SUCH_VARIABLE_HERE"), "{error}");
}

#[tokio::test]
async fn a_server_that_leaves_when_its_input_ends_is_not_hurried() {
    let upstream = Upstream::connect(Target::Stdio(shell("read -r end")), once()).await.unwrap();
    let began = Instant::now();
    upstream.close().await;
    assert!(began.elapsed() < Duration::from_millis(400), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_server_that_does_not_want_to_leave_leaves_all_the_same() {
    let then = format!("sleep 1000 & {TELL_GRANDCHILD}\n trap '' TERM; while :; do sleep 1; done");
    let upstream = Upstream::connect(Target::Stdio(shell(&then)), once()).await.unwrap();
    let grandchild = process(&upstream).await;
    let began = Instant::now();
    upstream.close().await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(ended(grandchild).await, "what it started ends with it");
}

#[tokio::test]
async fn dropping_the_upstream_kills_the_whole_group() {
    let then = format!("sleep 1000 & {TELL_GRANDCHILD}\n while :; do sleep 1; done");
    let upstream = Upstream::connect(Target::Stdio(shell(&then)), once()).await.unwrap();
    let grandchild = process(&upstream).await;
    let kept = call(&upstream, "work", "{}");
    drop(upstream);
    assert!(ended(grandchild).await);
    assert!(matches!(settled(kept).await, Err(CallError::Lost(_))));
}

#[tokio::test]
async fn a_wrapper_that_dies_takes_its_server_with_it() {
    // The grandchild holds the pipe open: the end of the output never comes.
    let then = format!("sleep 1000 & {TELL_GRANDCHILD}\n exit 7");
    let upstream = Upstream::connect(Target::Stdio(shell(&then)), once()).await.unwrap();
    let mut events = upstream.events();
    let grandchild = process(&upstream).await;
    let gone = event(&mut events, |event| matches!(event, Event::Gone(_))).await;
    let Event::Gone(loss) = gone else { unreachable!("waited for") };
    assert!(matches!(&*loss, Loss::Ended { status: Some(status), .. } if status.contains('7')));
    assert!(ended(grandchild).await);
}

#[tokio::test]
async fn a_chatty_standard_error_blocks_nothing() {
    let then = r#"head -c 3000000 /dev/zero | tr '\0' x >&2
        yes error | head -n 20000 >&2
        read -r ask
        say "{\"jsonrpc\":\"2.0\",\"id\":$(number "$ask"),\"result\":{}}"
        read -r end"#;
    let upstream = Upstream::connect(Target::Stdio(shell(then)), once()).await.unwrap();
    assert!(settled(call(&upstream, "work", "{}")).await.is_ok());
}
