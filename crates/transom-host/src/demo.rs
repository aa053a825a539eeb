//! The server that is always there: in this process, with one view that uses most of what a host has.

use std::future::ready;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use transom::wire::{EXTENSION, MIME};

use crate::upstream::{self, InProcess};

/// The demo, to be connected to like any other server.
pub fn server() -> InProcess {
    InProcess::serving("demo", |stream| async move {
        let (reader, writer) = tokio::io::split(stream);
        serve(reader, writer).await;
    })
}

/// Serves it over any pair of pipes, such as a process's own, until the reader ends.
pub async fn serve(reader: impl AsyncRead + Unpin, writer: impl AsyncWrite + Unpin) {
    let mut demo = Demo::default();
    upstream::answer_lines(reader, writer, |message| ready(demo.answer(&message))).await;
}

/// What it knows of whom it talks to.
#[derive(Default)]
struct Demo {
    notes: u32,
    /// Whether the client said that it shows views.
    shows: bool,
}

impl Demo {
    fn answer(&mut self, message: &Value) -> Result<Value, (i64, &'static str)> {
        if message["method"] == "initialize" {
            let extensions = &message["params"]["capabilities"]["extensions"];
            self.shows = extensions.get(EXTENSION).is_some();
        }
        let mut answered = answer(message, &mut self.notes);
        // A tool that only a view has a use for is none for a model.
        if let Ok(result) = &mut answered
            && let Some(tools) = result.get_mut("tools").and_then(Value::as_array_mut)
        {
            tools.retain(|tool| self.shows || tool["_meta"]["ui"]["visibility"].is_null());
        }
        answered
    }
}

fn answer(message: &Value, notes: &mut u32) -> Result<Value, (i64, &'static str)> {
    let params = &message["params"];
    let meta = json!({ "ui": { "prefersBorder": false } });
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": "2025-11-25",
            "serverInfo": { "name": "demo", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": { "tools": {}, "resources": {}, "extensions": { EXTENSION: {} } },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": tools() })),
        "tools/call" => call(params, notes),
        "resources/list" => Ok(json!({ "resources": [
            { "uri": VIEW, "name": "weather", "mimeType": MIME, "_meta": meta },
        ] })),
        "resources/read" if params["uri"] == VIEW => Ok(json!({ "contents": [{
            "uri": VIEW, "mimeType": MIME, "text": html(), "_meta": meta,
        }] })),
        "resources/read" => Err((-32002, "there is no such resource")),
        _ => Err((-32601, "no such method")),
    }
}

fn tools() -> Value {
    let city = json!({ "type": "string", "description": "Where", "default": "Lisbon" });
    json!([
        {
            "name": "show_weather", "title": "Show the weather",
            "description": "Shows a made-up forecast in a view",
            "inputSchema": { "type": "object", "properties": { "city": city } },
            "annotations": { "readOnlyHint": true },
            "_meta": { "ui": { "resourceUri": VIEW }, "ui/resourceUri": VIEW },
        },
        {
            "name": "refresh", "title": "Refresh", "description": "A newer forecast, for the view alone",
            "inputSchema": { "type": "object", "properties": { "city": city } },
            "annotations": { "readOnlyHint": true },
            "_meta": { "ui": { "visibility": ["app"] } },
        },
        {
            "name": "save_note", "title": "Save a note", "description": "Counts notes; changes something",
            "inputSchema": {
                "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"],
            },
            "annotations": { "readOnlyHint": false, "destructiveHint": false },
        },
    ])
}

fn call(params: &Value, notes: &mut u32) -> Result<Value, (i64, &'static str)> {
    let arguments = &params["arguments"];
    match params["name"].as_str().unwrap_or_default() {
        "show_weather" | "refresh" => {
            let city = arguments["city"].as_str().unwrap_or("Lisbon");
            Ok(forecast(city))
        }
        "save_note" => {
            *notes += 1;
            let text = format!("saved note {notes}");
            Ok(
                json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "notes": notes } }),
            )
        }
        _ => Err((-32602, "no such tool")),
    }
}

/// The same weather for the same city and minute; it is made up.
fn forecast(city: &str) -> Value {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seed =
        city.bytes().fold(now.as_secs() / 5, |all, byte| all.wrapping_mul(31) ^ u64::from(byte));
    let sky = ["sunny", "cloudy", "rainy", "windy"][(seed % 4) as usize];
    let degrees = 8 + seed / 4 % 22;
    json!({
        "content": [{ "type": "text", "text": format!("{city}: {sky}, {degrees} °C (made up)") }],
        "structuredContent": { "city": city, "sky": sky, "degrees": degrees },
    })
}

fn html() -> String {
    include_str!("demo/weather.html").replace("/*view library*/", transom_web::VIEW)
}

const VIEW: &str = "ui://demo/weather.html";
