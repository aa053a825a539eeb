//! All who ask, and the one page: numbers their requests, hands answers back, opens the page again when it is gone.

use std::{collections::HashMap, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    time::timeout,
};

use super::{
    door::Door,
    link::{Gone, Link, Opener},
};

/// What a client wants of the page.
pub(super) enum Ask {
    /// A request; its answer, with a result or an error and under any id, goes where it says.
    Request(Value, oneshot::Sender<Value>),
    /// A notification, or a response to a request of the page's.
    Tell(Value),
}

/// The page's end of every conversation.
pub(super) struct Hub {
    opener: Opener,
    door: Door,
    asks: mpsc::Receiver<Ask>,
    heard: broadcast::Sender<Value>,
    /// Whether a client hears what the page asks of its own accord.
    attended: bool,
    link: Option<Link>,
    pending: HashMap<u64, Pending>,
    last: u64,
    /// The first `initialize`, for a page that is opened again, and its result, for further clients.
    hello: Option<Value>,
    greeting: Option<Value>,
}

/// A request that the page has not answered.
struct Pending {
    /// Its id as the client wrote it.
    id: Value,
    reply: oneshot::Sender<Value>,
}

impl Hub {
    pub(super) fn new(opener: Opener, door: Door, attended: bool) -> (Self, mpsc::Sender<Ask>) {
        let (sender, asks) = mpsc::channel(64);
        let hub = Self {
            opener,
            door,
            asks,
            heard: broadcast::channel(256).0,
            attended,
            link: None,
            pending: HashMap::new(),
            last: 0,
            hello: None,
            greeting: None,
        };
        (hub, sender)
    }

    /// Hears what the page says beside answers.
    pub(super) fn heard(&self) -> broadcast::Receiver<Value> {
        self.heard.subscribe()
    }

    /// Goes on until no client can ask any more.
    pub(super) async fn run(mut self) {
        loop {
            let heard = async {
                match &mut self.link {
                    Some(link) => link.hear().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                ask = self.asks.recv() => match ask {
                    Some(Ask::Request(message, reply)) => self.request(message, reply).await,
                    Some(Ask::Tell(message)) => self.tell(message).await,
                    None => return,
                },
                heard = heard => match heard {
                    Ok(message) => self.hear(message).await,
                    Err(gone) => self.lose(&gone),
                },
            }
        }
    }

    async fn request(&mut self, mut message: Value, reply: oneshot::Sender<Value>) {
        let first = message["method"] == "initialize";
        if first && let Some(greeting) = &self.greeting {
            let _ = reply.send(json!({ "result": greeting }));
            return;
        }
        if first {
            self.hello = Some(message["params"].clone());
        }
        self.last += 1;
        let id = std::mem::replace(&mut message["id"], self.last.into());
        self.pending.insert(self.last, Pending { id, reply });
        if let Err(gone) = self.send(&message).await {
            self.lose(&gone);
        }
    }

    async fn tell(&mut self, mut message: Value) {
        if message["method"] == "notifications/cancelled" {
            let id = &message["params"]["requestId"];
            let Some((&number, _)) = self.pending.iter().find(|(_, pending)| pending.id == *id)
            else {
                return;
            };
            message["params"]["requestId"] = number.into();
        }
        // Whoever only tells something does not open a page with it.
        let Some(link) = &mut self.link else { return };
        if let Err(gone) = link.send(&message).await {
            self.lose(&gone);
        }
    }

    async fn hear(&mut self, mut message: Value) {
        if message.get("said").is_some() {
            return;
        }
        if message.get("method").is_some() {
            if !self.attended
                && let Some(id) = message.get("id")
            {
                let error = json!({ "code": -32601, "message": "a client over HTTP cannot answer requests" });
                let refusal = json!({ "jsonrpc": "2.0", "id": id, "error": error });
                return self.tell(refusal).await;
            }
            // Without a listener it is dropped.
            let _ = self.heard.send(message);
            return;
        }
        let Some(pending) = message["id"].as_u64().and_then(|id| self.pending.remove(&id)) else {
            return;
        };
        if self.greeting.is_none()
            && self.hello.is_some()
            && message["result"]["serverInfo"].is_object()
        {
            self.greeting = Some(message["result"].clone());
        }
        message["id"] = pending.id;
        let _ = pending.reply.send(message);
    }

    /// Sends to the page, which is opened first where it is not.
    async fn send(&mut self, message: &Value) -> Result<(), Gone> {
        if self.link.is_none() {
            let mut link = self.opener.open(&self.door).await?;
            // A client has said hello to a page that is gone; the new one has not heard it.
            if message["method"] != "initialize"
                && let Some(hello) = &self.hello
            {
                greet(&mut link, hello).await?;
            }
            self.link = Some(link);
        }
        match &mut self.link {
            Some(link) => link.send(message).await,
            None => Ok(()),
        }
    }

    /// The page is gone: who waits is told, and the next request opens it again.
    fn lose(&mut self, gone: &Gone) {
        self.link = None;
        for (_, pending) in self.pending.drain() {
            let _ = pending.reply.send(json!({ "error": gone.answer() }));
        }
    }
}

/// Repeats a client's `initialize`, and waits for the answer; not for ever: all other clients wait meanwhile.
async fn greet(link: &mut Link, hello: &Value) -> Result<(), Gone> {
    let again = json!({ "jsonrpc": "2.0", "id": AGAIN, "method": "initialize", "params": hello });
    link.send(&again).await?;
    let answer = async {
        while link.hear().await?["id"] != AGAIN {}
        Ok(())
    };
    timeout(GREETING, answer).await.unwrap_or_else(|_| Err(Gone::silent(GREETING)))?;
    link.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await
}

const AGAIN: &str = "transom-again";

/// How long a page that was opened again may take to answer `initialize`.
const GREETING: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use futures_util::{SinkExt as _, StreamExt as _};
    use tokio_tungstenite::tungstenite::Message;

    use super::*;
    use crate::expose::door::tests::pair;

    #[tokio::test]
    async fn a_page_that_talks_and_does_not_answer_a_second_hello_is_given_up() {
        let [ours, mut page] = pair().await;
        let mut link = Link::of(ours);
        tokio::time::pause();
        let hello = json!({});
        let (greeted, ()) = tokio::join!(greet(&mut link, &hello), async {
            let said = page.next().await.unwrap().unwrap().into_text().unwrap();
            assert!(said.contains("initialize"), "{said}");
            page.send(Message::text(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#))
                .await
                .unwrap();
        });
        assert_eq!(greeted.unwrap_err().code, "PAGE_SILENT");
    }
}
