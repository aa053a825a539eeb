//! `#[derive(View)]` and `#[tool]`, as `transom-server` exports them.
//!
//! Both lower to that crate's plain functions. What is wrong with a literal is said at the literal.

mod argument;
mod origin;
mod tool;
mod view;

use proc_macro::TokenStream;

/// Declares a view.
///
/// ```ignore
/// #[derive(View)]
/// #[view(
///     uri = "ui://incidents/board",       // or a template: "ui://report/{id}"
///     file = "views/board.html",          // or dir, bundle, html, template
///     title = "Incident board",
///     description = "Open incidents by team",
///     csp(connect = "https://api.example.com", img = ["https://a.example.com", "https://b.example.com"]),
///     allow(clipboard_write),
///     border = true,
/// )]
/// struct Board;
/// ```
///
/// Where the HTML comes from, one of:
///
/// * `file = "…"`: one file, relative to the crate's folder;
/// * `dir = "…"`: a folder's `index.html` with its scripts, styles, images and fonts written into it;
/// * `bundle = "…"`: one file that a bundler makes; `build = "npm --prefix ui run build"` with `sources = "ui/src"`
///   lets dev mode make it anew when they change;
/// * `html = "…"`: the document itself;
/// * `html = path`: an `async fn(&RenderCx<Server>) -> Result<String, ErrorData>`;
/// * `template`: the struct's own `askama::Template`, with `load = path` if it has fields, an
///   `async fn(&RenderCx<Server>) -> Result<Self, ErrorData>`.
///
/// `csp` takes `connect`, `resource` (or `img`, `script`, `style`, `font`, `media`, which hosts do not tell
/// apart today), `frame` and `base`; `allow` takes `camera`, `microphone`, `geolocation` and
/// `clipboard_write`; `name` and `domain` are for those who need them.
#[proc_macro_derive(View, attributes(view))]
pub fn derive_view(input: TokenStream) -> TokenStream {
    view::derive(input.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Declares a tool, as rmcp's `#[tool]` does, that may have a view.
///
/// ```ignore
/// #[transom_server::tool(view = Board, annotations(read_only_hint = true))]   // the model and the view
/// #[transom_server::tool(view = Board, only(app))]                            // the view alone
/// #[transom_server::tool(only(model))]                                        // the model alone
/// ```
///
/// Everything else in the parentheses is rmcp's. A method that returns `Shown<T>`, under whatever name, gets its
/// `outputSchema` from `T`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attribute.into(), item.into())
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
