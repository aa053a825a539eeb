//! Printing for people, some of it in a stranger's words.

use std::{
    borrow::Cow,
    io::{self, BufRead, IsTerminal as _, Write as _},
};

use transom::quoted::is_deceptive;

/// Where a person can be asked.
pub(crate) trait Terminal {
    /// Shows a question and takes the answer; none if there is no person to ask.
    fn ask(&self, question: &str) -> io::Result<Option<bool>>;
}

/// The person who started this process.
pub(crate) struct Person;

impl Terminal for Person {
    /// Only at a terminal a person answers: a yes that comes through a pipe does not count.
    fn ask(&self, question: &str) -> io::Result<Option<bool>> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(None);
        }
        forget_typed(&io::stdin())?;
        is_yes(question, &mut io::stderr().lock(), &mut io::stdin().lock()).map(Some)
    }
}

/// What was typed before the question was there is no answer to it.
#[cfg(unix)]
pub(crate) fn forget_typed(terminal: &impl std::os::fd::AsFd) -> io::Result<()> {
    use rustix::termios::{QueueSelector, tcflush};
    Ok(tcflush(terminal, QueueSelector::IFlush)?)
}

/// Elsewhere the terminal cannot be told.
#[cfg(not(unix))]
pub(crate) fn forget_typed<T>(_: &T) -> io::Result<()> {
    Ok(())
}

fn is_yes(question: &str, out: &mut impl io::Write, from: &mut impl BufRead) -> io::Result<bool> {
    out.write_all(question.as_bytes())?;
    out.flush()?;
    let mut answer = String::new();
    from.read_line(&mut answer)?;
    Ok(agrees(&answer))
}

/// Whether an answer is a yes.
pub(crate) fn agrees(answer: &str) -> bool {
    matches!(&*answer.trim().to_ascii_lowercase(), "y" | "yes")
}

/// A place without a person to ask.
#[cfg(test)]
pub(crate) struct Unattended;

#[cfg(test)]
impl Terminal for Unattended {
    fn ask(&self, _: &str) -> io::Result<Option<bool>> {
        Ok(None)
    }
}

/// Prints to standard output. A closed pipe is no error: `transom inspect | head` is fine.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// A line of ours with a stranger's words in it: one line, not without end, and without what would move the cursor or
/// turn the text around.
pub(crate) fn clean(words: &str) -> Cow<'_, str> {
    if words.len() <= LINE && !words.contains(is_deceptive) {
        return Cow::Borrowed(words);
    }
    let plain = |c: char| if is_deceptive(c) { '\u{fffd}' } else { c };
    let mut line: String = words.chars().take(LINE).map(plain).collect();
    if words.chars().nth(LINE).is_some() {
        line.push('…');
    }
    Cow::Owned(line)
}

/// The longest line, in characters.
const LINE: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stranger_moves_the_cursor() {
        assert_eq!(clean("Größe 1 → 2"), "Größe 1 → 2");
        assert_eq!(clean("a\x1b[2Jb\nc\u{202e}d"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
    }

    /// Types an answer when the question is there to be seen.
    #[cfg(target_os = "linux")]
    struct Typist<'a>(&'a std::fs::File);

    #[cfg(target_os = "linux")]
    impl io::Write for Typist<'_> {
        fn write(&mut self, question: &[u8]) -> io::Result<usize> {
            (&mut &*self.0).write_all(b"n\n")?;
            Ok(question.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_yes_that_was_typed_ahead_is_no_answer() {
        use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let keyboard = openpt(flags).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let terminal = ioctl_tiocgptpeer(&keyboard, flags).unwrap();
        let (keyboard, terminal) = (std::fs::File::from(keyboard), std::fs::File::from(terminal));
        (&keyboard).write_all(b"y\n").unwrap();
        forget_typed(&terminal).unwrap();
        let mut from = io::BufReader::new(&terminal);
        assert!(!is_yes("Let it count?", &mut Typist(&keyboard), &mut from).unwrap());
    }

    #[test]
    fn no_stranger_fills_the_screen() {
        let line = clean(&"x".repeat(1 << 20)).into_owned();
        assert_eq!(line.chars().count(), LINE + 1);
        assert!(line.ends_with('…'));
    }
}
