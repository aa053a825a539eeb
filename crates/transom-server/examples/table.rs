//! A tool with a view that asks before it answers: the person for how many they are, the model for a line on the card.
//!
//! Clients of 2026-07-28 get the questions as an answer, and call again with what they were told. Older ones are asked
//! while the call waits.

use rmcp::handler::server::tool::{InputResponses, IntoCallToolResult};
use rmcp::model::{CallToolResponse, InputRequests, InputRequiredResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, schemars, tool_handler, tool_router};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use transom_server::{Output, ServeError, Shown, View, Views};

#[derive(View)]
#[view(
    uri = "ui://table/card",
    html = "<!doctype html><title>A table</title><h1></h1><p></p><script>
        const app = new transom.App({ name: 'table', version: '1.0.0' });
        app.ontoolresult = ({ structuredContent: booked }) => {
            document.querySelector('h1').textContent = booked ? `For ${booked.guests}` : 'Nothing is booked';
            document.querySelector('p').textContent = booked?.line ?? '';
        };
        app.connect();
    </script>",
    title = "A table"
)]
pub(crate) struct Card;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Booked {
    guests: u64,
    line: String,
}

#[derive(Clone)]
pub(crate) struct Restaurant;

#[tool_router]
impl Restaurant {
    /// Book a table for tonight.
    #[transom_server::tool(view = Card, annotations(read_only_hint = false, destructive_hint = false))]
    async fn book(
        &self,
        InputResponses(given): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<Booking, ErrorData> {
        let given = match given {
            Some(given) => json!(given),
            None if is_stateless(&context) => return Ok(Booking::Asks),
            None => ask_older(&context.peer).await?,
        };
        let guests = &given["guests"];
        let nobody = || Shown::new("nobody was named, so nothing is booked", None).failed();
        let Some(guests) =
            guests["content"]["guests"].as_u64().filter(|_| guests["action"] == "accept")
        else {
            return Ok(Booking::Done(nobody()));
        };
        let line = given["line"]["content"]["text"].as_str().unwrap_or("Welcome").to_owned();
        let words = format!("a table for {guests} is booked; the card says: {line}");
        Ok(Booking::Done(Shown::new(words, Some(Booked { guests, line }))))
    }
}

#[tool_handler(name = "table")]
impl ServerHandler for Restaurant {}

/// What the tool returns: questions, or a card.
enum Booking {
    Asks,
    Done(Shown<Option<Booked>>),
}

impl Output for Booking {
    type Data = Booked;
}

impl IntoCallToolResult for Booking {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::Asks => {
                let questions: InputRequests = read(json!({
                    "guests": { "method": "elicitation/create", "params": guests() },
                    "line": { "method": "sampling/createMessage", "params": line() },
                }))?;
                Ok(InputRequiredResult::from_input_requests(questions).into())
            }
            Self::Done(shown) => shown.into_call_tool_result(),
        }
    }
}

/// Whether the client speaks the revision in which every request stands by itself.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.meta.0.0.contains_key("io.modelcontextprotocol/protocolVersion")
}

#[expect(deprecated, reason = "older clients are asked this way")]
async fn ask_older(peer: &Peer<RoleServer>) -> Result<Value, ErrorData> {
    let failed = |error: rmcp::ServiceError| ErrorData::internal_error(error.to_string(), None);
    let guests = peer.create_elicitation(read(guests())?).await.map_err(failed)?;
    let line = peer.create_message(read(line())?).await.map_err(failed)?;
    Ok(json!({ "guests": guests, "line": line }))
}

/// What the person is asked.
fn guests() -> Value {
    json!({
        "mode": "form",
        "message": "For how many?",
        "requestedSchema": {
            "type": "object",
            "properties": { "guests": { "type": "integer", "minimum": 1, "maximum": 12 } },
            "required": ["guests"],
        },
    })
}

/// What the model is asked.
fn line() -> Value {
    let text = "One short line of welcome for a card on a restaurant table.";
    json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
        "maxTokens": 60,
    })
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ServeError> {
    Views::wrap(Restaurant).view::<Card>().serve().await
}
