//! The same shop for browsers, without MCP: prints its address. `--port PORT` chooses where it listens.

use std::env;

use anyhow::Context;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let port = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => 0,
        ["--port", port] => port.parse().with_context(|| format!("{port:?} is no port"))?,
        _ => anyhow::bail!("unknown: {words:?}; there is --port PORT"),
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, transom_examples::shop::site()).await?;
    Ok(())
}
