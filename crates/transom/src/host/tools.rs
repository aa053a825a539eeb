//! The tools of the server that a view came from.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value, value::RawValue};

use crate::{
    policy::{Claimed, Claims, Subject, ToolFacts, canonical},
    quoted::Quoted,
    routes::{DECLARED, HANDLES, Handling, Routes},
    rpc,
    wire::{Compat, Finding, Tool, ToolMeta, Visibility},
};

/// One server's tools, as they are now. Shared by all its views, replaced whole when it changes.
#[derive(Debug)]
pub struct Tools {
    by_name: BTreeMap<String, Entry>,
    for_app: Box<RawValue>,
    digest: Digest,
}

/// Makes of a text what stands for it from then on, such as its SHA-256.
pub type Digest = fn(&str) -> String;

#[derive(Debug)]
struct Entry {
    facts: ToolFacts,
    raw: Box<RawValue>,
    /// The schemas of all that have this name.
    schema: String,
}

impl Tools {
    /// Reads the entries of a `tools/list`. One that cannot be read is left out, and said.
    ///
    /// A name that stands twice gets the stricter of the two readings: the server will act on one of
    /// them, and the host does not know which.
    pub fn read<'a>(
        entries: impl IntoIterator<Item = &'a RawValue>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        Self::read_with(str::to_owned, entries, findings)
    }

    /// The same, with a digest in place of each schema. A decision that is kept is bound to it, so it must be one
    /// for which no two texts can be found.
    pub fn read_with<'a>(
        digest: Digest,
        entries: impl IntoIterator<Item = &'a RawValue>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut by_name = BTreeMap::<String, Entry>::new();
        for raw in entries {
            let Some((facts, schema)) = facts(raw, findings) else { continue };
            match by_name.get_mut(&facts.name) {
                Some(known) => {
                    known.facts.tighten(&facts);
                    // No JSON text has a line break like this one: `a`, then `b` is not `ab`.
                    known.schema.push('\n');
                    known.schema.push_str(&schema);
                }
                None => {
                    let raw = raw.to_owned();
                    by_name.insert(facts.name.clone(), Entry { facts, raw, schema });
                }
            }
        }
        for entry in by_name.values_mut() {
            let schema = std::mem::take(&mut entry.schema);
            let ToolFacts { routes, handling, .. } = &entry.facts;
            let declared = routes.is_some() || handling.is_some();
            let text = || routes.as_ref().map(|it| it.text()).unwrap_or_default();
            let routes = declared.then(|| digest(&format!("{}{handling:?}", text())).into());
            let claims = Arc::make_mut(&mut entry.facts.claims);
            (claims.schema, claims.routes) = (digest(&schema).into(), routes);
        }
        let for_app = list(&by_name);
        Self { by_name, for_app, digest }
    }

    /// The longest name of a tool, in bytes. The specification recommends at most half of it.
    pub const LONGEST_NAME: usize = 256;

    /// What the tools of a subject say of themselves.
    pub fn said(&self, subject: &Subject) -> Claimed {
        let said = |name: &String| Some((name.clone(), Arc::clone(&self.get(name)?.claims)));
        match subject {
            Subject::Tools(names) => names.iter().filter_map(said).collect(),
            Subject::Tool(name) | Subject::Route { tool: name, .. } => {
                said(name).into_iter().collect()
            }
            _ => Claimed::new(),
        }
    }

    /// What a tool that a view offers says of itself, in the same terms.
    pub(super) fn claims(&self, tool: &Tool) -> Claims {
        let schema = canonical(tool.get("inputSchema"));
        Claims::of(|hint| tool.hint(hint), (self.digest)(&schema).into())
    }

    /// A text by its digest.
    pub(super) fn digest(&self, text: &str) -> String {
        (self.digest)(text)
    }

    /// What is known of one tool.
    pub fn get(&self, name: &str) -> Option<&ToolFacts> {
        self.by_name.get(name).map(|entry| &entry.facts)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ToolFacts> {
        self.by_name.values().map(|entry| &entry.facts)
    }

    /// The tools that the model may see, each as the server wrote it (H-10).
    pub fn for_model(&self) -> impl Iterator<Item = &RawValue> {
        self.by_name.values().filter(|entry| entry.facts.for_model).map(|entry| &*entry.raw)
    }

    /// The result of a view's `tools/list`: what apps may call (H-14).
    pub(super) fn for_app(&self) -> &RawValue {
        &self.for_app
    }
}

impl Default for Tools {
    fn default() -> Self {
        Self::read([], &mut vec![])
    }
}

impl ToolFacts {
    fn tighten(&mut self, other: &Self) {
        self.for_app &= other.for_app;
        self.for_model &= other.for_model;
        self.read_only &= other.read_only;
        self.destructive |= other.destructive;
        if self.routes != other.routes {
            self.routes = Some(Arc::default());
        }
        // A handle that no view was given: it cannot be called.
        if self.handling != other.handling {
            self.handling =
                Some(Arc::new(Handling { takes: Some(String::new()), ..Handling::default() }));
        }
        Arc::make_mut(&mut self.claims).tighten(&other.claims);
    }
}

