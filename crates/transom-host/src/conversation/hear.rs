//! What a conversation hears of the driver: how its calls get on, and what views leave for the model.

use std::sync::{Arc, PoisonError};

use transom::printed::Printed;

use super::{
    gate::{FOR_THIS, Hear, Offered, Wanted},
    prompt::text_of_blocks,
    questions::{Pending, TalkAnswer},
    talk::{Next, Talk},
    tree::{CallState, Chip},
};
use crate::envelope::{Ask, ViewId};

impl Hear for Talk {
    fn printed(&self, call: &ViewId, arguments: &Printed) {
        let mut state = self.lock();
        if let Some((_, call)) = state.tree.call(call.as_str()) {
            call.arguments = arguments.get().to_owned();
        }
    }

    fn ask(&self, call: &ViewId, ask: Ask, claims: String) {
        self.mark(call, CallState::Asked);
        let wanted = self.wanted.clone();
        let (id, state) = (call.clone(), self.lock());
        let calls = state.tree.nodes.iter().rev().flat_map(|node| &node.calls);
        let mut tool =
            calls.filter(|it| it.id == id.as_str()).map(|it| (it.server.clone(), it.tool.clone()));
        let Some(tool) = tool.next() else { return };
        drop(state);
        // A question must not keep the conversation open.
        let agreed = Arc::clone(&self.agreed);
        let take = move |answer: &TalkAnswer| {
            if answer.choice == FOR_THIS {
                let mut agreed = agreed.lock().unwrap_or_else(PoisonError::into_inner);
                agreed.insert(tool.clone(), claims.clone());
            }
            let choice = answer.choice.clone();
            let _ = wanted.send(Wanted::Answer { call: id.clone(), choice });
            Ok(())
        };
        let ask = Ask { id: ask_id(call), ..ask };
        let (form, url, host, message) = (None, None, None, None);
        self.questions.put(Pending { ask, form, url, host, message }, Box::new(take));
    }

    fn withdraw(&self, call: &ViewId) {
        self.questions.withdraw(&ask_id(call));
    }

    fn running(&self, call: &ViewId) {
        self.mark(call, CallState::Running);
    }

    fn message(&self, from: &str, content: &str) -> Result<(), &'static str> {
        let text = text_of_blocks(content);
        let mut state = self.lock();
        if state.queue.len() >= QUEUE {
            return Err("too many messages wait for the model");
        }
        if state.by_views >= BY_VIEWS {
            return Err("views have said enough; the person has not said anything for a while");
        }
        state.by_views += 1;
        state.queue.push_back(Next::View { from: from.to_owned(), text });
        drop(state);
        self.tell();
        self.go.notify_one();
        Ok(())
    }

    fn context(
        &self,
        view: &ViewId,
        from: &str,
        content: &str,
        structured: &str,
    ) -> Result<(), &'static str> {
        if content.len() + structured.len() > CONTEXT {
            return Err("context of a view is at most 64 KB here");
        }
        let mut text = text_of_blocks(content);
        if !structured.is_empty() {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(structured);
        }
        let mut state = self.lock();
        // Nothing is said any more: that takes it back.
        if text.is_empty() {
            state.chips.remove(view);
        } else if state.chips.len() >= CHIPS && !state.chips.contains_key(view) {
            return Err("as many views as may be have told the model something");
        } else {
            let (name, from) = (view.to_string(), from.to_owned());
            state.chips.insert(view.clone(), Chip { view: name, from, text });
        }
        drop(state);
        self.tell();
        Ok(())
    }

    fn offers(&self, view: &ViewId, from: &str, tools: Vec<Offered>) {
        let mut state = self.lock();
        match tools.is_empty() {
            true => drop(state.offers.remove(view)),
            false => drop(state.offers.insert(view.clone(), (from.to_owned(), tools))),
        }
    }

    fn gone(&self, view: &ViewId) {
        // What it told the model stays until the next turn: the person sees it, and can take it away.
        self.lock().offers.remove(view);
    }
}

impl Talk {
    fn mark(&self, id: &ViewId, how: CallState) {
        let mut state = self.lock();
        let Some((node, call)) = state.tree.call(id.as_str()) else { return };
        if call.state.is_open() {
            call.state = how;
        }
        state.touch(node);
        drop(state);
        self.tell();
    }
}

/// The question about a call.
pub(super) fn ask_id(call: &ViewId) -> String {
    format!("call-{call}")
}

/// What views may leave for the model.
const QUEUE: usize = 8;
const BY_VIEWS: u32 = 10;
const CONTEXT: usize = 64 << 10;
const CHIPS: usize = 32;
