//! Where `transom.toml` and the data folder are looked for.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::terminal::Terminal;

/// What surrounds the process, so that tests can have other surroundings.
pub(crate) struct Surroundings<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<OsString>,
    pub(crate) terminal: &'a dyn Terminal,
}

/// A file to read, and why that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) why: &'static str,
    /// Whether it is the person's own choice. A file that only lies in the folder they stand in is not.
    pub(crate) named: bool,
}

impl Surroundings<'_> {
    /// The file to read, if there is one. One that was asked for by name must be there; the caller
    /// finds out when it reads it.
    pub(crate) fn find_toml(&self, flag: Option<&Path>) -> Option<Found> {
        if let Some(path) = flag {
            return Some(Found { path: path.to_owned(), why: "--toml", named: true });
        }
        if let Some(path) = self.path("TRANSOM_CONFIG") {
            // A relative path is another file in every folder, and the person did not choose each of them.
            let named = path.is_absolute();
            return Some(Found { path, why: "TRANSOM_CONFIG", named });
        }
        let here = Found { path: NAME.into(), why: "in this folder", named: false };
        let home = self.config_home().map(|home| home.join("transom").join(NAME));
        let home = home.map(|path| Found { path, why: "in the user's folder", named: true });
        let mut places = [Some(here), home].into_iter().flatten();
        places.find(|found| self.folder.join(&found.path).is_file())
    }

    /// Where pins and keys are kept, unless the command line or the file names another folder.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        let home = || Some(self.path("HOME")?.join(".local/share"));
        let folder = self.absolute("XDG_DATA_HOME").or_else(home)?;
        Some(folder.join("transom"))
    }

    /// A path as it stands in a file of this folder: relative to the file, `~` being the user's.
    pub(crate) fn resolve(&self, folder: &Path, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), self.path("HOME")) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => folder.join(path),
        }
    }

    fn config_home(&self) -> Option<PathBuf> {
        self.absolute("XDG_CONFIG_HOME").or_else(|| Some(self.path("HOME")?.join(".config")))
    }

    /// The XDG rules: a path that is not absolute does not count.
    fn absolute(&self, variable: &str) -> Option<PathBuf> {
        self.path(variable).filter(|path| path.is_absolute())
    }

    fn path(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}

pub(super) const NAME: &str = "transom.toml";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Unattended;

    /// The folder, the variables, `--toml`, and the end of what is found.
    type Row<'a> = (&'a Path, &'a [(&'a str, &'a str)], Option<&'a str>, Option<&'a str>);

    fn find(folder: &Path, set: &[(&str, &str)], flag: Option<&str>) -> Option<Found> {
        let variable = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Surroundings { folder, variable: &variable, terminal: &Unattended }
            .find_toml(flag.map(Path::new))
    }

    #[test]
    fn the_order_of_places() {
        let folder = tempfile::tempdir().unwrap();
        let (empty, here) = (folder.path().join("empty"), folder.path().join("here"));
        let xdg = folder.path().join("xdg");
        for dir in [&empty, &here, &xdg.join("transom"), &folder.path().join(".config/transom")] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let homes = [here.clone(), xdg.join("transom"), folder.path().join(".config/transom")];
        for dir in homes {
            std::fs::write(dir.join(NAME), "").unwrap();
        }
        let xdg = ("XDG_CONFIG_HOME", xdg.to_str().unwrap());
        let home = ("HOME", folder.path().to_str().unwrap());
        let env = ("TRANSOM_CONFIG", "other.toml");
        #[rustfmt::skip]
        let table: [Row<'_>; 8] = [
            (&here,  &[env, xdg, home],                   Some("a.toml"), Some("a.toml")),
            (&here,  &[env, xdg, home],                   None,           Some("other.toml")),
            (&here,  &[("TRANSOM_CONFIG", ""), xdg],      None,           Some("transom.toml")),
            (&here,  &[xdg, home],                        None,           Some("transom.toml")),
            (&empty, &[xdg, home],                        None,           Some("xdg/transom/transom.toml")),
            (&empty, &[("XDG_CONFIG_HOME", "rel"), home], None,           Some(".config/transom/transom.toml")),
            (&empty, &[home],                             None,           Some(".config/transom/transom.toml")),
            (&empty, &[],                                 None,           None),
        ];
        for (at, set, flag, expected) in table {
            let found = find(at, set, flag).map(|found| found.path);
            let expected = expected.map(Path::new);
            let same = match (&found, expected) {
                (Some(found), Some(expected)) => found.ends_with(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(same, "{at:?} {set:?} {flag:?}: {found:?}, expected {expected:?}");
        }
    }
}
