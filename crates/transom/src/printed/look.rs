//! A look at JSON: whether it is spelled as we print it, and says one thing.

use super::{Ambiguous, Names, fold, is_reserved};
use crate::{quoted::Quoted, scan::plain_end};

/// What a look at a text finds.
pub(super) enum Trouble {
    /// It is not spelled as we print.
    Spelling,
    Ambiguous(Ambiguous),
}

impl Trouble {
    /// What we spelled is spelled as we do.
    pub(super) fn at_last(self) -> Ambiguous {
        match self {
            Self::Spelling => Ambiguous::NotJson,
            Self::Ambiguous(why) => why,
        }
    }
}

/// A look at JSON: is it spelled as we print, and does every name stand once in its object?
pub(super) struct Look<'a> {
    text: &'a str,
    compare: Names,
    at: usize,
    /// The names of all objects that are open, inside their quotes, outermost first.
    names: Vec<Name>,
    /// For each level that is open, where its names begin; none for a list.
    levels: Vec<Option<usize>>,
}

#[derive(Clone, Copy)]
struct Name {
    hash: u32,
    start: u32,
    end: u32,
}

impl<'a> Look<'a> {
    pub(super) fn at(text: &'a str, compare: Names) -> Self {
        Self { text, compare, at: 0, names: vec![], levels: vec![] }
    }

    pub(super) fn look(mut self) -> Result<(), Trouble> {
        let bytes = self.text.as_bytes();
        let mut is_name = false;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let start = self.at + 1;
                    let nul = self.string(bytes)?;
                    if std::mem::take(&mut is_name) {
                        self.name(start, nul)?;
                    }
                    continue;
                }
                b'{' => {
                    self.levels.push(Some(self.names.len()));
                    is_name = true;
                }
                b'[' => {
                    self.levels.push(None);
                    is_name = false;
                }
                b'}' | b']' => {
                    if let Some(Some(first)) = self.levels.pop() {
                        self.compare(first)?;
                        self.names.truncate(first);
                    }
                    is_name = false;
                }
                b',' => is_name = matches!(self.levels.last(), Some(Some(_))),
                b' ' | b'\t' | b'\n' | b'\r' => return Err(Trouble::Spelling),
                // A colon, a number, `true`, `false` or `null`.
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Passes a string; returns whether it holds a NUL.
    fn string(&mut self, bytes: &[u8]) -> Result<bool, Trouble> {
        let mut nul = false;
        self.at += 1;
        loop {
            self.at = plain_end(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'\\') => {
                    let rest = bytes.get(self.at + 1..).unwrap_or_default();
                    self.at += match rest {
                        [b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                        [b'u', b'0', b'0', b'0', b'0', ..] => {
                            nul = true;
                            6
                        }
                        [b'u', b'0', b'0', high, low, ..] if is_plain_control(*high, *low) => 6,
                        _ => return Err(Trouble::Spelling),
                    };
                }
                Some(_) => {
                    self.at += 1;
                    return Ok(nul);
                }
                None => return Err(Trouble::Ambiguous(Ambiguous::NotJson)),
            }
        }
    }

    fn name(&mut self, start: usize, nul: bool) -> Result<(), Trouble> {
        let end = self.at - 1;
        if nul {
            return Err(Trouble::Ambiguous(Ambiguous::Nul(self.quote(start, end))));
        }
        if is_reserved(&self.text[start..end]) {
            return Err(Trouble::Ambiguous(Ambiguous::Reserved(self.quote(start, end))));
        }
        let [start, end] = [start, end].map(|at| u32::try_from(at).expect("the text is shorter"));
        self.names.push(Name { hash: 0, start, end });
        Ok(())
    }

    /// Whether two names of an object are one.
    fn compare(&mut self, first: usize) -> Result<(), Trouble> {
        let twin = match self.compare {
            Names::Folded => self.folded_twin(first),
            Names::Exact if self.names.len() - first <= FEW => self.twin_of_few(first),
            Names::Exact => self.twin_of_many(first),
        };
        let Some(Name { start, end, .. }) = twin else { return Ok(()) };
        let name = self.quote(start as usize, end as usize);
        Err(Trouble::Ambiguous(Ambiguous::Twice(name)))
    }

    fn twin_of_few(&self, first: usize) -> Option<Name> {
        let names = &self.names[first..];
        let same = |(at, name): (usize, &Name)| {
            names[..at].iter().any(|other| self.spelled(other) == self.spelled(name))
        };
        names.iter().enumerate().find(|pair| same(*pair)).map(|(_, name)| *name)
    }

    /// By their hashes first: comparing a million texts with each other takes a while.
    fn twin_of_many(&mut self, first: usize) -> Option<Name> {
        let text = self.text.as_bytes();
        let spelled = |name: &Name| &text[name.start as usize..name.end as usize];
        for name in &mut self.names[first..] {
            name.hash = spelled(name).iter().fold(0x811c_9dc5, |hash: u32, byte| {
                (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
            });
        }
        let names = &mut self.names[first..];
        names.sort_unstable_by(|one, other| {
            one.hash.cmp(&other.hash).then_with(|| spelled(one).cmp(spelled(other)))
        });
        let twins = names.windows(2).find(|pair| spelled(&pair[0]) == spelled(&pair[1]));
        twins.map(|pair| pair[1])
    }

    fn folded_twin(&self, first: usize) -> Option<Name> {
        let mut names: Vec<(String, Name)> =
            self.names[first..].iter().map(|name| (fold(self.spelled(name)), *name)).collect();
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        names.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1)
    }

    fn spelled(&self, name: &Name) -> &'a str {
        &self.text[name.start as usize..name.end as usize]
    }

    fn quote(&self, start: usize, end: usize) -> Quoted {
        let spelled = &self.text[start - 1..=end];
        Quoted::new(&serde_json::from_str::<String>(spelled).unwrap_or_default())
    }
}

/// Whether `\u00XY` is how we print a control character: in small letters, and none that has a letter of its own.
fn is_plain_control(high: u8, low: u8) -> bool {
    match (high, low) {
        (b'0', b'8' | b'9' | b'a' | b'c' | b'd') => false,
        (b'0' | b'1', b'0'..=b'9' | b'a'..=b'f') => true,
        _ => false,
    }
}

/// How many names are compared with each other one by one.
const FEW: usize = 12;
