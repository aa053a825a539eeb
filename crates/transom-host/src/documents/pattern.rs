//! Addresses of documents that are made for each request: `ui://report/{id}`.

/// Whether an address is one of those that a template stands for: `{id}` for one part of a path, `{+path}` for several.
///
/// A template of any other form stands for none. Its documents are pinned like all others, and asked about when they
/// change.
pub fn fits(template: &str, uri: &str) -> bool {
    let Some(parts) = parse(template) else { return false };
    matches(&parts, uri)
}

enum Part<'a> {
    Literal(&'a str),
    Variable { slashes: bool },
}

fn parse(template: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = vec![];
    let mut rest = template.strip_prefix("ui://").map(|_| template)?;
    while let Some((front, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let bare = name.strip_prefix('+').unwrap_or(name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        // Two variables without anything between them have no end.
        let apart = !front.is_empty() || parts.is_empty();
        if bare.is_empty() || !bare.chars().all(is_name) || !apart || parts.len() > MOST {
            return None;
        }
        parts.push(Part::Literal(front));
        parts.push(Part::Variable { slashes: bare != name });
        rest = after;
    }
    parts.push(Part::Literal(rest));
    // Without a variable it is an address like any other.
    (parts.len() > 1 && !rest.contains('}')).then_some(parts)
}

/// Each variable ends where the text after it first comes again; none is empty.
fn matches(parts: &[Part<'_>], mut rest: &str) -> bool {
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Literal(text) => match rest.strip_prefix(text) {
                Some(after) => rest = after,
                None => return false,
            },
            Part::Variable { slashes } => {
                let next = parts.get(at + 1);
                let end = match next {
                    Some(Part::Literal(text)) if !text.is_empty() => rest.find(text),
                    _ => Some(rest.len()),
                };
                let Some(end) = end.filter(|end| *end > 0) else { return false };
                if !slashes && rest[..end].contains(['/', '?', '#']) {
                    return false;
                }
                rest = &rest[end..];
            }
        }
    }
    rest.is_empty()
}

/// The most parts of a template.
const MOST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_stands_for_its_addresses_and_for_no_other() {
        #[rustfmt::skip]
        let table = [
            ("ui://report/{id}",      "ui://report/7",         true),
            ("ui://report/{id}",      "ui://report/a%20b",     true),
            ("ui://report/{id}",      "ui://report/",          false),
            ("ui://report/{id}",      "ui://report/7/8",       false),
            ("ui://report/{id}",      "ui://report/7?v=2",     false),
            ("ui://report/{id}",      "ui://other/7",          false),
            ("ui://{a}/x/{b}.html",   "ui://p/x/q.html",       true),
            ("ui://{a}/x/{b}.html",   "ui://p/x/q.htm",        false),
            ("ui://file/{+path}",     "ui://file/a/b?c",       true),
            // What is no template, or none of this form, stands for nothing.
            ("ui://report/7",         "ui://report/7",         false),
            ("ui://report{?id}",      "ui://report?id=7",      false),
            ("ui://{a}{b}",           "ui://xy",               false),
            ("ui://{",                "ui://{",                false),
            ("ui://{a}}",             "ui://x}",               false),
            ("https://{a}",           "https://x",             false),
        ];
        for (template, uri, expected) in table {
            assert_eq!(fits(template, uri), expected, "{template} {uri}");
        }
    }
}
