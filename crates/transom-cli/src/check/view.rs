//! The rules about a view's document.

use std::collections::BTreeSet;

use transom::{script::Script, wire::ResourcePermissions};
use transom_host::documents::{Document, Severity, What};

use super::{
    catalogue::{
        DOCUMENT_01, DOCUMENT_02, DOCUMENT_03, DOCUMENT_04, DOCUMENT_05, DOCUMENT_06, DOCUMENT_07,
        DOCUMENT_08, DOCUMENT_09, DOCUMENT_10, DOCUMENT_11, Rule,
    },
    finding::{Finding, Findings, Spot},
    page::Markup,
    script,
};
use crate::arguments::Level;

/// Looks at a document. `tools` are the names that a host gets to know.
pub(super) fn look(document: &Document, tools: &BTreeSet<&str>, findings: &mut Findings) {
    let html = String::from_utf8_lossy(&document.html);
    let view = Checked { uri: document.uri.as_str(), page: Markup::of(&html), document };
    view.head(findings);
    view.scan(findings);
    view.handlers(findings);
    view.scripts(findings);
    view.styles(findings);
    view.calls(tools, findings);
    view.relative(findings);
}

struct Checked<'a> {
    uri: &'a str,
    page: Markup,
    document: &'a Document,
}

impl Checked<'_> {
    fn find(&self, rule: &'static Rule, at: usize, words: impl Into<String>) -> Finding {
        Finding::new(rule, Spot::line(self.uri, self.page.line(at)), words)
    }

    fn head(&self, findings: &mut Findings) {
        let Markup { doctype, charset, viewport, .. } = self.page;
        let parts = [
            (doctype, "has no <!doctype html>", Level::Warning),
            (charset, "does not name its charset", Level::Warning),
            (viewport, "has no viewport: phones show it as a page of a desk's width", Level::Note),
        ];
        for (_, words, level) in parts.into_iter().filter(|(there, ..)| !there) {
            findings.add(Finding::new(&DOCUMENT_01, Spot::view(self.uri), words).at(level));
        }
    }

    /// What the host's own look at the document says.
    fn scan(&self, findings: &mut Findings) {
        for found in &self.document.scan.findings {
            let (rule, level) = match found.what {
                What::UndeclaredOrigin | What::BaseHref => (&DOCUMENT_02, Level::Error),
                What::ConnectionHint | What::Ping => (&DOCUMENT_02, Level::Warning),
                What::Eval => (&DOCUMENT_03, Level::Warning),
                What::NeedsGrant(_) => (&DOCUMENT_03, Level::Note),
                What::Popup | What::Form | What::Refresh => (&DOCUMENT_05, Level::Warning),
                What::TopNavigation if found.severity == Severity::Danger => {
                    (&DOCUMENT_05, Level::Warning)
                }
                What::Unread => (&DOCUMENT_01, Level::Warning),
                _ => continue,
            };
            let place = Spot::line(self.uri, found.place.line);
            findings.add(Finding::new(rule, place, &*found.words).at(level));
        }
    }

    fn handlers(&self, findings: &mut Findings) {
        if let Some(at) = self.page.handlers.first() {
            let count = self.page.handlers.len();
            let words =
                format!("handles events in attributes (onclick and the like), {count} in all");
            findings.add(self.find(&DOCUMENT_03, *at, words).at(Level::Note));
        }
    }

    fn scripts(&self, findings: &mut Findings) {
        for part in &self.page.scripts {
            let script = Script::new(&part.text);
            let mut first = |rule, at: Option<usize>, words: &str| {
                if let Some(at) = at {
                    findings.add(self.find(rule, part.place(at), words));
                }
            };
            for name in ["localStorage", "sessionStorage", "indexedDB"] {
                let mut bare = script.words(name).filter(|at| script.is_global(*at));
                let bare = bare.find(|at| !script.near(*at, "try") && !is_asked_for(script, *at));
                first(
                    &DOCUMENT_04,
                    bare,
                    &format!("uses {name} where nothing catches its failing"),
                );
            }
            let mut cookies =
                script.words("cookie").filter(|at| script.before(*at).ends_with("document."));
            let bare = cookies.find(|at| !script.near(*at, "try"));
            first(&DOCUMENT_04, bare, "uses document.cookie where nothing catches its failing");
            first(&DOCUMENT_05, navigation(script), "goes to another address");
            for name in HOST_GLOBALS {
                first(
                    &DOCUMENT_08,
                    unguarded(script, name),
                    &format!("uses {name}, which only some hosts have"),
                );
            }
            for (name, needs) in permissions(script) {
                let asked = self.document.meta.permissions.unwrap_or_default();
                let at =
                    script.words(name).next().filter(|_| !needs.iter().any(|(_, get)| get(&asked)));
                let needs: Vec<&str> = needs.into_iter().map(|(name, _)| name).collect();
                let needs = needs.join(" or ");
                first(&DOCUMENT_11, at, &format!("uses {name}, and {needs} is not declared"));
            }
        }
    }

    fn styles(&self, findings: &mut Findings) {
        let has = |word: &str| self.page.scripts.iter().any(|part| part.text.contains(word));
        // A view that does not report its size may have any height.
        let reports =
            !has("autoResize:false") && !has("autoResize: false") && !has("autoResize:!1");
        let follows = has("colorScheme") || has("applyDocumentTheme(");
        if let Some(at) = self.page.scheme.filter(|_| !follows) {
            findings.add(self.find(&DOCUMENT_09, at, "sets color-scheme in a <meta>"));
        }
        for part in &self.page.styles {
            if let Some(at) = viewport_height(&part.text).filter(|_| reports) {
                findings.add(self.find(&DOCUMENT_06, part.place(at), "has a height of 100vh"));
            }
            if let Some(at) = own_scheme(&part.text).filter(|_| !follows) {
                findings.add(self.find(
                    &DOCUMENT_09,
                    part.place(at),
                    "sets color-scheme, whatever the host's theme is",
                ));
            }
        }
    }

    fn calls(&self, tools: &BTreeSet<&str>, findings: &mut Findings) {
        let in_scripts = self.page.scripts.iter().flat_map(|part| {
            script::tools(Script::new(&part.text))
                .into_iter()
                .map(|(at, name)| (part.place(at), name))
        });
        let in_attributes = self.page.calls.iter().map(|(at, name)| (*at, &**name));
        for (at, name) in in_scripts.chain(in_attributes) {
            if !name.is_empty() && !tools.contains(name) {
                let name = transom::violation::Quoted::new(name);
                findings.add(self.find(
                    &DOCUMENT_07,
                    at,
                    format!("calls {name}, which the server does not list"),
                ));
            }
        }
    }

    fn relative(&self, findings: &mut Findings) {
        // With a <base> relative addresses lead somewhere; whether the view may load from there is judged by document-02.
        if self
            .document
            .scan
            .origins
            .iter()
            .any(|used| used.purpose == transom_host::documents::Use::Base)
        {
            return;
        }
        for relative in &self.page.relative {
            let words = format!("loads {}", transom::violation::Quoted::new(&relative.address));
            let level = if relative.vital { Level::Error } else { Level::Warning };
            findings.add(self.find(&DOCUMENT_10, relative.at, words).at(level));
        }
    }
}

