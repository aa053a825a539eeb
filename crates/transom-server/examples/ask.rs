//! An rmcp client: lists a server's tools, calls one, and writes both to standard error as one line of JSON.
//!
//! `ask TOOL ARGUMENTS URL` asks over HTTP; `ask TOOL ARGUMENTS` over its own standard input and output, which its caller has
//! connected to a server's.

use std::error::Error;

use rmcp::{
    RoleClient, ServiceExt as _,
    model::CallToolRequestParams,
    service::RunningService,
    transport::{
        stdio,
        streamable_http_client::{
            StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
        },
    },
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(tool), Some(arguments)) = (words.next(), words.next()) else {
        return Err("ask TOOL ARGUMENTS [URL]".into());
    };
    let client: RunningService<RoleClient, ()> = match words.next() {
        Some(url) => {
            // Asked for even where nothing is encrypted.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let http = reqwest::Client::builder().no_proxy().build()?;
            let config = StreamableHttpClientTransportConfig::with_uri(url);
            ().serve(StreamableHttpClientTransport::with_client(http, config)).await?
        }
        None => ().serve(stdio()).await?,
    };
    let tools = client.list_all_tools().await?;
    let call = CallToolRequestParams::new(tool).with_arguments(serde_json::from_str(&arguments)?);
    let result = client.call_tool(call).await?;
    let tools: Vec<_> = tools.iter().map(|tool| &tool.name).collect();
    eprintln!("{}", serde_json::json!({ "tools": tools, "result": result }));
    client.cancel().await?;
    Ok(())
}
