//! Three servers in this process: a stranger, the same with more granted, and a neighbour.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::{
    io::DuplexStream,
    sync::{mpsc, watch},
};
use transom::wire::{EXTENSION, MIME};
use transom_host::upstream::{InProcess, answer_lines};

use super::{
    evidence::{Said, Seen},
    plan::Plan,
};

/// What the servers share.
pub(super) struct Cast {
    pub(super) plan: Plan,
    pub(super) seen: mpsc::Sender<Seen>,
    /// Whether the neighbour is in its place; no attempt begins before.
    pub(super) ready: watch::Sender<bool>,
}

/// Which of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Stranger,
    Neighbour,
}

/// A server that plays this role.
pub(super) fn server(cast: &Arc<Cast>, role: Role) -> InProcess {
    let cast = Arc::clone(cast);
    let name = if role == Role::Stranger { "stranger" } else { "neighbour" };
    InProcess::new(name, move || {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(serve(theirs, Arc::clone(&cast), role));
        ours
    })
}

async fn serve(stream: DuplexStream, cast: Arc<Cast>, role: Role) {
    let (reader, writer) = tokio::io::split(stream);
    let answer =
        async |message: Value| cast.answer(&message, role).await.ok_or((-32601, "not here"));
    answer_lines(reader, writer, answer).await;
}

impl Cast {
    async fn answer(&self, message: &Value, role: Role) -> Option<Value> {
        let params = &message["params"];
        match message["method"].as_str()? {
            "initialize" => Some(json!({
                "protocolVersion": "2025-11-25",
                "serverInfo": { "name": "isolation", "version": env!("CARGO_PKG_VERSION") },
                "capabilities": { "tools": {}, "resources": {}, "extensions": { EXTENSION: {} } },
            })),
            "ping" => Some(json!({})),
            "tools/list" => Some(json!({ "tools": tools(role) })),
            "tools/call" => self.call(params, role).await,
            "resources/list" => Some(json!({ "resources": [
                { "uri": VIEW, "name": "view", "mimeType": MIME },
            ] })),
            "resources/read" if params["uri"] == VIEW => Some(self.read(role)),
            _ => None,
        }
    }

    fn read(&self, role: Role) -> Value {
        let (text, csp) = match role {
            Role::Stranger => (
                self.plan.stranger(),
                json!({ "connectDomains": [self.plan.traps.ally, self.plan.traps.near] }),
            ),
            Role::Neighbour => (self.plan.neighbour(), json!({})),
        };
        json!({ "contents": [{
            "uri": VIEW, "mimeType": MIME, "text": text, "_meta": { "ui": { "csp": csp } },
        }] })
    }

    async fn call(&self, params: &Value, role: Role) -> Option<Value> {
        let arguments = &params["arguments"];
        // What a careless reader takes for the tool, and what only a host says.
        if ["Name", "task", "inputResponses"].iter().any(|name| params.get(name).is_some()) {
            self.fooled_by("call-twin").await;
        }
        match (role, params["name"].as_str()?) {
            (Role::Stranger, "attack") => {
                let _ = self.ready.subscribe().wait_for(|ready| *ready).await;
                let view = arguments["view"].as_str()?;
                Some(shown(self.plan.of(view)))
            }
            (Role::Stranger, "report") | (Role::Neighbour, "watch_report") => {
                self.hear(Said::deserialize_lossy(arguments)).await;
                Some(shown(json!({})))
            }
            (Role::Neighbour, "watch") => Some(shown(json!({ "secret": self.plan.secret }))),
            // The neighbour itself never calls it: a call is one in its name.
            (Role::Neighbour, "confess") => {
                for attempt in ["call-spoof", "foreign-tool"] {
                    self.fooled_by(attempt).await;
                }
                Some(shown(json!({ "secret": self.plan.secret })))
            }
            _ => None,
        }
    }

    /// Writes down that something came which no view may bring about.
    async fn fooled_by(&self, attempt: &str) {
        self.hear(Said { fooled: Some(attempt.to_owned()), ..Said::default() }).await;
    }

    /// Writes down what a view or the page said.
    pub(super) async fn hear(&self, said: Said) {
        if said.ready == Some(true) {
            self.ready.send_replace(true);
        }
        let _ = self.seen.send(Seen::Said(Box::new(said))).await;
    }
}

impl Said {
    /// What was said, as far as it can be understood.
    pub(super) fn deserialize_lossy(value: &Value) -> Self {
        serde_json::from_value(value.clone()).unwrap_or_default()
    }
}

fn tools(role: Role) -> Value {
    let tool = |name: &str, ui: Value| {
        json!({
            "name": name, "inputSchema": { "type": "object" },
            // What changes nothing needs no question.
            "annotations": { "readOnlyHint": true }, "_meta": { "ui": ui },
        })
    };
    let for_app = json!({ "visibility": ["app"] });
    let shows = json!({ "resourceUri": VIEW });
    match role {
        Role::Stranger => json!([tool("attack", shows), tool("report", for_app)]),
        Role::Neighbour => {
            json!([
                tool("watch", shows),
                tool("watch_report", for_app.clone()),
                tool("confess", for_app)
            ])
        }
    }
}

fn shown(data: Value) -> Value {
    json!({ "content": [{ "type": "text", "text": "" }], "structuredContent": data })
}

const VIEW: &str = "ui://isolation/view.html";
