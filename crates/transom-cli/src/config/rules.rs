//! Rules with their sources, from the house's through the file's to one server's.

use std::{collections::BTreeMap, ops::Range};

use toml::Spanned;
use transom::{
    csp::Source as Origins,
    policy::{Domains, HostPattern, Policy, Stance},
    routes::RoutePattern,
};

use super::{
    file::{self, Word},
    setting::{Setting, Source},
};

/// A policy, and where each of its rules comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rules {
    kinds: Vec<(&'static Kind, Setting<Stance>)>,
    tools: BTreeMap<String, Setting<Stance>>,
    routes: BTreeMap<RoutePattern, Setting<Stance>>,
    links: BTreeMap<HostPattern, Setting<Stance>>,
    allow_domains: Setting<Option<Vec<HostPattern>>>,
    block_domains: Setting<Vec<HostPattern>>,
}

impl Default for Rules {
    /// The house's.
    fn default() -> Self {
        let mut policy = Policy::default();
        Self {
            kinds: KINDS
                .iter()
                .map(|kind| (kind, Setting::default(*(kind.rule)(&mut policy))))
                .collect(),
            tools: BTreeMap::new(),
            routes: BTreeMap::new(),
            links: BTreeMap::new(),
            allow_domains: Setting::default(None),
            block_domains: Setting::default(vec![]),
        }
    }
}

impl Rules {
    /// These rules, with what a table of the file says instead. `source` knows where something stands.
    ///
    /// Domains are the exception: what is blocked for all stays blocked for each.
    pub(crate) fn with(
        &self,
        table: &file::Rules,
        source: impl Fn(Range<usize>) -> Source,
    ) -> Self {
        let mut rules = self.clone();
        let setting = |word: &Spanned<Word>| Setting {
            value: Stance::from(*word.get_ref()),
            source: source(word.span()),
        };
        for (kind, stance) in &mut rules.kinds {
            if let Some(word) = (kind.said)(table) {
                *stance = setting(word);
            }
        }
        let tools = table.tools.iter().map(|(name, word)| (name.clone(), setting(word)));
        rules.tools.extend(tools);
        let routes = table.routes.iter().map(|(route, word)| (route.0.clone(), setting(word)));
        rules.routes.extend(routes);
        let links = table.links.iter().map(|(host, word)| (host.0.clone(), setting(word)));
        rules.links.extend(links);
        let hosts = |list: &Spanned<Vec<Spanned<file::Hosts>>>| -> Vec<HostPattern> {
            list.get_ref().iter().map(|host| host.get_ref().0.clone()).collect()
        };
        if let Some(list) = &table.allow_domains {
            rules.allow_domains = Setting { value: Some(hosts(list)), source: source(list.span()) };
        }
        if let Some(list) = &table.block_domains {
            rules.block_domains.value.extend(hosts(list));
            rules.block_domains.source = source(list.span());
        }
        rules
    }

    /// What of a table can never count, beside these rules, which it is a part of: where it stands, and why.
    pub(crate) fn contradiction(&self, table: &file::Rules) -> Option<(Range<usize>, String)> {
        self.impossible_domain(table).or_else(|| self.impossible_link(table))
    }

    /// A domain that is allowed by name and blocked all the same.
    fn impossible_domain(&self, table: &file::Rules) -> Option<(Range<usize>, String)> {
        let said = |list: &Option<Spanned<Vec<Spanned<file::Hosts>>>>| {
            let list = list.as_ref().map(|list| list.get_ref().clone());
            list.unwrap_or_default()
        };
        let blocked =
            |host: &HostPattern| self.block_domains.value.iter().find(|it| covers(it, host));
        for host in said(&table.allow_domains) {
            let pattern = &host.get_ref().0;
            if let Some(by) = blocked(pattern) {
                let words = format!(
                    "{pattern} is in allow-domains, but block-domains has {by}; keep one of them"
                );
                return Some((host.span(), words));
            }
        }
        let allowed = self.allow_domains.value.as_deref().unwrap_or_default();
        for host in said(&table.block_domains) {
            let pattern = &host.get_ref().0;
            if let Some(other) = allowed.iter().find(|other| covers(pattern, other)) {
                let words = format!(
                    "{pattern} is in block-domains, but allow-domains has {other}; keep one of them"
                );
                return Some((host.span(), words));
            }
        }
        None
    }

