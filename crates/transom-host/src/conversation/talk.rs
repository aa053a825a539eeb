//! One conversation: what was said, what waits to be answered, and what views have left for the model.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::{
    gate::{Offered, Wanted},
    prompt::Tools,
    questions::Questions,
    tree::{Chip, Context, Node, NodeState, Role, Tree},
    wishes::{TalkState, WishError},
};
use crate::{envelope::ViewId, server::Servers};

/// One conversation.
pub(super) struct Talk {
    pub(super) id: String,
    pub(super) state: Mutex<State>,
    pub(super) wanted: mpsc::UnboundedSender<Wanted>,
    pub(super) questions: Arc<Questions>,
    /// What the person agreed to for this conversation: tools, with what they said of themselves.
    pub(super) agreed: Arc<Mutex<Agreed>>,
    pub(super) changed: watch::Sender<u64>,
    pub(super) go: Notify,
}

pub(super) type Agreed = BTreeMap<(String, String), String>;

#[derive(Default)]
pub(super) struct State {
    pub(super) title: String,
    pub(super) tree: Tree,
    /// When each node was last changed, counted in changes.
    pub(super) touched: Vec<u64>,
    pub(super) changes: u64,
    pub(super) running: Option<oneshot::Sender<()>>,
    /// What is to be answered next.
    pub(super) queue: VecDeque<Next>,
    pub(super) chips: BTreeMap<ViewId, Chip>,
    pub(super) offers: BTreeMap<ViewId, (String, Vec<Offered>)>,
    /// How many turns views have begun since the person last said something.
    pub(super) by_views: u32,
    pub(super) removed: bool,
    pub(super) at: u64,
}

/// Something to be answered.
pub(super) enum Next {
    /// A view says this at the end of the branch that is shown.
    View { from: String, text: String },
    /// The answer to this node.
    After(u32),
}

impl Talk {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self) {
        self.lock().changes += 1;
        self.changed.send_modify(|version| *version += 1);
    }

    pub(super) fn say(&self, parent: Option<u32>, text: String) -> Result<(), WishError> {
        let text = text.trim().to_owned();
        if text.is_empty() || text.len() > SAID {
            return Err("Say something, of at most 256 KB.".into());
        }
        let mut state = self.free()?;
        if state.title.is_empty() {
            state.title = title(&text);
        }
        state.by_views = 0;
        let node = state.tree.add(parent, Role::User, text);
        state.attach_context(node);
        state.touch(node);
        state.queue.push_back(Next::After(node));
        drop(state);
        self.tell();
        self.go.notify_one();
        Ok(())
    }

    pub(super) fn again(&self, node: u32) -> Result<(), WishError> {
        let mut state = self.free()?;
        let found = state.tree.node(node).map(|node| (node.role, node.parent));
        let after = match found {
            Some((Role::User, _)) => node,
            Some((Role::Assistant, Some(parent))) => parent,
            _ => return Err(WishError::NoSuch),
        };
        state.queue.push_back(Next::After(after));
        drop(state);
        self.go.notify_one();
        Ok(())
    }

    pub(super) fn show_branch(&self, node: u32) -> Result<(), WishError> {
        let mut state = self.free()?;
        if state.tree.node(node).is_none() {
            return Err(WishError::NoSuch);
        }
        state.tree.head = Some(state.tree.leaf(node));
        drop(state);
        self.tell();
        Ok(())
    }

    /// While nothing is under way.
    fn free(&self) -> Result<MutexGuard<'_, State>, WishError> {
        let state = self.lock();
        match (state.running.is_some() || !state.queue.is_empty(), state.tree.nodes.len()) {
            (true, _) => Err("The model is answering. Wait until it has, or stop it.".into()),
            (false, NODES..) => Err("This conversation is as long as one can be.".into()),
            (false, _) => Ok(state),
        }
    }

    /// What is answered next.
    pub(super) fn next(&self, stop: oneshot::Sender<()>) -> Option<u32> {
        let mut state = self.lock();
        if state.removed {
            return None;
        }
        let after = match state.queue.pop_front()? {
            Next::After(node) => node,
            Next::View { from, text } => {
                let head = state.tree.head;
                let node = state.tree.add(head, Role::User, text);
                state.attach_context(node);
                state.tree.node(node)?.from = Some(from);
                state.touch(node);
                node
            }
        };
        state.running = Some(stop);
        drop(state);
        self.tell();
        Some(after)
    }

    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.queue.clear();
        if let Some(stop) = state.running.take() {
            let _ = stop.send(());
        }
    }

    pub(super) fn shown(&self, seen: &mut Option<u64>) -> Option<TalkState> {
        let state = self.lock();
        if *seen == Some(state.changes) {
            return None;
        }
        let since = seen.replace(state.changes);
        let fresh =
            |(node, at): (&Node, &u64)| since.is_none_or(|since| *at > since).then(|| node.clone());
        Some(TalkState {
            id: self.id.clone(),
            title: state.title.clone(),
            head: state.tree.head,
            running: state.running.is_some() || !state.queue.is_empty(),
            nodes: state.tree.nodes.iter().zip(&state.touched).filter_map(fresh).collect(),
            chips: state.chips.values().cloned().collect(),
        })
    }

    /// The tools that the model is offered now.
    pub(super) fn tools(&self, servers: &Servers) -> Tools {
        Tools::now(servers, self.lock().offers.iter())
    }
}

impl State {
    /// Counts a change of a node.
    pub(super) fn touch(&mut self, node: u32) {
        let at = node as usize;
        if self.touched.len() <= at {
            self.touched.resize(at + 1, 0);
        }
        // It is told with the next change, which has the next number.
        self.touched[at] = self.changes + 1;
    }

    /// H-93, H-94: what views told last goes with what is said next, once.
    fn attach_context(&mut self, node: u32) {
        let chips = std::mem::take(&mut self.chips);
        let context = chips.into_values().map(|Chip { from, text, .. }| Context { from, text });
        let context = context.collect();
        if let Some(node) = self.tree.node(node) {
            node.context = context;
        }
    }

    pub(super) fn finish(&mut self, node: u32, how: NodeState, note: Option<String>) {
        if let Some(it) = self.tree.node(node) {
            it.state = how;
            it.note = note.or_else(|| it.note.take());
        }
        self.touch(node);
    }
}

fn title(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = transom::quoted::legible(line);
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}

/// The longest thing that a person says.
const SAID: usize = 256 << 10;
/// The most nodes of one conversation.
const NODES: usize = 2_000;
