//! Heals half-written JSON, so that arguments can be shown while they are still being written (H-63).
//!
//! ```text
//! {"city":"Par      →  {"city":"Par"}          an open string is closed
//! {"city":"P\u00    →  {"city":"P"}            half an escape is left out, half a surrogate pair too
//! {"tags":["a",     →  {"tags":["a"]}          so is a comma
//! {"ok":tr          →  {"ok":true}             a literal has only one end
//! {"price":12       →  {}                      a number may have many: it waits for its end
//! {"price":12,"un   →  {"price":12}            a key waits for its value
//! ```
//!
//! So what is shown is final, except that strings, arrays and objects grow at their end.

/// One stream of JSON, healed as far as it has come.
///
/// It keeps the text, the brackets that are open, and the place up to which the text can be shown.
/// Each byte is looked at once when it arrives; a healed text costs its own copy and nothing else.
///
/// ```
/// use transom::partial::Healer;
/// let mut healer = Healer::new();
/// healer.push(r#"{"city": "Pa"#).unwrap();
/// assert_eq!(healer.healed(), r#"{"city": "Pa"}"#);
/// healer.push(r#"ris", "days": 1"#).unwrap();
/// assert_eq!(healer.healed(), r#"{"city": "Paris"}"#);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Healer {
    text: String,
    /// The next byte to look at.
    at: usize,
    /// What lies before is shown; every bracket of it that is still open is in `open`.
    cut: usize,
    open: Vec<Bracket>,
    state: State,
    failed: Option<PartialError>,
    /// Bytes looked at so far: the tests hold it against the stream's length.
    examined: usize,
}

impl Healer {
    /// Starts with nothing, which heals to `{}`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next fragment, split off anywhere, even inside an escape.
    ///
    /// Where the stream goes wrong it stops: bytes before the wrong one stay, and every later
    /// fragment is answered with the same error. How the stream was split makes no difference.
    pub fn push(&mut self, fragment: &str) -> Result<(), PartialError> {
        let room = fragment.floor_char_boundary(MAX_BYTES - self.text.len());
        let result = match self.failed {
            Some(error) => Err(error),
            None => self.accept(&fragment[..room]),
        };
        let result = result.and(match room < fragment.len() {
            true => Err(PartialError::TooLarge),
            false => Ok(()),
        });
        self.failed = result.err();
        result
    }

    /// Returns what has come so far as a JSON object.
    pub fn healed(&self) -> String {
        if self.cut == 0 {
            return "{}".to_owned();
        }
        let tail = self.state.tail();
        let mut healed = String::with_capacity(self.cut + tail.len() + self.open.len());
        healed.push_str(&self.text[..self.cut]);
        healed.push_str(tail);
        healed.extend(self.open.iter().rev().map(|bracket| bracket.closing()));
        healed
    }

    /// Tells whether the object has been closed.
    pub fn is_complete(&self) -> bool {
        self.state == State::Done
    }

