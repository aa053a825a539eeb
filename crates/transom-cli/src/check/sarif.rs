//! A report for programs that collect findings: SARIF 2.1.0.

use serde_json::{Value, json};

use super::{
    catalogue::RULES,
    finding::{Finding, Spot},
    report::{Checked, Outcome, Report},
};

/// One log, with a run for each server.
pub(super) fn log(checked: &Checked) -> Value {
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": checked.servers.iter().map(run).collect::<Vec<_>>(),
    })
}

fn run(outcome: &Outcome) -> Value {
    let (name, results, invocation) = match outcome {
        Outcome::Seen(report) => (&report.name, results(report), seen(report)),
        Outcome::Failed { name, error } => (name, vec![], failed(error)),
    };
    json!({
        "tool": { "driver": driver() },
        "automationDetails": { "id": format!("transom-check/{name}/") },
        "invocations": [invocation],
        "results": results,
    })
}

fn driver() -> Value {
    let rules = RULES.iter().map(|rule| {
        json!({
            "id": rule.id,
            "shortDescription": { "text": rule.title },
            "fullDescription": { "text": rule.why },
            "help": { "text": rule.fix },
            "defaultConfiguration": { "level": rule.level },
        })
    });
    json!({
        "name": "transom check",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules.collect::<Vec<_>>(),
    })
}

fn results(report: &Report) -> Vec<Value> {
    let result = |finding: &Finding| {
        let number = RULES.iter().position(|rule| rule.id == finding.rule.id);
        json!({
            "ruleId": finding.rule.id,
            "ruleIndex": number,
            "level": finding.level,
            "message": { "text": message(finding) },
            "locations": [location(&finding.place)],
        })
    };
    report.findings.iter().map(result).collect()
}

/// The whole sentence: programs that show results often show nothing of the rule.
fn message(finding: &Finding) -> String {
    let subject = match &finding.place {
        Spot { tool: Some(tool), .. } => format!("tool {tool}"),
        Spot { view: Some(view), .. } => view.clone(),
        _ => "the server".to_owned(),
    };
    format!("{subject}: {}. {}.", finding.words, finding.rule.fix)
}

fn location(place: &Spot) -> Value {
    let mut location = json!({});
    if let Some(view) = &place.view {
        location["physicalLocation"] = json!({ "artifactLocation": { "uri": uri(view) } });
        if let Some(line) = place.line {
            location["physicalLocation"]["region"] = json!({ "startLine": line });
        }
    }
    let (name, kind) = match (&place.tool, &place.view) {
        (Some(tool), _) => (format!("tools/{tool}"), "function"),
        (None, Some(view)) => (view.clone(), "resource"),
        (None, None) => ("server".to_owned(), "module"),
    };
    location["logicalLocations"] = json!([{ "fullyQualifiedName": name, "kind": kind }]);
    location
}

/// A stranger's address with nothing in it that no address has.
fn uri(text: &str) -> String {
    let keeps = |byte: &u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(byte);
    let print = |byte: u8| match keeps(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(print).collect()
}

fn seen(report: &Report) -> Value {
    let notes = report.not_checked.iter().map(|unchecked| {
        let text = format!("not checked: {}: {}", unchecked.rules.join(", "), unchecked.why);
        json!({ "level": "note", "message": { "text": text } })
    });
    json!({
        "executionSuccessful": true,
        "toolExecutionNotifications": notes.collect::<Vec<_>>(),
    })
}

fn failed(error: &str) -> Value {
    json!({
        "executionSuccessful": false,
        "toolExecutionNotifications": [{ "level": "error", "message": { "text": error } }],
    })
}

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_stays_one() {
        assert_eq!(uri("ui://a/b.html?x=1"), "ui://a/b.html?x=1");
        assert_eq!(uri("ui://a/\u{1b}é<\">"), "ui://a/%1B%C3%A9%3C%22%3E");
    }
}
