//! The tools that views offer: listed for the page, and called when it says so.

use serde_json::value::RawValue;
use transom::{
    host::{AppAnswer, AppTool},
    violation::Quoted,
    wire::{RawObject, Tool},
};

use super::{
    LINE,
    common::Common,
    ledger::{Held, UNWRITTEN},
    seat::Seat,
};
use crate::{
    audit::Record,
    envelope::{Call, ToPage},
    fallback,
    form::Form,
    log::LineKind,
    words::Words,
};

impl Seat {
    /// Asks the view which tools it offers; one that offers none is not asked (H-110).
    pub(super) fn list_offers(&mut self, common: &Common) {
        let now = common.now();
        if let Some(live) = self.live() {
            let _ = live.session.list_app_tools(now);
        }
    }

    pub(super) fn tell_offers(&mut self, common: &Common, offered: Vec<AppTool>) {
        let names: Vec<String> =
            offered.iter().map(|tool| Quoted::new(&tool.name).to_string()).collect();
        self.log_of(common, LineKind::View, || match names.as_slice() {
            [] => "offers no tools".into(),
            names => Words::ours(&format!("offers {}", names.join(", "))),
        });
        let large = self.live().map(|live| live.session.app_tools_too_large().to_vec());
        if let Some(large @ [_, ..]) = large.as_deref() {
            let names: Vec<String> = large.iter().map(Quoted::to_string).collect();
            let words = format!("left out {}: a tool may have 64 KiB", names.join(", "));
            self.log_of(common, LineKind::Warning, || Words::ours(&words));
        }
        self.tell_conversation(common, &offered);
        let shown = |offered: &AppTool| {
            let mut members = Form::of(|key| offered.tool.get(key)).into_members();
            // What the page writes where people read its name.
            members.insert("label".to_owned(), Quoted::new(&offered.name).as_str().into());
            Tool::read(members).ok()
        };
        let tools = offered.iter().filter_map(shown).collect();
        self.say(common, &ToPage::Tools(tools));
    }

    /// Calls one of them, after whatever the rules say must come first (H-115).
    pub(super) fn call_offered(&mut self, common: &mut Common, call: Call) {
        let now = common.now();
        let Call { id, name, arguments } = call;
        let Some(live) = self.live() else {
            let text = "the view is gone".to_owned();
            return self.say(common, &ToPage::Called { id, text, failed: true });
        };
        let arguments = arguments.as_deref().and_then(RawObject::new).unwrap_or_default();
        match live.session.call_app_tool(now, &name, arguments) {
            Ok(call) => drop(live.offered.insert(call, id)),
            Err(error) => {
                let text = error.to_string();
                self.say(common, &ToPage::Called { id, text, failed: true });
            }
        }
        self.drive(common);
    }

    /// Sends a call of one of them to the view. That it is called is written down.
    pub(super) fn send_offered(&mut self, common: &Common, call: u64) {
        let now = common.now();
        if let Some(live) = self.live() {
            live.session.send_app_call(now, call);
        }
    }

    /// It cannot be written down.
    pub(super) fn give_up_offered(&mut self, call: u64) {
        if let Some(live) = self.live() {
            live.session.give_up_app_call(call);
        }
    }

    /// Writes down what came of a call of one of them. Of one that was not sent yet that is that it never will be.
    pub(super) fn note_called(&self, common: &mut Common, call: u64, outcome: &AppAnswer) {
        let is_meant = |held: &Held| matches!(held, Held::Offered { call: of, .. } if *of == call);
        self.drop_held(common, is_meant);
        let outcome = match outcome {
            AppAnswer::Result(result) => Ok(result.get().len()),
            // The view's own words are not for the audit.
            AppAnswer::Error { .. } => Err("the view answered with an error"),
            AppAnswer::Unusable => Err("the view's answer cannot be used"),
            AppAnswer::TimedOut => Err("no answer in time"),
            AppAnswer::Gone => Err("the view is gone"),
            AppAnswer::Refused | AppAnswer::NotSent => return,
        };
        self.note(common, || Record::outcome(call, outcome).of_offered());
    }

    pub(super) fn tell_called(&mut self, common: &Common, call: u64, outcome: AppAnswer) {
        if self.tell_model(call, &outcome) {
            return;
        }
        let Some(id) = self.live().and_then(|live| live.offered.remove(&call)) else { return };
        let (text, failed) = match outcome {
            AppAnswer::Result(result) => (fallback::text_of(&result), is_error(&result)),
            AppAnswer::Error { message, .. } => {
                (Quoted::long(&message, LINE).as_str().to_owned(), true)
            }
            AppAnswer::Unusable => ("the view's answer cannot be used".to_owned(), true),
            AppAnswer::TimedOut => ("no answer in time".to_owned(), true),
            AppAnswer::NotSent => (UNWRITTEN.to_owned(), true),
            AppAnswer::Refused => ("refused by the user".to_owned(), true),
            AppAnswer::Gone => ("the view is gone".to_owned(), true),
        };
        self.say(common, &ToPage::Called { id, text, failed });
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
