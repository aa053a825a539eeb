use std::sync::Arc;

use super::*;

fn ids() -> (ViewId, &'static str) {
    (ViewId::parse("v1").unwrap(), "weather")
}

fn say(timeline: &Timeline, text: &str) {
    let (view, server) = ids();
    timeline.message((server, &view), (Party::View, Party::Gate), text);
}

fn numbers(kept: &[Arc<Kept>]) -> Vec<u64> {
    kept.iter().map(|kept| kept.n).collect()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_while_nobody_looks_but_the_first_words_of_a_server() {
    let timeline = Timeline::new();
    let tap = Tap::new(&timeline, "weather");
    tap.sent(r#"{"method":"initialize"}"#);
    say(&timeline, "{}");
    assert_eq!(numbers(&timeline.all()), [1]);
    for _ in 0..2 * FIRST {
        tap.received("{}");
    }
    assert_eq!(timeline.all().len(), FIRST, "and those are bounded");
}

#[tokio::test]
async fn what_happens_is_kept_for_who_looks_in_the_order_in_which_it_happened() {
    let timeline = Timeline::new();
    let tap = Tap::new(&timeline, "weather");
    timeline.look();
    tap.sent("{}");
    say(&timeline, "{}");
    tap.received("{}");
    say(&timeline, "{}");
    let all = timeline.after(0, Duration::ZERO).await;
    assert_eq!(numbers(&all), [1, 2, 3, 4]);
    assert_eq!(numbers(&timeline.after(2, Duration::ZERO).await), [3, 4]);
    assert_eq!(timeline.get(3).unwrap().n, 3);
    assert!(timeline.get(0).is_none() && timeline.get(9).is_none());
}

#[tokio::test]
async fn the_ring_is_bounded_by_number_and_by_size() {
    let timeline = Timeline::new();
    timeline.look();
    for _ in 0..MOST + 5 {
        say(&timeline, "{}");
    }
    let all = timeline.all();
    assert_eq!((all.len(), all[0].n), (MOST, 6), "the oldest goes first");
    let large = "x".repeat(MOST_BYTES / 4);
    for _ in 0..8 {
        say(&timeline, &large);
    }
    let ring = timeline.ring();
    assert!(ring.bytes <= MOST_BYTES && ring.kept.len() < 5);
}

#[tokio::test]
async fn a_server_that_is_reached_anew_has_new_first_words() {
    let timeline = Timeline::new();
    Tap::new(&timeline, "weather").sent("1");
    Tap::new(&timeline, "other").sent("2");
    Tap::new(&timeline, "weather").sent("3");
    assert_eq!(numbers(&timeline.all()), [2, 3]);
}

#[tokio::test]
async fn a_batch_is_cut_short_and_a_trace_is_whole() {
    let timeline = Timeline::new();
    timeline.look();
    let long = format!(r#"{{"text":"{}","password":"hush"}}"#, "é".repeat(SHORT));
    say(&timeline, &long);
    say(&timeline, "{\n\"a\":1}");
    let all = timeline.all();
    let batch = batch(&timeline.head(), &all);
    let lines: Vec<Moment> =
        batch.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[0].cut && lines[0].said().is_none());
    assert_eq!(lines[0].size, Some(long.len() as u64));
    assert_eq!(lines[1].text.as_deref(), Some("{\n\"a\":1}"), "one line for each");
    let trace = trace(&timeline.head(), &all);
    assert!(!trace.contains("hush"));
    assert_eq!(trace.lines().count(), 4);
    let (before, end) = trace.trim_end().rsplit_once('\n').unwrap();
    let end: serde_json::Value = serde_json::from_str(end).unwrap();
    let hash = <sha2::Sha256 as sha2::Digest>::digest(format!("{before}\n"));
    assert_eq!(end["lines"], 3);
    assert_eq!(end["sha256"], data_encoding::HEXLOWER.encode(&hash));
}

#[tokio::test]
async fn a_recording_holds_what_happened_from_the_start_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let timeline = Timeline::new();
    Tap::new(&timeline, "weather").sent("{}");
    let recording = Recording::begin(Arc::clone(&timeline), &path).unwrap();
    say(&timeline, "{}");
    recording.finish().await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[3].contains(r#""lines":3"#));
    assert!(Recording::begin(timeline, &path).is_err(), "it writes over no file");
}
