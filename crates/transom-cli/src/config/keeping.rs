//! Servers that were added on the page and are kept in `transom.toml`: the file is written, and what it says then is agreed to.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{
    agreed::Agreed,
    effects::{Effects, Show},
    file::Text,
};

/// Where added servers are kept.
#[derive(Clone, Debug)]
pub(crate) struct Keeping {
    pub(super) agreed: Agreed,
    /// The file that is in force, or the one to begin in this folder; none, if the person wants none.
    pub(super) path: Option<PathBuf>,
    /// What it said when it was read.
    pub(super) text: String,
    /// Whether it needs no agreement, since the person named it.
    pub(super) named: bool,
}

impl Keeping {
    /// The file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The lines that a server is written as. A string of JSON is one of TOML.
    pub(crate) fn lines(name: &str, entry: &Value) -> Result<String> {
        let mut lines = format!("[servers.{}]\n", Value::from(name));
        for key in ["command", "args", "cwd", "env", "url", "headers"] {
            let value = match entry.get(key) {
                None | Some(Value::Null) => continue,
                Some(Value::Object(members)) => {
                    let members = members
                        .iter()
                        .map(|(name, value)| format!("{} = {value}", Value::from(&**name)));
                    format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
                }
                Some(value) => value.to_string(),
            };
            writeln!(lines, "{key} = {value}")?;
        }
        Ok(lines)
    }

    /// Writes them at the end of the file, which must say what it said when it was read, and agrees to that text.
    pub(crate) fn write(&mut self, lines: &str) -> Result<()> {
        let Some(path) = &self.path else { bail!("you run without transom.toml (--no-toml)") };
        let now = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        if now != self.text {
            bail!(
                "{} is not what it was when it was read; start transom again, and then keep it",
                path.display()
            );
        }
        let blank = if now.is_empty() { "" } else { "\n" };
        let fresh = format!(
            "{}{blank}{lines}",
            now.trim_end().to_owned() + if now.is_empty() { "" } else { "\n" }
        );
        let file = Text { path, text: &fresh };
        let parsed = file.parse()?;
        let folder = path.parent().context("a file lies in a folder")?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        temporary.write_all(fresh.as_bytes())?;
        if let Ok(metadata) = std::fs::metadata(path) {
            temporary.as_file().set_permissions(metadata.permissions())?;
        }
        temporary.as_file().sync_all()?;
        temporary.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
        if !self.named {
            self.agreed.keep(path, &fresh, Effects::of_toml(&parsed.table, Show::Whole))?;
        }
        self.text = fresh;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::find::Surroundings;

    #[test]
    fn an_added_server_is_written_at_the_end_and_its_file_agreed_to() {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = folder.path().join("transom.toml");
        let before = "# mine\n[policy]\ndownloads = \"deny\"\n";
        std::fs::write(&path, before).unwrap();
        let variable = |name: &str| (name == "HOME").then(|| home.path().into());
        let terminal = crate::terminal::Unattended;
        let around =
            Surroundings { folder: folder.path(), variable: &variable, terminal: &terminal };
        let agreed = Agreed::new(&around, true);
        let text = before.to_owned();
        let mut keeping = Keeping { agreed, path: Some(path.clone()), text, named: false };
        let entry = json!({ "command": "node", "args": ["a \"b\".mjs"], "env": { "K": "${V}" } });
        let lines = Keeping::lines("my server", &entry).unwrap();
        keeping.write(&lines).unwrap();
        let after = std::fs::read_to_string(&path).unwrap();
        assert!(after.starts_with(before), "{after}");
        let table: toml::Table = after.parse().unwrap();
        assert_eq!(table["servers"]["my server"]["args"][0].as_str(), Some("a \"b\".mjs"));
        // The next run counts it without a question.
        let arguments = crate::arguments::RunArguments::default();
        let config = crate::config::Config::load(&arguments, &around).unwrap();
        assert_eq!(config.servers[0].name, "my server");
        // What somebody else wrote meanwhile is not agreed to.
        std::fs::write(&path, format!("{after}\n[servers.evil]\ncommand = \"evil\"\n")).unwrap();
        let words = keeping.write(&lines).unwrap_err().to_string();
        assert!(words.contains("not what it was"), "{words}");
        assert!(crate::config::Config::load(&arguments, &around).is_err());
    }
}