    fn accept(&mut self, fragment: &str) -> Result<(), PartialError> {
        self.text.push_str(fragment);
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match self.step(byte) {
                Ok(state) => self.state = state,
                Err(error) => {
                    // A wrong byte starts a character: only strings hold others, and they hold all.
                    self.text.truncate(self.at);
                    return Err(error);
                }
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Returns the state behind this byte, which is the one at `at`.
    fn step(&mut self, byte: u8) -> Result<State, PartialError> {
        use State::*;
        self.examined += 1;
        match (self.state, byte) {
            (Text(text), _) => self.step_text(text, byte),
            (Literal(rest), _) => self.step_literal(rest, byte),
            (Number(number), _) => self.step_number(number, byte),
            (state, b' ' | b'\t' | b'\n' | b'\r') => Ok(state),
            (Start, b'{') => self.opened(Bracket::Object),
            (FirstKey, b'}') | (FirstItem, b']') => Ok(self.closed()),
            (FirstKey | Key, b'"') => Ok(Text(Quoted::new(Role::Key))),
            (Colon, b':') => Ok(Value),
            (FirstItem | Value, _) => self.step_value(byte),
            (After, _) => self.step_after(byte),
            (state, _) => Err(self.unexpected(state.expected())),
        }
    }

    fn step_value(&mut self, byte: u8) -> Result<State, PartialError> {
        let state = match byte {
            b'{' => return self.opened(Bracket::Object),
            b'[' => return self.opened(Bracket::Array),
            b'-' => return Ok(State::Number(Number::Minus)),
            b'0' => return Ok(State::Number(Number::Zero)),
            b'1'..=b'9' => return Ok(State::Number(Number::Whole)),
            b'"' => State::Text(Quoted::new(Role::Value)),
            b't' => State::Literal("rue"),
            b'f' => State::Literal("alse"),
            b'n' => State::Literal("ull"),
            _ => return Err(self.unexpected(State::Value.expected())),
        };
        self.show();
        Ok(state)
    }

    fn step_after(&mut self, byte: u8) -> Result<State, PartialError> {
        match (self.open.last(), byte) {
            (Some(Bracket::Object), b',') => Ok(State::Key),
            (Some(Bracket::Array), b',') => Ok(State::Value),
            (Some(bracket), _) if bracket.closing() == char::from(byte) => Ok(self.closed()),
            _ => Err(self.unexpected(State::After.expected())),
        }
    }

    fn step_literal(&mut self, rest: &'static str, byte: u8) -> Result<State, PartialError> {
        if !rest.as_bytes().starts_with(&[byte]) {
            return Err(self.unexpected(rest));
        }
        self.show();
        let rest = &rest[1..];
        Ok(if rest.is_empty() { State::After } else { State::Literal(rest) })
    }

    fn step_number(&mut self, number: Number, byte: u8) -> Result<State, PartialError> {
        if let Some(number) = number.next(byte) {
            return Ok(State::Number(number));
        }
        let ends = matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
        if !ends || !number.may_end() {
            return Err(self.unexpected("the rest of a number"));
        }
        self.cut = self.at;
        self.state = State::After;
        // Once more and not again: what follows a value is never part of a number.
        self.step(byte)
    }

    fn step_text(&mut self, text: Quoted, byte: u8) -> Result<State, PartialError> {
        match (text.part, byte) {
            (Part::Plain, b'"') => Ok(self.text_ends(text)),
            (Part::Plain, b'\\') => Ok(State::Text(Quoted { part: Part::Backslash, ..text })),
            (Part::Plain, 0..0x20) => Err(self.unexpected("a character of a string")),
            (Part::Plain, _) => {
                self.skip_plain();
                Ok(self.text_goes_on(text))
            }
            (Part::Backslash, b'u') => Ok(State::Text(Quoted { part: Part::HEX, ..text })),
            (Part::Backslash, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                Ok(self.text_goes_on(text))
            }
            (Part::Backslash, _) => Err(self.unexpected("an escape")),
            (Part::Hex { digits, unit }, _) => self.step_hex(text, digits, unit, byte),
        }
    }

    fn step_hex(
        &mut self,
        text: Quoted,
        digits: u8,
        unit: u16,
        byte: u8,
    ) -> Result<State, PartialError> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(self.unexpected("a hexadecimal digit"));
        };
        let (digits, unit) = (digits + 1, unit << 4 | digit as u16);
        if digits < 4 {
            return Ok(State::Text(Quoted { part: Part::Hex { digits, unit }, ..text }));
        }
        let escape = self.at + 1 - ESCAPE_BYTES;
        Ok(match unit {
            0xd800..=0xdbff => self.high_surrogate(text, escape),
            0xdc00..=0xdfff if text.high.is_none() => {
                self.replace_lone(Some(escape));
                self.text_goes_on(text)
            }
            // The low half makes a pair of it: there is no lone one to replace.
            0xdc00..=0xdfff => self.text_goes_on(Quoted { high: None, ..text }),
            _ => self.text_goes_on(text),
        })
    }

    /// Waits for the other half, without showing this one.
    fn high_surrogate(&mut self, text: Quoted, escape: usize) -> State {
        self.replace_lone(text.high);
        State::Text(Quoted { part: Part::Plain, high: Some(escape), ..text })
    }

    fn text_goes_on(&mut self, text: Quoted) -> State {
        self.replace_lone(text.high);
        if text.role == Role::Value {
            self.show();
        }
        State::Text(Quoted::new(text.role))
    }

