//! A report for people.

use transom_host::documents::Severity;

use super::report::{Facts, Finding, Report, ViewReport};
use crate::terminal::clean;

/// Prints a report, a stranger's words made harmless line by line.
pub(super) fn print(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.add(0, format!("{}   {}", report.name, report.place));
    lines.fact(1, "server", &format!("{} {}", report.server.name, report.server.version));
    let era = &report.protocol;
    lines.fact(1, "protocol", &format!("{} ({} era)", era.version, era.era));
    lines.fact(1, "offers", &offers(report));
    tools(report, &mut lines);
    findings(1, &report.findings, &mut lines);
    for view in &report.views {
        print_view(view, &mut lines);
    }
    for template in &report.templates {
        lines.add(1, format!("views at {template}"));
        lines.fact(2, "opened by", "no tool; whoever knows the parameters reads one");
    }
    lines.fact(1, "in all", &conclusion(report));
    lines.0
}

fn offers(report: &Report) -> String {
    let names: Vec<&str> = report.capabilities.keys().map(String::as_str).collect();
    let views = if report.announces_views { "announces views" } else { "does not announce views" };
    format!("{}; {views}", list(&names))
}

fn tools(report: &Report, lines: &mut Lines) {
    let tools = &report.tools;
    let audiences = [
        ("for both", &tools.both),
        ("for the model", &tools.model),
        ("for apps", &tools.app),
        ("for neither", &tools.neither),
    ];
    let count: usize = audiences.iter().map(|(_, names)| names.len()).sum();
    lines.fact(1, "tools", &count.to_string());
    for (who, names) in audiences.into_iter().filter(|(_, names)| !names.is_empty()) {
        lines.fact(2, who, &list(names));
    }
}

fn print_view(view: &ViewReport, lines: &mut Lines) {
    lines.add(1, format!("view {}", view.uri));
    lines.fact(2, "opened by", &list(&view.tools));
    if let Some(facts) = &view.document {
        print_facts(facts, lines);
    }
    if view.findings.is_empty() {
        lines.fact(2, "findings", "none");
    }
    findings(2, &view.findings, lines);
}

fn print_facts(facts: &Facts, lines: &mut Lines) {
    lines.fact(2, "size", &size(facts.bytes));
    lines.fact(2, "hash", &facts.hash);
    lines.fact(2, "policy", &format!("{}; frame-ancestors (its sandbox and the page)", facts.csp));
    let permissions = match &*facts.permissions {
        "" => "none asked for".to_owned(),
        asked => format!("asks for {asked}; none is granted"),
    };
    lines.fact(2, "permissions", &permissions);
    if let Some(domain) = &facts.domain {
        lines.fact(2, "domain", domain);
    }
}

fn findings(depth: usize, findings: &[Finding], lines: &mut Lines) {
    for finding in findings {
        let line = finding.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        lines.fact(depth, &finding.severity.to_string(), &format!("{}{line}", finding.words));
    }
}

fn conclusion(report: &Report) -> String {
    let views = report.views.iter().flat_map(|view| &view.findings);
    let all: Vec<Severity> = views.chain(&report.findings).map(|found| found.severity).collect();
    let count = |wanted| all.iter().filter(|severity| **severity == wanted).count();
    let [danger, warning, note] = [Severity::Danger, Severity::Warning, Severity::Note].map(count);
    format!("danger {danger}, warning {warning}, note {note}")
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn list(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, depth: usize, line: String) {
        self.0.push_str(&"  ".repeat(depth));
        self.0.push_str(&clean(&line));
        self.0.push('\n');
    }

    fn fact(&mut self, depth: usize, name: &str, value: &str) {
        self.add(depth, format!("{name:<13} {value}"));
    }
}
