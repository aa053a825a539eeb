//! One turn: the model answers, the tools that it calls are called, and it goes on with their results, for as long as it calls any.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use serde_json::{Value, value::RawValue};
use tokio::{sync::oneshot, time::Instant};
use transom::printed::Printed;

use super::{
    fits::fits,
    gate::{Hear, Settled, Wanted},
    hear::ask_id,
    model::{Delta, Finish, Model},
    prompt::{self, Offer, Tools},
    talk::Talk,
    tree::{Call, CallState, NodeState, Role},
};
use crate::{envelope::ViewId, server::Servers};

/// What a turn stands on.
pub(super) struct Ground<'a> {
    pub(super) model: &'a Model,
    pub(super) servers: &'a Servers,
    /// Keeps the conversation as it is.
    pub(super) save: &'a (dyn Fn() + Sync),
}

/// Answers a node, within the limits of a turn.
pub(super) async fn run(ground: &Ground<'_>, talk: &Arc<Talk>, after: u32) {
    let end = Instant::now() + LONGEST;
    let mut used = Used::default();
    let mut after = after;
    loop {
        let tools = Arc::new(talk.tools(ground.servers));
        let prompt = prompt::prompt(&talk.lock().tree, Some(after), &tools);
        let node = talk.begin(after);
        let Some(prompt) = prompt else {
            return talk.fail(node, "The conversation is too long for a model. Begin a new one.");
        };
        used.rounds += 1;
        let hear: Arc<dyn Hear> = Arc::clone(talk) as Arc<dyn Hear>;
        let mut round = Round { talk, hear: &hear, tools: &tools, node, begun: vec![], tokens: 0 };
        let mut take = |delta| round.take(delta);
        let answer = ground.model.answer(&prompt, &mut take);
        let answer = tokio::time::timeout_at(end, answer).await;
        used.tokens = used.tokens.saturating_add(round.tokens);
        let finish = match answer {
            Err(_) => return talk.fail(node, "The turn took too long; it was stopped."),
            // What breaks off may have been meant otherwise: nothing of it is done.
            Ok(Err(error)) => return talk.fail(node, &error.to_string()),
            Ok(Ok(finish)) => finish,
        };
        let calls = round.begun.len();
        if calls == 0 {
            return talk.say_how(node, finish);
        }
        used.calls += calls;
        if let Some(words) = used.over() {
            return talk.fail(node, &words);
        }
        let waits = round.begun.into_iter().map(|(_, call)| talk.end_call(node, &call, &tools));
        let waits: Vec<_> = waits.collect();
        talk.tell();
        let all =
            futures_util::future::join_all(waits.into_iter().map(|(call, settled)| async move {
                let settled = settled.await.unwrap_or(Settled::Stopped);
                talk.settle(&call, settled);
            }));
        if tokio::time::timeout_at(end, all).await.is_err() {
            return talk.fail(node, "The turn took too long; it was stopped.");
        }
        talk.lock().finish(node, NodeState::Done, None);
        (ground.save)();
        talk.tell();
        after = node;
    }
}

/// What a turn has used up.
#[derive(Default)]
struct Used {
    rounds: usize,
    calls: usize,
    tokens: u64,
}

impl Used {
    fn over(&self) -> Option<String> {
        let why = match self {
            Self { rounds: ROUNDS.., .. } => format!("answered {ROUNDS} times"),
            Self { calls, .. } if *calls > CALLS => format!("called more than {CALLS} tools"),
            Self { tokens, .. } if *tokens > TOKENS => format!("used more than {TOKENS} tokens"),
            _ => return None,
        };
        Some(format!(
            "The model {why} without coming to an end, and was stopped. Say how to go on."
        ))
    }
}

/// One answer of the model.
struct Round<'a> {
    talk: &'a Arc<Talk>,
    hear: &'a Arc<dyn Hear>,
    tools: &'a Tools,
    node: u32,
    /// The calls that it began, by the places that the endpoint gives them.
    begun: Vec<(u64, ViewId)>,
    tokens: u64,
}

