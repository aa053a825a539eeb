use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use transom::wire::UiUri;

use super::{Board, MAX_PINS, Pin, PinError, Pins};

/// Pins in a JSON file of the data directory.
///
/// The file is replaced as a whole, so that a crash leaves the old one or the new one. A file that
/// cannot be read is an error and stays as it is: starting anew would approve whatever changed.
#[derive(Debug)]
pub struct FilePins {
    path: PathBuf,
    board: Mutex<Board>,
}

impl FilePins {
    /// Opens the file in a data directory; a file that is not there yet is empty.
    pub fn open(data_directory: &Path) -> Result<Self, PinError> {
        let path = data_directory.join(FILE);
        let board = Mutex::new(read(&path)?);
        Ok(Self { path, board })
    }

    /// Changes the pins, on disk first: what could not be written has not changed.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Board) -> Result<T, PinError>,
    ) -> Result<T, PinError> {
        let mut board = self.board.lock().expect("nothing panics while it holds the pins");
        let mut changed = board.clone();
        let outcome = change(&mut changed)?;
        write(&self.path, &changed)
            .map_err(|error| PinError::File { path: self.path.clone(), error })?;
        *board = changed;
        Ok(outcome)
    }
}

impl Pins for FilePins {
    fn get(&self, server: &str, uri: &UiUri) -> Result<Option<Pin>, PinError> {
        let board = self.board.lock().expect("nothing panics while it holds the pins");
        Ok(board.get(server, uri).cloned())
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

fn read(path: &Path) -> Result<Board, PinError> {
    let mut text = String::new();
    let opened = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    match opened {
        Ok(_) => parse(&text).map_err(|reason| PinError::Damaged { path: path.to_owned(), reason }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Board::default()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(PinError::Damaged { path: path.to_owned(), reason: error.to_string() })
        }
        Err(error) => Err(PinError::File { path: path.to_owned(), error }),
    }
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

fn write(path: &Path, board: &Board) -> io::Result<()> {
    let pins = board.0.iter().map(|((server, uri), pin)| Entry {
        server: server.clone(),
        uri: uri.clone(),
        pin: pin.clone(),
    });
    let contents = Contents { version: VERSION, pins: pins.collect() };
    let text = serde_json::to_string_pretty(&contents)?;
    let fresh = path.with_extension("json.new");
    let mut file = File::create(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

const FILE: &str = "pins.json";
const VERSION: u32 = 1;

/// Far more than the most pins need.
const MAX_BYTES: u64 = 64 << 20;
