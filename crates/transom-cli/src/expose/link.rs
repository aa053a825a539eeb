//! One opened page: a browser, our page in it, and what that page says.

use std::{path::PathBuf, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};
use url::{Url, form_urlencoded};

use super::door::Door;
use crate::browser::Browser;

/// How pages are opened.
pub(super) struct Opener {
    pub(super) program: PathBuf,
    pub(super) profile: PathBuf,
    pub(super) flags: Vec<String>,
    pub(super) page: Url,
    pub(super) window: bool,
}

/// A page that is connected. Dropping it ends its browser.
pub(super) struct Link {
    _browser: Option<Browser>,
    socket: WebSocketStream<TcpStream>,
}

/// Why a page cannot answer: a code for programs, words for people.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    pub(super) code: String,
    pub(super) words: String,
}

impl Gone {
    fn new(code: &str, words: impl Into<String>) -> Self {
        Self { code: code.to_owned(), words: words.into() }
    }

    /// The page is there, and says nothing.
    pub(super) fn silent(patience: Duration) -> Self {
        let seconds = patience.as_secs();
        let words = format!("it was opened again and did not answer initialize within {seconds} s");
        Self::new("PAGE_SILENT", words)
    }

    /// The answer to a request that the page did not answer.
    pub(super) fn answer(&self) -> Value {
        let message = format!("the page server cannot answer: {}", self.words);
        json!({ "code": -32000, "message": message, "data": { "code": self.code } })
    }
}

impl Opener {
    /// Opens the page and waits until its server has accepted the connection.
    pub(super) async fn open(&self, door: &Door) -> Result<Link, Gone> {
        let failed = |error: anyhow::Error| Gone::new("BROWSER_FAILED", format!("{error:#}"));
        let mut browser =
            Browser::start(&self.program, &self.profile, &self.flags).await.map_err(failed)?;
        let socket = door.invite();
        let order: String = form_urlencoded::Serializer::new(String::new())
            .append_pair("page", self.page.as_str())
            .append_pair("socket", &socket)
            .append_pair("window", if self.window { "yes" } else { "no" })
            .finish();
        browser.open(&format!("{}#{order}", door.page)).await.map_err(failed)?;
        let admitted = timeout(CALL, door.admit(&socket)).await;
        let Ok(socket) = admitted else {
            return Err(Gone::new("BROWSER_FAILED", "our own page did not start in the browser"));
        };
        let mut link = Link { _browser: Some(browser), socket: socket.map_err(failed)? };
        // A person may be typing; how long a page may take to load is the page's own deadline.
        loop {
            let said = link.hear().await?;
            if said["said"] == "open" {
                return Ok(link);
            }
        }
    }
}

impl Link {
    /// A page without a browser of ours around it.
    #[cfg(test)]
    pub(super) fn of(socket: WebSocketStream<TcpStream>) -> Self {
        Self { _browser: None, socket }
    }

    /// Hands a message to the page.
    pub(super) async fn send(&mut self, message: &Value) -> Result<(), Gone> {
        self.socket.send(Message::text(message.to_string())).await.map_err(|_| lost())
    }

    /// The next thing that comes from the page: an MCP message, or `said`. What is a note for people is told to them.
    pub(super) async fn hear(&mut self) -> Result<Value, Gone> {
        loop {
            let Some(Ok(message)) = self.socket.next().await else { return Err(lost()) };
            let Message::Text(text) = message else { continue };
            let Ok(said) = serde_json::from_str::<Value>(&text) else { continue };
            let word = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
            match said["said"].as_str() {
                Some("note") => eprintln!("transom: {}", crate::terminal::clean(&word("words"))),
                Some("closed") => return Err(Gone::new(&word("code"), word("words"))),
                _ => return Ok(said),
            }
        }
    }
}

fn lost() -> Gone {
    Gone::new("BROWSER_GONE", "the browser ended or crashed; the next request starts it again")
}

/// How long our own page may take to call.
const CALL: Duration = Duration::from_secs(60);
