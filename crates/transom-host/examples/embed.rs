//! A host inside an axum application that has a page of its own.
//!
//! `cargo run -p transom-host --example embed`, then open the address that it prints.

use axum::{Router, http::header::CONTENT_TYPE, response::Html, routing::get};
use tokio::net::TcpListener;
use transom::origin::Origin;
use transom_host::{Host, demo, sandbox::Naming, upstream::Target};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listen = |port| TcpListener::bind(("127.0.0.1", port));
    let (page, frames) = (listen(7620).await?, listen(7621).await?);
    let origin = Origin::parse("http://localhost:7620")?;
    let host = Host::builder(vec![origin], Naming::Localhost { port: 7621 })
        .server("demo", Target::InProcess(demo::server()))
        .build()?;
    let script = |text: &'static str| {
        get(move || async move { ([(CONTENT_TYPE, "text/javascript")], text) })
    };
    let own = Router::new()
        .route("/", get(async || Html(include_str!("embed/page.html"))))
        .route("/page.js", script(include_str!("embed/page.js")))
        .route("/transom.js", script(transom_web::HOST));
    println!("http://localhost:7620/#token={}", host.token());
    let (own, sandbox) = (host.guard(own).merge(host.api_router()), host.sandbox_router());
    // Served with limits on what a stranger who connects may take.
    tokio::join!(transom_host::serve(page, own), transom_host::serve(frames, sandbox));
    Ok(())
}
