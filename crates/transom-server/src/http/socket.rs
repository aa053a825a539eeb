//! One WebSocket of a view: what came and was not read yet, what goes out, and how it ended.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::body;
use super::failure::Failure;

/// One WebSocket. When it is dropped, the connection ends.
pub(super) struct Socket {
    /// Who opened it, and alone may use it (FSE-13).
    pub(super) person: String,
    /// The largest message that it takes from the view.
    pub(super) most: usize,
    out: mpsc::Sender<Order>,
    /// The number of the next message of the view's (WSK-6).
    next: tokio::sync::Mutex<u64>,
    inbox: Mutex<Inbox>,
    news: Notify,
    touched: Mutex<Instant>,
}

#[derive(Default)]
struct Inbox {
    /// The number of the first message that is kept.
    first: u64,
    messages: VecDeque<Message>,
    bytes: usize,
    end: Option<Closed>,
}

/// How a connection ended, as a page is told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Closed {
    code: u16,
    reason: String,
    clean: bool,
}

enum Order {
    Send(Message, oneshot::Sender<()>),
    Close(Option<CloseFrame>),
}

impl Socket {
    /// Keeps a connection going.
    pub(super) fn open<S>(stream: WebSocketStream<S>, person: String, most: usize) -> Arc<Self>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (out, orders) = mpsc::channel(1);
        let socket = Arc::new(Self {
            person,
            most,
            out,
            next: tokio::sync::Mutex::new(0),
            inbox: Mutex::default(),
            news: Notify::new(),
            touched: Mutex::new(Instant::now()),
        });
        tokio::spawn(pump(stream, orders, Arc::downgrade(&socket)));
        socket
    }

    /// Sends a message, once, though it may be asked for twice: an answer that was lost is given again.
    pub(super) async fn send(&self, seq: u64, message: Message) -> Result<(), Failure> {
        self.touch();
        if message.len() > self.most {
            return Err(Failure::too_large("the message is larger than this route takes"));
        }
        let mut next = self.next.lock().await;
        if seq < *next {
            return Ok(());
        }
        if seq > *next {
            return Err(Failure::bad_request("a message before this one is missing"));
        }
        let (done, sent) = oneshot::channel();
        let gone = || Failure::network(&"the connection is closed");
        self.out.send(Order::Send(message, done)).await.map_err(|_| gone())?;
        *next += 1;
        sent.await.map_err(|_| gone())
    }

    /// Begins to close it. Whether it is closed is told by what is received.
    pub(super) async fn close(&self, frame: Option<CloseFrame>) {
        self.touch();
        let _ = self.out.send(Order::Close(frame)).await;
    }

    /// The messages after one, as soon as there are any, or the end, or after a while nothing.
    pub(super) async fn receive(&self, after: Option<u64>, wait: Duration) -> Value {
        let until = Instant::now() + wait;
        loop {
            let news = self.news.notified();
            self.touch();
            let answer = self.look(after);
            let nothing = answer["messages"] == json!([]) && answer["done"] == false;
            if !nothing || tokio::time::timeout_at(until, news).await.is_err() {
                // A view that waited was there all the time: its minute begins when it has its answer.
                self.touch();
                return answer;
            }
        }
    }

    /// What is there, of about a megabyte at most. All before it is confirmed, and forgotten.
    fn look(&self, after: Option<u64>) -> Value {
        let mut inbox = self.inbox.lock().expect("no holder panics");
        let from = after.map_or(0, |after| after.saturating_add(1));
        while inbox.first < from && !inbox.messages.is_empty() {
            let size = inbox.messages.pop_front().map_or(0, |message| message.len());
            (inbox.first, inbox.bytes) = (inbox.first + 1, inbox.bytes - size);
        }
        let mut size = 0;
        let some = inbox.messages.iter().take_while(|message| {
            let fits = size == 0 || size + message.len() <= AT_ONCE;
            size += message.len().max(1);
            fits
        });
        let messages: Vec<Value> =
            (inbox.first..).zip(some).map(|(seq, message)| told(seq, message)).collect();
        let last = messages.len() == inbox.messages.len();
        let mut answer = json!({ "messages": messages, "done": false });
        if let Some(Closed { code, reason, clean }) = inbox.end.as_ref().filter(|_| last) {
            answer["done"] = true.into();
            answer["closed"] = json!({ "code": code, "reason": reason, "wasClean": clean });
        }
        answer
    }

    /// When it was last used.
    pub(super) fn touched(&self) -> Instant {
        *self.touched.lock().expect("no holder panics")
    }

    fn touch(&self) {
        *self.touched.lock().expect("no holder panics") = Instant::now();
    }

    /// Keeps a message; false if too many are unread (WSK-8).
    fn keep(&self, message: Message) -> bool {
        let mut inbox = self.inbox.lock().expect("no holder panics");
        inbox.bytes += message.len();
        inbox.messages.push_back(message);
        let fits = inbox.bytes <= MOST_BYTES || inbox.messages.len() == 1;
        self.news.notify_waiters();
        fits && inbox.messages.len() <= MOST_MESSAGES
    }

    fn end(&self, end: Closed) {
        self.inbox.lock().expect("no holder panics").end.get_or_insert(end);
        self.news.notify_waiters();
    }
}

