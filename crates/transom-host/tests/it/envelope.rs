//! The fixtures that both ends of the socket agree on.

use serde_json::Value;
use transom_host::envelope::{Frame, Hello, Welcome};

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
