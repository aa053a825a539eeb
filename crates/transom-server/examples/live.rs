//! A server whose view lies in a folder: `TRANSOM_DEV=1 live FOLDER` serves its `index.html`, and running
//! views follow it.

use std::error::Error;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, ServiceExt, schemars, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use transom_server::{Shown, View, ViewDef, Views};

struct Page;

impl View for Page {
    const URI: &'static str = "ui://live/page";

    fn def() -> ViewDef {
        let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
        // It lives as long as the process does.
        ViewDef::new(Self::URI).title("A live page").dir(Some(folder.leak()), &[])
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Greeting {
    name: String,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Greeted {
    greeting: String,
}

struct Live;

#[tool_router]
impl Live {
    /// Greet somebody.
    #[transom_server::tool(view = Page, annotations(read_only_hint = true))]
    async fn greet(&self, Parameters(Greeting { name }): Parameters<Greeting>) -> Shown<Greeted> {
        let greeting = format!("Hello, {name}!");
        Shown::new(greeting.clone(), Greeted { greeting })
    }
}

#[tool_handler(name = "live")]
impl ServerHandler for Live {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Views::wrap(Live).view::<Page>().build()?;
    server.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
