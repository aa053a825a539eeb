//! The fixtures that both ends of the socket agree on.

use serde_json::Value;
use transom_host::envelope::{Ask, Deed, FileOffer, Frame, Hello, Stream, ToPage, ViewId, Welcome};

fn fixtures(name: &str) -> Vec<Value> {
    let path = format!("{}/../../fixtures/envelope/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_frame_reads_as_it_says() {
    for fixture in fixtures("frames.json") {
        let (name, text, reads) =
            (&fixture["name"], fixture["text"].as_str().unwrap(), &fixture["reads"]);
        match reads["kind"].as_str() {
            Some("hello") => {
                let hello = Hello::parse(text).unwrap_or_else(|| panic!("{name}"));
                assert_eq!(Value::from(hello.key), reads["payload"]["key"], "{name}");
            }
            Some("welcome") => {
                let payload = &reads["payload"];
                let views = payload["views"].as_array().unwrap();
                let welcome = Welcome {
                    version: 1,
                    resumed: payload["resumed"].as_bool().unwrap(),
                    views: views.iter().map(|view| view.as_str().unwrap().to_owned()).collect(),
                };
                assert_eq!(welcome.print(), text, "{name}");
            }
            kind => {
                let frame = Frame::parse(text).unwrap_or_else(|_| panic!("{name}"));
                assert_eq!(frame.view, reads["view"].as_str().unwrap(), "{name}");
                assert_eq!(frame.ack, reads["ack"].as_u64().unwrap(), "{name}");
                assert_eq!(frame.said.map(|said| said.seq), reads["seq"].as_u64(), "{name}");
                assert_eq!(frame.said.map(|said| said.kind), kind, "{name}");
                let Some(said) = frame.said else { continue };
                match reads.get("text") {
                    Some(raw) => assert_eq!(said.payload, raw.as_str().unwrap(), "{name}"),
                    None => {
                        let payload: Value = serde_json::from_str(said.payload).unwrap();
                        assert_eq!(payload, reads["payload"], "{name}");
                    }
                }
                if fixture["from"] == "page" {
                    assert!(said.read().is_ok(), "{name}");
                }
            }
        }
    }
}

#[test]
fn what_must_be_refused_is_refused() {
    for fixture in fixtures("refused.json") {
        let text = fixture["text"].as_str().unwrap();
        let read = Frame::parse(text).map(|frame| frame.said.map(|said| said.read()));
        let taken = matches!(read, Ok(None | Some(Ok(_))));
        // A message is read by whoever judges it, and refused there.
        let message = matches!(Frame::parse(text), Ok(Frame { said: Some(said), .. }) if said.kind == "message");
        assert!(!taken || message, "{}: {text}", fixture["name"]);
    }
}

/// What the host says, by the name of its fixture.
fn told(name: &str) -> Option<ToPage> {
    let url = Some("https://example.com/".to_owned());
    let link = Ask {
        id: "a2".to_owned(),
        kind: "link",
        text: "Open https://example.com/?".to_owned(),
        choices: vec!["allow", "deny"],
        server: "demo".to_owned(),
        url: url.clone(),
        ..Ask::default()
    };
    let file = |name: &str| FileOffer { name: name.to_owned(), ..FileOffer::default() };
    let text = FileOffer {
        mime_type: Some("text/plain".to_owned()),
        text: Some("hi".to_owned()),
        ..file("a.txt")
    };
    let blob = FileOffer { blob: Some("AAE=".to_owned()), ..file("b.bin") };
    let why = "There is no view to show: it is too large.".to_owned();
    let deed = |id: &str, kind| Deed { id: id.to_owned(), kind, ..Deed::default() };
    Some(match name {
        "ask before a link" => ToPage::Ask(link),
        "a question that nobody waits for any more" => ToPage::Ask(Ask { late: true, ..link }),
        "a question is moot" => ToPage::Withdraw { id: "a2".to_owned() },
        "open a link now" => ToPage::Do(Deed { url, ..deed("d1", "link") }),
        "save files now" => {
            ToPage::Do(Deed { contents: vec![text, blob], ..deed("d2", "download") })
        }
        "ask before a changed document runs" => ToPage::Ask(Ask {
            id: "document".to_owned(),
            kind: "document",
            text: "It has changed:".to_owned(),
            choices: vec!["allow", "deny"],
            server: "demo".to_owned(),
            changes: vec!["it now names https://a.test".to_owned()],
            ..Ask::default()
        }),
        "no view, and no answer yet" => ToPage::Text { why, text: None },
        "no view, and what the tool answered" => {
            ToPage::Text { why, text: Some("12 °C\nand \"sunny\"".to_owned()) }
        }
        "a note about a view that goes on" => {
            ToPage::Note { text: "It sends more than 10 messages a second.".to_owned() }
        }
        "closed" => ToPage::Close { reason: "teardown".to_owned() },
        _ => return None,
    })
}

#[test]
fn what_the_host_says_is_written_byte_for_byte() {
    let mut written = 0;
    for fixture in fixtures("frames.json") {
        let name = fixture["name"].as_str().unwrap();
        let Some(told) = told(name) else { continue };
        let count = |key: &str| fixture["reads"][key].as_u64().unwrap();
        let mut stream = Stream::new(ViewId::parse("v1").unwrap());
        // Brings both counters to where the fixture begins.
        (1..=count("ack")).for_each(|seq| assert_eq!(stream.take(Some(seq), 0), Ok(true)));
        for _ in 1..count("seq") {
            stream.say(&ToPage::Message("{}".to_owned())).unwrap();
            stream.write().unwrap();
        }
        stream.say(&told).unwrap();
        assert_eq!(stream.write().unwrap(), fixture["text"].as_str().unwrap(), "{name}");
        written += 1;
    }
    assert_eq!(written, 10);
}
