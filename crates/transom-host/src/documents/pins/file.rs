use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use transom::wire::{ResourceCsp, ResourcePermissions};

use super::{Board, ContentHash, MAX_PINS, Pin, PinError, Pins};
use crate::kept::{Kept, Stamp};
use crate::place::PlaceId;

/// Pins in a JSON file of the data directory, which processes may share.
///
/// A change is made to what the file says at that moment, under its lock: what another process has
/// pinned meanwhile stays pinned. A file that cannot be read is an error and stays as it is: starting
/// anew would approve whatever changed.
#[derive(Debug)]
pub struct FilePins {
    kept: Kept,
    known: Mutex<Known>,
}

/// What the file said when it was last read.
#[derive(Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    board: Board,
}

impl FilePins {
    /// Opens the file in a data directory; a file that is not there yet is empty.
    pub fn open(data_directory: &Path) -> Result<Self, PinError> {
        let pins = Self { kept: Kept::new(data_directory, FILE), known: Mutex::default() };
        drop(pins.look()?);
        Ok(pins)
    }

    /// Changes the pins, on disk first: what could not be written has not changed.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Board) -> Result<T, PinError>,
    ) -> Result<T, PinError> {
        let hold = self.kept.hold().map_err(|error| self.failed(error))?;
        // Read in any case: what is written must not be missing what another has written.
        let mut changed = self.read()?;
        let outcome = change(&mut changed)?;
        let text = print(&changed);
        // What could not be read again would keep every view of every server from running.
        if text.len() as u64 > MAX_BYTES {
            return Err(PinError::TooLarge { most: MAX_BYTES });
        }
        hold.write(&text).map_err(|error| self.failed(error))?;
        *self.known() = Known { stamp: self.kept.stamp(), board: changed };
        Ok(outcome)
    }

    /// What the file says now; read only if it is not the one that was read last.
    fn look(&self) -> Result<MutexGuard<'_, Known>, PinError> {
        let mut known = self.known();
        let stamp = self.kept.stamp();
        if known.stamp != stamp {
            *known = Known { stamp, board: self.read()? };
        }
        Ok(known)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("nothing panics while it holds the pins")
    }

    fn read(&self) -> Result<Board, PinError> {
        let damaged = |reason| PinError::Damaged { path: self.kept.path().to_owned(), reason };
        match self.kept.read(MAX_BYTES) {
            Ok(Some(text)) => parse(&text).map_err(damaged),
            Ok(None) => Ok(Board::default()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(damaged(error.to_string()))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> PinError {
        PinError::File { path: self.kept.path().to_owned(), error }
    }
}

impl Pins for FilePins {
    fn get(&self, place: &PlaceId, tool: &str) -> Result<Option<Pin>, PinError> {
        Ok(self.look()?.board.get(place, tool).cloned())
    }

    fn all(&self, place: &PlaceId) -> Result<Vec<(String, Pin)>, PinError> {
        Ok(self.look()?.board.all(place))
    }

    fn set(&self, place: &PlaceId, tools: &[&str], pin: &Pin) -> Result<(), PinError> {
        self.change(|board| board.set(place, tools, pin))
    }

    fn forget(&self, place: &PlaceId) -> Result<usize, PinError> {
        self.change(|board| Ok(board.forget(place)))
    }

    fn earlier(&self, server: &str, uri: &str) -> Result<Option<Pin>, PinError> {
        let key = (server.to_owned(), uri.to_owned());
        Ok(self.look()?.board.earlier.get(&key).cloned())
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    pins: Vec<Entry>,
    /// What an earlier version pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Earlier>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    place: PlaceId,
    tool: String,
    pin: Pin,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Earlier {
    server: String,
    pin: Pin,
}

/// The file of version 1, whose pins belonged to the names of servers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct First {
    #[serde(rename = "version")]
    _version: u32,
    pins: Vec<FirstEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstEntry {
    server: String,
    uri: String,
    pin: FirstPin,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FirstPin {
    hash: ContentHash,
    size: usize,
    #[serde(default)]
    csp: Option<ResourceCsp>,
    #[serde(default)]
    permissions: ResourcePermissions,
    #[serde(default)]
    domain: Option<String>,
    #[serde(default)]
    origins: Vec<String>,
    #[serde(default)]
    findings: Vec<String>,
}

fn parse(text: &str) -> Result<Board, String> {
    // First the version: what comes with another one cannot be known here.
    let Version { version } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let contents = match version {
        1 => first(text)?,
        VERSION => serde_json::from_str(text).map_err(|error| error.to_string())?,
        other => return Err(format!("version {other}, expected {VERSION}")),
    };
    let count = contents.pins.len().max(contents.earlier.len());
    if count > MAX_PINS {
        return Err(format!("{count} entries, limit {MAX_PINS}"));
    }
    let pins = contents.pins.into_iter().map(|entry| ((entry.place, entry.tool), entry.pin));
    let earlier = contents.earlier.into_iter();
    let earlier = earlier.map(|entry| ((entry.server, entry.pin.uri.clone()), entry.pin));
    Ok(Board { pins: pins.collect(), earlier: earlier.collect() })
}

fn first(text: &str) -> Result<Contents, String> {
    let first: First = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let earlier = first.pins.into_iter().map(|FirstEntry { server, uri, pin }| {
        let FirstPin { hash, size, csp, permissions, domain, origins, findings } = pin;
        let pattern = None;
        let pin = Pin { uri, pattern, hash, size, csp, permissions, domain, origins, findings };
        Earlier { server, pin }
    });
    Ok(Contents { version: VERSION, pins: vec![], earlier: earlier.collect() })
}

fn print(board: &Board) -> String {
    let pins = board.pins.iter().map(|((place, tool), pin)| Entry {
        place: place.clone(),
        tool: tool.clone(),
        pin: pin.clone(),
    });
    let earlier = board
        .earlier
        .iter()
        .map(|((server, _), pin)| Earlier { server: server.clone(), pin: pin.clone() });
    let contents = Contents { version: VERSION, pins: pins.collect(), earlier: earlier.collect() };
    serde_json::to_string_pretty(&contents).expect("strings and numbers are JSON")
}

const FILE: &str = "pins.json";
const VERSION: u32 = 2;

/// Far more than the most pins need.
const MAX_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let place =
            crate::place::Place::of(&crate::upstream::Target::InProcess(crate::demo::server()));
        let pin = |uri: &str| Pin {
            uri: uri.to_owned(),
            pattern: None,
            hash: ContentHash::of(b""),
            size: 0,
            csp: None,
            permissions: ResourcePermissions::default(),
            domain: None,
            origins: vec![],
            findings: vec![],
        };
        let pins = FilePins::open(folder.path()).unwrap();
        pins.set(place.id(), &["show"], &pin("ui://a/b")).unwrap();
        let large = pin(&format!("ui://{}", "x".repeat(MAX_BYTES as usize)));
        let error = pins.set(place.id(), &["other"], &large).unwrap_err();
        assert!(matches!(error, PinError::TooLarge { .. }), "{error}");
        let again = FilePins::open(folder.path()).unwrap();
        assert_eq!(again.get(place.id(), "show").unwrap(), Some(pin("ui://a/b")));
    }
}