    /// A host whose links are wanted where no link is opened.
    fn impossible_link(&self, table: &file::Rules) -> Option<(Range<usize>, String)> {
        let kind =
            |name: &str| self.kinds().find(|(kind, _)| *kind == name).map(|(_, it)| it.value);
        let open =
            ["https-links", "http-links"].into_iter().any(|name| kind(name) != Some(Stance::Deny));
        let wanted = |word: &Spanned<Word>| Stance::from(*word.get_ref()) != Stance::Deny;
        let (host, word) = table.links.iter().find(|(_, word)| wanted(word) && !open)?;
        let words = format!(
            "links to {} are wanted, but https-links and http-links are both \"deny\"",
            host.0
        );
        Some((word.span(), words))
    }

    /// The policy itself.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::default();
        for (kind, stance) in &self.kinds {
            *(kind.rule)(&mut policy) = stance.value;
        }
        let tools = self.tools.iter().map(|(name, stance)| (name.clone(), stance.value));
        policy.tools = tools.collect();
        let routes = self.routes.iter().map(|(route, stance)| (route.clone(), stance.value));
        policy.routes = routes.collect();
        let links = self.links.iter().map(|(host, stance)| (host.clone(), stance.value));
        policy.links = links.collect();
        policy.domains = Domains {
            allow: self.allow_domains.value.clone(),
            block: self.block_domains.value.clone(),
            // A grant is one server's.
            private: vec![],
        };
        policy
    }

    /// Every kind, under its name in the file.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&'static str, &Setting<Stance>)> {
        self.kinds.iter().map(|(kind, stance)| (kind.name, stance))
    }

    /// HTTP requests of tools.
    pub(crate) fn routes(&self) -> &BTreeMap<RoutePattern, Setting<Stance>> {
        &self.routes
    }

    /// Single hosts.
    pub(crate) fn links(&self) -> &BTreeMap<HostPattern, Setting<Stance>> {
        &self.links
    }

    /// Which domains documents may declare at all, under their names in the file.
    pub(crate) fn domains(&self) -> Vec<(&'static str, Vec<String>, &Source)> {
        let words = |list: &[HostPattern]| -> Vec<String> {
            list.iter().map(ToString::to_string).collect()
        };
        let allow = self.allow_domains.value.as_deref().map(words);
        let allow = allow.map(|list| ("allow-domains", list, &self.allow_domains.source));
        let block = &self.block_domains;
        let block = ("block-domains", words(&block.value), &block.source);
        allow.into_iter().chain([block].into_iter().filter(|block| !block.1.is_empty())).collect()
    }

    /// Single tools.
    pub(crate) fn tools(&self) -> &BTreeMap<String, Setting<Stance>> {
        &self.tools
    }
}

/// Whether one pattern means everything that the other one does.
fn covers(one: &HostPattern, other: &HostPattern) -> bool {
    Origins::parse(&format!("https://{other}")).is_ok_and(|other| one.covers(&other))
}

/// A stance as the file has it.
pub(crate) fn word(stance: Stance) -> &'static str {
    match stance {
        Stance::Allow => "allow",
        Stance::Ask => "ask",
        Stance::Deny => "deny",
    }
}

/// One kind of wish that has a stance: its name, where it stands in the file's table, and the rule that it is.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    said: fn(&file::Rules) -> &Option<Spanned<Word>>,
    rule: fn(&mut Policy) -> &mut Stance,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const fn kind(
    name: &'static str,
    said: fn(&file::Rules) -> &Option<Spanned<Word>>,
    rule: fn(&mut Policy) -> &mut Stance,
) -> Kind {
    Kind { name, said, rule }
}

