//! The story of the tool call that opened the view: its arguments, then its result.

use serde_json::value::RawValue;

use super::{
    Session, TooLate,
    state::{Ending, Move, News},
};
use crate::{
    rpc,
    wire::{RawObject, ToolCancelledParams, ToolInputParams, method},
};

/// What the host knows of the tool call that opened the view.
#[derive(Debug, Default)]
pub(super) struct Story {
    arguments: Option<Box<RawValue>>,
    ending: Option<Box<RawValue>>,
}

impl Session {
    /// Tells the view the arguments so far, healed into a JSON object. Only the latest is kept.
    pub fn tool_input_partial(&mut self, arguments: RawObject<'_>) -> Result<(), TooLate> {
        self.learn(News::Partial, |story| story.arguments = Some(arguments.raw().to_owned()))
    }

    /// Tells the view the complete arguments, a JSON object; `{}` for a call without any (H-60).
    pub fn tool_input(&mut self, arguments: RawObject<'_>) -> Result<(), TooLate> {
        self.learn(News::Arguments, |story| story.arguments = Some(arguments.raw().to_owned()))
    }

    /// Tells the view the tool's result, untouched (H-65).
    pub fn tool_result(&mut self, result: RawObject<'_>) -> Result<(), TooLate> {
        let result = result.raw();
        self.learn(News::Ending(Ending::Result), |story| story.ending = Some(result.to_owned()))
    }

    /// Tells the view that there will be no result (H-66, H-67).
    pub fn tool_cancelled(&mut self, reason: Option<&str>) -> Result<(), TooLate> {
        let params = rpc::raw(&ToolCancelledParams { reason: reason.map(str::to_owned) });
        self.learn(News::Ending(Ending::Cancelled), |story| story.ending = Some(params))
    }

    /// What of it there is to tell: the arguments, and the result if that is how it ended.
    pub(super) fn told_story(&self) -> (Option<&RawValue>, Option<&RawValue>) {
        let Story { arguments, ending } = &self.story;
        let ended = self.state.known.ending == Some(Ending::Result);
        (arguments.as_deref(), ending.as_deref().filter(|_| ended))
    }

    fn learn(&mut self, news: News, keep: impl FnOnce(&mut Story)) -> Result<(), TooLate> {
        let (state, moves) = self.state.learn(news)?;
        self.state = state;
        keep(&mut self.story);
        for step in moves {
            self.tell(step);
        }
        Ok(())
    }

    /// Sends what the step table says the view may know now.
    pub(super) fn tell(&mut self, step: Move) {
        let arguments = self.story.arguments.as_deref();
        let (method, params) = match step {
            Move::Partial => (method::TOOL_INPUT_PARTIAL, tool_input(arguments)),
            Move::Input => (method::TOOL_INPUT, tool_input(arguments)),
            Move::Ending => {
                let ending = self.story.ending.clone().expect("an ending is known when it is told");
                let method = match self.state.known.ending {
                    Some(Ending::Cancelled) => method::TOOL_CANCELLED,
                    _ => method::TOOL_RESULT,
                };
                (method, ending)
            }
            _ => return,
        };
        self.notify(method, Some(&params));
    }
}

fn tool_input(arguments: Option<&RawValue>) -> Box<RawValue> {
    let arguments = arguments.and_then(RawObject::new).unwrap_or_default();
    rpc::raw(&ToolInputParams { arguments })
}
