//! A host inside somebody's own axum application, with a page of their own.
//!
//! `cargo run -p transom-host --example embed`, then open the address that it prints.

use axum::{
    Router, http::header::CONTENT_TYPE, response::Html, routing::get, serve::ListenerExt as _,
};
use tokio::net::TcpListener;
use transom::origin::Origin;
use transom_host::{Host, demo, sandbox::Naming, upstream::Target};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listen = async |port| {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        Ok::<_, std::io::Error>(listener.tap_io(|stream| drop(stream.set_nodelay(true))))
    };
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
    tokio::try_join!(async { axum::serve(page, own).await }, async {
        axum::serve(frames, sandbox).await
    })?;
    Ok(())
}
