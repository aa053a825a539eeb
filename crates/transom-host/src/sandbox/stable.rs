//! Names that stay: for views that declare a domain, so that their storage survives.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use transom::origin::{Origin, OriginError};

use super::naming::{base32, label};
use crate::place::PlaceId;

/// The secret that stable names are made with.
///
/// Without it a name cannot be computed, so no server can ask for another's, and no page can guess
/// where one will be.
#[derive(Clone)]
pub struct StableKey([u8; 32]);

impl StableKey {
    /// Opens the key of a data directory, making one on first use that only its owner can read.
    ///
    /// A file that is no key is an error: a new key would move every view's storage.
    pub fn open(data_directory: &Path) -> Result<Self, KeyError> {
        let path = data_directory.join(FILE);
        let world = |error| KeyError::File { path: path.clone(), error };
        match File::open(&path) {
            Ok(file) => Self::read(file, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(&path).map_err(world)?;
                Self::read(File::open(&path).map_err(world)?, &path)
            }
            Err(error) => Err(world(error)),
        }
    }

    /// Makes a key that is forgotten at the end, and every stable name with it.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self(key))
    }

    /// Takes a key that is kept elsewhere.
    pub fn from_bytes(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The label of a domain of the server in a place. The lengths keep `("ab", "c")` and `("a", "bc")` apart.
    pub(super) fn label(&self, place: &PlaceId, domain: &StableDomain) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length is a key");
        for part in [PURPOSE, place.as_str(), &domain.0] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        let code: [u8; 32] = mac.finalize().into_bytes().into();
        base32(code.first_chunk().expect("twenty of thirty-two bytes"))
    }

    fn read(file: File, path: &Path) -> Result<Self, KeyError> {
        check_owner(&file, path)?;
        let mut key = Vec::new();
        let world = |error| KeyError::File { path: path.to_owned(), error };
        file.take(33).read_to_end(&mut key).map_err(world)?;
        let damaged = |_| KeyError::Damaged { path: path.to_owned() };
        key.try_into().map(Self).map_err(damaged)
    }
}

impl std::fmt::Debug for StableKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StableKey(…)")
    }
}

/// Why the key cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("{}: {error}; check that the data directory is there and writable", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file is not a key.
    #[error("{} is damaged: a key has 32 bytes; restore it, or remove it and lose the views' storage", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Others can read the file.
    #[error("{} can be read by others; make it private with chmod 600", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
    },
}

/// A domain that a view asked for, as a part of its stable name (`ui.domain`).
///
/// It is never the name itself: each host has its own, and a server must not get another's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StableDomain(String);

impl StableDomain {
    /// Reads a host, or an origin with its scheme, which means its host
    /// (docs/reference/mcp-apps.md §3.10).
    pub fn parse(text: &str) -> Result<Self, NotADomain> {
        let text = text.strip_suffix('/').unwrap_or(text);
        let origin = match text.contains("://") {
            true => Origin::parse(text)?,
            false => Origin::parse(&format!("https://{text}"))?,
        };
        match origin.port() {
            Some(port) => Ok(Self(format!("{}:{port}", origin.host()))),
            None => Ok(Self(origin.host().to_owned())),
        }
    }
}

/// A text that is no domain; the view gets a random name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ui.domain is not a host: {0}")]
pub struct NotADomain(#[from] OriginError);

/// Writes a new key beside its place and links it there, so that of two processes that start at
/// once one wins, and no process reads half a key.
fn create(path: &Path) -> io::Result<()> {
    let key = StableKey::random().map_err(io::Error::other)?;
    let fresh = path.with_extension(label().map_err(io::Error::other)?);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    let mut file = options.open(&fresh)?;
    let written = file.write_all(&key.0).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&fresh, path));
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}

#[cfg(unix)]
fn check_owner(file: &File, path: &Path) -> Result<(), KeyError> {
    use std::os::unix::fs::MetadataExt as _;
    let world = |error| KeyError::File { path: path.to_owned(), error };
    match file.metadata().map_err(world)?.mode() & 0o077 {
        0 => Ok(()),
        _ => Err(KeyError::Exposed { path: path.to_owned() }),
    }
}

#[cfg(not(unix))]
fn check_owner(_: &File, _: &Path) -> Result<(), KeyError> {
    Ok(())
}

const FILE: &str = "sandbox.key";
const PURPOSE: &str = "transom: stable guest name, 2";