/// Whether it is only asked whether a name exists: `typeof x`, `"x" in window`.
fn is_asked_for(script: Script<'_>, at: usize) -> bool {
    let before = script.before(at).trim_end_matches("window.").trim_ascii_end();
    before.ends_with("typeof") || before.ends_with(['"', '\''])
}

/// `location = …`, `location.href = …`, `location.assign(…)`; reading it is fine.
fn navigation(script: Script<'_>) -> Option<usize> {
    let goes = |at: &usize| {
        let behind = script.behind(at + "location".len());
        let behind = behind.strip_prefix(".href").map_or(behind, str::trim_ascii_start);
        let set = behind.starts_with('=') && !behind.starts_with("==") && !behind.starts_with("=>");
        set || behind.starts_with(".assign(") || behind.starts_with(".replace(")
    };
    let own = |at: &usize| {
        let before = script.before(*at);
        !["let ", "const ", "var ", "top.", "parent."].iter().any(|word| before.ends_with(word))
    };
    let own = |at: &usize| {
        own(at) && (script.is_global(*at) || script.before(*at).ends_with("document."))
    };
    let own = |at: &usize| own(at) && !is_qualifier(script, *at);
    script.words("location").filter(own).find(goes)
}

/// `layout(location = 0)`: a shader's, in a text.
fn is_qualifier(script: Script<'_>, at: usize) -> bool {
    let line = script.before(at).rsplit(['\n', ';', '{', ')']).next().unwrap_or_default();
    line.rsplit_once('(').is_some_and(|(word, _)| word.trim_ascii_end().ends_with("layout"))
}

