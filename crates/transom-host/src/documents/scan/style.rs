//! What a style sheet loads.

use super::Use;
use super::address::front;
use super::report::Report;

/// Looks for `url(…)` and `@import` in a style sheet.
pub(super) fn look(text: &str, start: usize, within: &'static str, report: &mut Report<'_>) {
    for opening in ["url(", "URL(", "@import"] {
        for (at, _) in text.match_indices(opening) {
            let rest = front(&text[at + opening.len()..], MAX_ADDRESS).trim_start();
            let quoted = rest.trim_start_matches(['"', '\'']);
            let end = quoted.find(['"', '\'', ')', ';', '\n']).unwrap_or(quoted.len());
            report.address(quoted[..end].trim(), Use::Style, start + at, within);
        }
    }
}

/// An address longer than this is text of its own, as `data:` is.
const MAX_ADDRESS: usize = 512;
