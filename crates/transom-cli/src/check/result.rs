//! The rules about what a tool answers.

use serde_json::Value;
use transom::violation::Quoted;

use super::{
    catalogue::{Rule, SERVER_14, SERVER_15, SERVER_16},
    finding::{Finding, Findings, Spot},
    schema,
    survey::{Called, Survey},
};
use crate::arguments::Level;

/// What came of calling a tool as a host.
pub(super) fn look(call: &Called, survey: &Survey, findings: &mut Findings) {
    let place = || Spot::tool(&call.tool);
    let result = match &call.result {
        Ok(result) => result,
        Err(why) => {
            return findings.add(Finding::new(
                &SERVER_14,
                place(),
                format!("answers a call with an error: {why}"),
            ));
        }
    };
    meaning(result, &call.tool, &SERVER_14, findings);
    let listed = survey.tools.items.iter().find(|tool| tool["name"] == *call.tool);
    if let Some(schema) =
        listed.map(|tool| &tool["outputSchema"]).filter(|schema| schema.is_object())
        && result["isError"] != true
    {
        let structured = &result["structuredContent"];
        if structured.is_null() {
            let words = "has an outputSchema, and gives no structuredContent";
            findings.add(Finding::new(&SERVER_15, place(), words));
        } else if let Some(why) = schema::mismatch(schema, structured) {
            findings.add(Finding::new(&SERVER_15, place(), Quoted::new(&why).to_string()));
        }
    }
    for block in blocks(result) {
        match block["type"].as_str() {
            Some("resource_link") => {
                findings.add(Finding::new(&SERVER_16, place(), "its result has a resource_link"))
            }
            Some("resource") => {
                let html = block["resource"]["mimeType"]
                    .as_str()
                    .is_some_and(|mime| mime.starts_with("text/html"));
                let ui =
                    block["resource"]["uri"].as_str().is_some_and(|uri| uri.starts_with("ui://"));
                if html || ui {
                    findings.add(Finding::new(
                        &SERVER_16,
                        place(),
                        "its result embeds a view's HTML",
                    ));
                }
            }
            _ => {}
        }
    }
}

/// Whether the text of a result means anything.
pub(super) fn meaning(result: &Value, tool: &str, rule: &'static Rule, findings: &mut Findings) {
    let texts = blocks(result).filter(|block| block["type"] == "text");
    let text: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
    let text = text.join("\n");
    let plain = text.trim().trim_end_matches(['.', '!', '…']).to_lowercase();
    if plain.is_empty() {
        findings.add(Finding::new(rule, Spot::tool(tool), "its result has no text"));
    } else if PLACEHOLDERS.contains(&&*plain) {
        let words = format!("its result says {} and nothing else", Quoted::new(text.trim()));
        findings.add(Finding::new(rule, Spot::tool(tool), words).at(Level::Warning));
    } else if plain.starts_with("<!doctype") || plain.starts_with("<html") {
        findings.add(
            Finding::new(rule, Spot::tool(tool), "the text of its result is HTML")
                .at(Level::Warning),
        );
    }
}

fn blocks(result: &Value) -> impl Iterator<Item = &Value> {
    result["content"].as_array().into_iter().flatten()
}

/// What people write when they mean to write something later.
#[rustfmt::skip]
const PLACEHOLDERS: [&str; 19] = [
    "ok", "done", "success", "loading", "see the view", "see view", "see the ui", "see ui", "view opened", "opened the view",
    "view", "ui", "rendered", "displayed", "app", "app opened", "placeholder", "todo", "showing the view",
];
