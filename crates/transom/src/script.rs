//! Scripts, read without a grammar: by their words, or cut into tokens.
//!
//! [`Script`] compares names where they stand and does not tell code from comments and texts. A text of a script may be code
//! of another one (a worker made from a `Blob`), so whoever looks for what a script does looks there too.
//! Whatever is found so is likely, not certain: `w = window; w.open()` is not seen, and a script that wants to hide can.
//!
//! [`Tokens`] tells what is code and what is only text in it, for those who write scripts into documents.

/// One look at a script.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a>(&'a str);

/// Something in a script that a look can begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark<'a> {
    /// A whole word: a name, a keyword or a number.
    Word(&'a str),
    /// A quote, which begins or ends a text.
    Quote,
}

impl<'a> Script<'a> {
    /// Looks at a script.
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// The script itself.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// Everything in front of a place.
    pub fn before(self, at: usize) -> &'a str {
        &self.0[..at]
    }

    /// Every word and every quote with its place, wherever it stands.
    pub fn marks(self) -> impl Iterator<Item = (usize, Mark<'a>)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = &self.0[at..];
            let found = rest.find(|c| is_name(c) || is_quote(c))?;
            let (place, rest) = (at + found, &rest[found..]);
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let mark = match length {
                0 => Mark::Quote,
                _ => Mark::Word(&rest[..length]),
            };
            // A quote has one byte.
            at = place + length.max(1);
            Some((place, mark))
        })
    }

    /// Every place where a name stands, as a whole word.
    pub fn words(self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.0.match_indices(name).map(|(at, _)| at).filter(move |at| {
            !self.0[..*at].ends_with(is_name) && !self.0[at + name.len()..].starts_with(is_name)
        })
    }

    /// Whether the name at a place is a global one, or a member of the window.
    pub fn is_global(self, at: usize) -> bool {
        let before = self.0[..at].trim_ascii_end();
        let Some(object) = before.strip_suffix("?.").or_else(|| before.strip_suffix('.')) else {
            // `function open` names something of the script's own.
            return !ends_with_word(before, "function");
        };
        let object = object.trim_ascii_end();
        WINDOWS.iter().any(|window| ends_with_word(object, window))
    }

    /// Whether the name at a place is a member of something.
    pub fn is_member(self, at: usize) -> bool {
        self.0[..at].ends_with('.')
    }

    /// The next place that holds no space. A look ahead is limited, as all of them are here.
    pub fn skip(self, at: usize) -> usize {
        let ahead = self.ahead(at);
        at + ahead.len() - ahead.trim_ascii_start().len()
    }

    /// What stands behind a place, without spaces.
    pub fn behind(self, at: usize) -> &'a str {
        self.ahead(at).trim_ascii_start()
    }

    /// What stands right behind a place.
    pub fn ahead(self, at: usize) -> &'a str {
        let rest = &self.0[at..];
        &rest[..rest.floor_char_boundary(NEAR)]
    }

    /// Whether something stands not far in front of a place.
    pub fn near(self, at: usize, what: &str) -> bool {
        let from = self.0.floor_char_boundary(at.saturating_sub(NEAR));
        self.0[from..at].contains(what)
    }

    /// The text that stands between quotes right behind a place, if it is all that there is to it.
    pub fn quoted(self, at: usize) -> Option<&'a str> {
        let behind = self.behind(at);
        let quote = behind.chars().next().filter(|c| is_quote(*c))?;
        let text = &behind[1..];
        let end = text.find(quote)?;
        Some(&text[..end]).filter(|text| !text.contains("${") && !text.contains('\\'))
    }
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word).is_some_and(|rest| !rest.ends_with(is_name))
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Spaces and new lines.
    Space,
    /// A comment.
    Comment,
    /// A string, a piece of a template, or a regular expression.
    Text,
    /// A name, a keyword or a number.
    Word,
    /// One character of any other kind.
    Mark,
}

/// A piece of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its text, as it stands in the script.
    pub text: &'a str,
}

/// A script, token by token. Together they are the whole of it.
///
/// Whether a slash divides or begins a regular expression cannot be told without a grammar; the word before it tells
/// nearly always.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    rest: &'a str,
    /// The last one that is code.
    last: Option<Token<'a>>,
    /// Whether that one and the one before are one operator, `++` or `--`.
    doubled: bool,
    /// What is open. Of a parenthesis: whether a condition stands in it. Of a brace: whether a template goes
    /// on behind it.
    open: Vec<bool>,
    /// Whether the parenthesis that was closed last had a condition in it.
    condition: bool,
}

impl<'a> Tokens<'a> {
    /// Cuts a script into tokens.
    pub fn new(script: &'a str) -> Self {
        Self { rest: script, last: None, doubled: false, open: vec![], condition: false }
    }

