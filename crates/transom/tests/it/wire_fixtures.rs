//! The wire types agree with the fixtures.

use crate::reprint;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// One entry of `fixtures/messages/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    name: String,
    direction: String,
    answers: Option<String>,
    #[serde(rename = "row")]
    _row: Option<String>,
    emit: bool,
    message: Value,
    reads: Option<Value>,
    refused: Option<Value>,
}

#[test]
fn what_we_may_emit_prints_as_it_was_read() {
    for fixture in messages().iter().filter(|fixture| fixture.emit) {
        // An error has no type of its own here.
        if fixture.message.get("error").is_none() {
            assert_eq!(fixture.reprint().as_ref(), Some(&fixture.message), "{}", fixture.name);
        }
    }
}

#[test]
fn odd_forms_read_as_the_fixtures_say() {
    for fixture in messages().iter().filter(|fixture| fixture.reads.is_some()) {
        assert_eq!(fixture.reprint(), fixture.reads, "{}", fixture.name);
    }
}

#[test]
fn what_is_refused_cannot_be_read() {
    for fixture in messages().iter().filter(|fixture| fixture.refused.is_some()) {
        assert_eq!(fixture.reprint(), None, "{}", fixture.name);
    }
}

// W-5, W-6 and W-7: what leaves has no other member, a result is an object, and nothing is null
// that the spec calls optional.
#[test]
fn w_5_emitted_messages_have_the_members_of_json_rpc_alone() {
    for fixture in messages().iter().filter(|fixture| fixture.emit) {
        let members = fixture.message.as_object().unwrap();
        let keys: Vec<&str> = members.keys().map(String::as_str).collect();
        let legal: [&[&str]; 6] = [
            &["jsonrpc", "id", "method", "params"],
            &["jsonrpc", "id", "method"],
            &["jsonrpc", "method", "params"],
            &["jsonrpc", "method"],
            &["jsonrpc", "id", "result"],
            &["jsonrpc", "id", "error"],
        ];
        assert!(legal.contains(&keys.as_slice()), "{} has {keys:?}", fixture.name);
        for body in ["params", "result"] {
            assert!(members.get(body).is_none_or(Value::is_object), "{}", fixture.name);
        }
    }
}

#[test]
fn a_fixture_is_emitted_read_or_refused() {
    let directions = ["view-to-host", "host-to-view", "sandbox-to-host", "host-to-sandbox"];
    for Fixture { name, direction, emit, reads, refused, .. } in all() {
        assert!(directions.contains(&direction.as_str()), "{name} goes {direction}");
        let kinds = [emit, reads.is_some(), refused.is_some()];
        assert_eq!(kinds.into_iter().filter(|kind| *kind).count(), 1, "{name}");
    }
}

// W-10: both sides ask and answer, and both count from 0: an answer belongs to a request of the
// side it goes to.
#[test]
fn transcripts_hold_messages_we_can_read() {
    for (file, text) in files("transcripts") {
        let mut asked: Vec<Line> = Vec::new();
        for line in text.lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            let request = asked.iter().find(|request| line.answers(request));
            let method = request.and_then(|request| request.message["method"].as_str());
            // An error has no type of its own here.
            if line.message.get("error").is_none() {
                let printed = reprint::message(&line.message, method);
                assert_eq!(printed.as_ref(), Some(&line.message), "{file}");
            }
            asked.push(line);
        }
        assert!(asked.is_sorted_by_key(|line| line.at), "{file}");
    }
}

/// One line of a transcript.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at: u64,
    from: String,
    to: String,
    message: Value,
}

impl Line {
    fn answers(&self, request: &Self) -> bool {
        request.from == self.to
            && request.message.get("method").is_some()
            && request.message.get("id") == self.message.get("id")
    }
}

impl Fixture {
    fn reprint(&self) -> Option<Value> {
        reprint::message(&self.message, self.answers.as_deref())
    }
}

/// Every message whose inside is the matter. `envelope.json` is about the outside.
fn messages() -> Vec<Fixture> {
    let files = files("messages").into_iter().filter(|(name, _)| name != "envelope.json");
    files.flat_map(|(name, text)| parse(&name, &text)).collect()
}

fn all() -> Vec<Fixture> {
    files("messages").iter().flat_map(|(name, text)| parse(name, text)).collect()
}

fn parse(name: &str, text: &str) -> Vec<Fixture> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The files of a folder of fixtures, by name.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    let entries = fs::read_dir(folder).expect("a folder of fixtures").flatten();
    let files: Vec<_> = entries
        .map(|entry| {
            let text = fs::read_to_string(entry.path()).expect("a text file");
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    assert!(!files.is_empty());
    files
}
