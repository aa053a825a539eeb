//! A small file of the data folder that several processes may have open at once.
//!
//! The file is replaced as a whole, so that a crash leaves the old one or the new one, and only under a
//! lock of its own, so that two who change it at the same time both have their change in it.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

/// One file.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    path: PathBuf,
}

/// The right to replace the file; given back when dropped.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    kept: &'a Kept,
    _lock: File,
}

/// What tells one version of the file from the next without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    number: u64,
}

impl Kept {
    /// A file of this name in a folder.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        Self { path: folder.join(name) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its text; nothing if it is not there. One of more than `limit` bytes is not cut, but an error.
    pub(crate) fn read(&self, limit: u64) -> io::Result<Option<String>> {
        let mut text = String::new();
        let read = |file: File| file.take(limit + 1).read_to_string(&mut text);
        match File::open(&self.path).and_then(read) {
            Ok(size) if size as u64 > limit => {
                let words = format!("more than {limit} bytes");
                Err(io::Error::new(io::ErrorKind::InvalidData, words))
            }
            Ok(_) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Which version it is; nothing if it is not there.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let about = fs::metadata(&self.path).ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&about);
        #[cfg(not(unix))]
        let number = 0;
        Some(Stamp { modified: about.modified().ok(), size: about.len(), number })
    }

    /// Keeps other processes from replacing it. Waits for one that does, but not for one that hangs.
    pub(crate) fn hold(&self) -> io::Result<Hold<'_>> {
        // A file of its own: the one that is replaced is another file afterwards.
        let lock = private().create(true).truncate(false).open(self.beside("lock"))?;
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Hold { kept: self, _lock: lock }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if began.elapsed() > PATIENCE => {
                    let words = "another process has held it for too long";
                    return Err(io::Error::new(io::ErrorKind::WouldBlock, words));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".");
        name.push(ending);
        name.into()
    }
}

impl Hold<'_> {
    /// Replaces the file, for its owner's eyes only.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        let fresh = self.kept.beside("new");
        // One that was left behind may be open to every user.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private().create_new(true).open(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &self.kept.path)
    }
}

/// Makes a folder that only its owner can look into, or sees to it that one that is there is such a folder: it holds keys,
/// tokens, and what people decided.
///
/// One that others can write into may hold what they put there, and is refused. One that others can only look into is
/// closed to them if there is nothing in it but what is ours.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    close(folder)?;
    Ok(())
}

#[cfg(unix)]
fn close(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(folder)?.permissions().mode();
    let refuse = |words: &str| {
        let words = format!("others can {words} it; make it private with chmod 700");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
    };
    if mode & 0o022 != 0 {
        return refuse("write into");
    }
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let ours = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        OURS.iter().any(|ours| name.strip_prefix(ours).is_some_and(|rest| !rest.contains('/')))
    };
    for entry in fs::read_dir(folder)? {
        if !ours(&entry?.file_name()) {
            return refuse("look into");
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// How the names of our files begin.
#[cfg(unix)]
const OURS: [&str; 7] = [
    "pins.json",
    "decisions.json",
    "tokens.json",
    "sandbox.",
    "audit.",
    "transom",
    "conversations",
];
/// Longer than it takes to write a small file to a busy disk.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_from_many_sides_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let sides: Vec<_> = (0..8)
            .map(|side| {
                // Each with handles of its own, as in another process: the lock is the file's.
                let kept = Kept::new(folder.path(), "list");
                thread::spawn(move || {
                    for turn in 0..20 {
                        let hold = kept.hold().unwrap();
                        let mut text = kept.read(1 << 20).unwrap().unwrap_or_default();
                        text.push_str(&format!("{side}.{turn}\n"));
                        hold.write(&text).unwrap();
                    }
                })
            })
            .collect();
        sides.into_iter().for_each(|side| side.join().unwrap());
        let text = Kept::new(folder.path(), "list").read(1 << 20).unwrap().unwrap();
        let lines: std::collections::BTreeSet<_> = text.lines().collect();
        assert_eq!((lines.len(), text.lines().count()), (160, 160));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_there_already_is_closed_to_others_or_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let open = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        private_folder(&path).unwrap();
        assert_eq!(mode(), 0o700);
        open(0o755);
        fs::write(path.join("pins.json.lock"), "").unwrap();
        private_folder(&path).unwrap();
        assert_eq!(mode(), 0o700);
        // Others may have put something there.
        for others in [0o777, 0o770, 0o702] {
            open(others);
            let error = private_folder(&path).unwrap_err().to_string();
            assert!(error.contains("others can write into it"), "{error}");
            assert_eq!(mode(), others, "it stays as it is");
        }
        // A folder that is used for other things as well is not ours to close.
        open(0o755);
        fs::write(path.join("holiday.jpg"), "").unwrap();
        let error = private_folder(&path).unwrap_err().to_string();
        assert!(error.contains("others can look into it; make it private"), "{error}");
        assert_eq!(mode(), 0o755);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::new(folder.path(), "secrets");
        // What was left behind for every user to read is not written into.
        fs::write(folder.path().join("secrets.new"), "").unwrap();
        kept.hold().unwrap().write("hush").unwrap();
        let mode = fs::metadata(kept.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
