//! Conversations kept in the data folder, a file each, for their owner's eyes only.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::tree::Tree;
use crate::kept::{Kept, private_folder};

/// Where they are kept.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
}

/// One of them, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Volume {
    version: u32,
    pub(super) id: String,
    pub(super) title: String,
    /// Milliseconds since 1970.
    pub(super) changed: u64,
    pub(super) tree: Tree,
}

impl Volume {
    pub(super) fn new(id: String, title: String, changed: u64, tree: Tree) -> Self {
        Self { version: VERSION, id, title, changed, tree }
    }
}

impl Shelf {
    pub(super) fn new(data: &Path) -> Self {
        Self { folder: data.join(FOLDER) }
    }

    pub(super) fn write(&self, volume: &Volume) -> io::Result<()> {
        private_folder(&self.folder)?;
        let text = serde_json::to_string(volume).map_err(io::Error::other)?;
        self.file(&volume.id).hold()?.write(&text)
    }

    pub(super) fn read(&self, id: &str) -> Result<Option<Volume>, String> {
        let said =
            |error: &dyn std::fmt::Display| format!("The conversation cannot be read: {error}.");
        let text = self.file(id).read(LARGEST).map_err(|error| said(&error))?;
        let Some(text) = text else { return Ok(None) };
        let mut volume: Volume = serde_json::from_str(&text).map_err(|error| said(&error))?;
        if volume.version > VERSION {
            return Err(
                "The conversation was kept by a newer Transom, which can read it.".to_owned()
            );
        }
        if volume.id != id || !volume.tree.is_sound() {
            return Err("The conversation cannot be read: its file was changed by hand.".to_owned());
        }
        volume.tree.settle_all();
        Ok(Some(volume))
    }

    /// All of them: the id of each, what it is called, and when it changed. What cannot be read is said in its place.
    pub(super) fn list(&self) -> Vec<(String, String, u64)> {
        #[derive(Deserialize)]
        struct Head {
            title: String,
            changed: u64,
        }
        let Ok(entries) = fs::read_dir(&self.folder) else { return vec![] };
        let mut all = vec![];
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_suffix(".json").filter(|id| is_id(id)) else { continue };
            let text = self.file(id).read(LARGEST).ok().flatten().unwrap_or_default();
            let head: Option<Head> = serde_json::from_str(&text).ok();
            let head = head.map_or_else(
                || ("(cannot be read)".to_owned(), 0),
                |head| (head.title, head.changed),
            );
            all.push((id.to_owned(), head.0, head.1));
        }
        all
    }

    pub(super) fn remove(&self, id: &str) -> io::Result<()> {
        let file = self.file(id);
        let _ = fs::remove_file(file.path().with_extension("json.lock"));
        match fs::remove_file(file.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn file(&self, id: &str) -> Kept {
        debug_assert!(is_id(id));
        Kept::new(&self.folder, &format!("{id}.json"))
    }
}

/// Whether this is a name that we gave: nothing else becomes a part of a path.
pub(super) fn is_id(id: &str) -> bool {
    id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

/// As many digits as an id has.
pub(super) const ID: usize = 24;
const FOLDER: &str = "conversations";
const VERSION: u32 = 1;
/// The largest file that is read.
const LARGEST: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::tree::{NodeState, Role};

    #[test]
    fn what_is_kept_is_found_again_and_runs_no_more() {
        let data = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(data.path());
        let id = "0123456789abcdef01234567";
        let mut tree = Tree::default();
        let first = tree.add(None, Role::User, "hello".to_owned());
        tree.add(Some(first), Role::Assistant, "half".to_owned());
        shelf.write(&Volume::new(id.to_owned(), "hello".to_owned(), 7, tree)).unwrap();
        assert_eq!(shelf.list(), [(id.to_owned(), "hello".to_owned(), 7)]);
        let volume = shelf.read(id).unwrap().unwrap();
        assert_eq!(volume.tree.nodes[1].state, NodeState::Stopped);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(data.path().join(FOLDER)), 0o700);
            assert_eq!(mode(shelf.file(id).path().to_owned()), 0o600);
        }
        shelf.remove(id).unwrap();
        assert!(shelf.read(id).unwrap().is_none());
    }

    #[test]
    fn a_file_that_somebody_edited_is_refused_with_words() {
        let data = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(data.path());
        let id = "0123456789abcdef01234567";
        private_folder(&shelf.folder).unwrap();
        let of = |tree: &str, version: u32| {
            format!(r#"{{"version":{version},"id":"{id}","title":"t","changed":1,"tree":{tree}}}"#)
        };
        let node = |id: u32, parent: u32| {
            format!(r#"{{"id":{id},"parent":{parent},"role":"user","text":"","state":"done"}}"#)
        };
        let bad = [
            "{".to_owned(),
            of(r#"{"nodes":[],"head":null}"#, 2),
            of(&format!(r#"{{"nodes":[{}],"head":0}}"#, node(0, 0)), 1),
            of(&format!(r#"{{"nodes":[{}],"head":0}}"#, node(5, 0)), 1),
            of(r#"{"nodes":[],"head":9}"#, 1),
        ];
        for text in bad {
            fs::write(shelf.file(id).path(), &text).unwrap();
            assert!(shelf.read(id).is_err(), "{text}");
        }
        for name in ["..", "a/b", "0123456789ABCDEF01234567", ""] {
            assert!(!is_id(name), "{name}");
        }
    }
}
