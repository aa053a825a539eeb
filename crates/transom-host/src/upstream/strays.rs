//! What a server wrote to its standard output that is no message.

use transom::quoted::Quoted;

/// Lines that a server printed where only messages belong: a banner, a log. Strict clients end the connection for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Strays {
    /// How many there were.
    pub lines: u64,
    /// The first of them.
    pub first: Option<Quoted>,
}

impl Strays {
    pub(super) fn note(&mut self, line: &str) {
        self.lines += 1;
        self.first.get_or_insert_with(|| Quoted::new(line));
    }
}