/// What an entry says, and its schema.
fn facts(raw: &RawValue, findings: &mut Vec<Finding>) -> Option<(ToolFacts, String)> {
    let tool: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    let name = tool.get("name")?.as_str()?.to_owned();
    if name.len() > Tools::LONGEST_NAME {
        let got = Quoted::new(&name);
        findings.push(Finding::TooLong { key: "name", most: Tools::LONGEST_NAME, got });
        return None;
    }
    let empty = Map::new();
    let meta = tool.get("_meta").and_then(Value::as_object).unwrap_or(&empty);
    let visibility = ToolMeta::read(meta, Compat::default(), findings).visibility;
    let hint =
        |hint: &str| tool.get("annotations").and_then(|all| all.get(hint)).and_then(Value::as_bool);
    let facts = ToolFacts {
        name,
        for_app: visibility.contains(Visibility::App),
        for_model: visibility.contains(Visibility::Model),
        read_only: hint("readOnlyHint") == Some(true),
        destructive: hint("destructiveHint") == Some(true),
        routes: meta.get(DECLARED).map(|said| Arc::new(Routes::read(said, findings))),
        handling: meta.get(HANDLES).map(|said| Arc::new(Handling::read(said))),
        claims: Arc::new(Claims::of(hint, Box::default())),
    };
    Some((facts, canonical(tool.get("inputSchema"))))
}

fn list(by_name: &BTreeMap<String, Entry>) -> Box<RawValue> {
    let visible = by_name.values().filter(|entry| entry.facts.for_app);
    let tools: Vec<&RawValue> = visible.map(|entry| &*entry.raw).collect();
    rpc::raw(&BTreeMap::from([("tools", tools)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(text: &str) -> Tools {
        let entries: Vec<&RawValue> = serde_json::from_str(text).unwrap();
        Tools::read(entries, &mut vec![])
    }

    #[test]
    fn h_10_h_11_h_13_visibility_by_membership() {
        #[rustfmt::skip]
        let table = [
            (r#"{"name":"t"}"#,                                              (true, true)),
            (r#"{"name":"t","_meta":{"ui":{}}}"#,                            (true, true)),
            (r#"{"name":"t","_meta":{"ui":{"visibility":["model","app"]}}}"#, (true, true)),
            (r#"{"name":"t","_meta":{"ui":{"visibility":["model"]}}}"#,      (true, false)),
            (r#"{"name":"t","_meta":{"ui":{"visibility":["app"]}}}"#,        (false, true)),
            (r#"{"name":"t","_meta":{"ui":{"visibility":["app","app"]}}}"#,  (false, true)),
            (r#"{"name":"t","_meta":{"ui":{"visibility":[]}}}"#,             (false, false)),
            (r#"{"name":"t","_meta":{"ui":{"visibility":["everyone"]}}}"#,   (false, false)),
        ];
        for (text, expected) in table {
            let tools = tools(&format!("[{text}]"));
            let tool = tools.get("t").unwrap();
            assert_eq!((tool.for_model, tool.for_app), expected, "{text}");
            assert_eq!(tools.for_model().count(), usize::from(expected.0), "{text}");
        }
    }

    #[test]
    fn h_14_the_views_list_keeps_every_byte_of_what_it_may_see() {
        let tools = tools(
            r#"[{"name":"b","odd" : [1 ,2]}, {"name":"m","_meta":{"ui":{"visibility":["model"]}}}, {"name":"a"}]"#,
        );
        assert_eq!(
            tools.for_app().get(),
            r#"{"tools":[{"name":"a"},{"name":"b","odd" : [1 ,2]}]}"#
        );
    }

    #[test]
    fn one_odd_tool_is_dropped_not_the_list() {
        let tools =
            tools(r#"[{"name":"a"}, 7, {"title":"nameless"}, {"name":null}, {"name":"b"}]"#);
        assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_doubled_name_gets_the_stricter_reading() {
        let tools = tools(
            r#"[{"name":"t","annotations":{"readOnlyHint":true}},
                {"name":"t","annotations":{"destructiveHint":true},"_meta":{"ui":{"visibility":["model"]}}}]"#,
        );
        let tool = tools.get("t").unwrap();
        assert!(!tool.for_app && tool.for_model && !tool.read_only && tool.destructive);
        let said = serde_json::to_string(&*tool.claims).unwrap();
        assert_eq!(said, r#"{"readOnlyHint":false,"destructiveHint":true,"schema":"\n"}"#);
    }

    #[test]
    fn a_tool_whose_name_is_too_long_is_refused_and_the_others_are_not() {
        let mut findings = vec![];
        let of = |length: usize| format!(r#"{{"name":"{}"}}"#, "a".repeat(length));
        let text = format!("[{},{}]", of(Tools::LONGEST_NAME), of(Tools::LONGEST_NAME + 1));
        let entries: Vec<&RawValue> = serde_json::from_str(&text).unwrap();
        let tools = Tools::read(entries, &mut findings);
        assert_eq!(tools.iter().count(), 1);
        assert!(matches!(findings[..], [Finding::TooLong { key: "name", .. }]), "{findings:?}");
    }
}
