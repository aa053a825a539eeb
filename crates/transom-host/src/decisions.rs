//! What people have decided for longer than one view lives, and can take back.
//!
//! The file is shared by processes, as the pins are. It makes the host ask less, so nothing in it counts
//! that is not beyond doubt: a damaged file, one of another version, an entry that is too old, from the
//! future, or of a server in another place all mean that people are asked again.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use transom::{
    policy::{Claimed, Claims, Subject},
    quoted::Quoted,
};

use crate::{
    digest::digest,
    grants::purposes,
    kept::{Kept, Stamp},
    place::{Place, PlaceId},
};

/// The decisions of a data folder.
#[derive(Clone, Debug)]
pub struct Decisions {
    kept: Kept,
    term: Duration,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Remembered {
    /// The server, by the name it is configured with.
    pub server: String,
    /// Where that server is. The name alone gives nothing.
    pub place: PlaceId,
    /// The same in words, for people.
    #[serde(rename = "where")]
    pub whereabouts: String,
    /// What was decided about.
    pub subject: Subject,
    /// What its tools said of themselves when a person was asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub said: BTreeMap<String, Claims>,
    /// Whether it was a yes.
    pub yes: bool,
    /// When, in seconds since 1970.
    pub at: u64,
}

/// What names a decision, in eight hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DecisionId(String);

/// Why decisions cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// The file cannot be read or written.
    #[error("{}: {error}; check that the data directory is there and writable", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file is not what we wrote.
    #[error(
        "{} is damaged ({reason}); nothing in it counts, and you are asked again. Restore it, or do without it: \
         transom decisions forget --all",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file is of a newer version of this program.
    #[error(
        "{} is of version {found}, and this program knows version {VERSION}; nothing in it counts, and you are asked again",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// More than are kept.
    #[error(
        "{MOST} decisions are remembered already; transom decisions list shows them, and forget makes room"
    )]
    Full,
    /// More bytes than are read again.
    #[error(
        "what is remembered would take up more than {LARGEST} bytes; transom decisions list shows it, and forget makes room"
    )]
    TooLarge,
}

impl Decisions {
    /// The decisions of a data folder, each of which counts for so many days.
    pub fn new(data_directory: &Path, days: u32) -> Self {
        let term = Duration::from_secs(u64::from(days) * 86_400);
        Self { kept: Kept::new(data_directory, FILE), term }
    }

    /// Every decision that still counts, by server and subject.
    pub fn read(&self) -> Result<Vec<Remembered>, DecisionError> {
        let now = now();
        let mut all = self.parse()?.unwrap_or_default();
        all.retain(|entry| entry.counts(now, self.term));
        Ok(all)
    }

    /// Remembers a decision, in place of one about the same.
    pub fn remember(&self, new: Remembered) -> Result<(), DecisionError> {
        let hold = self.kept.hold().map_err(|error| self.failed(error))?;
        let mut all = self.read()?;
        all.retain(|old| !old.is_about_the_same(&new));
        if all.len() >= MOST {
            return Err(DecisionError::Full);
        }
        all.push(new);
        self.write(&hold, all)
    }

    /// Forgets the decisions that are meant; returns them.
    pub fn forget(
        &self,
        meant: impl Fn(&Remembered) -> bool,
    ) -> Result<Vec<Remembered>, DecisionError> {
        let hold = self.kept.hold().map_err(|error| self.failed(error))?;
        let (gone, stay) =
            self.parse()?.unwrap_or_default().into_iter().partition(|entry| meant(entry));
        self.write(&hold, stay)?;
        Ok(gone)
    }

    /// Forgets everything, whatever is in the file.
    pub fn forget_all(&self) -> Result<(), DecisionError> {
        let hold = self.kept.hold().map_err(|error| self.failed(error))?;
        self.write(&hold, vec![])
    }

    /// Whether the file is of an earlier version. Its decisions belonged to names and not to places, so none of them
    /// counts; the next one that is remembered takes their place.
    pub fn is_outdated(&self) -> bool {
        matches!(self.parse(), Ok(None))
    }

    /// Which version of the file is there, to tell cheaply when it has changed.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.kept.stamp()
    }

    /// What is in the file; none if it is of an earlier version.
    fn parse(&self) -> Result<Option<Vec<Remembered>>, DecisionError> {
        #[derive(Deserialize)]
        struct Version {
            version: u64,
        }
        let path = || self.kept.path().to_owned();
        let damaged = |reason: String| DecisionError::Damaged { path: path(), reason };
        let text = match self.kept.read(LARGEST) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Some(vec![])),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(damaged(error.to_string()));
            }
            Err(error) => return Err(self.failed(error)),
        };
        // First the version: what comes with another one cannot be known here.
        let Version { version } =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if (1..VERSION).contains(&version) {
            return Ok(None);
        }
        if version != VERSION {
            return Err(DecisionError::Newer { path: path(), found: version });
        }
        let contents: Contents =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if contents.decisions.len() > MOST {
            return Err(damaged(format!("{} entries, limit {MOST}", contents.decisions.len())));
        }
        Ok(Some(contents.decisions))
    }

    fn write(
        &self,
        hold: &crate::kept::Hold<'_>,
        mut decisions: Vec<Remembered>,
    ) -> Result<(), DecisionError> {
        decisions.sort_by(|one, other| {
            let key = |entry: &Remembered| {
                (entry.server.clone(), entry.place.clone(), entry.subject.clone())
            };
            key(one).cmp(&key(other))
        });
        let contents = Contents { version: VERSION, decisions };
        let text = serde_json::to_string_pretty(&contents).expect("our own types have string keys");
        // What could not be read again would take everything else with it.
        if text.len() as u64 > LARGEST {
            return Err(DecisionError::TooLarge);
        }
        hold.write(&text).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> DecisionError {
        DecisionError::File { path: self.kept.path().to_owned(), error }
    }
}

