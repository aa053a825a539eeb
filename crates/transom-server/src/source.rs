//! Where a document comes from.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use crate::render::Renderer;
use crate::template::decode;

/// A file that was compiled in, and where dev mode finds it on disk.
///
/// Made by [`include_view!`](crate::include_view) and `#[derive(View)]`.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    name: &'static str,
    path: Option<&'static str>,
    bytes: &'static [u8],
}

impl Asset {
    /// Names a file, where it lies on disk (not in a release build), and what was in it.
    pub const fn new(name: &'static str, path: Option<&'static str>, bytes: &'static [u8]) -> Self {
        Self { name, path, bytes }
    }

    /// Returns its name: the path as it was declared, or within its folder.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// Compiles a view's file in, relative to the crate's own folder; dev mode reads it from disk.
///
/// ```ignore
/// ViewDef::new("ui://clock").file(include_view!("views/clock.html"))
/// ```
#[macro_export]
macro_rules! include_view {
    ($path:literal) => {
        $crate::Asset::new(
            $path,
            $crate::on_disk!($path),
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path)),
        )
    };
}

/// Where a file of the crate lies; nowhere in a release build, which must not name its author's folders.
#[doc(hidden)]
#[macro_export]
macro_rules! on_disk {
    ($path:literal) => {
        if cfg!(debug_assertions) {
            Some(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path))
        } else {
            None
        }
    };
}

/// Where a view's HTML comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Nothing was said.
    Missing,
    Text(Cow<'static, str>),
    File(Asset),
    Dir {
        path: Option<&'static str>,
        files: &'static [Asset],
    },
    Render(Renderer),
}

/// Why a source gave no document.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    #[error("{path} cannot be read: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("{path} is not UTF-8: {error}")]
    NotText { path: String, error: Utf8Error },
    #[error("the folder has no file {name}")]
    NoFile { name: String },
    #[error("{name} lies outside of the view's folder")]
    Outside { name: String },
}

/// The files that a document of a folder may take in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Files {
    /// As they were compiled in.
    Embedded(&'static [Asset]),
    /// As they are on disk now.
    Disk(&'static str),
}

impl Source {
    /// The folder's files, if it is a folder.
    pub(crate) fn files(&self, dev: bool) -> Option<Files> {
        match self {
            Self::Dir { path: Some(path), .. } if dev => Some(Files::Disk(path)),
            Self::Dir { files, .. } => Some(Files::Embedded(files)),
            _ => None,
        }
    }

    /// The document as its author wrote it; none if a function makes it.
    pub(crate) fn text(&self, dev: bool) -> Result<Option<Cow<'static, str>>, SourceError> {
        let text = match self {
            Self::Missing | Self::Render(_) => return Ok(None),
            Self::Text(text) => text.clone(),
            Self::File(Asset { path: Some(path), .. }) if dev => {
                Cow::Owned(utf8(path, read(Path::new(path))?)?)
            }
            Self::File(asset) => Cow::Borrowed(embedded(asset)?),
            Self::Dir { .. } => {
                let files = self.files(dev).expect("a folder has files");
                Cow::Owned(files.text(INDEX)?)
            }
        };
        Ok(Some(text))
    }

    /// What dev mode watches.
    pub(crate) fn on_disk(&self) -> Option<PathBuf> {
        match self {
            Self::File(Asset { path: Some(path), .. }) | Self::Dir { path: Some(path), .. } => {
                Some(PathBuf::from(path))
            }
            _ => None,
        }
    }
}

impl Files {
    /// Reads a file. `name` is relative, with `/` between its parts, and stays inside of the folder.
    pub(crate) fn bytes(self, name: &str) -> Result<Cow<'static, [u8]>, SourceError> {
        match self {
            Self::Embedded(files) => match files.iter().find(|file| file.name == name) {
                Some(file) => Ok(Cow::Borrowed(file.bytes)),
                None => Err(SourceError::NoFile { name: name.to_owned() }),
            },
            Self::Disk(folder) => Ok(Cow::Owned(read(&Path::new(folder).join(name))?)),
        }
    }

    pub(crate) fn text(self, name: &str) -> Result<String, SourceError> {
        utf8(name, self.bytes(name)?.into_owned())
    }
}

/// The name of a file in the folder, as `from` refers to it. What leaves the folder is refused: the
/// document must not take in what lies beside it.
pub(crate) fn join(from: &str, to: &str) -> Result<String, SourceError> {
    let to_path = to.split(['?', '#']).next().unwrap_or_default();
    // Decoded before it is judged: `%2e%2e` leads where `..` does.
    let to_path = &*decode(to_path).unwrap_or_else(|| to_path.to_owned());
    let mut parts: Vec<&str> = match from.rsplit_once('/') {
        Some((folder, _)) if !to_path.starts_with('/') => folder.split('/').collect(),
        _ => Vec::new(),
    };
    for part in to_path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => {
                return Err(SourceError::Outside { name: to.to_owned() });
            }
            ".." => {}
            part if part.contains(['\\', ':', '\0']) => {
                return Err(SourceError::Outside { name: to.to_owned() });
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

fn embedded(asset: &Asset) -> Result<&'static str, SourceError> {
    let not_text = |error| SourceError::NotText { path: asset.name.to_owned(), error };
    std::str::from_utf8(asset.bytes).map(without_mark).map_err(not_text)
}

fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    std::fs::read(path)
        .map_err(|error| SourceError::Read { path: path.display().to_string(), error })
}

fn utf8(path: &str, bytes: Vec<u8>) -> Result<String, SourceError> {
    let text = String::from_utf8(bytes).map_err(|error| SourceError::NotText {
        path: path.to_owned(),
        error: error.utf8_error(),
    })?;
    Ok(match without_mark(&text) {
        rest if rest.len() < text.len() => rest.to_owned(),
        _ => text,
    })
}

/// Without the mark that some editors put in front: in the middle of a document it is a character.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

pub(crate) const INDEX: &str = "index.html";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_stays_inside_the_folder() {
        #[rustfmt::skip]
        let table = [
            ("index.html",  "app.js",            Some("app.js")),
            ("index.html",  "./app.js?v=1#x",    Some("app.js")),
            ("css/a.css",   "../img/x.png",      Some("img/x.png")),
            ("css/a.css",   "/img/x.png",        Some("img/x.png")),
            ("css/a.css",   "b.css",             Some("css/b.css")),
            ("index.html",  "my%20logo.png",     Some("my logo.png")),
            ("index.html",  "100%.png",          Some("100%.png")),
            ("css/a.css",   "../../secret",      None),
            ("index.html",  "%2e%2E/secret",     None),
            ("index.html",  "a%2f..%2f..%2fb",   None),
            ("index.html",  "/../secret",        None),
            ("index.html",  "..\\secret",        None),
            ("index.html",  "c:/secret",         None),
        ];
        for (from, to, expected) in table {
            assert_eq!(join(from, to).ok().as_deref(), expected, "{from} {to}");
        }
    }
}
