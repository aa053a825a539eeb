//! Handles: names that a server's results give a view for what it keeps for it, such as a stream. They are one instance's own.
//!
//! A tool says in `_meta` that its results give them or that its arguments take them ([`Handling`]), whatever its name.

use std::{collections::VecDeque, sync::Arc};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Output, Session, ToolCall};
use crate::{
    policy::{Verdict, Wish},
    printed::{Printed, reads_as},
    routes::Handling,
    violation::{Denial, Quoted},
    wire::Members,
};

/// The handles that the current instance of a view has, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Handles(VecDeque<Handle>);

#[derive(Debug)]
struct Handle {
    id: String,
    member: String,
    /// The tool that ends what it stands for.
    end: String,
}

/// What an answer means for the handles of a view.
#[derive(Debug)]
pub(super) struct Expected {
    handling: Arc<Handling>,
    /// The handle that the call took.
    taken: Option<String>,
}

impl Session {
    /// What the answer to a call may bring.
    pub(super) fn expect(&self, call: &ToolCall) -> Option<Expected> {
        let handling = self.tools.get(&call.name)?.handling.clone()?;
        let taken = handling.takes.as_ref().and_then(|member| argument(call, member));
        Some(Expected { handling, taken })
    }

    /// Refuses a call that takes a handle which this instance of the view was not given: another view's, or one from before it
    /// was loaded anew (HST-4, HST-5).
    pub(super) fn check_handle(&self, call: &ToolCall) -> Result<(), Denial> {
        let handling = self.tools.get(&call.name).and_then(|tool| tool.handling.as_ref());
        let Some(member) = handling.and_then(|handling| handling.takes.as_ref()) else {
            return Ok(());
        };
        let given = argument(call, member).filter(|given| self.handles.has(member, given));
        given.map(drop).ok_or_else(|| Denial::NoHandle(Quoted::new(member)))
    }

    /// Learns of the handles in an answer.
    pub(super) fn take_handles(&mut self, expected: &Expected, result: &RawValue) {
        let Ok(result) = serde_json::from_str::<Brought<'_>>(result.get()) else { return };
        let data =
            result.data.and_then(|data| serde_json::from_str::<Members<'_>>(data.get()).ok());
        let data = |member: &str| data.as_ref()?.get(member).map(RawValue::get);
        let over = expected.handling.over.as_ref().and_then(|over| data(over)) == Some("true");
        let taken = expected.handling.takes.as_ref().zip(expected.taken.as_ref());
        if let Some((member, taken)) = taken.filter(|_| over) {
            self.handles.remove(member, taken);
        }
        let Some((member, end)) = &expected.handling.gives else { return };
        let id = data(member).and_then(|id| serde_json::from_str::<String>(id).ok());
        if let Some(id) = id.filter(|id| id.len() <= LONGEST) {
            let handle = Handle { id, member: member.clone(), end: end.clone() };
            if let Some(oldest) = self.handles.add(handle) {
                self.release(&oldest);
            }
        }
    }

    /// This instance of the view is gone, and with it whatever its handles stand for (HST-3).
    pub(super) fn release_all(&mut self) {
        for handle in std::mem::take(&mut self.handles).0 {
            self.release(&handle);
        }
    }

    /// Ends what a handle stands for, by a tool that takes such handles from views and that no question is asked about.
    fn release(&mut self, Handle { id, member, end }: &Handle) {
        let Some(tool) = self.tools.get(end).filter(|tool| tool.for_app) else { return };
        let takes = tool.handling.as_ref().and_then(|handling| handling.takes.as_ref());
        let allowed = self.judge_wish(Wish::CallTool(tool)) == Verdict::Allow;
        if takes != Some(member) || !allowed || tool.routes.is_some() {
            return;
        }
        let arguments = serde_json::json!({ member: id });
        let arguments = Printed::parse(&arguments.to_string()).ok();
        let call = ToolCall { name: end.clone(), arguments, meta: None, request: None };
        self.outputs.push_back(Output::Release(call));
    }
}

impl Handles {
    fn has(&self, member: &str, id: &str) -> bool {
        self.0.iter().any(|handle| handle.id == id && handle.member == member)
    }

    /// Keeps a handle; returns the oldest where there are too many.
    fn add(&mut self, handle: Handle) -> Option<Handle> {
        self.remove(&handle.member, &handle.id);
        self.0.push_back(handle);
        if self.0.len() > MOST { self.0.pop_front() } else { None }
    }

    fn remove(&mut self, member: &str, id: &str) {
        self.0.retain(|handle| handle.id != id || handle.member != member);
    }
}

/// The text of an argument; none where another name passes for it, of which a careless reader would take the value.
fn argument(call: &ToolCall, member: &str) -> Option<String> {
    let arguments: Members<'_> = serde_json::from_str(call.arguments.as_ref()?.get()).ok()?;
    if arguments.iter().any(|(name, _)| name != member && reads_as(name, member)) {
        return None;
    }
    serde_json::from_str(arguments.get(member)?.get()).ok()
}

/// What of a result matters here.
#[derive(Deserialize)]
struct Brought<'a> {
    #[serde(borrow, default, rename = "structuredContent")]
    data: Option<&'a RawValue>,
}

/// The most handles of one view; the oldest makes room.
const MOST: usize = 128;
/// The longest handle, in bytes.
const LONGEST: usize = 256;
