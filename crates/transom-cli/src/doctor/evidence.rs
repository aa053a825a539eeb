//! What is known of a view while it opens: what passed on both wires, what its browser says, and what its server is.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use transom_host::{
    Line, LineKind, ServerState,
    timeline::{Party, Trace},
};

use crate::browser::Browser;

/// What is known.
pub(super) struct Evidence {
    pub(super) server: String,
    pub(super) state: ServerState,
    /// The messages, in their order.
    pub(super) messages: Vec<Message>,
    /// Other moments: their kind and words.
    pub(super) events: Vec<(String, String)>,
    /// The tools that the server lists.
    pub(super) tools: Vec<Value>,
    /// The tool whose view is looked at, and the address that it links to.
    pub(super) tool: Option<(String, Option<String>)>,
    /// What the frame of the document says of itself.
    pub(super) frame: Option<Value>,
    /// What its scripts failed with, and the lines of the log about it.
    pub(super) errors: Vec<String>,
    pub(super) blocked: Vec<String>,
}

/// One message of the server or of the view.
pub(super) struct Message {
    pub(super) from: Party,
    pub(super) of_view: bool,
    pub(super) value: Value,
}

impl Message {
    fn is(&self, method: &str) -> bool {
        self.value["method"] == method
    }
}

impl Evidence {
    pub(super) fn new(server: &str, state: ServerState, trace: &Trace) -> Self {
        let mut evidence = Self {
            server: server.to_owned(),
            state,
            messages: vec![],
            events: vec![],
            tools: vec![],
            tool: None,
            frame: None,
            errors: vec![],
            blocked: vec![],
        };
        evidence.hear(trace, vec![]);
        let lists = evidence.answers("tools/list");
        let tools = lists.filter_map(|answer| answer["result"]["tools"].as_array());
        evidence.tools = tools.flatten().cloned().collect();
        evidence
    }

    /// The tool that was named, or the first one with a view.
    pub(super) fn choose(&mut self, named: Option<&str>) {
        let link = |tool: &Value| {
            let meta = &tool["_meta"];
            let uri =
                meta["ui"]["resourceUri"].as_str().or_else(|| meta["ui/resourceUri"].as_str());
            uri.map(str::to_owned)
        };
        let find = |tool: &&Value| match named {
            Some(name) => tool["name"] == name,
            None => link(tool).is_some(),
        };
        let found = self.tools.iter().find(find);
        self.tool =
            found.map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), link(tool)));
    }

    /// The call that opens the view.
    pub(super) fn call(&self, input: Option<&str>) -> Result<Value> {
        let input: Value =
            serde_json::from_str(input.unwrap_or("{}")).context("--input is no JSON")?;
        let name = self.tool.as_ref().map(|(name, _)| name.as_str());
        Ok(json!({ "server": self.server, "name": name, "arguments": input }))
    }

    /// Takes in what passed so far.
    pub(super) fn hear(&mut self, trace: &Trace, lines: Vec<Line>) {
        let message = |moment: &transom_host::timeline::Moment| {
            let value = serde_json::from_str(moment.said()?).ok()?;
            Some(Message { from: moment.from?, of_view: moment.view.is_some(), value })
        };
        self.messages = trace.moments.iter().filter_map(message).collect();
        let event = |moment: &&transom_host::timeline::Moment| moment.kind != "message";
        let events = trace.moments.iter().filter(event);
        self.events = events
            .map(|moment| (moment.kind.clone(), moment.words.clone().unwrap_or_default()))
            .collect();
        let of = |kind: LineKind| {
            let lines = lines.iter().filter(move |line| line.kind == kind);
            lines.map(|line| line.words.as_str().to_owned()).collect()
        };
        (self.errors, self.blocked) = (of(LineKind::Console), of(LineKind::Blocked));
    }

    /// Looks at the frame of the document, as far as there is one.
    pub(super) async fn look(&mut self, browser: &mut Browser) -> Result<()> {
        if let Some(found) = frame(browser).await? {
            self.frame = Some(found);
        }
        Ok(())
    }

    /// Whether there is nothing more to wait for.
    pub(super) fn is_complete(&self) -> bool {
        self.said("ui/notifications/size-changed")
            && self.is_painted()
            && (self.told("ui/notifications/tool-result")
                || self.told("ui/notifications/tool-cancelled"))
    }

    pub(super) fn is_painted(&self) -> bool {
        self.frame
            .as_ref()
            .is_some_and(|frame| frame["paint"].as_u64().unwrap_or(0) > 0 && frame["shown"] == true)
    }

    /// Whether the view said this.
    pub(super) fn said(&self, method: &str) -> bool {
        self.messages.iter().any(|it| it.of_view && it.from == Party::View && it.is(method))
    }

    /// Whether the view was told this.
    pub(super) fn told(&self, method: &str) -> bool {
        self.messages.iter().any(|it| it.of_view && it.from == Party::Gate && it.is(method))
    }

    /// What a server answered to requests of this method.
    pub(super) fn answers<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Value> {
        let on_wire = || self.messages.iter().filter(|it| !it.of_view);
        let asked = on_wire().filter(move |it| it.from == Party::Gate && it.is(method));
        asked.filter_map(move |asked| {
            let is_answer = |it: &&Message| {
                it.from == Party::Server
                    && it.value["method"].is_null()
                    && it.value["id"] == asked.value["id"]
            };
            on_wire().find(is_answer).map(|it| &it.value)
        })
    }

    pub(super) fn has_event(&self, kind: &str) -> bool {
        self.events.iter().any(|(its, _)| its == kind)
    }

    /// The text of the document, if it was read.
    pub(super) fn document(&self) -> Option<&Value> {
        let uri = self.tool.as_ref()?.1.as_deref()?;
        let contents = self
            .answers("resources/read")
            .flat_map(|answer| answer["result"]["contents"].as_array().into_iter().flatten());
        contents.filter(|content| content["uri"] == uri).last()
    }
}

/// What the frame of the document says of itself: it is two frames below the sandbox's, which is a process of its own.
async fn frame(browser: &mut Browser) -> Result<Option<Value>> {
    let targets = browser.call("Target.getTargets", json!({})).await?;
    let frames = targets["targetInfos"].as_array().into_iter().flatten();
    let frames: Vec<Value> = frames.filter(|it| it["type"] == "iframe").cloned().collect();
    for target in frames {
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let Ok(attached) = browser.call("Target.attachToTarget", attach).await else { continue };
        let Some(session) = attached["sessionId"].as_str() else { continue };
        let Ok(tree) = browser.on(session, "Page.getFrameTree", json!({})).await else { continue };
        let guest = tree.pointer("/frameTree/childFrames/0/childFrames/0/frame/id");
        let Some(guest) = guest.filter(|id| id.is_string()) else { continue };
        let world =
            browser.on(session, "Page.createIsolatedWorld", json!({ "frameId": guest })).await;
        let Ok(world) = world else { continue };
        let asked = json!({ "expression": LOOK, "returnByValue": true, "contextId": world["executionContextId"] });
        if let Ok(mut said) = browser.on(session, "Runtime.evaluate", asked).await {
            return Ok(Some(said["result"]["value"].take()));
        }
    }
    Ok(None)
}

/// Runs in the frame of the document, beside its own scripts.
const LOOK: &str = "({
  state: document.readyState,
  paint: performance.getEntriesByType('paint').length,
  shown: !!document.body && [...document.body.querySelectorAll('*')].some((it) => {
    const { width, height } = it.getBoundingClientRect();
    return width > 0 && height > 0 && !['SCRIPT', 'STYLE', 'LINK', 'META'].includes(it.tagName);
  }),
})";
