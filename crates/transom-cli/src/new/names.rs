//! Which names a project may have.

use anyhow::{Result, bail};

/// Refuses what cargo would refuse, or what would get in the way of something the project uses.
pub(super) fn check(name: &str) -> Result<()> {
    let first = name.chars().next().unwrap_or_default();
    let strange = name
        .chars()
        .find(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_')));
    let words = match strange {
        _ if name.is_empty() => "it is empty".to_owned(),
        Some(strange) => format!("it has {strange:?}"),
        None if !first.is_ascii_lowercase() => "it does not begin with a letter".to_owned(),
        None if name.len() > MAX => format!("it has more than {MAX} characters"),
        None if KEYWORDS.contains(&name) => "it is a word of Rust".to_owned(),
        None if TAKEN.contains(&&*name.replace('_', "-")) => {
            "another crate that it uses has it".to_owned()
        }
        None => return Ok(()),
    };
    bail!(
        "{name:?} is no name for a server: {words}; use lower-case letters, digits and -, as in incident-board"
    )
}

const MAX: usize = 64;

#[rustfmt::skip]
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum", "extern",
    "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
    "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield", "test",
];

#[rustfmt::skip]
const TAKEN: [&str; 13] = [
    "alloc", "askama", "core", "proc-macro", "rmcp", "schemars", "serde", "serde-json", "std", "tokio", "transom", "transom-server", "url",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_cargo_takes() {
        for name in ["board", "incident-board", "b2_x"] {
            assert!(check(name).is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        for name in [
            "",
            "Board",
            "2b",
            "-b",
            "../b",
            "a b",
            "a/b",
            "a.b",
            "é",
            "fn",
            "test",
            "serde_json",
            "rmcp",
            &long,
        ] {
            let error = check(name).unwrap_err().to_string();
            assert!(
                error.contains("is no name for a server") && error.contains("as in incident-board"),
                "{error}"
            );
        }
    }
}
