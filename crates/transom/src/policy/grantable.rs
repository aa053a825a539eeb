//! What the views of a server can be given.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{csp::Grant, permissions::Permission, quoted::Quoted};

/// Something that the views of a server can be given, by its operator or by a person. The list is closed, and nothing
/// in it opens a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grantable {
    /// Something that a content security policy blocks.
    Policy(Grant),
    /// A feature of the browser that its documents ask for.
    Permission(Permission),
}

/// A word that names nothing that can be granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} cannot be granted")]
pub struct NotGrantable(Quoted);

impl Grantable {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let permissions = Permission::ALL.into_iter().map(Self::Permission);
        Grant::ALL.into_iter().map(Self::Policy).chain(permissions)
    }

    /// The word for it, in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy(grant) => grant.name(),
            Self::Permission(permission) => permission.name(),
        }
    }

    /// What it lets a view do, after "may".
    pub fn words(self) -> &'static str {
        match self {
            Self::Policy(Grant::Blob) => "load scripts and workers made in the view itself (blob:)",
            Self::Policy(Grant::Data) => {
                "load scripts and workers written into their address (data:)"
            }
            Self::Policy(Grant::Wasm) => "run WebAssembly (wasm)",
            Self::Policy(Grant::Eval) => "run code put together from text, and WebAssembly (eval)",
            Self::Policy(Grant::BlobImages) => "show images made in the view itself (blob-images)",
            Self::Policy(Grant::BlobMedia) => {
                "play sound and video made in the view itself (blob-media)"
            }
            Self::Policy(Grant::BlobFonts) => "use fonts made in the view itself (blob-fonts)",
            Self::Policy(Grant::DataFonts) => "use fonts written into their address (data-fonts)",
            Self::Policy(Grant::BlobFetch) => "fetch data made in the view itself (blob-fetch)",
            Self::Permission(Permission::Camera) => "use the camera (camera)",
            Self::Permission(Permission::Microphone) => "use the microphone (microphone)",
            Self::Permission(Permission::Geolocation) => "know where you are (geolocation)",
            Self::Permission(Permission::ClipboardWrite) => {
                "write to the clipboard (clipboard-write)"
            }
        }
    }
}

impl FromStr for Grantable {
    type Err = NotGrantable;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::all().find(|grantable| grantable.name() == text);
        found.ok_or_else(|| NotGrantable(Quoted::new(text)))
    }
}

impl fmt::Display for Grantable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Grantable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Grantable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