/// Where something of one host is used, unless the script asks for it anywhere.
fn unguarded(script: Script<'_>, name: &'static str) -> Option<usize> {
    let own = name.rsplit('.').next().unwrap_or(name);
    let uses: Vec<usize> = script.words(own).filter(|at| script.is_global(*at)).collect();
    let is_guard = |at: &usize| {
        let before = script.before(*at).trim_end_matches("window.").trim_end_matches("globalThis.");
        let before = before.trim_ascii_end();
        let behind = script.behind(at + own.len());
        let asked = ["typeof", "if(", "if (", "!", "&&"].iter().any(|word| before.ends_with(word));
        let optional = ["?.", "&&", "??", "||", "?", ")", "=", ";", ","].iter();
        asked || optional.clone().any(|word| behind.starts_with(word))
    };
    let in_text = script.text().contains(&format!("\"{own}\"in "))
        || script.text().contains(&format!("\"{own}\" in "));
    if in_text || uses.iter().any(is_guard) {
        return None;
    }
    uses.into_iter().find(|at| script.behind(at + own.len()).starts_with(['.', '(']))
}

type Permission = (&'static str, fn(&ResourcePermissions) -> bool);

/// What a script can only use with a permission, and which of them is enough.
fn permissions(script: Script<'_>) -> Vec<(&'static str, Vec<Permission>)> {
    let camera: Permission = ("camera", |asked| asked.camera);
    let microphone: Permission = ("microphone", |asked| asked.microphone);
    let place: Permission = ("geolocation", |asked| asked.geolocation);
    let clipboard: Permission = ("clipboardWrite", |asked| asked.clipboard_write);
    let mut found = vec![];
    let member = |name: &'static str, of: &str| {
        script.words(name).any(|at| script.before(at).trim_ascii_end().ends_with(of))
    };
    if member("getUserMedia", "mediaDevices.") {
        found.push(("getUserMedia", vec![camera, microphone]));
    }
    if member("geolocation", "navigator.") {
        found.push(("geolocation", vec![place]));
    }
    if member("writeText", "clipboard.") {
        found.push(("writeText", vec![clipboard]));
    }
    found
}

/// A height of the whole viewport.
fn viewport_height(style: &str) -> Option<usize> {
    ["100vh", "100dvh", "100svh", "100lvh"].iter().find_map(|value| {
        style.match_indices(value).map(|(at, _)| at).find(|at| {
            let declaration = style[..*at].rsplit([';', '{', '}']).next().unwrap_or_default();
            let name = declaration.split(':').next().unwrap_or_default().trim();
            // A bound keeps it from growing; only a wish to be that tall makes it grow.
            matches!(name, "height" | "min-height" | "block-size" | "min-block-size")
        })
    })
}

/// A `color-scheme` that does not hang on the theme.
fn own_scheme(style: &str) -> Option<usize> {
    style.match_indices("color-scheme").map(|(at, _)| at).find(|at| {
        let before = &style[..*at];
        let value = style[at + "color-scheme".len()..].trim_start().strip_prefix(':');
        let Some(value) = value else { return false };
        if before.ends_with('-')
            || before.trim_end().ends_with('(')
            || value.trim_start().starts_with("normal")
        {
            return false;
        }
        let block = before.rfind('{').map_or("", |open| &before[..open]);
        let selector = block.rsplit(['}', '{']).next().unwrap_or_default();
        !["data-theme", ".dark", ".light", "data-color"].iter().any(|word| selector.contains(word))
    })
}