fn told(seq: u64, message: &Message) -> Value {
    match message {
        Message::Text(text) => json!({ "seq": seq, "text": text.as_str() }),
        other => json!({ "seq": seq, "base64": body::encode(&other.clone().into_data()) }),
    }
}

/// Carries messages both ways until one side ends it. Pings are answered on the way, and never shown (WSK-9).
async fn pump<S>(
    mut stream: WebSocketStream<S>,
    mut orders: mpsc::Receiver<Order>,
    socket: Weak<Socket>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut until: Option<Instant> = None;
    let end = loop {
        let patience = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            came = stream.next() => match came {
                Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => {
                    let Some(socket) = socket.upgrade() else { break broken() };
                    if !socket.keep(message) {
                        let _ = tokio::time::timeout(CLOSING, stream.close(Some(too_much()))).await;
                        break Closed { code: 1013, reason: "too many messages wait".to_owned(), clean: false };
                    }
                }
                Some(Ok(Message::Close(frame))) => {
                    drain(&mut stream).await;
                    let (code, reason) = said(frame);
                    break Closed { code, reason, clean: true };
                }
                Some(Ok(_)) => {}
                Some(Err(Error::Capacity(_))) => {
                    let _ = tokio::time::timeout(CLOSING, stream.close(Some(too_large()))).await;
                    break Closed { code: 1009, reason: String::new(), clean: false };
                }
                Some(Err(_)) | None => break broken(),
            },
            order = orders.recv() => match order {
                Some(Order::Send(message, done)) => {
                    if stream.send(message).await.is_err() {
                        break broken();
                    }
                    let _ = done.send(());
                }
                Some(Order::Close(frame)) => {
                    let _ = stream.close(frame).await;
                    until = Some(Instant::now() + CLOSING);
                }
                // Whoever opened it is gone (WSK-10).
                None => {
                    let _ = tokio::time::timeout(CLOSING, stream.close(Some(going_away()))).await;
                    return;
                }
            },
            () = patience => break broken(),
        }
    };
    if let Some(socket) = socket.upgrade() {
        socket.end(end);
    }
}

/// Reads to the end: what answers a goodbye is written while the rest is read.
async fn drain<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut WebSocketStream<S>) {
    let all = async { while let Some(Ok(_)) = stream.next().await {} };
    let _ = tokio::time::timeout(CLOSING, all).await;
}

/// What a goodbye says. One without a code is 1005.
fn said(frame: Option<CloseFrame>) -> (u16, String) {
    frame.map_or((1005, String::new()), |frame| {
        (frame.code.into(), frame.reason.as_str().to_owned())
    })
}

fn broken() -> Closed {
    Closed { code: 1006, reason: String::new(), clean: false }
}

fn too_much() -> CloseFrame {
    CloseFrame { code: CloseCode::Again, reason: "too many messages wait".into() }
}

fn too_large() -> CloseFrame {
    CloseFrame { code: CloseCode::Size, reason: "".into() }
}

fn going_away() -> CloseFrame {
    CloseFrame { code: CloseCode::Away, reason: "".into() }
}

/// What one answer brings.
const AT_ONCE: usize = 1 << 20;
/// What waits to be read.
const MOST_BYTES: usize = 1 << 20;
const MOST_MESSAGES: usize = 1_000;
/// How long the other side may take to say goodbye.
const CLOSING: Duration = Duration::from_secs(5);
