//! A web shop in a view. The shop is an ordinary site; what it needs to be a view as well is in this file, and one line of its page.
//!
//! `SHOP=https://shop.example.com` puts a shop that runs somewhere else behind the view, in place of the one in this process.

use std::env;

use rmcp::{ServerHandler, tool_handler, tool_router};
use transom_server::{Credentials, HttpProxy, Route, Shown, View, Views};

#[derive(View)]
#[view(uri = "ui://shop/page", dir = "shop", title = "Loam & Fire")]
struct Page;

#[derive(Clone)]
struct Shop;

#[tool_router]
impl Shop {
    /// Open the pottery shop.
    #[transom_server::tool(view = Page, title = "Shop", annotations(read_only_hint = true))]
    fn open_shop(&self) -> Shown<()> {
        Shown::new("the shop is open", ())
    }
}

#[tool_handler(name = "shop", version = "1.0.0")]
impl ServerHandler for Shop {}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let proxy = match env::var("SHOP") {
        Ok(origin) => HttpProxy::upstream(origin),
        Err(_) => HttpProxy::tower(transom_examples::shop::site()),
    };
    let proxy = proxy
        .route(Route::get("/api/wares"))
        .route(Route::get("/api/basket"))
        .route(Route::put("/api/basket/{ware}").accepts("application/json").max_request(100))
        .route(Route::post("/api/pictures").accepts("multipart/form-data").max_request(2 << 20))
        .route(Route::get("/api/pictures/{id}"))
        .route(Route::post("/api/orders"))
        .route(Route::get("/api/orders/feed").streams())
        .route(Route::socket("/api/chat"))
        // The page has no cookie here. A shop with accounts would take the person's from what the MCP connection knows of them.
        .credentials(async |_| Ok(Credentials::of("you").header("cookie", "basket=you")));
    Ok(Views::wrap(Shop).view::<Page>().http(proxy).serve().await?)
}
