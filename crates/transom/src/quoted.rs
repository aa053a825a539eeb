//! A stranger's words, wherever people read them: cut short, on one line, and in quotes.

use std::{borrow::Cow, fmt};

use serde::{Serialize, Serializer};

/// A stranger's words: cut short and escaped, so that a line stays one short line, and quoted, so that they
/// cannot end our sentence and begin their own.
///
/// ```
/// use transom::quoted::Quoted;
///
/// let name = Quoted::new("save\". All is well.\n\u{202e}");
/// assert_eq!(format!("wants to call {name}"), r#"wants to call "save\". All is well.\n\u{202e}""#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Quoted(Box<str>);

impl Quoted {
    /// Keeps the first eighty characters.
    pub fn new(words: &str) -> Self {
        Self::long(words, QUOTE)
    }

    /// Keeps more of them, where people have to see it all.
    pub fn long(words: &str, most: usize) -> Self {
        let cut = words.char_indices().nth(most).map(|(end, _)| &words[..end]);
        let kept = cut.unwrap_or(words);
        let kept =
            if kept.contains(is_escaped) { escaped(kept).into() } else { Cow::Borrowed(kept) };
        match cut {
            Some(_) => Self(format!("{kept}…").into()),
            None => Self(kept.into()),
        }
    }

    /// The words on one line, without their quotes: for a place that holds nothing else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Quoted {
    fn from(words: &str) -> Self {
        Self::new(words)
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Backslashes are escaped already.
        write!(f, "\"{}\"", self.0.replace('"', "\\\""))
    }
}

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Quoted {
    /// Without the quotes: JSON has its own.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A text as people may read it, of whatever length: nothing in it is hidden, turned round or moves the cursor.
/// Ends of lines stay.
pub fn legible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| is_deceptive(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let show = |c: char| match c {
        c if is_hidden(c) => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    Cow::Owned(text.chars().map(show).collect())
}

/// Whether a character is not seen, or changes how others are read: a control, an end of a line, what sets the
/// direction or has no width. Not the joiners, which words and pictures are made of.
pub fn is_deceptive(c: char) -> bool {
    let format = matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    format || c.is_control()
}

fn is_escaped(c: char) -> bool {
    c == '\\' || is_deceptive(c) || is_odd_space(c)
}

/// Whether a character is a space that is none of the keyboard's. In a longer text it is typography; in a name or an
/// address it makes several words of what is one thing.
fn is_odd_space(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

fn escaped(words: &str) -> String {
    let mut text = String::with_capacity(words.len() + 16);
    for c in words.chars() {
        match c {
            '\\' | '\n' | '\r' | '\t' => text.extend(c.escape_default()),
            c if is_escaped(c) => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
    text
}

/// How many characters of a stranger's words are kept.
const QUOTE: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_words_stay_one_short_quoted_line() {
        #[rustfmt::skip]
        let table = [
            ("save", r#""save""#),
            ("Größe 中 👍 👩‍👩‍👧", r#""Größe 中 👍 👩‍👩‍👧""#),
            ("a\nb\r\tc", r#""a\nb\r\tc""#),
            ("\u{202e}gnp.exe\u{200b}", r#""\u{202e}gnp.exe\u{200b}""#),
            // Neither a quote nor a backslash before it ends what is quoted.
            (r#"x" of demo"#, r#""x\" of demo""#),
            (r#"x\" of demo"#, r#""x\\\" of demo""#),
            ("\x1b[2J\0", r#""\u{1b}[2J\u{0}""#),
            ("a\u{a0}b\u{2003}c\u{3000} d", r#""a\u{a0}b\u{2003}c\u{3000} d""#),
        ];
        for (words, printed) in table {
            assert_eq!(Quoted::new(words).to_string(), printed);
        }
        let long = Quoted::new(&"é".repeat(500)).to_string();
        assert_eq!(long.chars().count(), QUOTE + 3);
        assert!(long.ends_with("…\""));
    }

    #[test]
    fn a_text_is_read_as_it_is_written() {
        assert_eq!(legible("two\nlines, Größe"), "two\nlines, Größe");
        assert_eq!(legible("a\u{202e}b\r"), "a\\u{202e}b\\u{d}");
    }
}
