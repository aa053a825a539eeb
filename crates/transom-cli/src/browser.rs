//! The installed Chromium: started by us, spoken to in its own protocol, ended with us.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::devtools::Devtools;

/// A running browser with one page. Dropping it ends it.
pub(crate) struct Browser {
    child: Box<dyn ChildWrapper>,
    tools: Devtools,
    target: Value,
    page: String,
}

impl Browser {
    /// Starts it with a profile, which is made if need be, and opens a blank page.
    pub(crate) async fn start(
        program: &Path,
        profile: &Path,
        flags: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<Self> {
        std::fs::create_dir_all(profile).context("there is no place for a profile")?;
        // What an earlier run left there is not where this one listens.
        let _ = std::fs::remove_file(profile.join(PORT_FILE));
        let mut command = tokio::process::Command::new(program);
        command.args(FLAGS).args(flags);
        let mut data = OsString::from("--user-data-dir=");
        data.push(profile);
        command.arg(data).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut wrapped = CommandWrap::from(command);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut child =
            wrapped.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let tools = tokio::select! {
            tools = timeout(START, attach(profile)) => tools,
            ended = child.wait() => bail!(
                "{} ended at once ({}); start it by hand to see why, and give it flags with --browser-flag",
                program.display(), ended?
            ),
        };
        let Ok(tools) = tools else {
            bail!("{} did not start within {} s", program.display(), START.as_secs());
        };
        let mut browser = Self { child, tools: tools?, target: Value::Null, page: String::new() };
        browser.open_blank().await?;
        Ok(browser)
    }

    async fn open_blank(&mut self) -> Result<()> {
        let blank = json!({ "url": "about:blank" });
        let mut created = self.call("Target.createTarget", blank).await?;
        self.target = created["targetId"].take();
        let attach = json!({ "targetId": self.target, "flatten": true });
        let attached = self.call("Target.attachToTarget", attach).await?;
        self.page =
            attached["sessionId"].as_str().context("the browser gave no session")?.to_owned();
        Ok(())
    }

    /// Opens the page.
    pub(crate) async fn open(&mut self, url: &str) -> Result<()> {
        self.on_page("Page.navigate", json!({ "url": url })).await?;
        Ok(())
    }

    /// Clicks on the page, as a person would.
    pub(crate) async fn click(&mut self, x: u32, y: u32) -> Result<()> {
        self.on_page("Page.bringToFront", json!({})).await?;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.on_page("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// Where the page is now, wherever it was sent.
    pub(crate) async fn address(&mut self) -> Result<String> {
        let target = json!({ "targetId": self.target });
        let found = self.call("Target.getTargetInfo", target).await?;
        Ok(found["targetInfo"]["url"].as_str().unwrap_or_default().to_owned())
    }

    /// Asks something of the browser.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.tools.call(method, params, None).await
    }

    /// Asks something of its page.
    pub(crate) async fn on_page(&mut self, method: &str, params: Value) -> Result<Value> {
        self.tools.call(method, params, Some(&self.page)).await
    }

    /// Asks something of one of its frames or pages that was attached to.
    pub(crate) async fn on(&mut self, session: &str, method: &str, params: Value) -> Result<Value> {
        self.tools.call(method, params, Some(session)).await
    }

    /// What it calls itself.
    pub(crate) async fn version(&mut self) -> Result<String> {
        let version = self.call("Browser.getVersion", json!({})).await?;
        Ok(version["product"].as_str().unwrap_or("a browser").to_owned())
    }

    /// Ends it.
    pub(crate) async fn close(mut self) {
        let _ = timeout(END, self.call("Browser.close", json!({}))).await;
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
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf> {
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
    let file = profile.join(PORT_FILE);
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

/// Whether root started us, by who owns a folder that we made. Chromium refuses to keep its own sandbox then.
#[cfg(unix)]
pub(crate) fn is_root(ours: &Path) -> bool {
    let owner = |path: &Path| -> io::Result<u32> {
        Ok(std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path)?))
    };
    owner(ours).is_ok_and(|owner| owner == 0)
}

#[cfg(not(unix))]
pub(crate) fn is_root(_: &Path) -> bool {
    false
}

const START: Duration = Duration::from_secs(60);
const END: Duration = Duration::from_secs(5);

/// Plain, and quiet: it calls no server of its own accord, and tells us where it listens.
const FLAGS: [&str; 6] = [
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
];
const PORT_FILE: &str = "DevToolsActivePort";
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
