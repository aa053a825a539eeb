//! `transom dev`: a server that is started again when its files change.

use std::fs;

use crate::{
    run::{Running, is_alive},
    transom::{Place, binary},
};

/// A program in the folder that is watched; what it does before it serves stands in front.
fn program(before: &str) -> String {
    format!("{before}\nexec '{}' demo-server\n", binary().display())
}

fn dev(place: &Place, words: &[&str]) -> Running {
    let dev = ["dev", "--port", "18520", "--no-data"];
    Running::of(place, &[&dev, words, &["--", "sh", "server.sh"]].concat())
}

#[test]
fn a_changed_server_is_started_again_and_one_that_fails_is_tried_again() {
    let place = Place::new().with("server.sh", &program("echo \"$TRANSOM_DEV $TOKEN\" > .told"));
    let mut command =
        place.command(&["dev", "--port", "18520", "--no-data", "--", "sh", "server.sh"]);
    command.env("TOKEN", "hush");
    let mut host = Running::from(command);
    host.line("watching");
    assert!(host.line("sh ").contains("3 tools, 1 view"));
    // It knows that its author is watching, and has what its author's shell has.
    assert_eq!(fs::read_to_string(place.path().join(".told")).unwrap(), "1 hush\n");

    let place = place.with("server.sh", "echo 'no such thing' >&2\nexit 3\n");
    assert!(host.line("changed").contains("server.sh; starting again…"));
    let failed = (0..9).map(|_| host.line("sh ")).find(|line| line.contains("exit status: 3"));
    assert!(failed.is_some_and(|line| line.contains("no such thing")));

    // Not only what it is made of: anything in the folder.
    let place = place.with("server.sh", &program("")).with("data/more.txt", "more");
    host.line("changed");
    let ready = (0..9).map(|_| host.line("sh ")).find(|line| line.contains("3 tools, 1 view"));
    assert!(ready.is_some());
    host.signal("INT");
    assert_eq!(host.end(), Some(0));
    drop(place);
    // Its author reads what it says.
    assert!(host.errors().lines().any(|line| line == "no such thing"));
}

#[test]
fn a_server_that_cannot_start_waits_for_a_change() {
    let place = Place::new();
    let mut host = dev(&place, &[]);
    let failed = (0..9).map(|_| host.line("sh ")).find(|line| line.contains("server ended"));
    assert!(failed.is_some());
    let _place = place.with("server.sh", &program(""));
    host.line("changed");
    let ready = (0..9).map(|_| host.line("sh ")).find(|line| line.contains("3 tools, 1 view"));
    assert!(ready.is_some());
}

#[test]
fn what_is_left_out_changes_nothing() {
    let place = Place::new().with("server.sh", &program("")).with("src/a", "").with("log/b", "");
    let mut host = dev(&place, &["--watch", "src", "--watch", "log", "--ignore", "*.log"]);
    assert!(host.line("watching").contains("2 files"));
    assert!(host.line("sh ").contains("3 tools, 1 view"));
    // Only the last of these counts.
    let place = place.with("other/x", "x").with("log/b.log", "x").with("src/.hidden", "x");
    let _place = place.with("src/target/x", "x").with("src/new", "x");
    assert!(host.line("changed").contains("new; starting again…"));
}

#[test]
fn ctrl_c_ends_what_the_server_started() {
    let place = Place::new().with("server.sh", &program("sleep 1000 &\necho $! > .child"));
    let mut host = dev(&place, &[]);
    assert!(host.line("sh ").contains("3 tools, 1 view"));
    let child = fs::read_to_string(place.path().join(".child")).unwrap();
    assert!(is_alive(child.trim()));
    host.signal("INT");
    host.line("closing…");
    assert_eq!(host.end(), Some(0));
    let gone = |_| {
        std::thread::yield_now();
        !is_alive(child.trim())
    };
    assert!((0..10_000).any(gone), "a child of the server outlived its host");
}

#[test]
fn there_must_be_something_to_start_and_to_watch() {
    let place = Place::new();
    #[rustfmt::skip]
    let table: [(&[&str], &str); 3] = [
        (&["dev"],                                     "name a command: transom dev -- cargo run"),
        (&["dev", "http://127.0.0.1:9/mcp"],           "name a command: transom dev -- cargo run"),
        (&["dev", "--watch", "gone", "--", "sh"],      "there is no gone to watch"),
    ];
    for (words, expected) in table {
        let (code, out, err) = place.transom(words);
        assert_eq!((code, &*out), (2, ""), "{words:?}");
        assert!(err.contains(expected), "{words:?}: {err}");
    }
}
