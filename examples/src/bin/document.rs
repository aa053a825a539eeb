//! A document too large for one message: the view reads it chunk by chunk, and shows how far it is.

use std::{fmt::Write as _, sync::Arc};

use data_encoding::{BASE64, HEXLOWER};
use rmcp::{
    ErrorData, ServerHandler, handler::server::wrapper::Parameters, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use transom_server::{ServeError, Shown, View, Views};

#[derive(View)]
#[view(uri = "ui://document/reader", file = "views/document.html", title = "Reader")]
struct Reader;

#[derive(Serialize, JsonSchema)]
struct Opened {
    id: String,
    title: String,
    bytes: usize,
    sha256: String,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    id: String,
    offset: usize,
}

#[derive(Serialize, JsonSchema)]
struct Chunk {
    base64: String,
}

#[derive(Clone)]
struct Library {
    logbook: Arc<str>,
}

#[tool_router]
impl Library {
    /// Open the logbook.
    #[transom_server::tool(view = Reader, title = "Open the logbook", annotations(read_only_hint = true))]
    fn open_logbook(&self) -> Shown<Opened> {
        let bytes = self.logbook.len();
        let sha256 = HEXLOWER.encode(&Sha256::digest(self.logbook.as_bytes()));
        // The model is told what there is; two megabytes are for the view alone.
        let text =
            format!("The logbook is open: {bytes} bytes, which the person reads in the view.");
        Shown::new(
            text,
            Opened { id: ID.into(), title: "Logbook of the Transom".into(), bytes, sha256 },
        )
    }

    /// A part of a document.
    #[transom_server::tool(view = Reader, only(app), annotations(read_only_hint = true))]
    fn read_chunk(
        &self,
        Parameters(Place { id, offset }): Parameters<Place>,
    ) -> Result<Shown<Chunk>, ErrorData> {
        if id != ID {
            return Err(ErrorData::invalid_params(format!("there is no document {id:?}"), None));
        }
        let rest = self.logbook.as_bytes().get(offset..).unwrap_or_default();
        let chunk = &rest[..rest.len().min(CHUNK)];
        Ok(Shown::new(format!("{} bytes", chunk.len()), Chunk { base64: BASE64.encode(chunk) }))
    }
}

#[tool_handler(name = "document", version = "1.0.0")]
impl ServerHandler for Library {}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let library = Library { logbook: logbook().into() };
    Views::wrap(library).view::<Reader>().serve().await
}

/// About two megabytes, with letters of more than one byte in it.
fn logbook() -> String {
    let weather =
        ["fair", "overcast", "fog until noon", "a gale from the north-west", "rain, then stars"];
    let sight = ["nothing", "a lighthouse", "two dolphins", "the coast of Å", "a café on the quay"];
    let mut text = String::new();
    for day in 1..=18_000_usize {
        let (weather, sight) = (weather[day * 7 % 5], sight[day * 11 % 5]);
        let miles = day * 37 % 180;
        let _ = writeln!(
            text,
            "Day {day}. {miles} miles made good; weather {weather}; sighted {sight}. All well aboard."
        );
    }
    text
}

const ID: &str = "logbook";
/// Small beside any limit of a host, large beside the cost of a call.
const CHUNK: usize = 64 << 10;
