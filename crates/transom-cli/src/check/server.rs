//! The rules about a server: what it lists, what it answers, and to whom.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use transom::wire::EXTENSION;
use transom_host::upstream::Era;

use super::{
    catalogue::{
        SERVER_01, SERVER_02, SERVER_13, SERVER_18, SERVER_19, SERVER_20, SERVER_21, SERVER_23,
        SERVER_24, SERVER_26,
    },
    finding::{Finding, Findings, Spot},
    resource, result, routes,
    survey::{Listed, Survey, is_app_only, is_for_model},
    tool, view,
};
use crate::arguments::Level;

/// Applies every rule to what is known of a server.
pub(super) fn look(survey: &Survey, findings: &mut Findings) {
    output(survey, findings);
    capabilities(survey, findings);
    for tool in &survey.tools.items {
        tool::look(tool, findings);
        routes::look(tool, findings);
    }
    lists(survey, findings);
    for view in &survey.views {
        resource::look(view, survey, findings);
    }
    for template in &survey.templates {
        resource::look_at_template(template, findings);
    }
    for call in &survey.calls {
        result::look(call, survey, findings);
    }
    text_client(survey, findings);
    one_connection(survey, findings);
    others(survey, findings);
    proxy(survey, findings);
    let names: BTreeSet<&str> = survey.tools.names().collect();
    for view in &survey.views {
        if let Some(Ok(document)) = &view.document {
            view::look(document, &names, findings);
        }
    }
}

fn output(survey: &Survey, findings: &mut Findings) {
    if let Some(first) = &survey.strays.first {
        let lines = match survey.strays.lines {
            1 => "a line".to_owned(),
            lines => format!("{lines} lines"),
        };
        let words = format!("wrote {lines} to its standard output, beginning with {first}");
        findings.add(Finding::new(&SERVER_26, Spot::server(), words));
    }
}

fn capabilities(survey: &Survey, findings: &mut Findings) {
    let has_views = !survey.views.is_empty();
    if has_views && !survey.advertises() {
        let words = format!("has views, and does not advertise {EXTENSION}");
        findings.add(Finding::new(&SERVER_01, Spot::server(), words));
    }
    if !has_views && survey.advertises() {
        let words = format!("advertises {EXTENSION}, and no view can be found");
        findings.add(Finding::new(&SERVER_01, Spot::server(), words));
    }
    if has_views && survey.resources.is_none() {
        let words = "has views, and no resources capability";
        findings.add(Finding::new(&SERVER_02, Spot::server(), words));
    }
    match &survey.resources {
        Some(Err(why)) => findings.add(Finding::new(&SERVER_02, Spot::server(), why)),
        Some(Ok(Listed { cut: Some(why), .. })) => {
            let words = format!("the list of resources is not complete: {why}");
            findings.add(Finding::new(&SERVER_02, Spot::server(), words));
        }
        _ => {}
    }
}

fn lists(survey: &Survey, findings: &mut Findings) {
    let Listed { dropped, cut, .. } = &survey.tools;
    if let Some(why) = cut {
        let words = format!("the list of tools is not complete: {why}");
        findings.add(Finding::new(&SERVER_21, Spot::server(), words).at(Level::Error));
    }
    if *dropped > 0 {
        let words = format!("{dropped} entries of the list of tools are no tools");
        findings.add(Finding::new(&SERVER_21, Spot::server(), words).at(Level::Error));
    }
    let mut seen = BTreeSet::new();
    for name in survey.tools.names().filter(|name| !seen.insert(*name)) {
        let finding = Finding::new(&SERVER_21, Spot::tool(name), "is listed twice");
        findings.add(finding.at(Level::Error));
    }
}

/// What a client without views gets.
fn text_client(survey: &Survey, findings: &mut Findings) {
    let Some(text) = &survey.text else { return };
    let tools = match &text.tools {
        Ok(tools) => tools,
        Err(why) => {
            let words = format!("a client without the extension gets no list of tools: {why}");
            return findings.add(Finding::new(&SERVER_20, Spot::server(), words));
        }
    };
    if survey.said.era == Era::Stateless
        && differ(&survey.tools, tools).next().is_some()
        && [&survey.tools, tools].iter().any(|listed| listed.cache.as_deref() != Some("private"))
    {
        let words = "tools/list differs by client, and its cacheScope is not \"private\"";
        findings.add(Finding::new(&SERVER_13, Spot::server(), words));
    }
    let hosts: BTreeSet<&str> = survey.tools.names().collect();
    for tool in tools.items.iter().filter(|tool| is_app_only(tool)) {
        let name = tool["name"].as_str().unwrap_or_default();
        let (words, level) = if hosts.contains(name) {
            ("is for views alone, and listed to clients that show none", Level::Warning)
        } else {
            ("is for views alone, and hidden from the hosts that show them", Level::Error)
        };
        findings.add(Finding::new(&SERVER_19, Spot::tool(name), words).at(level));
    }
    let offered = |listed: &Listed| listed.items.iter().filter(|tool| is_for_model(tool)).count();
    if offered(&survey.tools) > 0 && offered(tools) == 0 {
        let words = "a client without the extension is offered no tool at all";
        findings.add(Finding::new(&SERVER_20, Spot::server(), words));
    }
    for call in &text.calls {
        let fine = survey.calls.iter().any(|host| host.tool == call.tool && host.result.is_ok());
        match &call.result {
            Ok(result) => result::meaning(result, &call.tool, &SERVER_20, findings),
            Err(why) if fine => {
                let words = format!("answers a client without the extension with an error: {why}");
                findings.add(Finding::new(&SERVER_20, Spot::tool(&call.tool), words));
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
        findings.add(Finding::new(&SERVER_24, Spot::server(), words));
    }
    let alone = survey.text.as_ref().and_then(|side| side.tools.as_ref().ok());
    if alone.is_some_and(|alone| differ(alone, text).next().is_some()) {
        let words = "a client without views gets another list after a host has asked";
        findings.add(Finding::new(&SERVER_24, Spot::server(), words));
    }
}

fn others(survey: &Survey, findings: &mut Findings) {
    let ours = survey.as_other(String::new());
    for other in &survey.others {
        for name in differ(&survey.tools, &other.tools) {
            let words = format!("is not the same over {}", other.way);
            findings.add(Finding::new(&SERVER_18, Spot::tool(&name), words));
        }
        let uris: BTreeSet<&String> = ours.documents.keys().chain(other.documents.keys()).collect();
        for uri in
            uris.into_iter().filter(|uri| ours.documents.get(*uri) != other.documents.get(*uri))
        {
            let words = format!("is not the same document over {}", other.way);
            findings.add(Finding::new(&SERVER_18, Spot::view(uri), words));
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
        findings.add(Finding::new(&SERVER_23, Spot::tool(&attempt.tool), words));
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

/// What has to be the same of a tool.
const TOLD: [&str; 5] = ["description", "inputSchema", "outputSchema", "annotations", "_meta"];
