//! The rules about a server: what it lists, what it answers, and to whom.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use transom::{
    csp::Source,
    policy::Reach,
    violation::Quoted,
    wire::{EXTENSION, MIME, UiUri},
};
use transom_host::upstream::Era;

use super::{
    catalogue::*,
    finding::{Finding, Findings, Place},
    schema,
    survey::{Called, Listed, Survey, View, is_app_only, is_for_model},
};

/// Applies every rule to what is known of a server.
pub(super) fn look(survey: &Survey, findings: &mut Findings) {
    capabilities(survey, findings);
    for tool in &survey.tools.items {
        self::tool(tool, findings);
    }
    lists(survey, findings);
    for view in &survey.views {
        self::view(view, survey, findings);
    }
    for call in &survey.calls {
        self::call(call, survey, findings);
    }
    text_client(survey, findings);
    one_connection(survey, findings);
    others(survey, findings);
    proxy(survey, findings);
    let names: BTreeSet<&str> = survey.tools.names().collect();
    for view in &survey.views {
        if let Some(Ok(document)) = &view.document {
            super::view::look(document, &names, findings);
        }
    }
}

fn capabilities(survey: &Survey, findings: &mut Findings) {
    let has_views = !survey.views.is_empty();
    if has_views && !survey.advertises() {
        let words = format!("has views, and does not advertise {EXTENSION}");
        findings.add(Finding::new(&SERVER_01, Place::server(), words));
    }
    if !has_views && survey.advertises() {
        let words = format!("advertises {EXTENSION}, and no view can be found");
        findings.add(Finding::new(&SERVER_01, Place::server(), words));
    }
    if has_views && survey.resources.is_none() {
        let words = "has views, and no resources capability";
        findings.add(Finding::new(&SERVER_02, Place::server(), words));
    }
    match &survey.resources {
        Some(Err(why)) => findings.add(Finding::new(&SERVER_02, Place::server(), why)),
        Some(Ok(Listed { cut: Some(why), .. })) => {
            let words = format!("the list of resources is not complete: {why}");
            findings.add(Finding::new(&SERVER_02, Place::server(), words));
        }
        _ => {}
    }
}

fn lists(survey: &Survey, findings: &mut Findings) {
    let Listed { dropped, cut, .. } = &survey.tools;
    if let Some(why) = cut {
        let words = format!("the list of tools is not complete: {why}");
        findings.add(Finding::new(&SERVER_21, Place::server(), words).at(Level::Error));
    }
    if *dropped > 0 {
        let words = format!("{dropped} entries of the list of tools are no tools");
        findings.add(Finding::new(&SERVER_21, Place::server(), words).at(Level::Error));
    }
    let mut seen = BTreeSet::new();
    for name in survey.tools.names().filter(|name| !seen.insert(*name)) {
        let finding = Finding::new(&SERVER_21, Place::tool(name), "is listed twice");
        findings.add(finding.at(Level::Error));
    }
}

/// What a tool says of itself.
fn tool(tool: &Value, findings: &mut Findings) {
    let name = tool["name"].as_str().unwrap_or_default();
    let place = || Place::tool(name);
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
            "has an empty visibility: nobody may call it".to_owned()
        }
        Value::Array(list) => {
            let strange = |who: &&Value| !matches!(who.as_str(), Some("model" | "app"));
            let Some(who) = list.iter().find(strange) else { return };
            format!("has the visibility {}", quote(who))
        }
        other => format!("has the visibility {}, which is no list", quote(other)),
    };
    findings.add(Finding::new(&SERVER_08, Place::tool(name), words));
}