impl Round<'_> {
    fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => {
                let mut state = self.talk.lock();
                if let Some(node) = state.tree.node(self.node) {
                    node.text.push_str(&text);
                }
                state.touch(self.node);
                drop(state);
                self.talk.tell();
            }
            Delta::Call { at, id, name } => self.begin(at, id, name),
            Delta::Piece { at, text } => self.piece(at, text),
            Delta::Used { tokens } => self.tokens = tokens,
        }
    }

    fn begin(&mut self, at: u64, wire: String, name: String) {
        if self.begun.len() >= AT_ONCE {
            return;
        }
        let id = fresh();
        let offer = self.tools.find(&name);
        let (server, tool, of, view) = match offer {
            Some(Offer { server, tool, of, view, .. }) => {
                (server.clone(), tool.clone(), of.as_ref().map(ViewId::to_string), *view)
            }
            None => (String::new(), String::new(), None, false),
        };
        if offer.is_some_and(|offer| offer.of.is_none()) {
            let (server, tool) = (server.clone(), tool.clone());
            let hear = Arc::clone(self.hear);
            let _ = self.talk.wanted.send(Wanted::Begin { call: id.clone(), server, tool, hear });
        }
        let (arguments, answer, state) = (String::new(), String::new(), CallState::Writing);
        let call = Call {
            id: id.to_string(),
            wire,
            name,
            server,
            tool,
            of,
            view,
            arguments,
            state,
            answer,
        };
        let mut state = self.talk.lock();
        if let Some(node) = state.tree.node(self.node) {
            node.calls.push(call);
        }
        state.touch(self.node);
        drop(state);
        self.talk.tell();
        self.begun.push((at, id));
    }

    fn piece(&self, at: u64, text: String) {
        let Some((_, id)) = self.begun.iter().find(|(place, _)| *place == at) else { return };
        // First to the view, and then to the page, which draws it when it has time.
        let _ = self.talk.wanted.send(Wanted::Piece { call: id.clone(), text: text.clone() });
        let mut state = self.talk.lock();
        if let Some((_, call)) = state.tree.call(id.as_str()) {
            call.arguments.push_str(&text);
        }
        state.touch(self.node);
        drop(state);
        self.talk.tell();
    }
}

impl Talk {
    fn begin(&self, after: u32) -> u32 {
        let mut state = self.lock();
        let node = state.tree.add(Some(after), Role::Assistant, String::new());
        state.touch(node);
        drop(state);
        self.tell();
        node
    }

    fn say_how(&self, node: u32, finish: Finish) {
        let note = match finish {
            Finish::Said => None,
            Finish::Cut => Some("The model may not say more at a time; ask it to go on."),
            Finish::Withheld => Some("The endpoint keeps the rest of this answer to itself."),
        };
        self.lock().finish(node, NodeState::Done, note.map(str::to_owned));
        self.tell();
    }

    /// The turn ends here: what was begun in it is not done.
    fn fail(&self, node: u32, words: &str) {
        self.give_up(Some(node), NodeState::Failed, "the model did not come to an end");
        self.lock().finish(node, NodeState::Failed, Some(words.to_owned()));
        self.tell();
    }

    /// The person stopped what was under way.
    pub(super) fn stopped(&self) {
        self.give_up(None, NodeState::Stopped, "the person stopped it");
        self.tell();
    }

    fn give_up(&self, only: Option<u32>, how: NodeState, why: &'static str) {
        let mut state = self.lock();
        let open: Vec<u32> = state
            .tree
            .nodes
            .iter()
            .filter(|node| only.is_none_or(|only| node.id == only))
            .filter(|node| matches!(node.state, NodeState::Writing | NodeState::Calling))
            .map(|node| node.id)
            .collect();
        let mut moot = vec![];
        for id in open {
            state.finish(id, how, None);
            let Some(node) = state.tree.node(id) else { continue };
            for call in node.calls.iter_mut().filter(|call| call.state.is_open()) {
                call.state = CallState::Stopped;
                moot.extend(ViewId::parse(&call.id));
            }
        }
        drop(state);
        for call in moot {
            self.questions.withdraw(&ask_id(&call));
            let _ = self.wanted.send(Wanted::Stop { call, why });
        }
    }

    /// The arguments of a call are written. It is judged and made elsewhere; what cannot be meant is not even tried.
    fn end_call(
        self: &Arc<Self>,
        node: u32,
        id: &ViewId,
        tools: &Tools,
    ) -> (ViewId, oneshot::Receiver<Settled>) {
        let (done, settled) = oneshot::channel();
        let mut state = self.lock();
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(it) = state.tree.node(node) {
            it.state = NodeState::Calling;
        }
        state.touch(node);
        let Some((_, call)) = state.tree.call(id.as_str()) else {
            return (id.clone(), settled);
        };
        // Models write nothing where there are no arguments.
        if call.arguments.trim().is_empty() {
            call.arguments = "{}".to_owned();
            let _ = self.wanted.send(Wanted::Piece { call: id.clone(), text: "{}".to_owned() });
        }
        call.state = CallState::Waiting;
        match judge(tools.find(&call.name), call) {
            Err(words) => {
                let _ =
                    self.wanted.send(Wanted::Stop { call: id.clone(), why: "it cannot be made" });
                let _ = done.send(Settled::Refused(words));
            }
            Ok((Some(view), arguments)) => {
                let (call, tool) = (id.clone(), call.tool.clone());
                let _ = self.wanted.send(Wanted::Offered { view, call, tool, arguments, done });
            }
            Ok((None, _)) => {
                let agreed = agreed.get(&(call.server.clone(), call.tool.clone())).cloned();
                let _ = self.wanted.send(Wanted::End { call: id.clone(), agreed, done });
            }
        }
        (id.clone(), settled)
    }

