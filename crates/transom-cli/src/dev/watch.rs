//! Notices that files have changed, by looking at them.
//!
//! Looking twice a second costs a few milliseconds, needs nothing of the system, and works on every kind of
//! disk, those of containers and of other machines among them.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Files that are looked at.
pub(super) struct Watch {
    folders: Vec<PathBuf>,
    filter: Filter,
    seen: Snapshot,
}

/// What each file is known by.
type Snapshot = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Which files count.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    ignored: Vec<String>,
    /// Whether the server follows the files of its views by itself.
    views: bool,
}

impl Watch {
    pub(super) fn new(folders: Vec<PathBuf>, filter: Filter) -> Self {
        let seen = look(&folders, &filter);
        Self { folders, filter, seen }
    }

    /// What is watched, in words.
    pub(super) fn about(&self) -> String {
        let folders: Vec<String> =
            self.folders.iter().map(|folder| folder.display().to_string()).collect();
        let files = match self.seen.len() {
            MAX_FILES => format!("the first {MAX_FILES} files; --watch and --ignore choose others"),
            files => format!("{files} files"),
        };
        let views =
            if self.filter.views { "; those of views the server follows itself" } else { "" };
        format!("{} ({files}{views})", folders.join(", "))
    }

    /// Waits for a change, and until no other has followed it for a moment; what changed, in words.
    pub(super) async fn changed(&mut self) -> String {
        let before = self.seen.clone();
        loop {
            tokio::time::sleep(OFTEN).await;
            let now = self.look().await;
            // An editor writes in several steps, and a branch changes a hundred files.
            let quiet = now == self.seen;
            self.seen = now;
            if quiet && self.seen != before {
                return self.difference(&before);
            }
        }
    }

    async fn look(&self) -> Snapshot {
        let (folders, filter) = (self.folders.clone(), self.filter.clone());
        let looked = tokio::task::spawn_blocking(move || look(&folders, &filter)).await;
        looked.unwrap_or_else(|_| self.seen.clone())
    }

    fn difference(&self, before: &Snapshot) -> String {
        let new = self.seen.iter().filter(|(path, known)| before.get(*path) != Some(known));
        let gone = before.iter().filter(|(path, _)| !self.seen.contains_key(*path));
        let mut paths: Vec<&PathBuf> = new.chain(gone).map(|(path, _)| path).collect();
        paths.sort();
        let first = paths.first().map(|path| self.short(path)).unwrap_or_default();
        match paths.len() {
            0 | 1 => first,
            many => format!("{first} and {} more", many - 1),
        }
    }

    fn short(&self, path: &Path) -> String {
        let inside = self.folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
        let short = inside.filter(|inside| !inside.as_os_str().is_empty()).unwrap_or(path);
        short.display().to_string()
    }
}

impl Filter {
    /// What to leave out: names of files and folders, or endings such as `*.log`.
    pub(super) fn new(folders: &[PathBuf], ignored: &[String]) -> Self {
        let follows = |folder: &PathBuf| {
            std::fs::read_to_string(folder.join("Cargo.toml"))
                .is_ok_and(|text| text.contains("transom-server"))
        };
        Self { ignored: ignored.to_vec(), views: folders.iter().any(follows) }
    }

    fn takes_folder(&self, name: &str) -> bool {
        !name.starts_with('.') && !FOLDERS.contains(&name) && !self.ignores(name)
    }

    fn takes_file(&self, path: &Path, name: &str) -> bool {
        let noise = name.starts_with('.') || name.ends_with('~') || name.ends_with(".swp");
        let followed = self.views && is_of_view(path);
        !(noise || followed || self.ignores(name))
    }

    fn ignores(&self, name: &str) -> bool {
        self.ignored.iter().any(|ignored| match ignored.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => name == ignored.trim_end_matches('/'),
        })
    }
}

/// Whether a file is a view's own. Templates are compiled into the server, so they are not.
fn is_of_view(path: &Path) -> bool {
    let compiled = path.components().any(|part| part.as_os_str() == "templates");
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    !compiled && VIEWS.contains(&ending)
}

fn look(folders: &[PathBuf], filter: &Filter) -> Snapshot {
    let mut seen = Snapshot::new();
    let mut left: Vec<(PathBuf, usize)> =
        folders.iter().map(|folder| (folder.clone(), 0)).collect();
    while let Some((path, depth)) = left.pop() {
        // A file that --watch names counts, whatever it is called.
        if depth == 0 && path.is_file() {
            note(&path, &mut seen);
            continue;
        }
        // What cannot be read now may be gone, or there the next time.
        let Ok(entries) = std::fs::read_dir(&path) else { continue };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            // Links are not followed: they may go round in circles.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < MAX_DEPTH && filter.takes_folder(&name) {
                left.push((path, depth + 1));
            } else if kind.is_file() && filter.takes_file(&path, &name) && seen.len() < MAX_FILES {
                note(&path, &mut seen);
            }
        }
    }
    seen
}

fn note(path: &Path, seen: &mut Snapshot) {
    if let Ok(about) = std::fs::metadata(path) {
        seen.insert(path.to_owned(), (about.modified().ok(), about.len()));
    }
}

const OFTEN: Duration = Duration::from_millis(300);
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 32;

/// What tools write, and not people. Hidden ones, such as `.git`, are left out as well.
const FOLDERS: [&str; 6] = ["target", "node_modules", "__pycache__", "venv", "coverage", "tmp"];

/// What a server built with transom-server reads anew by itself.
#[rustfmt::skip]
const VIEWS: [&str; 16] = [
    "html", "css", "js", "mjs", "ts", "tsx", "jsx", "svg", "png", "jpg", "jpeg", "gif", "webp", "avif", "woff", "woff2",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }

    fn names(folder: &Path, filter: &Filter) -> Vec<String> {
        let seen = look(&[folder.to_owned()], filter);
        let short =
            |path: &PathBuf| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        seen.keys().map(short).collect()
    }

    #[test]
    fn what_tools_write_is_not_watched() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "src/main.rs",
            "views/a.html",
            "templates/b.html",
            "target/debug/x",
            ".git/HEAD",
            "ui/node_modules/x.js",
            ".env",
            "src/main.rs~",
            "src/.main.rs.swp",
            "log/a.log",
            "Cargo.toml",
        ] {
            write(folder.path(), name);
        }
        let all = Filter::default();
        let expected =
            ["Cargo.toml", "log/a.log", "src/main.rs", "templates/b.html", "views/a.html"];
        assert_eq!(names(folder.path(), &all), expected);
        let some = Filter::new(&[], &["*.log".to_owned(), "views/".to_owned()]);
        assert_eq!(names(folder.path(), &some), ["Cargo.toml", "src/main.rs", "templates/b.html"]);
        // A server that follows its views needs no new start for them.
        std::fs::write(folder.path().join("Cargo.toml"), "transom-server = \"0.1\"").unwrap();
        let views = Filter::new(&[folder.path().to_owned()], &[]);
        let expected = ["Cargo.toml", "log/a.log", "src/main.rs", "templates/b.html"];
        assert_eq!(names(folder.path(), &views), expected);
    }

    #[tokio::test]
    async fn a_change_is_told_once_it_is_quiet() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a");
        let mut watch = Watch::new(vec![folder.path().to_owned()], Filter::default());
        assert!(watch.about().contains("1 file"), "{}", watch.about());
        write(folder.path(), "src/b");
        std::fs::remove_file(folder.path().join("a")).unwrap();
        assert_eq!(watch.changed().await, "a and 1 more");
        write(folder.path(), "c");
        assert_eq!(watch.changed().await, "c");
    }
}
