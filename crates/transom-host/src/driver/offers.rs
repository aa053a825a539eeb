//! The tools that views offer: listed for the page, and called when it says so.

use serde_json::value::RawValue;
use transom::{
    host::{AppAnswer, AppTool},
    violation::Quoted,
    wire::{RawObject, Tool},
};

use super::{Driver, LINE};
use crate::{
    envelope::{Call, ToPage, ViewId},
    fallback,
    form::Form,
    words::Words,
};

impl Driver {
    /// Asks the view which tools it offers; one that offers none is not asked (H-110).
    pub(super) fn list_offers(&mut self, view: &ViewId) {
        let now = self.now();
        if let Some(live) = self.live(view) {
            let _ = live.session.list_app_tools(now);
        }
    }

    pub(super) fn tell_offers(&mut self, view: &ViewId, offered: Vec<AppTool>) {
        let names: Vec<String> =
            offered.iter().map(|tool| Quoted::new(&tool.name).to_string()).collect();
        self.log_of(view, "view", || match names.as_slice() {
            [] => "offers no tools".into(),
            names => Words::ours(&format!("offers {}", names.join(", "))),
        });
        let large = self.live(view).map(|live| live.session.app_tools_too_large().to_vec());
        if let Some(large @ [_, ..]) = large.as_deref() {
            let names: Vec<String> = large.iter().map(Quoted::to_string).collect();
            let words = format!("left out {}: a tool may have 64 KiB", names.join(", "));
            self.log_of(view, "warning", || Words::ours(&words));
        }
        let shown = |offered: &AppTool| {
            Tool::read(Form::of(|key| offered.tool.get(key)).into_members()).ok()
        };
        let tools = offered.iter().filter_map(shown).collect();
        self.say(view, &ToPage::Tools(tools));
    }

    /// Calls one of them, after whatever the rules say must come first (H-115).
    pub(super) fn call_offered(&mut self, view: &ViewId, call: Call) {
        let now = self.now();
        let Call { id, name, arguments } = call;
        let Some(live) = self.live(view) else {
            let text = "the view is gone".to_owned();
            return self.say(view, &ToPage::Called { id, text, failed: true });
        };
        let arguments = arguments.as_deref().and_then(RawObject::new).unwrap_or_default();
        match live.session.call_app_tool(now, &name, arguments) {
            Ok(call) => drop(live.offered.insert(call, id)),
            Err(error) => {
                let text = error.to_string();
                self.say(view, &ToPage::Called { id, text, failed: true });
            }
        }
        self.drive(view);
    }

    pub(super) fn tell_called(&mut self, view: &ViewId, call: u64, outcome: AppAnswer) {
        let Some(id) = self.live(view).and_then(|live| live.offered.remove(&call)) else { return };
        let (text, failed) = match outcome {
            AppAnswer::Result(result) => (fallback::text_of(&result), is_error(&result)),
            AppAnswer::Error { message, .. } => {
                (Quoted::long(&message, LINE).as_str().to_owned(), true)
            }
            AppAnswer::Unusable => ("the view's answer cannot be used".to_owned(), true),
            AppAnswer::TimedOut => ("no answer in time".to_owned(), true),
            AppAnswer::Refused => ("refused by the user".to_owned(), true),
            AppAnswer::Gone => ("the view is gone".to_owned(), true),
        };
        self.say(view, &ToPage::Called { id, text, failed });
    }
}

fn is_error(result: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Result {
        #[serde(rename = "isError")]
        is_error: bool,
    }
    serde_json::from_str::<Result>(result.get()).is_ok_and(|result| result.is_error)
}
