//! A server with a view from every kind of source: `sources FOLDER` has a folder `folder`, what a bundler
//! made as `bundle.html`, and views that a function and a template make of `words.txt`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use askama::Template;
use rmcp::{ErrorData, ServerHandler, ServiceExt, schemars, tool_handler, tool_router};
use serde::Serialize;
use transom_server::{Asset, RenderCx, Shown, View, ViewDef, Views};

struct Folder;

impl View for Folder {
    const URI: &'static str = "ui://sources/folder";

    fn def() -> ViewDef {
        let folder = place("folder");
        let names = fs::read_dir(&folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let files: Vec<Asset> = names.map(|name| asset(&folder, &name)).collect();
        ViewDef::new(Self::URI).dir(Some(text(&folder)), files.leak())
    }
}

struct Bundle;

impl View for Bundle {
    const URI: &'static str = "ui://sources/bundle";

    fn def() -> ViewDef {
        ViewDef::new(Self::URI).file(asset(&place(""), "bundle.html"))
    }
}

#[derive(View)]
#[view(uri = "ui://sources/function", html = Self::page)]
struct Function;

impl Function {
    async fn page(cx: &RenderCx<Sources>) -> Result<String, ErrorData> {
        let words = &cx.server().words;
        Ok(format!("<!doctype html><title>Function</title><h1>{words}</h1>{LISTENS}"))
    }
}

#[derive(Template, View)]
#[template(
    source = "<!doctype html><title>Template</title><h1>{{ words }}</h1>{{ self::LISTENS|safe }}",
    ext = "html"
)]
#[view(uri = "ui://sources/template", template, load = Self::load)]
struct Made {
    words: String,
}

impl Made {
    async fn load(cx: &RenderCx<Sources>) -> Result<Self, ErrorData> {
        Ok(Self { words: cx.server().words.clone() })
    }
}

#[derive(Serialize, schemars::JsonSchema)]
struct Said {
    said: String,
}

/// The words are read once, as a document that is compiled in is: another one needs another process.
struct Sources {
    words: String,
}

#[tool_router]
impl Sources {
    /// Show the folder.
    #[transom_server::tool(view = Folder, annotations(read_only_hint = true))]
    fn folder(&self) -> Shown<Said> {
        said("the folder")
    }

    /// Show what a bundler made.
    #[transom_server::tool(view = Bundle, annotations(read_only_hint = true))]
    fn bundle(&self) -> Shown<Said> {
        said("the bundle")
    }

    /// Show what a function makes.
    #[transom_server::tool(view = Function, annotations(read_only_hint = true))]
    fn function(&self) -> Shown<Said> {
        said("the function")
    }

    /// Show what a template makes.
    #[transom_server::tool(view = Made, annotations(read_only_hint = true))]
    fn template(&self) -> Shown<Said> {
        said("the template")
    }
}

#[tool_handler(name = "sources")]
impl ServerHandler for Sources {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Sources { words: fs::read_to_string(place("words.txt"))? };
    let views = Views::wrap(server).view::<Folder>().view::<Bundle>();
    let server = views.view::<Function>().view::<Made>().build()?;
    server.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}

fn said(what: &str) -> Shown<Said> {
    Shown::new(format!("This is {what}."), Said { said: what.to_owned() })
}

/// A file as it is now, for whoever is not in dev mode. It lives as long as the process does.
fn asset(folder: &Path, name: &str) -> Asset {
    let path = folder.join(name);
    let bytes = fs::read(&path).unwrap_or_default();
    Asset::new(name.to_owned().leak(), Some(text(&path)), bytes.leak())
}

fn place(name: &str) -> PathBuf {
    PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned())).join(name)
}

fn text(path: &Path) -> &'static str {
    path.to_string_lossy().into_owned().leak()
}

const LISTENS: &str = r#"<p id="said"></p><script>
const app = new transom.App({ name: "made", version: "1.0.0" });
app.ontoolresult = ({ structuredContent }) => (said.textContent = structuredContent.said);
app.connect();
</script>"#;
