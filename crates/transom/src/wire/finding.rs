//! What was odd but tolerated.

use crate::violation::Quoted;
use serde_json::Value;

/// Something odd in what a peer declared, tolerated and worth telling its author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// A CSP source without a scheme, read as `https`.
    #[error("csp.{list}: {host} has no scheme, read as https")]
    BareHost {
        /// The list it stood in.
        list: &'static str,
        /// The host as declared.
        host: Quoted,
    },
    /// A member whose value is not what belongs there; read as absent.
    #[error("{key} should be {expected}, got {got}")]
    Unreadable {
        /// The member.
        key: &'static str,
        /// What belongs there.
        expected: &'static str,
        /// What was there.
        got: Quoted,
    },
    /// A link to something that is not a UI resource; the tool has no view.
    #[error("{key} should begin with ui://, got {got}")]
    NotUiUri {
        /// Where the link stood.
        key: &'static str,
        /// What was there.
        got: Quoted,
    },
    /// Something that people read and a host keeps, and that is too long for both; the tool has no view, or is none.
    #[error("{key} should have at most {most} bytes, got {got}")]
    TooLong {
        /// Where it stood.
        key: &'static str,
        /// The most that it may have.
        most: usize,
        /// Its beginning.
        got: Quoted,
    },
    /// The older flat link and the nested one disagree; the nested one counts.
    #[error("ui/resourceUri is {flat}, but ui.resourceUri is {nested}")]
    TwoLinks {
        /// The one that counts.
        nested: Quoted,
        /// The one that does not.
        flat: Quoted,
    },
    /// Only the older flat link is there.
    #[error("ui/resourceUri is deprecated, use ui.resourceUri")]
    FlatLink,
    /// A visibility that does not exist, ignored.
    #[error("visibility {got} is neither model nor app")]
    UnknownVisibility {
        /// What was there.
        got: Quoted,
    },
    /// Policy on a tool, where it has no effect; it belongs on the resource.
    #[error("{key} has no effect on a tool, put it on the resource")]
    PolicyOnTool {
        /// `csp` or `permissions`.
        key: &'static str,
    },
    /// Metadata under `meta` instead of `_meta`.
    #[error("ui is under meta and belongs under _meta")]
    MetaWithoutUnderscore,
}

/// The words of a string, or the text of any other value.
pub(super) fn quote(value: &Value) -> Quoted {
    match value {
        Value::String(words) => Quoted::new(words),
        other => Quoted::new(&other.to_string()),
    }
}

/// Which foreign dialects are understood beside the spec's own. None, unless asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compat {
    /// The `openai/…` keys and their MIME type.
    pub openai: bool,
    /// The MIME type of the drafts of 2025.
    pub draft_mime: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_stays_one_short_line() {
        let got = quote(&Value::String("x\r\n".repeat(1000)));
        let finding = Finding::UnknownVisibility { got };
        let line = finding.to_string();
        assert!(line.len() < 250, "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}
