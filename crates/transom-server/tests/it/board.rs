//! A server as an author would write it.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ErrorData, ServerHandler, schemars, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use transom_server::{HostUi, Shown, View};

#[derive(View)]
#[view(
    uri = "ui://incidents/board",
    dir = "tests/views/board",
    title = "Incident board",
    description = "Open incidents of one team",
    csp(connect = "https://api.example.com", img = ["https://a.example.com", "https://b.example.com"]),
    allow(clipboard_write),
    border = true
)]
pub(crate) struct Board;

#[derive(View)]
#[view(uri = "ui://incidents/card", file = "tests/views/card.html")]
pub(crate) struct Card;

#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub(crate) struct Query {
    team: String,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Open {
    team: String,
    count: u32,
}

#[derive(Clone, Default)]
pub(crate) struct Incidents;

#[tool_router]
impl Incidents {
    /// Show the open incidents of one team.
    #[transom_server::tool(view = Board, title = "Incidents", annotations(read_only_hint = true))]
    async fn show(
        &self,
        Parameters(query): Parameters<Query>,
        ui: HostUi,
    ) -> Result<Shown<Open>, ErrorData> {
        let team = query.team;
        let shown =
            Shown::new(format!("3 open incidents for {team}, {ui:?}"), Open { team, count: 3 });
        Ok(shown
            .private("thumbs", ["a", "b"])
            .or_text(|open| format!("| {} | {} |", open.team, open.count)))
    }

    /// Acknowledge one incident.
    #[transom_server::tool(view = Board, only(app))]
    fn ack(&self) -> Shown<()> {
        Shown::new("acknowledged", ())
    }

    /// Say hello.
    #[rmcp::tool]
    fn hello(&self) -> String {
        "hello".to_owned()
    }
}

#[tool_handler(name = "incidents", version = "1.0.0")]
impl ServerHandler for Incidents {}
