//! Opens the page in the person's browser, without showing its address to other users of the machine.
//!
//! The address holds the token, and every user of the machine can read the arguments of a program. So the
//! browser is given a file that only its owner can read, and the file leads to the address.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use transom_host::Host;

/// A file that leads to the page, removed when it is dropped.
pub(crate) struct Doorway {
    path: PathBuf,
}

impl Doorway {
    /// Writes the file, and has the browser open it. In words why not.
    pub(crate) fn open(address: &str, folder: Option<&Path>) -> Result<Self, String> {
        let doorway = Self::write(address, folder)
            .map_err(|error| format!("cannot lead it there ({error})"))?;
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = Command::new(opener);
        command.arg(&doorway.path).stdin(Stdio::null());
        match command.spawn() {
            Ok(_) => Ok(doorway),
            Err(error) => Err(format!("{opener} could not be started ({error})")),
        }
    }

    /// Removes the file when the browser has been through, or has had its time.
    pub(crate) async fn close_behind(self, host: &Host) {
        let token = host.token();
        for _ in 0..SECONDS {
            // Used up, or void because there is another.
            if host.token() != token {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    fn write(address: &str, folder: Option<&Path>) -> io::Result<Self> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        let path = std::path::absolute(folder)?.join(format!("open-{}.html", std::process::id()));
        // A run before us may have left its file here. A file of another user cannot be removed, and then nothing is
        // written.
        let _ = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let doorway = Self { path };
        // The page takes this one's place in the history, and the token is good once in any case.
        let address = serde_json::Value::from(address);
        write!(
            file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>Transom</title>\n<script>location.replace({address})</script>\n"
        )?;
        file.sync_all()?;
        Ok(doorway)
    }
}

impl Drop for Doorway {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// How long a browser has to read a file.
const SECONDS: u32 = 60;
