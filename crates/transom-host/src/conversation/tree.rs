//! What was said, as a tree: whoever says something else at the same place begins a branch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A conversation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The end of the branch that is shown.
    pub(super) head: Option<u32>,
    /// What tools answered, whole, by the names of the calls.
    #[serde(default)]
    pub(super) results: BTreeMap<String, Box<RawValue>>,
}

/// One thing that was said.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TalkNode", optional_fields))]
pub(crate) struct Node {
    pub(crate) id: u32,
    pub(crate) parent: Option<u32>,
    pub(crate) role: Role,
    pub(crate) text: String,
    /// The view that said it in the person's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// What views told the model with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Context>>", optional))]
    pub(crate) context: Vec<Context>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Call>>", optional))]
    pub(crate) calls: Vec<Call>,
    pub(crate) state: NodeState,
    /// Why it ended as it did, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    User,
    Assistant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum NodeState {
    Writing,
    Calling,
    Done,
    Stopped,
    Failed,
}

/// What a view told the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Context {
    pub(crate) from: String,
    pub(crate) text: String,
}

/// What a view has told the model for the next turn.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Chip {
    pub(crate) view: String,
    pub(crate) from: String,
    pub(crate) text: String,
}

/// A call of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TalkCall", optional_fields))]
pub(crate) struct Call {
    /// Its name among all calls, and in the audit.
    pub(crate) id: String,
    /// What the endpoint calls it.
    pub(crate) wire: String,
    /// The name that the tool was offered under.
    pub(crate) name: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    /// The view that offers the tool, where no server does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<String>,
    /// Whether there is a view to show.
    pub(crate) view: bool,
    pub(crate) arguments: String,
    pub(crate) state: CallState,
    /// What the model is told of its outcome.
    pub(crate) answer: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum CallState {
    Writing,
    Waiting,
    Asked,
    Running,
    Done,
    Failed,
    Refused,
    Stopped,
}

impl Tree {
    pub(super) fn node(&mut self, id: u32) -> Option<&mut Node> {
        self.nodes.get_mut(usize::try_from(id).ok()?)
    }

    pub(super) fn call(&mut self, call: &str) -> Option<(u32, &mut Call)> {
        // The newest are looked at first.
        self.nodes.iter_mut().rev().find_map(|node| {
            let id = node.id;
            node.calls.iter_mut().find(|it| it.id == call).map(|call| (id, call))
        })
    }

    /// Adds what was said after `parent`, and shows the branch that it ends.
    pub(super) fn add(&mut self, parent: Option<u32>, role: Role, text: String) -> u32 {
        let id = u32::try_from(self.nodes.len()).expect("a conversation is bounded");
        let state = match role {
            Role::User => NodeState::Done,
            Role::Assistant => NodeState::Writing,
        };
        let (from, context, calls, note) = (None, vec![], vec![], None);
        self.nodes.push(Node { id, parent, role, text, from, context, calls, state, note });
        self.head = Some(id);
        id
    }

    /// From the first word to a node.
    pub(super) fn path(&self, to: Option<u32>) -> Vec<&Node> {
        let mut path = vec![];
        let mut at = to;
        // A parent is always older than its child, also in a file that somebody edited: this ends.
        while let Some(node) = at.and_then(|id| self.nodes.get(id as usize)) {
            path.push(node);
            at = node.parent.filter(|parent| *parent < node.id);
        }
        path.reverse();
        path
    }

    /// The end of the newest branch below a node.
    pub(super) fn leaf(&self, from: u32) -> u32 {
        let mut at = from;
        while let Some(child) = self.nodes.iter().rev().find(|node| node.parent == Some(at)) {
            at = child.id;
        }
        at
    }

    /// Whether what was read can be walked: numbers are places, and parents are older.
    pub(super) fn is_sound(&self) -> bool {
        let sound = |(at, node): (usize, &Node)| {
            node.id as usize == at && node.parent.is_none_or(|parent| parent < node.id)
        };
        self.nodes.iter().enumerate().all(sound)
            && self.head.is_none_or(|head| (head as usize) < self.nodes.len())
    }

    /// What was under way when the process ended is under way no more.
    pub(super) fn settle_all(&mut self) {
        for node in &mut self.nodes {
            if matches!(node.state, NodeState::Writing | NodeState::Calling) {
                node.state = NodeState::Stopped;
            }
            for call in node.calls.iter_mut().filter(|call| call.state.is_open()) {
                call.state = CallState::Stopped;
            }
        }
    }
}

impl CallState {
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Writing | Self::Waiting | Self::Asked | Self::Running)
    }
}
