//! The WebSockets of views, and the tools by which they are used (WSK-1).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use http::Method;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};

use super::failure::Failure;
use super::path::Target;
use super::record::{Decision, HttpRecord};
use super::socket::Socket;
use super::{Proxy, body, headers, parse, tool};

/// The connections that are open.
pub(crate) struct Sockets {
    open: Mutex<HashMap<String, Arc<Socket>>>,
    idle: Duration,
}

/// The arguments of `ws_connect`.
#[derive(Deserialize)]
struct Connect {
    url: String,
    #[serde(default)]
    protocols: Vec<String>,
    #[serde(default)]
    headers: Map<String, Value>,
}

/// The arguments of `ws_send`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Send {
    connection_id: String,
    seq: u64,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    base64: Option<String>,
}

/// The arguments of `ws_receive`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receive {
    connection_id: String,
    #[serde(default)]
    after_seq: Option<u64>,
    #[serde(default)]
    wait_ms: Option<u64>,
}

/// The arguments of `ws_close`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Close {
    connection_id: String,
    #[serde(default)]
    code: Option<u16>,
    #[serde(default)]
    reason: Option<String>,
}

impl Sockets {
    pub(crate) fn new(idle: Duration) -> Self {
        Self { open: Mutex::default(), idle }
    }

    fn has_room(&self, person: &str) -> bool {
        has_room(&self.open.lock().expect("no holder panics"), person)
    }

    /// Keeps a connection, unless others that were dialled at the same time have taken the room.
    fn add(self: &Arc<Self>, socket: Arc<Socket>) -> Result<String, Failure> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(|error| Failure::network(&error))?;
        let id = format!("{:032x}", u128::from_be_bytes(secret));
        let mut open = self.open.lock().expect("no holder panics");
        if !has_room(&open, &socket.person) {
            return Err(too_many());
        }
        tokio::spawn(expire(Arc::downgrade(self), id.clone(), Arc::downgrade(&socket)));
        open.insert(id.clone(), socket);
        Ok(id)
    }

    fn find(&self, person: &str, id: &str) -> Result<Arc<Socket>, Failure> {
        let open = self.open.lock().expect("no holder panics");
        // Another person's looks like none at all.
        let found = open.get(id).filter(|socket| socket.person == person);
        found
            .cloned()
            .ok_or_else(|| Failure::bad_request("there is no such connection, or it has expired"))
    }

    fn remove(&self, id: &str) {
        self.open.lock().expect("no holder panics").remove(id);
    }
}

fn has_room(open: &HashMap<String, Arc<Socket>>, person: &str) -> bool {
    let theirs = open.values().filter(|socket| socket.person == person).count();
    theirs < PER_PERSON && open.len() < IN_ALL
}

fn too_many() -> Failure {
    Failure::blocked("this app has too many connections, or asks too often")
}

/// Ends a connection whose messages are not read (WSK-10).
async fn expire(sockets: Weak<Sockets>, id: String, socket: Weak<Socket>) {
    loop {
        let due = match (sockets.upgrade(), socket.upgrade()) {
            (Some(sockets), Some(socket)) => socket.touched() + sockets.idle,
            _ => return,
        };
        if due <= Instant::now() {
            if let Some(sockets) = sockets.upgrade() {
                sockets.remove(&id);
            }
            return;
        }
        tokio::time::sleep_until(due).await;
    }
}

impl Proxy {
    /// Opens a connection; the record is written as for every request.
    pub(crate) async fn ws_connect(
        &self,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let begun = Instant::now();
        let mut record = HttpRecord::new();
        let opened = tokio::select! {
            opened = self.connect(arguments, context, &mut record) => opened,
            () = context.ct.cancelled() => {
                record.decision = Decision::Cancelled;
                Err(Failure::network(&"the view gave it up"))
            }
        };
        record.took = begun.elapsed();
        record.log();
        if let Some(hear) = &self.on_record {
            hear(&record);
        }
        opened.unwrap_or_else(|failure| tool::failed(&failure, record.reached))
    }

