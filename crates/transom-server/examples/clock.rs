//! The smallest server with a view; the README shows it, and marks what a view adds.

use std::time::SystemTime;

use rmcp::{Json, ServerHandler, schemars, tool_handler, tool_router};
use transom_server::{ServeError, View, Views}; // +

#[derive(View)] // +
#[view(uri = "ui://clock/face", file = "views/clock.html")] // +
struct Face; // +

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Now {
    seconds: u64,
}

struct Clock;

#[tool_router]
impl Clock {
    /// Tell the time.
    #[transom_server::tool(view = Face, annotations(read_only_hint = true))] // +
    fn now(&self) -> Json<Now> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Json(Now { seconds: now.map_or(0, |now| now.as_secs()) })
    }
}

#[tool_handler(name = "clock")]
impl ServerHandler for Clock {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ServeError> {
    Views::wrap(Clock).view::<Face>().serve().await // +
}
