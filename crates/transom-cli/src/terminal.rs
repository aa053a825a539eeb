//! Printing for people, some of it in a stranger's words.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write as _},
};

/// Where a person can be asked.
pub(crate) trait Terminal {
    /// Shows a question and takes the answer; nothing if there is nobody to ask.
    fn ask(&self, question: &str) -> io::Result<Option<bool>>;
}

/// The person who started this process.
pub(crate) struct Person;

impl Terminal for Person {
    /// Only a terminal has somebody behind it: what comes through a pipe is nobody's yes.
    fn ask(&self, question: &str) -> io::Result<Option<bool>> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(None);
        }
        let mut err = io::stderr().lock();
        err.write_all(question.as_bytes())?;
        err.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(Some(matches!(&*answer.trim().to_ascii_lowercase(), "y" | "yes")))
    }
}

/// A place without anybody to ask.
#[cfg(test)]
pub(crate) struct Nobody;

#[cfg(test)]
impl Terminal for Nobody {
    fn ask(&self, _: &str) -> io::Result<Option<bool>> {
        Ok(None)
    }
}

/// Prints to standard output. Nobody reading it is no error: `transom inspect | head` is fine.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// A stranger's words on one line, without what would move the cursor or turn the text around.
pub(crate) fn clean(words: &str) -> Cow<'_, str> {
    if !words.contains(is_unprintable) {
        return Cow::Borrowed(words);
    }
    Cow::Owned(words.chars().map(|c| if is_unprintable(c) { '\u{fffd}' } else { c }).collect())
}

fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stranger_moves_the_cursor() {
        assert_eq!(clean("Größe 1 → 2"), "Größe 1 → 2");
        assert_eq!(clean("a\x1b[2Jb\nc\u{202e}d"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
    }
}
