//! Whatever a server streams, its events are the same however it is cut into pieces, none is longer than the limit, and
//! they are those that the standard says.

#[path = "../../../src/upstream/sse.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "a module of the crate that is nobody's business outside of it"
)]
mod parser;

use parser::Parser;

/// Takes the input for a stream.
pub(crate) fn check(data: &[u8]) {
    let whole = parse(data, data.len().max(1));
    for piece in [1, 2, 3, 7] {
        assert_eq!(parse(data, piece), whole, "in pieces of {piece}");
    }
    assert!(whole.events.iter().all(|event| event.len() <= LIMIT));
    if whole.good {
        assert_eq!(whole.events, standard(data));
    }
}

#[derive(Debug, PartialEq)]
struct Heard {
    events: Vec<Vec<u8>>,
    last_id: Option<String>,
    retry: Option<u64>,
    good: bool,
}

fn parse(data: &[u8], piece: usize) -> Heard {
    let mut parser = Parser::new(LIMIT);
    let mut events = vec![];
    let good = data
        .chunks(piece)
        .all(|piece| parser.push(piece, |event| events.push(event.to_vec())).is_ok());
    // After a line that is too long nothing else of the stream counts, and how far it was read depends on the pieces.
    let (last_id, retry) = if good { (parser.last_id, parser.retry) } else { (None, None) };
    if let Some(id) = &last_id {
        assert!(id.len() <= 1024 && !id.contains(['\0', '\n', '\r']), "{id:?}");
    }
    Heard { events, last_id, retry, good }
}

/// The data of each event, read line by line as the standard has it, for a text that is there in one piece.
fn standard(data: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = vec![vec![]];
    let mut bytes = data.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' | b'\n' => {
                if byte == b'\r' {
                    bytes.next_if_eq(&b'\n');
                }
                lines.push(vec![]);
            }
            other => lines.last_mut().expect("there is one").push(other),
        }
    }
    // What no line end follows is not complete.
    lines.pop();
    let (mut events, mut said) = (vec![], vec![]);
    for line in lines {
        if line.is_empty() {
            let event = said.join(&b'\n');
            said.clear();
            if !event.is_empty() {
                events.push(event);
            }
        } else if let Some(value) = line.strip_prefix(b"data:") {
            said.push(value.strip_prefix(b" ").unwrap_or(value).to_vec());
        } else if line == b"data" {
            said.push(vec![]);
        }
    }
    events
}

const LIMIT: usize = 256;
