//! What a style sheet loads.

use super::Use;
use super::address::front;
use super::report::Report;

/// Looks for what loads something in a style sheet: `url(…)` and its newer twin, `@import`, and functions that take an address as
/// a mere string.
pub(super) fn look(text: &str, start: usize, within: &'static str, report: &mut Report<'_>) {
    let lower = text.to_ascii_lowercase();
    for opening in ["url(", "src(", "@import"] {
        for (at, _) in lower.match_indices(opening) {
            let rest = front(&text[at + opening.len()..], MAX_ADDRESS).trim_start();
            let quoted = rest.trim_start_matches(['"', '\'']);
            let end = quoted.find(['"', '\'', ')', ';', '\n']).unwrap_or(quoted.len());
            report.address(quoted[..end].trim(), Use::Style, start + at, within);
        }
    }
    for opening in ["image-set(", "image(", "cross-fade("] {
        let mut from = 0;
        while let Some(at) = lower[from..].find(opening).map(|at| from + at) {
            from = at + opening.len();
            from += strings(&text[from..], |address| {
                report.address(front(address, MAX_ADDRESS), Use::Style, start + at, within);
            });
        }
    }
}

/// Tells of the strings between here and the parenthesis that ends a function, those of functions inside it too. Returns how far
/// that was: nothing is read twice, however many of them have no end.
fn strings(text: &str, mut tell: impl FnMut(&str)) -> usize {
    let (mut depth, mut from) = (0_usize, 0);
    while let Some(at) = text[from..].find(['"', '\'', '(', ')']).map(|at| from + at) {
        from = at + 1;
        match text.as_bytes()[at] {
            b'(' => depth += 1,
            b')' if depth == 0 => return from,
            b')' => depth -= 1,
            quote => {
                let end = text[from..].find(char::from(quote)).map_or(text.len(), |end| from + end);
                tell(&text[from..end]);
                from = text.len().min(end + 1);
            }
        }
    }
    text.len()
}

/// An address longer than this is text of its own, as `data:` is.
const MAX_ADDRESS: usize = 512;
