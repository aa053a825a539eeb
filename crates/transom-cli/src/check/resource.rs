//! The rules about how a view is listed and read; its HTML has rules of its own.

use std::{collections::BTreeSet, time::Duration};

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use transom::{csp::Source, policy::Reach, violation::Quoted, wire::MIME};

use super::{
    catalogue::{
        SERVER_03, SERVER_05, SERVER_06, SERVER_09, SERVER_11, SERVER_12, SERVER_17, SERVER_22,
    },
    finding::{Finding, Findings, Spot, quote},
    survey::{Survey, SurveyedView},
};
use crate::arguments::Level;

/// What is listed and read of a view; its HTML has rules of its own.
pub(super) fn look(view: &SurveyedView, survey: &Survey, findings: &mut Findings) {
    let place = || Spot::view(&view.uri);
    let answer = match &view.answer {
        Ok(answer) => answer,
        Err(why) => {
            let tools = view.tools.join(", ");
            let who =
                if tools.is_empty() { String::new() } else { format!(" ({tools} links to it)") };
            return findings.add(Finding::new(
                &SERVER_03,
                place(),
                format!("cannot be read{who}: {why}"),
            ));
        }
    };
    if let Some(entry) = &view.entry
        && entry["mimeType"] != MIME
    {
        let words = format!("resources/list says {}", quote(&entry["mimeType"]));
        findings.add(Finding::new(&SERVER_05, place(), words).at(Level::Warning));
    }
    let contents = answer["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let item = contents.iter().find(|item| item["uri"] == *view.uri).or_else(|| contents.first());
    if let Some(item) = item {
        if item["mimeType"] != MIME {
            let words = format!("resources/read says {}", quote(&item["mimeType"]));
            findings.add(Finding::new(&SERVER_05, place(), words));
        }
        payload(item, contents.len(), view, findings);
        metadata(item, view, survey, findings);
    }
    let seen = |id: &str| findings.has(id, &view.uri);
    // What has a rule of its own was said already.
    if let Some(Err(why)) = &view.document
        && !seen("server-05")
        && !seen("server-06")
    {
        findings.add(Finding::new(&SERVER_03, place(), format!("is no document: {why}")));
    }
    weight(view, findings);
    if let Some((older, Some(why))) = &view.older {
        let words = format!("{} does not answer: {why}", Quoted::new(older));
        findings.add(Finding::new(&SERVER_22, place(), words));
    }
}

/// What is listed of views whose address has parameters: no document of theirs can be read.
pub(super) fn look_at_template(template: &Value, findings: &mut Findings) {
    let uri = template["uriTemplate"].as_str().unwrap_or_default();
    if template["mimeType"] != MIME {
        let words = format!("resources/templates/list says {}", quote(&template["mimeType"]));
        findings.add(Finding::new(&SERVER_05, Spot::view(uri), words).at(Level::Warning));
    }
}

fn payload(item: &Value, count: usize, view: &SurveyedView, findings: &mut Findings) {
    let mut add =
        |words: String| findings.add(Finding::new(&SERVER_06, Spot::view(&view.uri), words));
    if count > 1 {
        add(format!("resources/read gives {count} items"));
    }
    match (item["text"].is_string(), item["blob"].is_string()) {
        (true, true) => add("has a text and a blob".to_owned()),
        (false, false) => add("has neither text nor a blob".to_owned()),
        _ => {}
    }
    if item["uri"] != *view.uri {
        add(format!("resources/read answers for {}", quote(&item["uri"])));
    }
}

fn metadata(item: &Value, view: &SurveyedView, survey: &Survey, findings: &mut Findings) {
    let place = || Spot::view(&view.uri);
    let read = &item["_meta"]["ui"];
    if let Some(entry) = &view.entry {
        let listed = &entry["_meta"]["ui"];
        if listed != read {
            let keys = differing(listed, read);
            let level = if listed.is_null() { Level::Note } else { Level::Warning };
            let words = format!("resources/list and resources/read differ in {keys}");
            findings.add(Finding::new(&SERVER_09, place(), words).at(level));
        }
    }
    let ui = if read.is_object() {
        read
    } else {
        &view.entry.as_ref().unwrap_or(&Value::Null)["_meta"]["ui"]
    };
    for list in ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"] {
        for entry in ui["csp"][list].as_array().into_iter().flatten() {
            if let Some(why) = origin(entry) {
                let words = format!("{list} has {}: {why}", quote(entry));
                findings.add(Finding::new(&SERVER_11, place(), words));
            } else if is_private(entry) {
                let words = format!(
                    "{list} has {}, which is on a private network: people are asked before the view reaches it",
                    quote(entry)
                );
                findings.add(Finding::new(&SERVER_11, place(), words).at(Level::Note));
            }
        }
    }
    if !ui["domain"].is_null() && !is_proven(&ui["domain"], survey.address.as_deref()) {
        findings.add(Finding::new(
            &SERVER_12,
            place(),
            format!("asks for the domain {}", quote(&ui["domain"])),
        ));
    }
}

