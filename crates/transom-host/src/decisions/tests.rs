use super::*;
use crate::{demo, upstream::Target};

fn place() -> Place {
    Place::of(&Target::InProcess(demo::server()))
}

fn elsewhere() -> Place {
    Place::of(&Target::Stdio(crate::upstream::Command::new("elsewhere", [""; 0])))
}

fn entry(server: &str, subject: Subject) -> Remembered {
    Remembered::now(server, &place(), subject, &Claimed::new(), true)
}

fn tool(name: &str) -> Subject {
    Subject::Tool(name.to_owned())
}

#[test]
fn what_is_remembered_is_read_again_until_it_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = Decisions::new(folder.path(), 1);
    assert_eq!(decisions.read().unwrap(), []);
    let all = [
        entry("a", Subject::Tools(["x".to_owned(), "y".to_owned()].into())),
        entry("a", tool("x")),
        Remembered::now("b", &elsewhere(), Subject::Message, &Claimed::new(), true),
    ];
    all.iter().rev().for_each(|entry| decisions.remember(entry.clone()).unwrap());
    // Another process sees the same.
    let other = Decisions::new(folder.path(), 1);
    assert_eq!(other.read().unwrap(), all);
    // The last word about the same counts.
    let no = Remembered { yes: false, ..all[2].clone() };
    other.remember(no.clone()).unwrap();
    assert_eq!(decisions.read().unwrap()[2], no);
    let gone = decisions.forget(|entry| entry.id() == all[1].id()).unwrap();
    assert_eq!(gone, [all[1].clone()]);
    assert_eq!(decisions.forget(|entry| entry.id() == all[1].id()).unwrap(), [], "once");
    assert_eq!(other.read().unwrap().len(), 2);
}

#[test]
fn what_is_old_or_from_the_future_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = Decisions::new(folder.path(), 10);
    let day = 86_400;
    for (name, at, counts) in [
        ("new", now().as_secs(), true),
        ("young", now().as_secs() - 9 * day, true),
        ("old", now().as_secs() - 11 * day, false),
        ("odd", now().as_secs() + 2 * day, false),
        ("first", 0, false),
        ("last", u64::MAX, false),
    ] {
        decisions.forget_all().unwrap();
        decisions.remember(Remembered { at, ..entry("a", tool(name)) }).unwrap();
        assert_eq!(decisions.read().unwrap().len(), usize::from(counts), "{name}");
    }
    assert_eq!(Decisions::new(folder.path(), 0).read().unwrap(), [], "no day, no decision");
}

#[test]
fn a_damaged_file_counts_for_nothing_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = Decisions::new(folder.path(), 10);
    let path = folder.path().join(FILE);
    #[rustfmt::skip]
    let table = [
        ("",                                        "damaged"),
        ("not JSON",                                "damaged"),
        (r#"{"version":2,"decisions":[{}]}"#,       "damaged"),
        (r#"{"version":2,"decisions":[],"x":1}"#,   "damaged"),
        (r#"{"version":2,"decisions":[{"server":"a","place":"","subject":"everything","yes":true,"at":1}]}"#, "damaged"),
        (r#"{"version":3,"anything":[]}"#,          "of version 3"),
    ];
    for (text, words) in table {
        std::fs::write(&path, text).unwrap();
        for error in [
            decisions.read().unwrap_err(),
            decisions.remember(entry("a", tool("x"))).unwrap_err(),
            decisions.forget(|_| true).unwrap_err(),
        ] {
            assert!(error.to_string().contains(words), "{text}: {error}");
            assert!(error.to_string().contains("you are asked again"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    decisions.forget_all().unwrap();
    assert_eq!(decisions.read().unwrap(), []);
}

#[test]
fn no_more_than_so_many() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = Decisions::new(folder.path(), 10);
    let all = (0..MOST).map(|n| entry("a", tool(&format!("{n}")))).collect();
    let hold = decisions.kept.hold().unwrap();
    decisions.write(&hold, all).unwrap();
    drop(hold);
    assert!(matches!(decisions.remember(entry("a", tool("more"))), Err(DecisionError::Full)));
    decisions.remember(entry("a", tool("7"))).unwrap();
}

#[test]
fn what_an_earlier_version_kept_does_not_count_and_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = Decisions::new(folder.path(), 10);
    let old = r#"{"version":1,"decisions":[{"server":"a","place":"00","subject":{"tool":"x"},"yes":true,"at":1}]}"#;
    std::fs::write(folder.path().join(FILE), old).unwrap();
    assert_eq!(decisions.read().unwrap(), []);
    assert!(decisions.is_outdated());
    let new = entry("a", tool("x"));
    decisions.remember(new.clone()).unwrap();
    assert_eq!(decisions.read().unwrap(), [new]);
    assert!(!decisions.is_outdated());
}

#[test]
fn a_decision_belongs_to_a_place_and_not_to_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = Decisions::new(folder.path(), 10);
    let here = entry("a", tool("x"));
    let there = Remembered::now("a", &elsewhere(), tool("x"), &Claimed::new(), false);
    decisions.remember(here.clone()).unwrap();
    decisions.remember(there.clone()).unwrap();
    assert_ne!(here.id(), there.id());
    assert_eq!(decisions.read().unwrap().len(), 2);
    #[rustfmt::skip]
    let table = [
        (&here,  "a", place(),     true),
        (&here,  "a", elsewhere(), false),
        (&here,  "b", place(),     false),
        (&there, "a", elsewhere(), true),
    ];
    for (entry, server, place, expected) in table {
        assert_eq!(entry.is_for(server, &place), expected, "{server} {}", place.words());
    }
}

#[test]
fn a_decision_about_many_tools_says_how_many_it_does_not_name() {
    let names = (10..60).map(|number| format!("tool-{number}")).collect();
    let words = words(&Subject::Tools(names));
    assert!(words.starts_with("call \"tool-10\", \"tool-11\", "), "{words}");
    let named = words.matches("tool-").count();
    assert!(words.ends_with(&format!(" and {} more", 50 - named)), "{words}");
    assert!(words.len() < 200);
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = Decisions::new(folder.path(), 10);
    let small = entry("a", tool("save"));
    decisions.remember(small.clone()).unwrap();
    let large = entry("b", tool(&"x".repeat(LARGEST as usize)));
    let error = decisions.remember(large).unwrap_err();
    assert!(matches!(error, DecisionError::TooLarge), "{error}");
    assert_eq!(decisions.read().unwrap(), [small], "what was there counts as before");
}
