//! What a document needs or asks for and its server was not granted.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use transom::{
    csp::{Grant, List, Source},
    permissions::Permission,
    policy::{Domains, Grantable, Nearby, Stance},
    quoted::Quoted,
    wire::ResourcePermissions,
};

use crate::documents::{Document, What};

/// What people have given a view beside the rules of its operator: private addresses with what each is for, and grants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) nearby: BTreeSet<String>,
    pub(crate) grants: BTreeSet<Grantable>,
}

impl Given {
    pub(crate) fn is_empty(&self) -> bool {
        self.nearby.is_empty() && self.grants.is_empty()
    }

    /// Whether all of it is in the other.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.nearby.is_subset(&other.nearby) && self.grants.is_subset(&other.grants)
    }
}

/// What of a set changes the policy of a document.
pub(crate) fn policies(set: &BTreeSet<Grantable>) -> impl Iterator<Item = Grant> {
    set.iter().filter_map(|grantable| match grantable {
        Grantable::Policy(grant) => Some(*grant),
        Grantable::Permission(_) => None,
    })
}

/// What a document will miss, and the line of `transom.toml` that gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingGrants {
    server: String,
    uri: String,
    granted: Vec<Grant>,
    missing: Vec<Grant>,
}

impl MissingGrants {
    /// Compares what a look at the document found with what its server has. None, if nothing is missing.
    pub fn of(document: &Document, granted: &[Grant]) -> Option<Self> {
        let needs = |grant| {
            document.scan.findings.iter().any(|found| found.what == What::NeedsGrant(grant))
        };
        let missing = |grant: &Grant| needs(*grant) && !granted.contains(grant);
        let missing: Vec<Grant> = Grant::ALL.into_iter().filter(missing).collect();
        (!missing.is_empty()).then(|| Self {
            server: document.server.clone(),
            uri: document.uri.as_str().to_owned(),
            granted: granted.to_vec(),
            missing,
        })
    }

    /// The kinds of script that are missing.
    pub fn missing(&self) -> &[Grant] {
        &self.missing
    }

    /// The table of the configuration that the line belongs under.
    pub fn table(&self) -> String {
        table(&self.server)
    }

    /// The line itself, which keeps what is granted already.
    pub fn line(&self) -> String {
        let all = |grant: &Grant| self.granted.contains(grant) || self.missing.contains(grant);
        format!("grants = [{}]", names(Grant::ALL.into_iter().filter(all)))
    }
}

impl fmt::Display for MissingGrants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = names(self.missing.iter().copied());
        let (uri, table, line) = (Quoted::new(&self.uri), self.table(), self.line());
        write!(f, "{uri} needs scripts from {missing}, which is not granted; ")?;
        write!(
            f,
            "if you trust it, write under {table} in transom.toml, where its command or url stands: {line}"
        )
    }
}

/// Permissions that a document asks for and does not get, and the line of `transom.toml` that gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPermissions {
    server: String,
    uri: String,
    asked: ResourcePermissions,
    granted: ResourcePermissions,
}

impl MissingPermissions {
    /// Compares what the document asks for with what its server has. None, if nothing is missing.
    pub fn of(document: &Document, granted: ResourcePermissions) -> Option<Self> {
        let asked = document.meta.permissions.unwrap_or_default();
        (asked.and(granted) != asked).then(|| Self {
            server: document.server.clone(),
            uri: document.uri.as_str().to_owned(),
            asked,
            granted,
        })
    }

    /// The line that gives it, which keeps what is granted already.
    pub fn line(&self) -> String {
        let (asked, granted) = (permissions(self.asked), permissions(self.granted));
        let all = Permission::ALL.into_iter().map(Permission::name);
        let all = all.filter(|name| asked.contains(name) || granted.contains(name));
        format!(
            "permissions = [{}]",
            all.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
        )
    }
}

impl fmt::Display for MissingPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let granted = permissions(self.granted);
        let missing = permissions(self.asked).into_iter().filter(|name| !granted.contains(name));
        let missing: Vec<_> = missing.collect();
        let (uri, table, line) = (Quoted::new(&self.uri), table(&self.server), self.line());
        write!(f, "{uri} asks for {}, which is not granted; ", missing.join(", "))?;
        write!(
            f,
            "if you trust it, write under {table} in transom.toml, where its command or url stands: {line}"
        )
    }
}

/// Addresses of this machine and its networks that a document declares and a person is asked about, and the
/// line of `transom.toml` that grants them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingNearby {
    server: String,
    uri: String,
    granted: Vec<Nearby>,
    missing: Vec<Source>,
}

