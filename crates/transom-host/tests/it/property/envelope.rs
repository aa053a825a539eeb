//! Whatever a page writes, it is refused or is one frame that reads the same as JSON, and no counters in it
//! bring a stream out of step.

use serde::de::IgnoredAny;
use serde_json::Value;
use transom::rpc::{Message, MessageLimits};
use transom_host::{
    envelope::{Envelope, FromPage, Hello, Said, Stream, ToPage, ViewId},
    words::Words,
};

/// Takes the input for the frames of one connection, one a line.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut stream = Stream::new(ViewId::parse("v").expect("a name"));
    for line in text.split('\n').take(64) {
        let _ = Hello::parse(line);
        let Ok(frame) = Envelope::parse(line) else { continue };
        assert!(ViewId::parse(frame.view).is_some(), "{line}");
        reads_the_same(line, &frame);
        if let Some(said) = &frame.said {
            read(said);
        }
        in_step(&mut stream, &frame);
    }
}

/// A JSON parser that looks at the whole line sees the same head as we, who look at its beginning only.
fn reads_the_same(line: &str, frame: &Envelope<'_>) {
    let printed = match &frame.said {
        None => format!(r#"{{"view":"{}","ack":{}}}"#, frame.view, frame.ack),
        Some(said) => {
            let Said { seq, kind, payload } = said;
            format!(
                r#"{{"view":"{}","seq":{seq},"ack":{},"{kind}":{payload}}}"#,
                frame.view, frame.ack
            )
        }
    };
    assert_eq!(Envelope::parse(&printed).as_ref(), Ok(frame), "{line}");
    let whole = frame.said.as_ref().is_none_or(|said| is_one_value(said.payload));
    let Ok(members) = serde_json::from_str::<Value>(&printed) else { return };
    let heads = ["view", "seq", "ack"];
    // A kind that is named like a part of the head is nobody's kind, and the last one counts in JSON.
    if whole && !frame.said.as_ref().is_some_and(|said| heads.contains(&said.kind)) {
        assert_eq!(members["view"], frame.view, "{line}");
        assert_eq!(members["ack"], frame.ack, "{line}");
        assert_eq!(members.get("seq").and_then(Value::as_u64), frame.said.map(|said| said.seq));
    }
}

fn read(said: &Said<'_>) {
    let Ok(read) = said.read() else { return };
    match read {
        // It is judged as it stands, and by somebody else.
        FromPage::Message(text) => assert_eq!(text, said.payload),
        FromPage::Dropped(outline) => {
            assert!(is_one_value(said.payload));
            if let Some(outline) = outline {
                assert!(Message::parse(&outline, MessageLimits::default()).is_ok(), "{outline}");
            }
        }
        _ => assert!(is_one_value(said.payload), "{}", said.payload),
    }
}

/// A stream that says something now and then takes any counters, or refuses them and is as it was.
fn in_step(stream: &mut Stream, frame: &Envelope<'_>) {
    let _ = stream.say(&ToPage::Note { text: Words::ours("news") });
    let _ = stream.write();
    let before = stream.queued();
    if stream.take(frame.said.map(|said| said.seq), frame.ack).is_err() {
        assert_eq!(stream.queued(), before);
    }
    assert!(stream.queued() <= before);
    let _ = stream.confirm();
}

fn is_one_value(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
