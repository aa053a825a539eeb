//! The fixtures that both ends of the socket agree on.

use serde_json::{Value, json};
use transom::host::{Limits, Rate};
use transom::wire::Tool;
use transom_host::envelope::{
    Ask, Deed, Ending, Envelope, FileOffer, FromPage, Hello, Mount, Progress, Stream, ToPage,
    ViewId, Welcome,
};
use transom_host::sandbox::Relay;
use transom_host::words::Words;

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
                let frame = Envelope::parse(text).unwrap_or_else(|_| panic!("{name}"));
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
        let read = Envelope::parse(text).map(|frame| frame.said.map(|said| said.read()));
        let taken = matches!(read, Ok(None | Some(Ok(_))));
        // A message is read by whoever judges it, and refused there.
        let message = matches!(Envelope::parse(text), Ok(Envelope { said: Some(said), .. }) if said.kind == "message");
        assert!(!taken || message, "{}: {text}", fixture["name"]);
    }
}

#[test]
fn atk_27_what_was_too_large_is_known_by_what_is_certain_of_it() {
    let deep = "[".repeat(1_000) + &"]".repeat(1_000);
    let beginning = |text: &str| json!({ "message": text }).to_string();
    let of = |members: &str| Some(format!(r#"{{"jsonrpc":"2.0",{members}}}"#));
    for (dropped, outline) in [
        ("{}".to_owned(), None),
        (r#"{"id":7,"method":"ping"}"#.to_owned(), of(r#""id":7,"method":"ping""#)),
        (r#"{"id":"a"}"#.to_owned(), of(r#""id":"a","result":{}"#)),
        (r#"{"method":"ping"}"#.to_owned(), of(r#""method":"ping""#)),
        (format!(r#"{{"id":{deep},"method":{deep}}}"#), None),
        (format!(r#"{{"id":"{}","method":7}}"#, "x".repeat(2_000)), None),
        (format!(r#"{{"message":{deep}}}"#), None),
        (beginning(""), None),
        (beginning("]"), None),
        (beginning(r#"{"id":7,"method":"ping","params":{"a"#), of(r#""id":7,"method":"ping""#)),
        (beginning(r#"{"method":"ping","params":{"a":1},"id":"lon"#), of(r#""method":"ping""#)),
        (beginning(r#"{"id":"a","result":{"a":"#), of(r#""id":"a","result":{}"#)),
        (beginning(&format!(r#"{{"params":{deep},"id":7,"method":"ping"}}"#)), None),
        (
            beginning(&format!(r#"{{"id":7,"method":"{}é"#, "é".repeat(9_000))),
            of(r#""id":7,"result":{}"#),
        ),
    ] {
        let text = format!(r#"{{"view":"v1","seq":1,"ack":0,"dropped":{dropped}}}"#);
        let read = Envelope::parse(&text).unwrap().said.unwrap().read();
        assert_eq!(read.ok(), Some(FromPage::Dropped(outline)), "{dropped:.80}");
    }
}

/// What the host says, by the name of its fixture.
fn told(name: &str) -> Option<ToPage> {
    let url = Some("https://example.com/".to_owned());
    let link = Ask {
        id: "a2".to_owned(),
        kind: "link",
        text: "Open https://example.com/?".into(),
        choices: vec!["allow", "deny"],
        server: "demo".into(),
        who: WHO.into(),
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
    let why: Words = "There is no view to show: it is too large.".into();
    let deed = |id: &str, kind| Deed { id: id.to_owned(), kind, ..Deed::default() };
    Some(match name {
        "opened" => ToPage::Open(Mount {
            title: "Weather from demo".to_owned(),
            allow: Some(String::new()),
            border: Some(true),
            ..mount(&Limits::default())
        }),
        "opened with permissions" => {
            let messages = Rate { per_second: 5_000.0, burst: 10_000.0 };
            let bytes = Rate { per_second: 200e6, burst: 800e6 };
            let allow = Some("geolocation; clipboard-write".to_owned());
            let limits = Limits { messages, bytes, ..Limits::default() };
            ToPage::Open(Mount { title: "Map".to_owned(), allow, ..mount(&limits) })
        }
        "ask before a link" => ToPage::Ask(Box::new(link)),
        "a question that nobody waits for any more" => {
            ToPage::Ask(Box::new(Ask { late: true, ..link }))
        }
        "a question is moot" => ToPage::Withdraw { id: "a2".to_owned() },
        "open a link now" => ToPage::Do(Deed { url, ..deed("d1", "link") }),
        "save files now" => {
            ToPage::Do(Deed { contents: vec![text, blob], ..deed("d2", "download") })
        }
        "ask before a changed document runs" => ToPage::Ask(Box::new(Ask {
            id: "document".to_owned(),
            kind: "document",
            text: "It has changed:".into(),
            choices: vec!["allow", "deny"],
            server: "demo".into(),
            who: WHO.into(),
            changes: vec!["it now names https://a.test".into()],
            ..Ask::default()
        })),
        "no view, and no answer yet" => ToPage::Text { why, text: None },
        "no view, and what the tool answered" => {
            ToPage::Text { why, text: Some("12 °C\nand \"sunny\"".to_owned()) }
        }
        "the tools that the view offers" => ToPage::Tools(vec![Tool::new("undo")]),
        "what came of calling one" => ToPage::Called {
            id: "c1".to_owned(),
            text: "undone \"twice\"".to_owned(),
            failed: false,
        },
        "a call that says how it gets on" => ToPage::Progress(Progress {
            text: "The tool is running: 2 of 8, \"digging\"".into(),
            part: Some(0.25),
        }),
        "a call that says nothing" => {
            ToPage::Progress(Progress { text: "The tool is running.".into(), part: None })
        }
        "a call that has ended" => ToPage::Settled { text: "".into() },
        "a note about a view that goes on" => {
            ToPage::Note { text: "It sends more than 10 messages a second.".into() }
        }
        "closed" => ToPage::Close { reason: Ending::Teardown },
        _ => return None,
    })
}

fn mount(limits: &Limits) -> Mount {
    Mount {
        src: "http://a1.localhost:7421/".to_owned(),
        limits: Relay::of(limits).page,
        ..Mount::default()
    }
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
    assert_eq!(written, 17);
}

const WHO: &str = "View of \"weather\" from \"demo\"";
