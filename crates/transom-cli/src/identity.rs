//! Who a server says it is; the same in every report.

use serde::Serialize;
use transom_host::upstream::{Era, ServerIdentity};

/// Its own name for itself.
#[derive(Debug, Serialize)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Identity {
    pub(crate) fn of(said: &ServerIdentity) -> Self {
        Self { name: said.info.name.clone(), version: said.info.version.clone() }
    }
}

/// How it talks.
#[derive(Debug, Serialize)]
pub(crate) struct Protocol {
    pub(crate) version: String,
    pub(crate) era: &'static str,
}

impl Protocol {
    pub(crate) fn of(said: &ServerIdentity) -> Self {
        let era = match said.era {
            Era::Greeting => "greeting",
            Era::Stateless => "stateless",
        };
        Self { version: said.protocol_version.clone(), era }
    }
}
