//! The audit as a person has it: written by a real run, killed at any moment, and read afterwards.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{busy::Busy, transom::Place};

#[test]
fn a_run_can_be_listed_exported_and_verified() {
    let place = Place::new();
    let mut host = Busy::start(&place);
    host.open();
    host.request(1, "tools/call", &json!({"name":"refresh","arguments":{"city":"hush"}}));
    host.hear(|frame| frame["message"]["id"] == 1);
    let head = host.end();
    let (code, out, err) = place.transom(&["audit", "verify", "--head", &head]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains(&head), "{out}");
    let (code, out, _) = place.transom(&["audit", "list"]);
    assert_eq!(code, 0);
    for part in ["effect", "method=tools/call", "about=refresh", "outcome=allowed", "stop"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains("hush"), "{out}");
    assert_eq!(place.transom(&["audit", "list", "--last", "2"]).1.lines().count(), 2);
    for words in [&["audit", "export"][..], &["audit", "export", "--redact"]] {
        let (code, out, _) = place.transom(words);
        assert_eq!(code, 0);
        assert_eq!(out.contains("refresh"), words.len() == 2, "{out}");
        assert!(out.lines().last().unwrap().contains(&head), "{out}");
        let verify = |name: &str, text: &str| {
            std::fs::write(place.path().join(name), text).unwrap();
            place.transom(&["audit", "verify", "--export", name, "--head", &head])
        };
        assert_eq!(verify("whole.jsonl", &out).0, 0, "{words:?}");
        let (code, words_of_it, _) =
            verify("changed.jsonl", &out.replacen("allowed", "refused", 1));
        assert_eq!(code, 1);
        assert!(words_of_it.starts_with("row 4 is not what was written there"), "{words_of_it}");
        let cut: Vec<&str> = out.lines().take(4).collect();
        assert_eq!(verify("cut.jsonl", &cut.join("\n")).0, 1);
    }
    assert_eq!(place.transom(&["audit", "verify", "--head", &"1".repeat(64)]).0, 1, "a cut tail");
    assert_eq!(place.transom(&["audit", "verify", "--head", "x"]).0, 2);
    assert_eq!(place.transom(&["audit", "verify", "--data-dir", "nowhere"]).0, 2);
    let (code, out, _) = place.transom(&["audit", "prune", "--retain", "0"]);
    assert!(code == 0 && out.starts_with("removed "), "{out}");
    let (code, out, _) = place.transom(&["audit", "verify", "--head", &head]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn a_run_without_an_audit_says_so() {
    let place = Place::new();
    let mut command = place.command(&["run", "--port", "18540", "--no-audit"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|line| line.contains("audit"));
    let _ = child.kill();
    let _ = child.wait();
    assert!(said.unwrap().contains("off: nothing that views do is written down"));
    assert!(!place.path().join(".local/share/transom/audit.db").exists());
    assert_eq!(place.transom(&["audit", "verify"]).0, 2);
}

#[test]
fn what_is_no_audit_stops_a_run_with_its_reason() {
    let place = Place::new().with("data/audit.db", &"hello ".repeat(1_000));
    let (code, _, err) = place.transom(&["run", "--port", "18560", "--data-dir", "data"]);
    assert_eq!(code, 2);
    assert!(err.contains("is not an audit of transom") && err.contains("--no-audit"), "{err}");
}

/// As often as `TRANSOM_KILLS` says; a few times otherwise.
#[test]
fn a_run_that_is_killed_at_any_moment_leaves_a_log_that_verifies() {
    let kills = std::env::var("TRANSOM_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills: u64 = kills.unwrap_or(3);
    let place = Place::new();
    let mut answered = 0;
    for n in 0..kills {
        let mut host = Busy::start(&place);
        host.open();
        // Another moment each time: after some hundred microseconds to some tens of milliseconds.
        let patience = Duration::from_micros(200 + n * 7_919 % 40_000);
        let begun = Instant::now();
        let mut id = 0;
        while begun.elapsed() < patience {
            id += 1;
            host.request(id, "tools/call", &json!({"name":"refresh"}));
        }
        if n % 2 == 1 {
            host.hear(|frame| frame["message"]["id"] == 1);
            answered += 1;
        }
        host.child.kill().unwrap();
        host.child.wait().unwrap();
        // What the view heard of had been written down before it was done.
        while let Ok(message) = host.socket.read() {
            let text = message.to_text().unwrap_or_default();
            answered += u64::from(text.contains(r#""result""#) && text.contains("content"));
        }
        let (code, out, err) = place.transom(&["audit", "verify"]);
        assert_eq!(code, 0, "kill {n}: {out}{err}");
    }
    let (_, out, _) = place.transom(&["audit", "export"]);
    let effects = out.lines().filter(|line| line.contains(r#""kind":"effect""#)).count() as u64;
    assert!(
        answered > 0 && effects >= answered,
        "{effects} effects are written down, {answered} were answered"
    );
}