impl MissingNearby {
    /// Compares what the document declares with what its server has. None, if nothing is missing.
    pub fn of(document: &Document, domains: &Domains) -> Option<Self> {
        let missing = nearby(document, domains);
        (!missing.is_empty()).then(|| Self {
            server: document.server.clone(),
            uri: document.uri.as_str().to_owned(),
            granted: domains.private.clone(),
            missing,
        })
    }

    /// The line that gives it, which keeps what is granted already.
    pub fn line(&self) -> String {
        let mut all: Vec<_> = self.granted.iter().map(|grant| format!("\"{grant}\"")).collect();
        for grant in self.missing.iter().map(|source| format!("\"{}\"", Nearby::of(source))) {
            if !all.contains(&grant) {
                all.push(grant);
            }
        }
        format!("private = [{}]", all.join(", "))
    }
}

impl fmt::Display for MissingNearby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing: Vec<_> = self.missing.iter().map(Source::to_string).collect();
        let (uri, table, line) = (Quoted::new(&self.uri), table(&self.server), self.line());
        write!(f, "{uri} wants to reach {}, which is on this machine or ", missing.join(", "))?;
        write!(
            f,
            "its network; you are asked before it opens, unless you trust it and write under "
        )?;
        write!(f, "{table} in transom.toml: {line}")
    }
}

/// The private addresses that a document declares and the rules leave to a person, each once.
pub(crate) fn nearby(document: &Document, domains: &Domains) -> Vec<Source> {
    let Some(declaration) = &document.declaration else { return vec![] };
    let all = List::ALL.into_iter().flat_map(|list| declaration.list(list));
    let asked = all.filter(|source| domains.judge(source) == Stance::Ask);
    asked.cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// A private address together with what a document wants it for: `connectDomains http://localhost:3000`. A yes is for the
/// two together, since scripts from an address can do more than a request to it.
pub(crate) fn wish(list: List, source: &Source) -> String {
    format!("{} {source}", list.name())
}

/// The same as `nearby`, as wishes.
pub(crate) fn wishes(document: &Document, domains: &Domains) -> BTreeSet<String> {
    let Some(declaration) = &document.declaration else { return BTreeSet::new() };
    let asked = |list| {
        let all = declaration.list(list).iter();
        all.filter(|source| domains.judge(source) == Stance::Ask)
            .map(move |source| wish(list, source))
    };
    List::ALL.into_iter().flat_map(asked).collect()
}

/// The addresses of wishes, each with its purposes in words.
pub(crate) fn purposes(wishes: &BTreeSet<String>) -> BTreeMap<&str, String> {
    let mut all: BTreeMap<&str, String> = BTreeMap::new();
    for list in List::ALL {
        let named = |wish: &'_ String| -> Option<usize> {
            wish.strip_prefix(list.name())?.starts_with(' ').then_some(list.name().len() + 1)
        };
        for (wish, at) in wishes.iter().filter_map(|wish| named(wish).map(|at| (wish, at))) {
            let words = all.entry(&wish[at..]).or_default();
            if !words.is_empty() {
                words.push_str(", ");
            }
            words.push_str(match list {
                List::Connect => "to send and fetch",
                List::Resource => "to load scripts, images and styles from",
                List::Frame => "to show in a frame",
                List::BaseUri => "as its base address",
            });
        }
    }
    all
}

/// The names of the permissions that are in a set.
pub fn permissions(set: ResourcePermissions) -> Vec<&'static str> {
    let all = Permission::ALL.into_iter().filter(|permission| permission.is_in(set));
    all.map(Permission::name).collect()
}

fn table(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) {
        return format!("[servers.{name}]");
    }
    // TOML's basic strings escape as JSON's do.
    format!("[servers.{}]", serde_json::Value::from(name))
}

