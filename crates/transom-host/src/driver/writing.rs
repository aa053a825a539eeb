//! Arguments that are still being written: the view sees them grow, and its tool is called at their end.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use transom::{
    host::ToolCall, partial::Healer, printed::Printed, violation::Quoted, wire::RawObject,
};

use super::{Driver, event::Event, seat::Life};
use crate::{
    audit::Record,
    envelope::{Piece, ViewId},
    words,
};

impl Driver {
    /// Takes the next piece, and tells the view what can be told of all so far (H-63).
    pub(super) fn write_arguments(&mut self, view: &ViewId, piece: &Piece) {
        let healer = self.views.get_mut(view).and_then(|seat| seat.writing.as_mut());
        let Some(healer) = healer else {
            let words = "arguments for a tool that waits for none; ignored";
            return self.log.write("late", &self.name(view), words);
        };
        if let Err(error) = healer.push(&piece.text) {
            return self.not_begun(view, &format!("its arguments are no JSON object: {error}"));
        }
        let arguments = so_far(healer);
        match (piece.done, healer.is_complete()) {
            // What the model wrote is shown to the view, written down and sent as one value.
            (true, true) => match Printed::read(&arguments) {
                Ok(printed) => self.written_arguments(view, printed),
                Err(why) => self.not_begun(view, &format!("its arguments are not clear: {why}")),
            },
            (true, false) => self.not_begun(view, "its arguments have no end"),
            (false, _) => {
                let Some(live) = self.live(view) else { return };
                let arguments = RawObject::new(&arguments).unwrap_or_default();
                let _ = live.session.tool_input_partial(arguments);
                self.drive(view);
            }
        }
    }

    /// Whoever wrote them is gone, and nobody will go on.
    pub(super) fn stop_writing(&mut self, view: &ViewId) {
        if self.views.get(view).is_some_and(|seat| seat.writing.is_some()) {
            self.not_begun(view, "its page was loaded anew while the arguments were being written");
        }
    }

    fn written_arguments(&mut self, view: &ViewId, printed: Printed) {
        let arguments = RawValue::from_string(printed.get().to_owned()).expect("we printed JSON");
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.writing = None;
        if let Some(tool) = &mut seat.open.tool {
            tool.arguments = Some(arguments.clone());
        }
        if let Life::Live(live) = &mut seat.life {
            let _ = live.session.tool_input(RawObject::new(&arguments).unwrap_or_default());
        }
        self.drive(view);
        self.call_written(view, printed);
    }

    /// Calls the tool, once that is written down.
    fn call_written(&mut self, view: &ViewId, arguments: Printed) {
        let (stop, stopped) = oneshot::channel();
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.call = Some(stop);
        let turn = seat.turn;
        let (name, server_name) = (seat.tool.clone(), seat.server.clone());
        let Some(server) = self.servers.get(&server_name).map(|server| Arc::clone(&server)) else {
            return self.not_begun(view, "its server is gone");
        };
        self.log.write("call", &server_name, words!("tools/call {}", Quoted::new(&name)));
        let (events, view) = (self.events.clone(), view.clone());
        let audit = self.ledger.audit().cloned();
        tokio::spawn(async move {
            if let Some(audit) = audit {
                let record = Record::opened(&name, arguments.get()).of(&server_name, view.as_str());
                if let Err(error) = audit.write(record).await {
                    let words = error.to_string();
                    let _ = events.send(Event::NotBegun { view, turn, words }).await;
                    return;
                }
            }
            let call = ToolCall { name, arguments: Some(arguments), meta: None };
            let outcome = server.call_tool(&call, stopped).await;
            let _ = events.send(Event::Called { view, turn, outcome }).await;
        });
    }
}

/// What can be shown of arguments that have come so far.
pub(super) fn so_far(healer: &Healer) -> Box<RawValue> {
    RawValue::from_string(healer.healed()).unwrap_or_else(|_| RawObject::default().raw().to_owned())
}