/// Where two objects differ.
fn differing(left: &Value, right: &Value) -> String {
    let empty = serde_json::Map::new();
    let (left, right) = (left.as_object().unwrap_or(&empty), right.as_object().unwrap_or(&empty));
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let keys = keys.into_iter().filter(|key| left.get(*key) != right.get(*key));
    let keys: Vec<String> = keys.map(|key| Quoted::new(key).to_string()).collect();
    if keys.is_empty() { "_meta.ui".to_owned() } else { keys.join(", ") }
}

/// Why a declared domain does not work everywhere.
fn origin(entry: &Value) -> Option<String> {
    let Some(text) = entry.as_str() else { return Some("it is no text".to_owned()) };
    let source = match Source::parse(text) {
        Ok(source) => source,
        Err(why) => return Some(why.to_string()),
    };
    let local = source.reach() == Reach::Machine;
    (matches!(source.scheme(), "http" | "ws") && !local).then(|| "it is not encrypted".to_owned())
}

/// Whether hosts leave a declared domain out unless the person agrees to it.
fn is_private(entry: &Value) -> bool {
    let source = entry.as_str().and_then(|text| Source::parse(text).ok());
    source.is_some_and(|source| source.reach().is_private())
}

/// docs/reference/mcp-apps.md §3.10: Claude wants the first 32 digits of the SHA-256 of the
/// server's address, in front of its own domain.
fn is_proven(domain: &Value, address: Option<&str>) -> bool {
    let (Some(domain), Some(address)) = (domain.as_str(), address) else { return false };
    let hash = Sha256::digest(address.as_bytes());
    let hash = HEXLOWER.encode(&hash[..16]);
    domain == format!("{hash}.claudemcpcontent.com")
}

fn weight(view: &SurveyedView, findings: &mut Findings) {
    let place = || Spot::view(&view.uri);
    if view.took > SLOW {
        let words = format!("took {:.1} s to read", view.took.as_secs_f64());
        let level = if view.took > TOO_SLOW { Level::Error } else { Level::Warning };
        findings.add(Finding::new(&SERVER_17, place(), words).at(level));
    }
    let Some(Ok(document)) = &view.document else { return };
    let bytes = document.html.len();
    if bytes > LARGE {
        let words = format!("has {} KiB", bytes / 1024);
        let level = if bytes > TOO_LARGE { Level::Error } else { Level::Warning };
        findings.add(Finding::new(&SERVER_17, place(), words).at(level));
    }
}

const SLOW: Duration = Duration::from_secs(2);
const TOO_SLOW: Duration = Duration::from_secs(10);
const LARGE: usize = 512 << 10;
const TOO_LARGE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn server_11_an_origin_is_encrypted_or_local() {
        #[rustfmt::skip]
        let table = [
            (json!("https://api.test"),        true),
            (json!("wss://api.test:8443"),     true),
            (json!("https://*.cdn.test"),      true),
            (json!("http://localhost:3000"),   true),
            (json!("http://api.test"),         false),
            (json!("ws://api.test"),           false),
            (json!("api.test"),                false),
            (json!("https://api.test/v1"),     false),
            (json!("blob:"),                   false),
            (json!("data:"),                   false),
            (json!("*"),                       false),
            (json!(7),                         false),
        ];
        for (entry, fine) in table {
            assert_eq!(origin(&entry).is_none(), fine, "{entry}");
        }
    }

    #[test]
    fn server_12_a_domain_is_proven_by_the_address() {
        let domain = json!("c4d4e8dcf4b1a4b6f7b5f1a25c5c1d8e.claudemcpcontent.com");
        assert!(!is_proven(&domain, Some("https://a.test/mcp")));
        assert!(!is_proven(&domain, None));
        let hash = Sha256::digest(b"https://a.test/mcp");
        let hash = HEXLOWER.encode(&hash);
        let domain = json!(format!("{}.claudemcpcontent.com", &hash[..32]));
        assert!(is_proven(&domain, Some("https://a.test/mcp")));
    }
}