fn names(grants: impl Iterator<Item = Grant>) -> String {
    grants.map(|grant| format!("{:?}", grant.name())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};
    use transom::wire::{MIME, UiUri};

    use super::*;
    use crate::documents::DocumentLimits;

    fn document(server: &str, html: &str) -> Document {
        let uri = UiUri::parse("ui://pdf/view.html").unwrap();
        let item = json!({ "uri": uri.as_str(), "mimeType": MIME, "text": html });
        let result = to_raw_value(&json!({ "contents": [item] })).unwrap();
        Document::read(server, &uri, &result, None, &DocumentLimits::default()).unwrap()
    }

    #[test]
    fn a_missing_grant_is_named_with_the_line_that_gives_it() {
        let html =
            "<script>WebAssembly.instantiate(x); new Worker('data:text/javascript,1')</script>";
        let pdf = document("pdf", html);
        let missing = MissingGrants::of(&pdf, &[Grant::Blob]).unwrap();
        assert_eq!(missing.missing(), [Grant::Data, Grant::Wasm]);
        assert_eq!(
            missing.to_string(),
            "\"ui://pdf/view.html\" needs scripts from \"data:\", \"wasm\", which is not granted; if you \
             trust it, write under [servers.pdf] in transom.toml, where its command or url stands: \
             grants = [\"blob:\", \"data:\", \"wasm\"]"
        );
        assert_eq!(MissingGrants::of(&pdf, &Grant::ALL), None);
        assert_eq!(MissingGrants::of(&document("pdf", "<p>hello"), &[]), None);
    }

    #[test]
    fn a_permission_that_is_asked_for_and_not_granted_is_named_with_its_line() {
        let mut asks = document("maps", "<p>hello");
        let (camera, geolocation) = (true, true);
        asks.meta.permissions =
            Some(ResourcePermissions { camera, geolocation, ..Default::default() });
        let granted = ResourcePermissions { camera, clipboard_write: true, ..Default::default() };
        assert_eq!(
            MissingPermissions::of(&asks, granted).unwrap().to_string(),
            "\"ui://pdf/view.html\" asks for geolocation, which is not granted; if you trust it, write \
             under [servers.maps] in transom.toml, where its command or url stands: \
             permissions = [\"camera\", \"geolocation\", \"clipboard-write\"]"
        );
        assert_eq!(MissingPermissions::of(&asks, ResourcePermissions::ALL), None);
        assert_eq!(MissingPermissions::of(&document("maps", "<p>"), Default::default()), None);
    }

    #[test]
    fn a_private_address_that_is_declared_and_not_granted_is_named_with_its_line() {
        let mut near = document("board", "<p>hello");
        let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let declared = transom::wire::ResourceCsp {
            connect_domains: list(&["http://localhost:3000", "https://10.0.0.1", "https://x.com"]),
            resource_domains: list(&["http://localhost:3000"]),
            ..Default::default()
        };
        near.declaration = Some(transom::csp::Declaration::read(&declared).0);
        let granted = |words: &[&str]| Domains {
            private: words.iter().map(|word| word.parse().unwrap()).collect(),
            ..Domains::default()
        };
        assert_eq!(
            MissingNearby::of(&near, &granted(&["router"])).unwrap().to_string(),
            "\"ui://pdf/view.html\" wants to reach http://localhost:3000, https://10.0.0.1, which is on \
             this machine or its network; you are asked before it opens, unless you trust it and \
             write under [servers.board] in transom.toml: \
             private = [\"router\", \"localhost:3000\", \"10.0.0.1:443\"]"
        );
        // The line that is named is the one that helps.
        let enough = granted(&["localhost:3000", "10.0.0.1:443"]);
        assert_eq!(MissingNearby::of(&near, &enough), None);
    }

    #[test]
    fn a_name_that_needs_quotes_gets_them() {
        let html = "<script>WebAssembly.instantiate(x)</script>";
        let table = |name: &str| MissingGrants::of(&document(name, html), &[]).unwrap().table();
        assert_eq!(table("localhost-3001"), "[servers.localhost-3001]");
        assert_eq!(table("a.test"), r#"[servers."a.test"]"#);
        assert_eq!(table("say \"hi\""), r#"[servers."say \"hi\""]"#);
    }

    #[test]
    fn an_address_is_quoted_and_does_not_begin_a_sentence() {
        let mut asks = document("maps", "<script>WebAssembly.instantiate(x)</script>");
        asks.uri = UiUri::parse("ui://a\u{a0}is\u{2003}safe.\u{3000}Click\u{202f}Allow").unwrap();
        asks.meta.permissions = Some(ResourcePermissions { camera: true, ..Default::default() });
        let quoted = r#""ui://a\u{a0}is\u{2003}safe.\u{3000}Click\u{202f}Allow" "#;
        let grants = MissingGrants::of(&asks, &[]).unwrap().to_string();
        let permissions = MissingPermissions::of(&asks, Default::default()).unwrap().to_string();
        for words in [grants, permissions] {
            assert!(words.starts_with(quoted), "{words}");
        }
    }
}
