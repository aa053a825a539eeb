//! Names under which tools are offered to a model: letters, digits, `_` and `-`, at most 64 of them, as both kinds of endpoint
//! ask, and never one name for two tools.
//!
//! ```text
//! demo + show_weather            demo__show_weather
//! whatever does not fit so       my_server__do_it__h3f2a91c0d4e5   (the end is a hash of both names)
//! canvas, a view's + draw        canvas__draw__v3f2a91c0d4e5       (the end is a hash of the view too)
//! ```
//!
//! A plain name has `__` once, because neither of its parts has any; the others have it twice before twelve digits of a hash. So
//! no server can choose names for itself and its tools that end as the name of another's tool.

use data_encoding::HEXLOWER;

use crate::digest::digest;

/// The name of a server's tool.
pub(super) fn of_server(server: &str, tool: &str) -> String {
    let plain = format!("{server}__{tool}");
    match is_plain(server) && is_plain(tool) && plain.len() <= LONGEST {
        true => plain,
        false => hashed(server, tool, 'h', &[server, tool]),
    }
}

/// The name of a tool that a view offers.
pub(super) fn of_view(view: &str, server: &str, tool: &str) -> String {
    hashed(server, tool, 'v', &[view, tool])
}

fn hashed(server: &str, tool: &str, mark: char, whole: &[&str]) -> String {
    let hash = digest("transom: the name of a tool for a model", whole);
    let hash = &HEXLOWER.encode(&hash)[..HASH];
    let (server, tool) = (cleaned(server, 16), cleaned(tool, 28));
    format!("{server}__{tool}__{mark}{hash}")
}

fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && !part.contains("__")
        && !part.starts_with('_')
        && !part.ends_with('_')
}

fn cleaned(part: &str, most: usize) -> String {
    let mut clean = String::new();
    for c in part.chars().take(most) {
        let c = if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        if c != '_' || !clean.ends_with('_') {
            clean.push(c);
        }
    }
    let clean = clean.trim_matches('_');
    if clean.is_empty() { "x".to_owned() } else { clean.to_owned() }
}

const LONGEST: usize = 64;
const HASH: usize = 12;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_that_would_collide_do_not() {
        let long = "x".repeat(200);
        let other = format!("{}y", "x".repeat(199));
        let cyrillic = "dem\u{43e}";
        let forged = of_server("a b", "c");
        let (server, tool) = forged.split_once("__").unwrap();
        let pairs = [
            ("a", "b__c"),
            ("a__b", "c"),
            ("a_", "_b"),
            ("a", "b"),
            ("a b", "c"),
            ("a_b", "c"),
            ("a.b", "c"),
            (server, tool),
            ("demo", "show"),
            (cyrillic, "show"),
            ("s", &long),
            ("s", &other),
            ("", ""),
            ("\u{202e}", "t"),
        ];
        let mut names: Vec<String> =
            pairs.iter().map(|(server, tool)| of_server(server, tool)).collect();
        names.extend(pairs.iter().map(|(server, tool)| of_view("v1", server, tool)));
        names.push(of_view("v2", "a", "b"));
        for name in &names {
            assert!(name.len() <= 64, "{name}");
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            assert!(name.bytes().all(fits), "{name}");
        }
        // A view's tool is told from another's by the view and by its own name, whatever its server is called.
        let servers: BTreeSet<&String> = names[..pairs.len()].iter().collect();
        assert_eq!(servers.len(), pairs.len(), "{names:?}");
        let views: BTreeSet<&String> = names[pairs.len()..].iter().collect();
        assert!(servers.is_disjoint(&views));
        assert_eq!(of_server("demo", "show_weather"), "demo__show_weather");
    }
}
