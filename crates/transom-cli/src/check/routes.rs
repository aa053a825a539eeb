//! The rule about tools that make HTTP requests for views: what they declare, and how much that opens.

use serde_json::Value;
use transom::{
    host::Tools,
    routes::{DECLARED, Declared, Effect},
};

use super::{
    catalogue::SERVER_25,
    finding::{Finding, Findings, Spot},
    survey::is_for_model,
};
use crate::arguments::Level;

/// What a tool says of the requests that it makes, read as a host reads it.
pub(super) fn look(tool: &Value, findings: &mut Findings) {
    let name = tool["name"].as_str().unwrap_or_default();
    let mut add = |words: String, level: Option<Level>| {
        let finding = Finding::new(&SERVER_25, Spot::tool(name), words);
        findings.add(match level {
            Some(level) => finding.at(level),
            None => finding,
        });
    };
    if tool["_meta"].get(DECLARED).is_none() {
        let properties = &tool["inputSchema"]["properties"];
        if properties["url"].is_object() && properties["method"].is_object() {
            let words = "takes a method and a url, and declares no routes";
            add(words.to_owned(), Some(Level::Note));
        }
        return;
    }
    if is_for_model(tool) {
        let words = "makes HTTP requests, and is offered to the model";
        add(words.to_owned(), Some(Level::Error));
    }
    let entry = serde_json::value::to_raw_value(tool).expect("it was read from JSON");
    let mut unread = vec![];
    let tools = Tools::read([&*entry], &mut unread);
    let routes = tools.get(name).and_then(|tool| tool.routes.clone()).unwrap_or_default();
    for found in unread {
        let words = found.to_string();
        if words.starts_with(DECLARED) {
            add(format!("declares what no host can read: {words}"), Some(Level::Error));
        }
    }
    if routes.iter().next().is_none() {
        add("declares no route: hosts refuse every request".to_owned(), None);
    }
    for route in routes.iter() {
        if let Some(words) = too_wide(route) {
            add(words, None);
        }
    }
}

/// In what a route is wider than one could want.
fn too_wide(route: &Declared) -> Option<String> {
    let pattern = route.pattern();
    if pattern.is_open() && pattern.named() == 0 {
        return Some(format!("opens every path, by {pattern}"));
    }
    let writes = |method: &&String| ["PUT", "PATCH", "DELETE"].contains(&method.as_str());
    let method = route.methods().iter().find(writes)?;
    (route.effect() == Effect::Reads).then(|| {
        format!("declares that {method} {pattern} only reads, so no person is asked about it")
    })
}