    fn text_ends(&mut self, text: Quoted) -> State {
        self.text_goes_on(text);
        match text.role {
            Role::Key => State::Colon,
            Role::Value => State::After,
        }
    }

    /// Writes U+FFFD over half a pair. Browsers take the half, but no Rust string can hold it.
    fn replace_lone(&mut self, escape: Option<usize>) {
        if let Some(at) = escape {
            self.text.replace_range(at..at + ESCAPE_BYTES, "\\ufffd");
        }
    }

    /// Moves to the last of a run of bytes that mean nothing but themselves.
    fn skip_plain(&mut self) {
        let special = |&byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let rest = &self.text.as_bytes()[self.at + 1..];
        let more = rest.iter().position(special).unwrap_or(rest.len());
        self.examined += more;
        self.at += more;
    }

    fn opened(&mut self, bracket: Bracket) -> Result<State, PartialError> {
        if self.open.len() == MAX_DEPTH {
            return Err(PartialError::TooDeep);
        }
        self.open.push(bracket);
        self.show();
        Ok(match bracket {
            Bracket::Object => State::FirstKey,
            Bracket::Array => State::FirstItem,
        })
    }

    fn closed(&mut self) -> State {
        self.open.pop();
        self.show();
        if self.open.is_empty() { State::Done } else { State::After }
    }

    /// Everything up to and with this byte can be shown.
    fn show(&mut self) {
        self.cut = self.at + 1;
    }

    fn unexpected(&self, expected: &'static str) -> PartialError {
        let got =
            self.text[self.at..].chars().next().expect("a step looks at a byte that is there");
        PartialError::Unexpected { expected, got, at: self.at }
    }
}

/// Why a stream cannot be healed any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartialError {
    /// A character that no JSON object has here.
    #[error("expected {expected}, got {got:?} at byte {at}")]
    Unexpected {
        /// What would have been right.
        expected: &'static str,
        /// What came.
        got: char,
        /// Where, counted from the start of the stream.
        at: usize,
    },
    /// Brackets inside brackets beyond the limit.
    #[error("nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// A stream beyond the limit.
    #[error("more than {MAX_BYTES} bytes")]
    TooLarge,
}

/// The deepest nesting that is followed.
pub const MAX_DEPTH: usize = 64;

/// The longest stream that is kept.
pub const MAX_BYTES: usize = 4 << 20;

/// What the next byte may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    FirstKey,
    Key,
    Colon,
    FirstItem,
    Value,
    After,
    Done,
    Text(Quoted),
    /// The letters still to come.
    Literal(&'static str),
    Number(Number),
}

impl State {
    /// What closes a value that is shown half.
    fn tail(self) -> &'static str {
        match self {
            Self::Text(Quoted { role: Role::Value, .. }) => "\"",
            Self::Literal(rest) => rest,
            _ => "",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Start => "an object",
            Self::FirstKey => "a key or a closing brace",
            Self::Key => "a key",
            Self::Colon => "a colon",
            Self::After => "a comma or a closing bracket",
            Self::Done => "the end",
            _ => "a value",
        }
    }
}

/// A string that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quoted {
    role: Role,
    part: Part,
    /// Where the escape of half a surrogate pair starts, if the string ends with one.
    high: Option<usize>,
}

impl Quoted {
    fn new(role: Role) -> Self {
        Self { role, part: Part::Plain, high: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Plain,
    Backslash,
    Hex { digits: u8, unit: u16 },
}

impl Part {
    const HEX: Self = Self::Hex { digits: 0, unit: 0 };
}

/// How far a number has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    E,
    Sign,
    Exponent,
}

impl Number {
    fn next(self, byte: u8) -> Option<Self> {
        use Number::*;
        Some(match (self, byte) {
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') | (Whole, b'0'..=b'9') => Whole,
            (Zero | Whole, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Whole | Fraction, b'e' | b'E') => E,
            (E, b'+' | b'-') => Sign,
            (E | Sign | Exponent, b'0'..=b'9') => Exponent,
            _ => return None,
        })
    }

    fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::Exponent)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Object,
    Array,
}

impl Bracket {
    fn closing(self) -> char {
        match self {
            Self::Object => '}',
            Self::Array => ']',
        }
    }
}

const ESCAPE_BYTES: usize = "\\uffff".len();

#[cfg(test)]
mod tests;