    /// What came of a call. One that was stopped meanwhile stays stopped, whatever comes.
    fn settle(&self, id: &ViewId, settled: Settled) {
        self.questions.withdraw(&ask_id(id));
        let mut state = self.lock();
        let Some((node, call)) = state.tree.call(id.as_str()) else { return };
        if !call.state.is_open() {
            return;
        }
        let mut whole = None;
        (call.state, call.answer) = match settled {
            Settled::Done(result) => {
                let (text, failed) = prompt::told(&result);
                call.view |= brings_view(&result);
                whole = Some(result);
                (if failed { CallState::Failed } else { CallState::Done }, text)
            }
            Settled::Failed(words) => (CallState::Failed, words),
            Settled::Refused(words) => (CallState::Refused, words),
            Settled::Stopped => (CallState::Stopped, String::new()),
        };
        if let Some(result) = whole.filter(|result| result.get().len() <= KEPT) {
            state.tree.results.insert(id.to_string(), result);
        }
        state.touch(node);
        drop(state);
        self.tell();
    }

    /// Has the view of a call ready that was made before, with what its tool answered then.
    pub(super) fn restore(self: &Arc<Self>, call: &str) -> Result<(), &'static str> {
        let id = ViewId::parse(call).ok_or("There is no such call.")?;
        let mut state = self.lock();
        let result = state.tree.results.get(call).cloned();
        let Some((_, it)) = state.tree.call(call) else { return Err("There is no such call.") };
        // One that is under way is known where its view is opened.
        if it.state.is_open() {
            return Ok(());
        }
        let outcome = result.ok_or_else(|| it.answer.clone());
        let (server, tool, arguments) = (it.server.clone(), it.tool.clone(), it.arguments.clone());
        drop(state);
        let hear = Arc::clone(self) as Arc<dyn Hear>;
        let wanted = Wanted::Restore { call: id, server, tool, arguments, outcome, hear };
        self.wanted.send(wanted).map_err(|_| "The host is closing.")
    }
}

/// Whether a call can be meant: the view whose tool it is, if it is one, and the arguments.
fn judge(offer: Option<&Offer>, call: &Call) -> Result<(Option<ViewId>, Box<RawValue>), String> {
    let Some(offer) = offer else {
        return Err(format!("There is no tool named {:?}.", transom::quoted::legible(&call.name)));
    };
    if call.arguments.len() > ARGUMENTS {
        return Err(format!("The arguments are longer than {ARGUMENTS} bytes."));
    }
    let clear = RawValue::from_string(call.arguments.clone())
        .map_err(|error| format!("The arguments are no JSON: {error}."))?;
    let printed =
        Printed::read(&clear).map_err(|why| format!("The arguments are not clear: {why}."))?;
    let value: Value = serde_json::from_str(printed.get())
        .map_err(|error| format!("The arguments are no JSON: {error}."))?;
    if !value.is_object() {
        return Err("The arguments are no JSON object.".to_owned());
    }
    fits(&offer.schema, &value).map_err(|words| format!("The arguments do not fit: {words}."))?;
    let raw = RawValue::from_string(printed.get().to_owned()).expect("we printed JSON");
    Ok((offer.of.clone(), raw))
}

/// Whether a result has a view in it.
fn brings_view(result: &RawValue) -> bool {
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    blocks
        .iter()
        .any(|block| block["resource"]["uri"].as_str().is_some_and(|uri| uri.starts_with("ui://")))
}

fn fresh() -> ViewId {
    let mut bytes = [0_u8; 12];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    let name = format!("call-{}", data_encoding::HEXLOWER.encode(&bytes));
    ViewId::parse(&name).expect("letters and digits")
}

/// How often a model may answer in one turn, and what else it may use up.
const ROUNDS: usize = 25;
const CALLS: usize = 100;
const AT_ONCE: usize = 16;
const TOKENS: u64 = 2_000_000;
const LONGEST: Duration = Duration::from_secs(3_600);
/// The longest arguments, and the largest result that is kept for its view.
const ARGUMENTS: usize = 1 << 20;
const KEPT: usize = 4 << 20;
