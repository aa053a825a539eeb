//! The rules about what a tool says of itself.

use serde_json::Value;
use transom::wire::UiUri;

use super::{
    catalogue::{SERVER_04, SERVER_07, SERVER_08, SERVER_10, SERVER_21},
    finding::{Finding, Findings, Spot, quote},
    survey::is_for_model,
};
use crate::arguments::Level;

/// What a tool says of itself.
pub(super) fn look(tool: &Value, findings: &mut Findings) {
    let name = tool["name"].as_str().unwrap_or_default();
    let place = || Spot::tool(name);
    let meta = &tool["_meta"];
    let (nested, flat) = (&meta["ui"]["resourceUri"], &meta["ui/resourceUri"]);
    for (key, link) in [("_meta.ui.resourceUri", nested), ("_meta[\"ui/resourceUri\"]", flat)] {
        if !link.is_null() && link.as_str().and_then(UiUri::parse).is_none() {
            let words = format!("{key} is {}", quote(link));
            findings.add(Finding::new(&SERVER_04, place(), words));
        }
    }
    match (nested.is_null(), flat.is_null()) {
        (true, false) => {
            findings.add(Finding::new(&SERVER_07, place(), "has the deprecated flat link alone"));
        }
        (false, true) => {
            let words = "has no flat link beside the nested one; older hosts know only that";
            findings.add(Finding::new(&SERVER_07, place(), words).at(Level::Note));
        }
        (false, false) if nested != flat => {
            let words = format!("links to {} nested, and to {} flat", quote(nested), quote(flat));
            findings.add(Finding::new(&SERVER_07, place(), words));
        }
        _ => {}
    }
    visibility(&meta["ui"]["visibility"], name, findings);
    for key in ["csp", "permissions"] {
        if !meta["ui"][key].is_null() {
            findings.add(Finding::new(&SERVER_10, place(), format!("has _meta.ui.{key}")));
        }
    }
    names_and_hints(tool, name, findings);
}

fn visibility(value: &Value, name: &str, findings: &mut Findings) {
    let words = match value {
        Value::Null => return,
        Value::Array(list) if list.is_empty() => {
            "has an empty visibility: neither the model nor a view may call it".to_owned()
        }
        Value::Array(list) => {
            let strange = |who: &&Value| !matches!(who.as_str(), Some("model" | "app"));
            let Some(who) = list.iter().find(strange) else { return };
            format!("has the visibility {}", quote(who))
        }
        other => format!("has the visibility {}, which is no list", quote(other)),
    };
    findings.add(Finding::new(&SERVER_08, Spot::tool(name), words));
}

fn names_and_hints(tool: &Value, name: &str, findings: &mut Findings) {
    let place = || Spot::tool(name);
    if tool["name"].as_str().is_none_or(str::is_empty) {
        let finding = Finding::new(&SERVER_21, Spot::server(), "a tool has no name");
        return findings.add(finding.at(Level::Error));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if let Some(strange) = name.chars().find(|c| !allowed(*c)) {
        let words = format!("has {strange:?} in its name");
        findings.add(Finding::new(&SERVER_21, place(), words));
    }
    if name.chars().count() > 64 {
        let words = format!("has a name of {} characters", name.chars().count());
        findings.add(Finding::new(&SERVER_21, place(), words));
    }
    let hints = ["readOnlyHint", "destructiveHint"];
    if is_for_model(tool) && hints.iter().all(|hint| !tool["annotations"][hint].is_boolean()) {
        let words = "says neither readOnlyHint nor destructiveHint: hosts ask people about every call of it";
        findings.add(Finding::new(&SERVER_21, place(), words).at(Level::Note));
    }
    let contradicts = hints.iter().all(|hint| tool["annotations"][hint] == true);
    if contradicts {
        findings.add(Finding::new(
            &SERVER_21,
            place(),
            "says that it only reads, and that it destroys",
        ));
    }
}
