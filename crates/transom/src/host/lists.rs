//! Changes of the server's lists, passed on to the view.

use super::{Session, state::Phase};
use crate::wire::method;

/// A list whose changes are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Prompts.
    Prompts,
}

impl Session {
    pub(super) fn relay_list_changed(&mut self, list: List) {
        if !self.announces(list) || self.is_closed() {
            return;
        }
        match self.state.phase {
            Phase::Ready => self.notify(list.method(), None),
            _ => self.lists[list as usize] = true,
        }
    }

    /// H-72: only what was promised is relayed.
    fn announces(&self, list: List) -> bool {
        let offered = &self.setup.capabilities;
        match list {
            List::Tools => offered.server_tools.is_some_and(|tools| tools.list_changed),
            List::Resources => offered.server_resources.is_some_and(|list| list.list_changed),
            List::Prompts => self.setup.prompts,
        }
    }
}

impl List {
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Tools => method::TOOLS_LIST_CHANGED,
            Self::Resources => method::RESOURCES_LIST_CHANGED,
            Self::Prompts => method::PROMPTS_LIST_CHANGED,
        }
    }
}