#[rustfmt::skip]
static KINDS: [Kind; 14] = [
    kind("read-only-tools",      |table| &table.read_only_tools,       |policy| &mut policy.read_only_tools),
    kind("other-tools",          |table| &table.other_tools,           |policy| &mut policy.other_tools),
    kind("destructive-tools",    |table| &table.destructive_tools,     |policy| &mut policy.destructive_tools),
    kind("reads",                |table| &table.reads,                 |policy| &mut policy.reads),
    kind("https-links",          |table| &table.https_links,           |policy| &mut policy.https_links),
    kind("http-links",           |table| &table.http_links,            |policy| &mut policy.http_links),
    kind("mailto-links",         |table| &table.mailto_links,          |policy| &mut policy.mailto_links),
    kind("downloads",            |table| &table.downloads,             |policy| &mut policy.downloads),
    kind("messages",             |table| &table.messages,              |policy| &mut policy.messages),
    kind("model-context",        |table| &table.model_context,         |policy| &mut policy.model_context),
    kind("sampling",             |table| &table.sampling,              |policy| &mut policy.sampling),
    kind("display-modes",        |table| &table.display_modes,         |policy| &mut policy.display_modes),
    kind("read-only-app-tools",  |table| &table.read_only_app_tools,   |policy| &mut policy.read_only_app_tools),
    kind("other-app-tools",      |table| &table.other_app_tools,       |policy| &mut policy.other_app_tools),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reaches_the_rule_of_its_name() {
        for Kind { name, rule, .. } in &KINDS {
            for (text, stance) in
                [("allow", Stance::Allow), ("ask", Stance::Ask), ("deny", Stance::Deny)]
            {
                let table: file::Rules = toml::from_str(&format!("{name} = {text:?}")).unwrap();
                let mut policy = Rules::default().with(&table, |_| Source::Default).policy();
                assert_eq!(*rule(&mut policy), stance, "{name}");
                *rule(&mut policy) = *rule(&mut Policy::default());
                assert_eq!(policy, Policy::default(), "{name} changed something else");
            }
        }
    }

    #[test]
    fn h_29_what_is_blocked_for_all_stays_blocked() {
        let table = |text| toml::from_str::<file::Rules>(text).unwrap();
        let all = table("block-domains = ['*.ads.com']\nallow-domains = ['x.com']");
        let own = table(
            "block-domains = ['evil.com']\nallow-domains = ['y.com']\n[links]\n'docs.y.com' = 'allow'",
        );
        let rules = Rules::default().with(&all, |_| Source::Default);
        let policy = rules.with(&own, |_| Source::Default).policy();
        let words = |list: &[HostPattern]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(words(&policy.domains.block), ["*.ads.com", "evil.com"]);
        assert_eq!(words(policy.domains.allow.as_deref().unwrap()), ["y.com"]);
        assert_eq!(policy.links, [("docs.y.com".parse().unwrap(), Stance::Allow)].into());
        for odd in [
            "block-domains = ['https://x.com']",
            "allow-domains = ['*']",
            "[links]\n'x.com/a' = 'allow'",
        ] {
            let error = toml::from_str::<file::Rules>(odd).unwrap_err().to_string();
            assert!(error.contains("expected a host"), "{error}");
        }
    }

    #[test]
    fn a_servers_rules_begin_with_those_for_all() {
        let table = |text| toml::from_str::<file::Rules>(text).unwrap();
        let all = table("downloads = 'deny'\nmessages = 'allow'");
        let own = table(
            "downloads = 'ask'\n[tools]\nerase = 'deny'\n[routes]\n'post /api/{id}' = 'allow'",
        );
        let rules = Rules::default().with(&all, |_| Source::Default);
        let policy = rules.with(&own, |_| Source::Default).policy();
        assert_eq!((policy.downloads, policy.messages), (Stance::Ask, Stance::Allow));
        assert_eq!(policy.tools, [("erase".to_owned(), Stance::Deny)].into());
        assert_eq!(policy.routes, [("POST /api/{id}".parse().unwrap(), Stance::Allow)].into());
        let error = toml::from_str::<file::Rules>("[routes]\n'/api' = 'allow'").unwrap_err();
        assert!(error.to_string().contains("expected a request"), "{error}");
    }
}
