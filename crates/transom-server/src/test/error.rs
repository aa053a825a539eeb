//! Why a client did not get what a test asked for.

use std::fmt;

use rmcp::service::ServiceError;
use serde_json::Value;
use transom::wire::Visibility;

use crate::refusal::BuildError;

/// Why a client did not get what a test asked for, in a sentence: a test that returns it prints that sentence.
pub struct Error {
    words: String,
}

impl Error {
    pub(super) fn missing<'a>(
        kind: &str,
        asked: &str,
        there: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let there: Vec<&str> = there.into_iter().collect();
        let there = if there.is_empty() { "there is none".to_owned() } else { there.join(", ") };
        let begins = if there == "there is none" { "" } else { "there is " };
        Self::new(format!("the server has no {kind} {asked:?} for this client; {begins}{there}"))
    }

    pub(super) fn not_for(tool: &str, who: Visibility) -> Self {
        Self::new(match who {
            Visibility::Model => format!(
                "the tool {tool:?} is for views alone, and a host keeps it from the model: use call_from_view"
            ),
            _ => format!(
                "the tool {tool:?} is for the model alone, and a host keeps it from views: use call"
            ),
        })
    }

    pub(super) fn not_shown(what: &str) -> Self {
        Self::new(format!(
            "this client shows no views, so there is none to {what}: connect with Client::host"
        ))
    }

    pub(super) fn no_view(tool: &str) -> Self {
        Self::new(format!(
            "the tool {tool:?} has no view: link it with #[transom_server::tool(view = …)]"
        ))
    }

    pub(super) fn no_document(uri: &str, got: &str) -> Self {
        Self::new(format!(
            "{uri} is no view for hosts: it has {got}, not text/html;profile=mcp-app"
        ))
    }

    pub(super) fn no_object(tool: &str, got: &Value) -> Self {
        Self::new(format!(
            "the arguments of {tool:?} are {got}, but a tool takes an object: write json!({{}}) for none"
        ))
    }

    pub(super) fn other_form(tool: &str, error: &serde_json::Error) -> Self {
        Self::new(format!("the data of {tool:?} are of another form: {error}"))
    }

    pub(super) fn refused(error: &dyn fmt::Display) -> Self {
        Self::new(format!("the server does not take the client: {error}"))
    }

    fn new(words: String) -> Self {
        Self { words }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Error {}

impl From<ServiceError> for Error {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => {
                Self::new(format!("the server refused: {}", error.message))
            }
            error => Self::new(error.to_string()),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::new(error.to_string())
    }
}
