//! The walk, for people.

use super::walk::{Report, State};
use crate::terminal::clean;

pub(super) fn print(report: &Report) -> String {
    let mut text = format!("{}\n", clean(&report.server));
    if let Some(tool) = &report.tool {
        text += &format!("  the view of {}\n", clean(tool));
    }
    for step in &report.steps {
        let sign = match step.state {
            State::Ok => "ok     ",
            State::Broken => "BROKEN ",
            State::NotReached => "–      ",
        };
        text += &format!("  {sign} {:<12} {}\n", step.name, clean(&step.words));
        if let Some(diagnosis) = &step.diagnosis {
            text += &format!("          {}: {}\n", diagnosis.cause, clean(&diagnosis.advice));
        }
    }
    for note in &report.notes {
        text += &format!("  note: {}\n", clean(note));
    }
    text
}