fn names_and_hints(tool: &Value, name: &str, findings: &mut Findings) {
    let place = || Place::tool(name);
    if tool["name"].as_str().is_none_or(str::is_empty) {
        let finding = Finding::new(&SERVER_21, Place::server(), "a tool has no name");
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
        let words = "says neither readOnlyHint nor destructiveHint";
        findings.add(Finding::new(&SERVER_21, place(), words));
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

/// What is listed and read of a view; its HTML has rules of its own.
fn view(view: &View, survey: &Survey, findings: &mut Findings) {
    let place = || Place::view(&view.uri);
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

fn payload(item: &Value, count: usize, view: &View, findings: &mut Findings) {
    let mut add =
        |words: String| findings.add(Finding::new(&SERVER_06, Place::view(&view.uri), words));
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

fn metadata(item: &Value, view: &View, survey: &Survey, findings: &mut Findings) {
    let place = || Place::view(&view.uri);
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

/// Whether hosts leave a declared domain out unless somebody agrees.
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

fn weight(view: &View, findings: &mut Findings) {
    let place = || Place::view(&view.uri);
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

/// What came of calling a tool as a host.
fn call(call: &Called, survey: &Survey, findings: &mut Findings) {
    let place = || Place::tool(&call.tool);
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
fn meaning(result: &Value, tool: &str, rule: &'static Rule, findings: &mut Findings) {
    let texts = blocks(result).filter(|block| block["type"] == "text");
    let text: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
    let text = text.join("\n");
    let plain = text.trim().trim_end_matches(['.', '!', '…']).to_lowercase();
    if plain.is_empty() {
        findings.add(Finding::new(rule, Place::tool(tool), "its result has no text"));
    } else if PLACEHOLDERS.contains(&&*plain) {
        let words = format!("its result says {} and nothing else", Quoted::new(text.trim()));
        findings.add(Finding::new(rule, Place::tool(tool), words).at(Level::Warning));
    } else if plain.starts_with("<!doctype") || plain.starts_with("<html") {
        findings.add(
            Finding::new(rule, Place::tool(tool), "the text of its result is HTML")
                .at(Level::Warning),
        );
    }
}

fn blocks(result: &Value) -> impl Iterator<Item = &Value> {
    result["content"].as_array().into_iter().flatten()
}

/// What a client without views gets.
fn text_client(survey: &Survey, findings: &mut Findings) {
    let Some(text) = &survey.text else { return };
    let tools = match &text.tools {
        Ok(tools) => tools,
        Err(why) => {
            let words = format!("a client without the extension gets no list of tools: {why}");
            return findings.add(Finding::new(&SERVER_20, Place::server(), words));
        }
    };
    if survey.said.era == Era::Stateless
        && differ(&survey.tools, tools).next().is_some()
        && [&survey.tools, tools].iter().any(|listed| listed.cache.as_deref() != Some("private"))
    {
        let words = "tools/list differs by client, and its cacheScope is not \"private\"";
        findings.add(Finding::new(&SERVER_13, Place::server(), words));
    }
    let hosts: BTreeSet<&str> = survey.tools.names().collect();
    for tool in tools.items.iter().filter(|tool| is_app_only(tool)) {
        let name = tool["name"].as_str().unwrap_or_default();
        let (words, level) = if hosts.contains(name) {
            ("is for views alone, and listed to clients that show none", Level::Warning)
        } else {
            ("is for views alone, and hidden from the hosts that show them", Level::Error)
        };
        findings.add(Finding::new(&SERVER_19, Place::tool(name), words).at(level));
    }
    let offered = |listed: &Listed| listed.items.iter().filter(|tool| is_for_model(tool)).count();
    if offered(&survey.tools) > 0 && offered(tools) == 0 {
        let words = "a client without the extension is offered no tool at all";
        findings.add(Finding::new(&SERVER_20, Place::server(), words));
    }
    for call in &text.calls {
        let fine = survey.calls.iter().any(|host| host.tool == call.tool && host.result.is_ok());
        match &call.result {
            Ok(result) => meaning(result, &call.tool, &SERVER_20, findings),
            Err(why) if fine => {
                let words = format!("answers a client without the extension with an error: {why}");
                findings.add(Finding::new(&SERVER_20, Place::tool(&call.tool), words));
            }
            Err(_) => {}
        }
    }
}

/// One connection on which each request says by itself who asks.
fn one_connection(survey: &Survey, findings: &mut Findings) {
    let Some((text, again)) = &survey.in_between else { return };
    if differ(&survey.tools, again).next().is_some() {
        let words = "a host gets another list after a client without views has asked";
        findings.add(Finding::new(&SERVER_24, Place::server(), words));
    }
    let alone = survey.text.as_ref().and_then(|side| side.tools.as_ref().ok());
    if alone.is_some_and(|alone| differ(alone, text).next().is_some()) {
        let words = "a client without views gets another list after a host has asked";
        findings.add(Finding::new(&SERVER_24, Place::server(), words));
    }
}

fn others(survey: &Survey, findings: &mut Findings) {
    let ours = survey.as_other(String::new());
    for other in &survey.others {
        for name in differ(&survey.tools, &other.tools) {
            let words = format!("is not the same over {}", other.way);
            findings.add(Finding::new(&SERVER_18, Place::tool(&name), words));
        }
        let uris: BTreeSet<&String> = ours.documents.keys().chain(other.documents.keys()).collect();
        for uri in
            uris.into_iter().filter(|uri| ours.documents.get(*uri) != other.documents.get(*uri))
        {
            let words = format!("is not the same document over {}", other.way);
            findings.add(Finding::new(&SERVER_18, Place::view(uri), words));
        }
    }
}

fn proxy(survey: &Survey, findings: &mut Findings) {
    for attempt in &survey.proxy {
        let words = match (attempt.heard, attempt.answered) {
            (true, _) => format!("fetched {} for us", attempt.what),
            (false, true) => format!("answered a request for {}", attempt.what),
            (false, false) => continue,
        };
        findings.add(Finding::new(&SERVER_23, Place::tool(&attempt.tool), words));
    }
}

/// The names of tools that two lists do not share, or tell differently.
fn differ(left: &Listed, right: &Listed) -> impl Iterator<Item = String> {
    let by_name = |listed: &Listed| -> BTreeMap<String, Vec<Value>> {
        let told = |tool: &Value| TOLD.iter().map(|key| tool[*key].clone()).collect();
        listed
            .items
            .iter()
            .map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), told(tool)))
            .collect()
    };
    let (left, right) = (by_name(left), by_name(right));
    let names: BTreeSet<String> = left.keys().chain(right.keys()).cloned().collect();
    names.into_iter().filter(move |name| left.get(name) != right.get(name))
}

fn quote(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => Quoted::new(text).to_string(),
        other => Quoted::new(&other.to_string()).to_string(),
    }
}

/// What has to be the same of a tool.
const TOLD: [&str; 5] = ["description", "inputSchema", "outputSchema", "annotations", "_meta"];
const SLOW: Duration = Duration::from_secs(2);
const TOO_SLOW: Duration = Duration::from_secs(10);
const LARGE: usize = 512 << 10;
const TOO_LARGE: usize = 1 << 20;

/// What people write when they mean to write something later.
#[rustfmt::skip]
const PLACEHOLDERS: [&str; 19] = [
    "ok", "done", "success", "loading", "see the view", "see view", "see the ui", "see ui", "view opened", "opened the view",
    "view", "ui", "rendered", "displayed", "app", "app opened", "placeholder", "todo", "showing the view",
];

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
