use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use transom::wire::UiUri;

use super::{Board, MAX_PINS, Pin, PinError, Pins};
use crate::kept::{Kept, Stamp};

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
        hold.write(&print(&changed)).map_err(|error| self.failed(error))?;
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
    fn get(&self, server: &str, uri: &UiUri) -> Result<Option<Pin>, PinError> {
        Ok(self.look()?.board.get(server, uri).cloned())
    }

    fn set(&self, server: &str, uri: &UiUri, pin: Pin) -> Result<(), PinError> {
        self.change(|board| board.set(server, uri, pin))
    }

    fn forget(&self, server: &str) -> Result<usize, PinError> {
        self.change(|board| Ok(board.forget(server)))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    pins: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    server: String,
    uri: String,
    pin: Pin,
}

fn parse(text: &str) -> Result<Board, String> {
    let contents: Contents = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if contents.version != VERSION {
        return Err(format!("version {}, expected {VERSION}", contents.version));
    }
    if contents.pins.len() > MAX_PINS {
        return Err(format!("{} entries, limit {MAX_PINS}", contents.pins.len()));
    }
    let entries = contents.pins.into_iter().map(|entry| ((entry.server, entry.uri), entry.pin));
    Ok(Board(entries.collect()))
}

fn print(board: &Board) -> String {
    let pins = board.0.iter().map(|((server, uri), pin)| Entry {
        server: server.clone(),
        uri: uri.clone(),
        pin: pin.clone(),
    });
    let contents = Contents { version: VERSION, pins: pins.collect() };
    serde_json::to_string_pretty(&contents).expect("strings and numbers are JSON")
}

const FILE: &str = "pins.json";
const VERSION: u32 = 1;

/// Far more than the most pins need.
const MAX_BYTES: u64 = 64 << 20;
