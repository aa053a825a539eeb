//! A browser of our own: a fresh profile, no window, ended with us.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::devtools::Devtools;

/// A running browser. Dropping it ends it.
pub(super) struct Browser {
    child: Box<dyn ChildWrapper>,
    tools: Devtools,
    target: Value,
    page: String,
    folder: tempfile::TempDir,
}

impl Browser {
    /// Starts it.
    pub(super) async fn start(program: &Path, flags: &[String]) -> Result<Self> {
        let folder =
            tempfile::tempdir().context("cannot make a folder for the profile of the browser")?;
        let (profile, downloads) = (folder.path().join("profile"), folder.path().join("downloads"));
        std::fs::create_dir_all(&downloads)?;
        std::fs::create_dir_all(&profile)?;
        let mut command = tokio::process::Command::new(program);
        command.args(FLAGS).args(flags);
        // Chromium refuses to keep its own sandbox when root starts it.
        if is_root(&profile) {
            command.arg("--no-sandbox");
        }
        let mut data = OsString::from("--user-data-dir=");
        data.push(&profile);
        command.arg(data).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut wrapped = CommandWrap::from(command);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut child =
            wrapped.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let tools = tokio::select! {
            tools = timeout(START, attach(&profile)) => tools,
            ended = child.wait() => bail!(
                "{} ended at once ({}); start it by hand to see why, and give it flags with --browser-flag",
                program.display(), ended?
            ),
        };
        let Ok(tools) = tools else {
            bail!("{} did not start within {} s", program.display(), START.as_secs());
        };
        let mut browser =
            Self { child, tools: tools?, target: Value::Null, page: String::new(), folder };
        browser.prepare(&downloads).await?;
        Ok(browser)
    }

    /// Answers every question with yes, so that no attempt is stopped by a question of the browser alone.
    async fn prepare(&mut self, downloads: &Path) -> Result<()> {
        let allow = json!({ "behavior": "allow", "downloadPath": downloads });
        self.tools.call("Browser.setDownloadBehavior", allow, None).await?;
        let all = json!({ "permissions": ["geolocation", "clipboardReadWrite", "audioCapture", "videoCapture"] });
        self.tools.call("Browser.grantPermissions", all, None).await?;
        let blank = json!({ "url": "about:blank" });
        let mut created = self.tools.call("Target.createTarget", blank, None).await?;
        self.target = created["targetId"].take();
        let attach = json!({ "targetId": self.target, "flatten": true });
        let attached = self.tools.call("Target.attachToTarget", attach, None).await?;
        self.page =
            attached["sessionId"].as_str().context("the browser gave no session")?.to_owned();
        let somewhere = json!({ "latitude": 38.7, "longitude": -9.1, "accuracy": 1 });
        self.on_page("Emulation.setGeolocationOverride", somewhere).await?;
        Ok(())
    }

    /// Opens the page.
    pub(super) async fn open(&mut self, url: &str) -> Result<()> {
        self.on_page("Page.navigate", json!({ "url": url })).await?;
        Ok(())
    }

    /// Clicks on the page, as a person would.
    pub(super) async fn click(&mut self, x: u32, y: u32) -> Result<()> {
        self.on_page("Page.bringToFront", json!({})).await?;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.on_page("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// Where the page is now, wherever it was sent.
    pub(super) async fn address(&mut self) -> Result<String> {
        let target = json!({ "targetId": self.target });
        let found = self.tools.call("Target.getTargetInfo", target, None).await?;
        Ok(found["targetInfo"]["url"].as_str().unwrap_or_default().to_owned())
    }

    async fn on_page(&mut self, method: &str, params: Value) -> Result<Value> {
        self.tools.call(method, params, Some(&self.page)).await
    }

    /// How many files it saved.
    pub(super) fn downloads(&self) -> usize {
        let folder = self.folder.path().join("downloads");
        std::fs::read_dir(folder).map_or(0, |files| files.count())
    }

    /// What it calls itself.
    pub(super) async fn version(&mut self) -> Result<String> {
        let version = self.tools.call("Browser.getVersion", json!({}), None).await?;
        Ok(version["product"].as_str().unwrap_or("a browser").to_owned())
    }

    /// Ends it.
    pub(super) async fn close(mut self) {
        let _ = timeout(END, self.tools.call("Browser.close", json!({}), None)).await;
        let _ = timeout(END, self.child.wait()).await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The group: helpers may outlive what started them, and hold the profile open.
        let _ = self.child.start_kill();
    }
}

/// The browser that was named, or the first that is installed.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    if let Some(path) = std::env::var_os("CHROMIUM").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&folders)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .chain(ELSEWHERE.map(PathBuf::from));
    places.into_iter().find(|path| path.is_file()).context(
        "no Chromium is installed; install one (on Debian: apt-get install chromium), or name it with --browser",
    )
}

/// Waits until the browser has written down where it listens, and connects.
async fn attach(profile: &Path) -> Result<Devtools> {
    let file = profile.join("DevToolsActivePort");
    loop {
        if let Ok(text) = std::fs::read_to_string(&file)
            && let [port, path] = *text.lines().collect::<Vec<_>>()
            && let Ok(port) = port.parse::<u16>()
        {
            return Devtools::connect(port, path).await;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[cfg(unix)]
fn is_root(ours: &Path) -> bool {
    let owner = |path: &Path| -> io::Result<u32> {
        Ok(std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path)?))
    };
    owner(ours).is_ok_and(|owner| owner == 0)
}

#[cfg(not(unix))]
fn is_root(_: &Path) -> bool {
    false
}

const START: Duration = Duration::from_secs(60);
const END: Duration = Duration::from_secs(5);

/// Plain, except that it has no window and says yes to every question. What stops a view must be the host.
const FLAGS: [&str; 13] = [
    "--headless",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-popup-blocking",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--window-size=800,1200",
    "--remote-debugging-port=0",
];
const NAMES: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "chrome.exe",
];
const ELSEWHERE: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
