//! What was decided, as a person at a shell sees it and takes it back.

use serde_json::{Value, json};

use crate::transom::Place;

const FILE: &str = ".local/share/transom/decisions.json";

fn kept(decisions: &Value) -> String {
    json!({ "version": 2, "decisions": decisions }).to_string()
}

fn now() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

fn entry(server: &str, subject: &Value) -> Value {
    json!({
        "server": server, "place": "0", "where": format!("./{server}, in /somewhere"),
        "subject": subject, "yes": true, "at": now(),
    })
}

#[test]
fn what_is_remembered_is_listed_and_forgotten_by_name() {
    let mut old = entry("old", &json!("message"));
    old["at"] = json!(1);
    let all = json!([entry("a", &json!({ "tool": "x" })), entry("b", &json!("message")), old]);
    let place = Place::new().with(FILE, &kept(&all));
    let (code, out, _) = place.transom(&["decisions", "list"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().collect();
    let [first, at, second, _] = &*lines else { panic!("{out}") };
    assert_eq!(at.trim(), "at ./a, in /somewhere");
    assert!(first.ends_with("views of a may always call \"x\""), "{first}");
    assert!(second.ends_with("views of b may always say things in your name"), "{second}");
    let (_, out, _) = place.transom(&["decisions", "list", "--json"]);
    let line: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&line["server"], &line["subject"]), (&json!("a"), &json!({ "tool": "x" })));

    let id = first.split_whitespace().next().unwrap();
    let (code, out, _) = place.transom(&["decisions", "forget", id]);
    assert_eq!((code, &*out), (0, "forgotten: views of a call \"x\"\n"));
    let (code, _, error) = place.transom(&["decisions", "forget", id]);
    assert_eq!(code, 2);
    assert!(error.contains("no decision has that name"), "{error}");
    let (code, out, _) = place.transom(&["decisions", "forget", "--server", "b"]);
    assert_eq!((code, &*out), (0, "forgotten: views of b say things in your name\n"));
    let (_, out, _) = place.transom(&["decisions", "list"]);
    assert_eq!(out, "nothing is remembered: every question is asked\n");
    let (code, ..) = place.transom(&["decisions", "forget"]);
    assert_eq!(code, 2, "nothing is not everything");
}

#[test]
fn before_the_first_run_there_is_nothing_to_forget() {
    let place = Place::new();
    let (code, out, _) = place.transom(&["decisions", "forget", "--all"]);
    assert_eq!((code, &*out), (0, "nothing is remembered now\n"));
    let (code, _, error) = place.transom(&["decisions", "forget", "--server", "a"]);
    assert_eq!(code, 2);
    assert!(error.contains("no decision has that name"), "{error}");
}

#[test]
fn a_server_that_is_another_one_now_is_said_to_be() {
    let toml = "[servers.a]\ncommand = \"x\"\n";
    let place = Place::new()
        .with(FILE, &kept(&json!([entry("a", &json!({ "tool": "x" }))])))
        .with("transom.toml", toml);
    let (_, out, _) = place.transom(&["decisions", "list", "--toml", "transom.toml"]);
    assert!(
        out.contains("at ./a, in /somewhere; does not count for the server that has this name now"),
        "{out}"
    );
}

#[test]
fn what_an_earlier_version_kept_is_said_not_to_count() {
    let old = r#"{"version":1,"decisions":[{"server":"a","place":"00","subject":{"tool":"x"},"yes":true,"at":1}]}"#;
    let place = Place::new().with(FILE, old);
    let (code, out, error) = place.transom(&["decisions", "list"]);
    assert_eq!((code, &*out), (0, "nothing is remembered: every question is asked\n"));
    assert!(error.contains("it does not count any more, and you are asked again"), "{error}");
}

#[test]
fn a_damaged_file_says_so_and_can_be_done_without() {
    let place = Place::new().with(FILE, "{");
    for words in [&["decisions", "list"][..], &["decisions", "forget", "--server", "a"]] {
        let (code, _, error) = place.transom(words);
        assert_eq!(code, 2, "{words:?}");
        assert!(error.contains("decisions.json is damaged"), "{error}");
    }
    let (code, out, _) = place.transom(&["decisions", "forget", "--all"]);
    assert_eq!((code, &*out), (0, "nothing is remembered now\n"));
    assert_eq!(place.transom(&["decisions", "list"]).0, 0);
}
