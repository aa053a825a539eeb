//! Views in the form of mcp-ui, which came before MCP Apps: documents in the result of a tool, and messages of its own.

use super::{
    common::Common,
    event::{Event, News},
    seat::{Life, Seat},
};
use crate::{envelope::ToPage, log::LineKind, server::Brought, words, words::Words};

impl Seat {
    /// The tool has answered, and links to no view: there may be one in what it answered.
    pub(super) fn look_into_result(&mut self, common: &mut Common) {
        if !self.viewless || !matches!(self.life, Life::Opening) {
            return;
        }
        let Some(Ok(result)) = &self.outcome else { return self.no_view(common, NONE) };
        let Some(server) = common.servers.get(&self.server) else { return };
        let (result, spare, reports) = (result.clone(), self.spare.take(), self.reports(common));
        let (events, sandbox) = (common.events.clone(), common.sandbox.clone());
        let (view, turn, tool) = (self.id.clone(), self.turn, self.tool.clone());
        tokio::spawn(async move {
            let prepared = server.prepare_embedded(&tool, result, &sandbox, spare, reports).await;
            let news = News::Prepared(prepared.map(Box::new));
            let _ = events.send(Event::Opening { view, turn, news }).await;
        });
    }

    /// Says on the card what form the view has, if it is a deprecated one.
    pub(super) fn tell_banner(&mut self, common: &Common) {
        let Some(text) = self.live().and_then(|live| live.banner.clone()) else { return };
        self.say(common, &ToPage::Banner { text });
    }

    /// The view speaks mcp-ui's own messages.
    pub(super) fn speaks_mcp_ui(&mut self, common: &Common) {
        self.log_of(common, LineKind::View, || "speaks mcp-ui's own messages".into());
        let Some(live) = self.live().filter(|live| live.banner.is_none()) else { return };
        live.banner = Some(words!("This view speaks mcp-ui's own messages. {}", DEPRECATED));
        self.tell_banner(common);
    }

    /// The view speaks as MCP Apps has it.
    pub(super) fn speaks_mcp_apps(&mut self, common: &Common) {
        let linked = |live: &&mut super::seat::Live| live.prepared.embedded.is_none();
        if self.live().filter(linked).and_then(|live| live.banner.take()).is_some() {
            self.say(common, &ToPage::Banner { text: "".into() });
        }
    }
}

/// What the card of a view says that came in a result.
pub(super) fn banner(brought: &Brought) -> Words {
    let what = match brought.links {
        true => "The addresses below came in the result of the tool, as mcp-ui has it.",
        false => "This view came in the result of its tool, as mcp-ui has it.",
    };
    match brought.more {
        0 => words!("{} {}", what, DEPRECATED),
        more => {
            words!("{} The result has {} more, which are not shown. {}", what, more, DEPRECATED)
        }
    }
}

const NONE: &str = "this tool has no view";
const DEPRECATED: &str = "That form is deprecated: MCP Apps has taken its place. Its author finds in docs/mcp-ui.md how to move on.";
