//! An axum app behind a view: what it needs beside the app and the view that are there already is marked.

use axum::{Router, routing::get};
use rmcp::{ServerHandler, ServiceExt, tool_handler, tool_router, transport::stdio};
use transom_server::{HttpProxy, Route, Shown, View, Views};

#[derive(View)]
#[view(uri = "ui://shop/cart", html = "<!doctype html><title>Cart</title>")]
struct Cart;

struct Shop;

#[tool_router]
impl Shop {
    /// Show the cart.
    #[transom_server::tool(view = Cart)]
    fn show_cart(&self) -> Shown<()> {
        Shown::new("the cart is on the screen", ())
    }
}

#[tool_handler(name = "shop")]
impl ServerHandler for Shop {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let app = Router::new().route("/api/cart", get(|| async { "3 apples" }));
    let proxy = HttpProxy::tower(app) // +
        .route(Route::get("/api/{*rest}")); // +
    let server = Views::wrap(Shop).view::<Cart>().http(proxy).build()?; // +
    server.serve(stdio()).await?.waiting().await?;
    Ok(())
}