    /// What kind of token stands at the front, and its length.
    fn front(&mut self) -> (Kind, usize) {
        let text = self.rest;
        let first = text.chars().next().unwrap_or(' ');
        let whole = |end: Option<usize>| end.unwrap_or(text.len());
        if first.is_whitespace() || first == '\u{feff}' {
            let end = text.find(|c: char| !c.is_whitespace() && c != '\u{feff}');
            return (Kind::Space, whole(end));
        }
        if let Some(rest) = text.strip_prefix("/*") {
            return (Kind::Comment, whole(rest.find("*/").map(|end| end + 4)));
        }
        if text.starts_with("//")
            || text.starts_with("<!--")
            || text.starts_with("#!") && self.last.is_none()
        {
            return (Kind::Comment, whole(text.find(is_newline)));
        }
        match first {
            '"' | '\'' => (Kind::Text, string(text, first)),
            '`' => (Kind::Text, self.template(1)),
            '}' if self.open.pop() == Some(true) => (Kind::Text, self.template(1)),
            '/' if self.expects_value() => (Kind::Text, regex(text)),
            c if is_name(c) => (Kind::Word, whole(text.find(|c| !is_name(c)))),
            c => {
                self.mark(c);
                (Kind::Mark, c.len_utf8())
            }
        }
    }

    fn mark(&mut self, mark: char) {
        match mark {
            '(' => {
                let before = self.last.map_or("", |token| token.text);
                self.open.push(matches!(before, "if" | "while" | "for" | "with"));
            }
            '{' => self.open.push(false),
            ')' => self.condition = self.open.pop().unwrap_or(false),
            _ => {}
        }
    }

    /// The length of a template up to its end or to the next `${`.
    fn template(&mut self, from: usize) -> usize {
        let bytes = self.rest.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'`' => return at + 1,
                b'$' if bytes.get(at + 1) == Some(&b'{') => {
                    self.open.push(true);
                    return at + 2;
                }
                _ => {}
            }
            at += 1;
        }
        bytes.len()
    }

    /// Whether a value comes next, so that a slash begins a regular expression.
    fn expects_value(&self) -> bool {
        let Some(last) = self.last else { return true };
        match (last.kind, last.text) {
            (Kind::Word, word) => BEFORE_VALUES.contains(&word),
            (Kind::Mark, ")") => self.condition,
            (Kind::Mark, "]") => false,
            (Kind::Mark, _) => !self.doubled,
            // The piece of a template in front of a value ends with `${`.
            (_, text) => text.ends_with("${") && text.starts_with(['`', '}']),
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (kind, length) = self.front();
        // A backslash at the very end can point behind it, and one before a wide character into it.
        let length = self.rest.ceil_char_boundary(length.min(self.rest.len()));
        let (text, rest) = self.rest.split_at(length);
        let token = Token { kind, text };
        self.rest = rest;
        if !matches!(kind, Kind::Space | Kind::Comment) {
            let twice =
                matches!(text, "+" | "-") && self.last.is_some_and(|last| last.text == text);
            self.doubled = twice && !self.doubled;
            self.last = Some(token);
        }
        Some(token)
    }
}

/// The length of a string; it ends with its line if nothing else ends it.
fn string(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The length of a regular expression; a slash within brackets is one of its characters.
fn regex(text: &str) -> usize {
    let (mut escaped, mut class) = (false, false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return 1,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return at + 1,
            _ => {}
        }
    }
    1
}

/// Whether a character can stand in a name of a script.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\u{200c}' | '\u{200d}')
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Keywords with a value behind them.
const BEFORE_VALUES: [&str; 15] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "instanceof",
    "else",
    "do",
    "yield",
    "await",
    "default",
];

/// The names of a script's own window.
const WINDOWS: [&str; 4] = ["window", "self", "globalThis", "frames"];

/// How far a look goes.
const NEAR: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_whole_and_knows_whose_it_is() {
        #[rustfmt::skip]
        let table: [(&str, &[bool]); 10] = [
            ("reopen(); openly()",              &[]),
            ("this.#open()",                    &[]),
            ("éopen()",                         &[]),
            ("x.open(); x?.open()",             &[false, false]),
            ("window . open(1); open(2)",       &[true, true]),
            ("window?.open(); frames.open()",   &[true, true]),
            ("mywindow.open()",                 &[false]),
            ("function open() {}",              &[false]),
            ("myfunction\nopen()",              &[true]),
            ("// open() 'open'",                &[true, true]),
        ];
        for (text, expected) in table {
            let script = Script::new(text);
            let found: Vec<bool> = script.words("open").map(|at| script.is_global(at)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn words_and_quotes_are_marks_wherever_they_stand() {
        use Mark::{Quote, Word};
        let found: Vec<_> = Script::new("a+'éb' // c1").marks().collect();
        assert_eq!(
            found,
            [(0, Word("a")), (2, Quote), (3, Word("éb")), (6, Quote), (11, Word("c1"))]
        );
    }

    #[test]
    fn a_look_ahead_ends_between_characters() {
        let text = format!("open{}('a')", "é".repeat(NEAR));
        let script = Script::new(&text);
        assert_eq!(script.behind(3).len(), NEAR - 1);
        assert_eq!(script.quoted(text.len() - 4), Some("a"));
        assert_eq!(Script::new("a  b").skip(1), 3);
    }

    proptest::proptest! {
        #[test]
        fn tokens_are_the_whole_script(script in "(import|from|<!--|</?script>?|[`'\"/*\\\\${}()\\[\\] \n+<é;x-]){0,16}") {
            let all: String = Tokens::new(&script).map(|token| token.text).collect();
            proptest::prop_assert_eq!(&all, &script);
            for (at, mark) in Script::new(&script).marks() {
                if let Mark::Word(word) = mark {
                    proptest::prop_assert_eq!(&script[at..at + word.len()], word);
                }
            }
        }
    }
}
