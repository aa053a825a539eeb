//! Server-sent events of bounded size.

/// Takes an event stream apart, piece by piece.
#[derive(Debug)]
pub(crate) struct Parser {
    limit: usize,
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The event that is not complete yet.
    data: Vec<u8>,
    has_data: bool,
    /// Whether the last piece ended with a carriage return, whose newline may still come.
    after_return: bool,
    /// The id of the event that is not complete yet: it counts when the event does.
    next_id: Option<String>,
    /// The id of the last event, which a server can be asked to go on after.
    pub(super) last_id: Option<String>,
    /// How long the server wants us to wait before we come back, in milliseconds.
    pub(super) retry: Option<u64>,
}

/// An event or a line that is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Parser {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_return: false,
            next_id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Forgets what was half said: the stream broke. What was complete stays.
    pub(super) fn restart(&mut self) {
        self.line.clear();
        self.data.clear();
        self.has_data = false;
        self.after_return = false;
        self.next_id = None;
    }

    /// Takes a piece of the stream, and gives the data of each event that it completes.
    pub(crate) fn push(
        &mut self,
        mut piece: &[u8],
        mut event: impl FnMut(&[u8]),
    ) -> Result<(), TooLong> {
        if self.after_return && !piece.is_empty() {
            self.after_return = false;
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', piece) {
            self.extend_line(&piece[..end])?;
            let rest = &piece[end + 1..];
            piece = match piece[end] {
                b'\r' if rest.is_empty() => {
                    self.after_return = true;
                    rest
                }
                b'\r' => rest.strip_prefix(b"\n").unwrap_or(rest),
                _ => rest,
            };
            self.end_line(&mut event)?;
        }
        self.extend_line(piece)
    }

    fn extend_line(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        // The field's name and an id come on top of the data.
        if self.line.len() + self.data.len() + piece.len() > self.limit + SLACK {
            return Err(TooLong);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn end_line(&mut self, event: &mut impl FnMut(&[u8])) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            self.dispatch(event);
        } else {
            self.field(&line)?;
        }
        // The memory of a long line is given back; that of a usual one is used again.
        self.line = if line.capacity() <= KEPT { cleared(line) } else { Vec::new() };
        Ok(())
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => return self.push_data(value),
            b"id" if !value.contains(&0) && value.len() <= MAX_ID => {
                self.next_id = std::str::from_utf8(value).ok().map(str::to_owned);
            }
            b"retry" => {
                let digits = std::str::from_utf8(value).ok();
                self.retry = digits.and_then(|digits| digits.parse().ok()).or(self.retry);
            }
            // Comments, and fields that the format does not have.
            _ => {}
        }
        Ok(())
    }

    fn push_data(&mut self, value: &[u8]) -> Result<(), TooLong> {
        if self.data.len() + value.len() >= self.limit {
            return Err(TooLong);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch(&mut self, event: &mut impl FnMut(&[u8])) {
        if let Some(id) = self.next_id.take() {
            self.last_id = Some(id);
        }
        let data = std::mem::take(&mut self.data);
        // An event without data only says where we are.
        if self.has_data && !data.is_empty() {
            event(&data);
        }
        self.has_data = false;
        self.data = if data.capacity() <= KEPT { cleared(data) } else { Vec::new() };
    }
}

fn cleared(mut buffer: Vec<u8>) -> Vec<u8> {
    buffer.clear();
    buffer
}

/// Room for the name of a field.
const SLACK: usize = 64;
/// The longest id of an event: it goes into a header.
const MAX_ID: usize = 1024;
/// How much memory stays with a parser between events.
const KEPT: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, piece: usize, limit: usize) -> (Vec<String>, Parser, bool) {
        let mut parser = Parser::new(limit);
        let mut events = vec![];
        let good = text.as_bytes().chunks(piece).all(|piece| {
            let keep = |data: &[u8]| events.push(String::from_utf8_lossy(data).into_owned());
            parser.push(piece, keep).is_ok()
        });
        (events, parser, good)
    }

    #[test]
    fn events_however_they_arrive() {
        let text = ": hello\nid: 1\nevent: message\ndata: one\n\ndata:two\r\ndata: more\r\n\r\n\
                    id:9\rretry: 50\rdata\r\rdata: {\"a\":1}\n\nnobody: knows\n\nid: 10\ndata: unfinished";
        for piece in 1..=text.len() {
            let (events, parser, good) = parse(text, piece, 1000);
            assert_eq!(events, ["one", "two\nmore", "{\"a\":1}"], "{piece}");
            assert_eq!(parser.last_id.as_deref(), Some("9"));
            assert_eq!(parser.retry, Some(50));
            assert!(good);
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let line = format!("data: {}\n\n", "x".repeat(2000));
        let lines = "data: xxxxxxxxxx\n".repeat(200);
        let unknown = "y".repeat(2000);
        for text in [&line, &lines, &unknown] {
            for piece in [1, 100, 5000] {
                let (events, _, good) = parse(text, piece, 1000);
                assert!(!good && events.is_empty());
            }
        }
    }

    #[test]
    fn an_id_that_no_header_could_hold_is_ignored() {
        let text = format!("id: {}\ndata: a\n\nid: a\0b\ndata: b\n\n", "x".repeat(2000));
        let (_, parser, good) = parse(&text, 100, 10_000);
        assert!(good);
        assert_eq!(parser.last_id, None);
    }
}