impl Remembered {
    /// A decision of this moment.
    pub(crate) fn now(
        server: &str,
        place: &Place,
        subject: Subject,
        said: &Claimed,
        yes: bool,
    ) -> Self {
        Self {
            server: server.to_owned(),
            place: place.id().clone(),
            whereabouts: place.words().to_owned(),
            subject,
            said: said.iter().map(|(name, claims)| (name.clone(), Claims::clone(claims))).collect(),
            yes,
            at: now().as_secs(),
        }
    }

    /// What names it: the server, where it is, and the subject.
    pub fn id(&self) -> DecisionId {
        DecisionId::of(&self.server, &self.place, &self.subject)
    }

    /// Whether it is about a server: of this name, and in this place. The name alone gives nothing; beside the place it
    /// keeps two apart that the operator named apart.
    pub(crate) fn is_for(&self, server: &str, place: &Place) -> bool {
        self.server == server && self.place == *place.id()
    }

    /// Whether one takes the place of the other. Not by their names, which are short: a stranger who chooses the subject
    /// can make two the same.
    pub(crate) fn is_about_the_same(&self, other: &Self) -> bool {
        let key = |entry: &Self| (entry.server.clone(), entry.place.clone(), entry.subject.clone());
        key(self) == key(other)
    }

    /// What its tools said of themselves, as the gate wants it.
    pub(crate) fn said(&self) -> Claimed {
        self.said.iter().map(|(name, claims)| (name.clone(), claims.clone().into())).collect()
    }

    /// What it is about, in words that follow "may always" or "may never".
    pub fn words(&self) -> String {
        words(&self.subject)
    }

    fn counts(&self, now: Duration, term: Duration) -> bool {
        let at = Duration::from_secs(self.at);
        // A clock that was set back must not make a decision last.
        at <= now + LEAD && now < at.saturating_add(term)
    }
}

impl DecisionId {
    pub(crate) fn of(server: &str, place: &PlaceId, subject: &Subject) -> Self {
        let subject = serde_json::to_string(subject).expect("our own types have string keys");
        let hash = digest("transom: name of a decision", [server, place.as_str(), &subject]);
        Self(HEXLOWER.encode(&hash[..4]))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a decision is about, in words that follow "may always" or "may never".
pub(crate) fn words(subject: &Subject) -> String {
    match subject {
        Subject::Tools(names) => format!("call {}", quoted(names)),
        Subject::Tool(name) => format!("call {}", Quoted::new(name)),
        Subject::Route { tool, route } => {
            format!("send {} by {}", Quoted::long(route, ROUTE), Quoted::new(tool))
        }
        Subject::Read(what) => format!("read {}", Quoted::new(what)),
        Subject::Link(url) => format!("open {}", Quoted::new(url)),
        Subject::Download(names) => format!("save {}", quoted(names)),
        Subject::Message => "say things in your name".to_owned(),
        Subject::ModelContext => "tell the model things".to_owned(),
        Subject::Sampling => "use the model".to_owned(),
        Subject::DisplayMode => "be shown in another way".to_owned(),
        Subject::AppTool(name) => {
            format!("have {}, their own tool, used by the model", Quoted::new(name))
        }
        Subject::Nearby(sources) => {
            let each = |(source, words): (&str, String)| format!("{source} ({words})");
            let all: Vec<String> = purposes(sources).into_iter().map(each).collect();
            format!("reach {}", all.join(", "))
        }
        Subject::Grants(grants) => {
            grants.iter().map(|grant| grant.words()).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Names in quotes: as many as a line has room for, and how many there are beside.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let mut list = String::new();
    let mut more = 0;
    for name in names {
        if list.len() > LISTED {
            more += 1;
            continue;
        }
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&Quoted::new(name).to_string());
    }
    match more {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u64,
    decisions: Vec<Remembered>,
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The file in the data folder.
pub const FILE: &str = "decisions.json";
/// For how many days a decision counts, unless the operator says otherwise.
pub const DAYS: u32 = 90;
const VERSION: u64 = 2;
/// What people are told when the file is of an earlier version.
pub const OUTDATED: &str = "what you decided with an earlier version of transom was kept by the names of servers, and \
    any program can take such a name; it does not count any more, and you are asked again";
/// The most decisions that are remembered.
const MOST: usize = 1_000;
/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;
/// How much of a route is shown, in characters.
const ROUTE: usize = 300;
/// How many bytes of names are listed before the rest is counted.
const LISTED: usize = 100;
/// How far clocks of one machine may differ between two runs.
const LEAD: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests;
