//! A view that offers tools of its own: the model paints on what the person sees. The server only opens it.

use rmcp::{ServerHandler, handler::server::wrapper::Parameters, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transom_server::{ServeError, Shown, View, Views};

#[derive(View)]
#[view(uri = "ui://canvas/squares", file = "views/canvas.html", title = "Canvas")]
struct Squares;

#[derive(Deserialize, JsonSchema)]
struct Wish {
    /// What it is called
    title: Option<String>,
    /// Squares from left to right, 2 to 24
    width: Option<u32>,
    /// Squares from top to bottom, 2 to 16
    height: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Canvas {
    title: String,
    width: u32,
    height: u32,
}

#[derive(Clone)]
struct Easel;

#[tool_router]
impl Easel {
    /// Open an empty canvas. The view offers tools to paint on it while it is open.
    #[transom_server::tool(view = Squares, title = "New canvas", annotations(read_only_hint = true))]
    fn new_canvas(&self, Parameters(wish): Parameters<Wish>) -> Shown<Canvas> {
        let canvas = Canvas {
            title: wish.title.unwrap_or_else(|| "Untitled".into()),
            width: wish.width.unwrap_or(12).clamp(2, 24),
            height: wish.height.unwrap_or(6).clamp(2, 16),
        };
        let Canvas { title, width, height } = &canvas;
        Shown::new(
            format!("{title:?} is open, {width} by {height}; its tools paint on it."),
            canvas,
        )
        .or_text(|_| {
            "This client shows no views, and without one there is nothing to paint on.".into()
        })
    }
}

#[tool_handler(name = "canvas", version = "1.0.0")]
impl ServerHandler for Easel {}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    Views::wrap(Easel).view::<Squares>().serve().await
}
