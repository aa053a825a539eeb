//! Arguments that are still being written: the view sees them grow, and its tool is called at their end.

use serde_json::value::RawValue;
use transom::{host::ToolCall, partial::Healer, printed::Printed, wire::RawObject};

use super::{
    common::Common,
    ledger::Held,
    seat::{Life, Seat},
};
use crate::{envelope::Piece, log::LineKind};

impl Seat {
    /// Takes the next piece, and tells the view what can be told of all so far (H-63).
    pub(super) fn write_arguments(&mut self, common: &mut Common, piece: &Piece) {
        // The model writes those of its calls, and no page.
        let own = self.attached.is_none();
        let Some(healer) = self.writing.as_mut().filter(|_| own) else {
            let words = "arguments for a tool that waits for none; ignored";
            return common.log.write(LineKind::Late, &self.name(), words);
        };
        if let Err(error) = healer.push(&piece.text) {
            return self.not_begun(common, &format!("its arguments are no JSON object: {error}"));
        }
        let arguments = so_far(healer);
        match (piece.done, healer.is_complete()) {
            // What the model wrote is shown to the view, written down and sent as one value.
            (true, true) => match Printed::read(&arguments) {
                Ok(printed) => self.written_arguments(common, printed),
                Err(why) => self.not_begun(common, &format!("its arguments are not clear: {why}")),
            },
            (true, false) => self.not_begun(common, "its arguments have no end"),
            (false, _) => {
                let Some(live) = self.live() else { return };
                let arguments = RawObject::new(&arguments).unwrap_or_default();
                let _ = live.session.tool_input_partial(arguments);
                self.drive(common);
            }
        }
    }

    /// The page that wrote them is gone, and will not go on.
    pub(super) fn stop_writing(&mut self, common: &mut Common) {
        if self.writing.is_some() && self.attached.is_none() {
            self.not_begun(
                common,
                "its page was loaded anew while the arguments were being written",
            );
        }
    }

    fn written_arguments(&mut self, common: &mut Common, printed: Printed) {
        let arguments = RawValue::from_string(printed.get().to_owned()).expect("we printed JSON");
        self.writing = None;
        if let Some(tool) = &mut self.open.tool {
            tool.arguments = Some(arguments.clone());
        }
        if let Life::Live(live) = &mut self.life {
            let _ = live.session.tool_input(RawObject::new(&arguments).unwrap_or_default());
        }
        self.drive(common);
        let call = ToolCall {
            name: self.tool.clone(),
            arguments: Some(printed),
            meta: None,
            request: None,
        };
        self.hold(common, Held::Call(call));
    }
}

/// What can be shown of arguments that have come so far.
pub(super) fn so_far(healer: &Healer) -> Box<RawValue> {
    RawValue::from_string(healer.healed()).unwrap_or_else(|_| RawObject::default().raw().to_owned())
}
