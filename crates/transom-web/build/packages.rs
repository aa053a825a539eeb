//! A folder's npm packages, as its lock file names them.

use std::{fs, path::Path, process::Command};

/// Installs them, unless that was done to its end for this very lock file.
pub fn install(folder: &Path) -> Result<(), String> {
    let lock = fs::read(folder.join("package-lock.json"))
        .map_err(|error| format!("{}: no lock file: {error}", folder.display()))?;
    let stamp = folder.join(STAMP);
    if fs::read(&stamp).ok().as_ref() == Some(&lock) {
        return Ok(());
    }
    // Before npm touches anything: what it leaves when it is interrupted must not look installed.
    let _ = fs::remove_file(&stamp);
    run(Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]), folder)?;
    fs::create_dir_all(folder.join("node_modules"))
        .and_then(|()| fs::write(&stamp, lock))
        .map_err(|error| format!("{}: {error}", stamp.display()))
}

/// Runs a program of Node's in a folder, to its end.
pub fn run(command: &mut Command, folder: &Path) -> Result<(), String> {
    let name = format!("{command:?}");
    match command.current_dir(folder).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            Err(format!("{name} failed in {}:\n{words}", folder.display()))
        }
        Err(error) => Err(format!(
            "{name} could not be started ({error}). The browser side is built with Node 20 or newer and npm: install them"
        )),
    }
}

/// The lock file that the packages beside it were installed from. It goes when they go.
const STAMP: &str = "node_modules/.installed-from";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_count_as_installed_when_npm_is_done_and_no_sooner() {
        let folder = std::env::temp_dir().join(format!("transom-packages-{}", std::process::id()));
        fs::create_dir_all(folder.join("node_modules/half")).unwrap();
        fs::create_dir_all(folder.join("part")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        let half = || folder.join("node_modules/half").is_dir();
        write("part/package.json", r#"{"name":"part","version":"1.0.0"}"#);
        write(
            "package.json",
            r#"{"name":"a","version":"1.0.0","dependencies":{"part":"file:part"}}"#,
        );
        // As an interrupted npm leaves it: the lock file is there, and some of the packages.
        write(
            "package-lock.json",
            r#"{"name":"a","version":"1.0.0","lockfileVersion":3,"packages":{}}"#,
        );
        let refused = install(&folder).unwrap_err();
        assert!(refused.contains("\"ci\"") && refused.contains("failed in"), "{refused}");
        assert!(!folder.join(STAMP).exists());

        write("package-lock.json", LOCK);
        install(&folder).unwrap();
        assert!(folder.join("node_modules/part/package.json").is_file());
        assert!(!half(), "npm begins anew");
        // Installed once, they are left alone,
        fs::create_dir(folder.join("node_modules/half")).unwrap();
        install(&folder).unwrap();
        assert!(half());
        // until the lock file is another, or they are gone.
        write("package-lock.json", &format!("{LOCK}\n"));
        install(&folder).unwrap();
        assert!(!half());
        fs::remove_dir_all(folder.join("node_modules")).unwrap();
        install(&folder).unwrap();
        assert!(folder.join("node_modules/part/package.json").is_file());
        fs::remove_dir_all(&folder).unwrap();
    }

    const LOCK: &str = r#"{"name":"a","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
        "":{"name":"a","version":"1.0.0","dependencies":{"part":"file:part"}},
        "part":{"version":"1.0.0"},
        "node_modules/part":{"resolved":"part","link":true}}}"#;
}