    async fn connect(
        &self,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
        record: &mut HttpRecord,
    ) -> Result<CallToolResult, Failure> {
        let Connect { url, protocols, headers } = parse(arguments)?;
        record.method = Method::GET.to_string();
        let target = Target::parse(&self.base, &url)?;
        record.path = target.path().to_owned();
        let (person, proof) = self.person(context).await?;
        record.app.clone_from(&person);
        let takes = |route: &super::Route| route.sockets && route.takes(&Method::GET, &target);
        let route = self.routes.iter().position(takes);
        let route = route.ok_or_else(|| Failure::blocked("no route opens a WebSocket there"))?;
        let rules = &self.routes[route];
        let mut own = self.own.clone();
        own.extend(proof);
        let mut sent = headers::of_view(&headers, &rules.headers, &own)?;
        sent.extend(own);
        // One that is under way for as long as it is dialled.
        let running = self.limits.begin(&person, route).ok();
        let Some(_running) = running.filter(|_| self.sockets.has_room(&person)) else {
            record.decision = Decision::Limited;
            return Err(too_many());
        };
        record.decision = Decision::Failed;
        let config = WebSocketConfig::default()
            .max_message_size(Some(rules.max_response.min(MESSAGE)))
            .max_frame_size(Some(rules.max_response.min(MESSAGE)));
        let dialled = self.backend.dial(&target, sent, &protocols, config, &mut record.reached);
        let dialled = tokio::time::timeout(self.patience.min(DIAL), dialled);
        let dialled = dialled.await.map_err(|_| Failure::timeout())??;
        let socket = Socket::open(dialled.stream, person, rules.max_request);
        let id = self.sockets.add(socket)?;
        (record.decision, record.status) = (Decision::Allowed, Some(101));
        let protocol = dialled.protocol.unwrap_or_default();
        Ok(tool::plain(
            format!("GET {} 101", target.path()),
            json!({ "connectionId": id, "protocol": protocol, "extensions": "" }),
        ))
    }

    pub(crate) async fn ws_send(
        &self,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let Send { connection_id, seq, text, base64 } = parse(arguments)?;
        let message = match (text, base64) {
            (Some(text), None) => Message::text(text),
            (None, Some(base64)) => Message::binary(body::decode(&base64, MESSAGE)?),
            _ => return Err(Failure::bad_request("a message is either text or base64")),
        };
        let (person, _) = self.person(context).await?;
        let socket = self.sockets.find(&person, &connection_id)?;
        let size = message.len();
        while let Err(wait) = self.limits.count(&person, size) {
            // Later messages wait behind this one, in the view.
            if wait > LONG {
                return Err(Failure::blocked("this app sends more than it may"));
            }
            tokio::time::sleep(wait).await;
        }
        socket.send(seq, message).await?;
        Ok(tool::plain(format!("message {seq}, {size} bytes"), json!({ "seq": seq })))
    }

    /// Receives messages. A view that gives this up has gone, and its connection with it.
    pub(crate) async fn ws_receive(
        &self,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let Receive { connection_id, after_seq, wait_ms } = parse(arguments)?;
        let (person, _) = self.person(context).await?;
        let socket = self.sockets.find(&person, &connection_id)?;
        let wait = Duration::from_millis(wait_ms.unwrap_or(MAX_WAIT).min(MAX_WAIT));
        let answer = tokio::select! {
            answer = socket.receive(after_seq, wait) => answer,
            () = context.ct.cancelled() => {
                self.sockets.remove(&connection_id);
                return Ok(tool::plain("given up".to_owned(), json!({ "messages": [], "done": true })));
            }
        };
        if let Err(wait) = self.limits.count(&person, answer.to_string().len()) {
            // What waits stays: the view asks again for the same messages, later.
            tokio::time::sleep(wait.min(LONG)).await;
            return Ok(tool::plain("later".to_owned(), json!({ "messages": [], "done": false })));
        }
        if answer["done"] == true {
            self.sockets.remove(&connection_id);
        }
        let count = answer["messages"].as_array().map_or(0, Vec::len);
        Ok(tool::plain(format!("{count} messages"), answer))
    }

    pub(crate) async fn ws_close(
        &self,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let Close { connection_id, code, reason } = parse(arguments)?;
        // WSK-4: what a page may say.
        let sound = code.is_none_or(|code| code == 1000 || (3000..5000).contains(&code));
        let reason = reason.unwrap_or_default();
        if !sound || reason.len() > 123 {
            return Err(Failure::bad_request("no page may close a connection like that"));
        }
        let (person, _) = self.person(context).await?;
        if let Ok(socket) = self.sockets.find(&person, &connection_id) {
            let frame = code.map(|code| CloseFrame { code: code.into(), reason: reason.into() });
            socket.close(frame).await;
        }
        Ok(tool::plain("the connection is closing".to_owned(), json!({})))
    }
}

/// Below the time after which hosts and proxies give a call up.
const MAX_WAIT: u64 = 25_000;
/// How long a connection may take to open.
const DIAL: Duration = Duration::from_secs(30);
/// How long an app that uses too much is kept waiting.
const LONG: Duration = Duration::from_secs(10);
/// The largest message from the backend.
const MESSAGE: usize = 1 << 20;
const PER_PERSON: usize = 16;
const IN_ALL: usize = 1_024;
