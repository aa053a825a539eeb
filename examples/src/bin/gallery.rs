//! A view that loads from somewhere: it declares the origin, hosts name it to people, and every other one is blocked.

use axum::{Router, http::header, response::IntoResponse, routing::get};
use rmcp::{ServerHandler, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::net::TcpListener;
use transom_server::{Shown, View, Views};

// With an address that is known, the declaration is `csp(connect = "https://cdn.example.com", img = "https://cdn.example.com")`.
#[derive(View)]
#[view(uri = "ui://gallery/wall", file = "views/gallery.html", title = "Gallery")]
struct Wall;

#[derive(Serialize, JsonSchema)]
struct Hung {
    origin: String,
    pictures: Vec<Picture>,
}

#[derive(Serialize, JsonSchema)]
struct Picture {
    file: String,
    title: String,
}

#[derive(Clone)]
struct Gallery {
    origin: String,
}

#[tool_router]
impl Gallery {
    /// Show the gallery.
    #[transom_server::tool(view = Wall, title = "Gallery", annotations(read_only_hint = true))]
    fn show_gallery(&self) -> Shown<Hung> {
        let picture = |(file, title, _, _): &(&str, &str, u32, &str)| Picture {
            file: (*file).into(),
            title: (*title).into(),
        };
        let pictures: Vec<Picture> = PICTURES.iter().map(picture).collect();
        let titles: Vec<&str> = pictures.iter().map(|picture| &*picture.title).collect();
        let text = format!("{} pictures: {}", titles.len(), titles.join(", "));
        Shown::new(text, Hung { origin: self.origin.clone(), pictures })
    }
}

#[tool_handler(name = "gallery", version = "1.0.0")]
impl ServerHandler for Gallery {}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let origin = serve_pictures().await?;
    // The port is known only now, so the origin is added to what the attribute declares.
    let wall = Wall::def().resource(&origin).connect(&origin);
    Ok(Views::wrap(Gallery { origin }).declare(wall).serve().await?)
}

/// Stands in for a CDN: another origin, here on loopback.
async fn serve_pictures() -> anyhow::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let mut router = Router::new().route("/captions.json", get(captions));
    for (file, title, hue, path) in PICTURES {
        router =
            router.route(&format!("/{file}"), get(move || async move { svg(title, hue, path) }));
    }
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(origin)
}

async fn captions() -> impl IntoResponse {
    let caption = |(file, title, ..): (&str, &str, u32, &str)| {
        (file.to_owned(), format!("{title}, oil on air").into())
    };
    let captions: serde_json::Map<String, serde_json::Value> =
        PICTURES.into_iter().map(caption).collect();
    // A view's origin is new each time, so a server of pictures for views allows any.
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    (headers, serde_json::Value::Object(captions).to_string())
}

fn svg(title: &str, hue: u32, path: &str) -> impl IntoResponse {
    let sky = format!(
        r#"<rect width="40" height="30" fill="hsl({hue} 60% 80%)"/><circle cx="30" cy="8" r="4" fill="hsl({hue} 90% 94%)"/>"#
    );
    let hills = format!(
        r#"<path d="{path}" fill="hsl({hue} 45% 45%)"/><path d="{path}" fill="hsl({hue} 50% 32%)" transform="translate(6 5)"/>"#
    );
    let picture = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30"><title>{title}</title>{sky}{hills}</svg>"#
    );
    ([(header::CONTENT_TYPE, "image/svg+xml")], picture)
}

/// File, title, hue, and the shape of its hills.
const PICTURES: [(&str, &str, u32, &str); 4] = [
    ("dawn.svg", "Dawn", 20, "M-9 30 L-9 22 Q6 10 16 20 T46 16 V30 Z"),
    ("noon.svg", "Noon", 205, "M-9 30 L-9 20 L8 11 L17 19 L27 12 L46 24 V30 Z"),
    ("dusk.svg", "Dusk", 270, "M-9 30 L-9 18 Q10 26 20 17 T46 20 V30 Z"),
    ("moss.svg", "Moss", 130, "M-9 30 L-9 24 Q4 12 12 21 Q20 8 28 19 Q36 13 46 18 V30 Z"),
];