/// What only one host has.
const HOST_GLOBALS: [&str; 3] = ["window.openai", "acquireVsCodeApi", "window.claude"];

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};
    use transom::wire::UiUri;
    use transom_host::documents::DocumentLimits;

    use super::*;

    fn found(body: &str) -> Vec<(&'static str, usize)> {
        found_in(body, json!({}))
    }

    fn found_in(body: &str, ui: serde_json::Value) -> Vec<(&'static str, usize)> {
        let head = "<!doctype html><meta charset=utf-8><meta name=viewport content=x>\n";
        let item = json!({
            "uri": "ui://x/y", "mimeType": transom::wire::MIME, "text": format!("{head}{body}"), "_meta": { "ui": ui },
        });
        let result = to_raw_value(&json!({ "contents": [item] })).unwrap();
        let uri = UiUri::parse("ui://x/y").unwrap();
        let document =
            Document::read("x", &uri, &result, None, &DocumentLimits::default()).unwrap();
        let mut findings = Findings::default();
        look(&document, &["show"].into(), &mut findings);
        let line = |finding: Finding| (finding.rule.id, finding.place.line.unwrap_or_default());
        findings.into_ranked().into_iter().map(line).collect()
    }

    #[test]
    fn every_rule_has_its_words() {
        #[rustfmt::skip]
        let table: &[(&str, &[(&str, usize)])] = &[
            ("<p>hello", &[]),
            // document-02
            ("<img src='https://a.test/x.png'>",                           &[("document-02", 2)]),
            ("\n<script>fetch('https://a.test')</script>",                 &[("document-02", 3)]),
            // document-03
            ("<script>eval(x)</script>",                                   &[("document-03", 2)]),
            ("<button onclick='go()'>",                                    &[("document-03", 2)]),
            // document-04
            ("<script>localStorage.setItem('a', 1)</script>",              &[("document-04", 2)]),
            ("<script>window.sessionStorage.a = 1</script>",               &[("document-04", 2)]),
            ("<script>const jar = document.cookie</script>",               &[("document-04", 2)]),
            ("<script>try { localStorage.a = 1 } catch {}</script>",       &[]),
            ("<script>if (typeof localStorage !== 'undefined') {}</script>", &[]),
            ("<script>my.localStorage.a = 1; cookie = 2</script>",         &[]),
            // document-05
            ("<script>window.open('x')</script>",                          &[("document-05", 2)]),
            ("<a target=_blank href=x>",                                   &[("document-05", 2)]),
            ("<script>location = 'x'</script>",                            &[("document-05", 2)]),
            ("<script>window.location.href = x</script>",                  &[("document-05", 2)]),
            ("<script>location.assign(x)</script>",                        &[("document-05", 2)]),
            ("<script>const location = x; a.location = 1; b(location.href); location == 1</script>", &[]),
            // document-06
            ("<style>body { min-height: 100vh }</style>",                  &[("document-06", 2)]),
            ("<div style='height:100dvh'>",                                &[("document-06", 2)]),
            ("<style>main { max-height: 100vh; width: 100vw }</style>",    &[]),
            ("<style>body { height: 100vh }</style><script>new App({}, {}, { autoResize: false })</script>", &[]),
            // document-07
            ("<script>app.callServerTool({ name: 'shwo' })</script>",      &[("document-07", 2)]),
            ("<button data-call=shwo>",                                    &[("document-07", 2)]),
            ("<script>app.callServerTool({ name: 'show' })</script>",      &[]),
            // document-08
            ("<script>window.openai.callTool(x)</script>",                 &[("document-08", 2)]),
            ("<script>const v = acquireVsCodeApi()</script>",              &[("document-08", 2)]),
            ("<script>if (window.openai) window.openai.callTool(x)</script>", &[]),
            ("<script>window.openai?.callTool(x)</script>",                &[]),
            ("<script>import openai from 'x'; my.openai.go()</script>",    &[]),
            // document-09
            ("<style>:root { color-scheme: light dark }</style>",          &[("document-09", 2)]),
            ("<meta name=color-scheme content=dark>",                      &[("document-09", 2)]),
            ("<style>[data-theme=dark] { color-scheme: dark }</style>",    &[]),
            ("<style>@media (prefers-color-scheme: dark) { p { color: red } }</style>", &[]),
            ("<style>:root { color-scheme: dark }</style><script>root.style.colorScheme = theme</script>", &[]),
            // document-10
            ("<script src='./app.js'></script>",                           &[("document-10", 2)]),
            ("<link rel=stylesheet href='/a.css'>",                        &[("document-10", 2)]),
            ("<style>p { background: url(a.png) }</style>",                &[("document-10", 2)]),
            ("<img src='data:,'><a href='x'>",                             &[]),
            // document-11
            ("<script>navigator.geolocation.getCurrentPosition(x)</script>", &[("document-11", 2)]),
            ("<script>navigator.mediaDevices.getUserMedia({})</script>",   &[("document-11", 2)]),
            ("<script>navigator.clipboard.writeText('a')</script>",        &[("document-11", 2)]),
        ];
        for (body, expected) in table {
            assert_eq!(found(body), *expected, "{body}");
        }
    }

    #[test]
    fn what_is_declared_is_fine() {
        let ui = json!({
            "permissions": { "geolocation": {}, "microphone": {} },
            "csp": { "resourceDomains": ["https://a.test"] },
        });
        let body = "<img src='https://a.test/x.png'><script>navigator.geolocation.x; navigator.mediaDevices.getUserMedia({})</script>";
        assert_eq!(found_in(body, ui), []);
    }

    #[test]
    fn our_own_library_is_fine() {
        assert_eq!(found(&format!("<script>{}</script>", transom_web::VIEW)), []);
    }
}
