//! May this view do that? Pure judgement: a wish and the rules go in, a verdict comes out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::violation::Denial;

mod hosts;
mod reach;

pub use hosts::{Domains, HostPattern, Nearby, NearbyError};
pub use reach::Reach;

/// The answer to a wish.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Do it.
    Allow,
    /// Do not, and say why.
    Deny(Denial),
    /// A person decides; the subject is what their answer will cover.
    Ask(Subject),
}

/// What a view wants to do.
#[derive(Clone, Copy, Debug)]
pub enum Wish<'a> {
    /// Call a tool of its own server.
    CallTool(&'a ToolFacts),
    /// Read or list what its own server offers.
    Read {
        /// `resources/read` or one of the lists.
        method: &'a str,
        /// What is read, if it is one thing.
        uri: Option<&'a str>,
    },
    /// Open an address outside.
    OpenLink(&'a Url),
    /// Save these files, named as a person is shown them.
    Download(&'a [String]),
    /// Speak in the conversation, in the user's place.
    Message,
    /// Tell the model something for its next turn.
    UpdateModelContext,
    /// Use the host's model.
    Sample,
    /// Be shown in another way.
    DisplayMode,
    /// The other way round: the model wants to use a tool that the view offers.
    AppTool {
        /// The tool's name.
        name: &'a str,
        /// What the view claims about it.
        read_only: bool,
    },
}

/// What a tool says about itself, as far as it matters here. Hints are the server's claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its name.
    pub name: String,
    /// Whether views may call it (H-11).
    pub for_app: bool,
    /// Whether the model may see it (H-10).
    pub for_model: bool,
    /// `readOnlyHint: true`.
    pub read_only: bool,
    /// `destructiveHint: true`.
    pub destructive: bool,
}

/// What one question to a person is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// All tools of the server that apps may call and that do not claim to be harmless, by name.
    Tools(BTreeSet<String>),
    /// One tool.
    Tool(String),
    /// One resource of the server by its address, or a list of them by its method.
    Read(String),
    /// One address, in full.
    Link(String),
    /// Files, by the names they would get, and the address of what would have to be fetched.
    Download(Vec<String>),
    /// Messages in the user's place.
    Message,
    /// Context for the model.
    ModelContext,
    /// The use of the host's model.
    Sampling,
    /// Another way of being shown.
    DisplayMode,
    /// One tool that the view offers to the model.
    AppTool(String),
    /// Addresses of this machine or of its networks that a document declares, as sources of its policy.
    Nearby(BTreeSet<String>),
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes, this time.
    Allow,
    /// Yes, and do not ask again.
    AllowAlways,
    /// No, this time.
    Deny,
    /// No, and do not ask again.
    DenyAlways,
}

/// A rule of the operator for one kind of wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// Do it without asking.
    Allow,
    /// Ask a person.
    Ask,
    /// Never.
    Deny,
}

/// The operator's rules for one server. The default is the house's.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Tools that claim to change nothing.
    pub read_only_tools: Stance,
    /// Tools that claim nothing.
    pub other_tools: Stance,
    /// Tools that claim to destroy.
    pub destructive_tools: Stance,
    /// Single tools, whatever they claim: a hint can be overruled here.
    pub tools: BTreeMap<String, Stance>,
    /// What the server offers to be read, and the lists of it.
    pub reads: Stance,
    /// `https` addresses.
    pub https_links: Stance,
    /// `http` addresses.
    pub http_links: Stance,
    /// `mailto` addresses.
    pub mailto_links: Stance,
    /// Addresses by their host, where the rule for their scheme does not forbid them.
    pub links: BTreeMap<HostPattern, Stance>,
    /// Which domains documents may declare at all (H-29).
    pub domains: Domains,
    /// Downloads.
    pub downloads: Stance,
    /// `ui/message`.
    pub messages: Stance,
    /// `ui/update-model-context`.
    pub model_context: Stance,
    /// `sampling/createMessage`.
    pub sampling: Stance,
    /// `ui/request-display-mode`.
    pub display_modes: Stance,
    /// Tools the view offers that claim to change nothing (H-115).
    pub read_only_app_tools: Stance,
    /// Tools the view offers that claim nothing (H-115).
    pub other_app_tools: Stance,
}

/// What people have decided so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decided {
    always: BTreeMap<Subject, bool>,
    /// By the one prompt that lists them.
    together: BTreeMap<String, bool>,
}

impl Policy {
    /// Judges one wish. `tools` are all tools of the view's server, for the one prompt that lists them.
    pub fn judge<'t>(
        &self,
        decided: &Decided,
        wish: Wish<'_>,
        tools: impl IntoIterator<Item = &'t ToolFacts>,
    ) -> Verdict {
        let stance = match self.stance(wish) {
            Ok(stance) => stance,
            Err(denial) => return Verdict::Deny(denial),
        };
        match stance {
            Stance::Allow => Verdict::Allow,
            Stance::Deny => Verdict::Deny(Denial::Policy(wish.name().into())),
            Stance::Ask => self.ask(decided, wish, tools),
        }
    }

    fn stance(&self, wish: Wish<'_>) -> Result<Stance, Denial> {
        Ok(match wish {
            Wish::CallTool(tool) => self.tool_stance(tool),
            Wish::Read { .. } => self.reads,
            Wish::OpenLink(url) => self.link_stance(url)?,
            Wish::Download(_) => self.downloads,
            Wish::Message => self.messages,
            Wish::UpdateModelContext => self.model_context,
            Wish::Sample => self.sampling,
            Wish::DisplayMode => self.display_modes,
            Wish::AppTool { read_only: true, .. } => self.read_only_app_tools,
            Wish::AppTool { read_only: false, .. } => self.other_app_tools,
        })
    }

    fn link_stance(&self, url: &Url) -> Result<Stance, Denial> {
        let scheme = match url.scheme() {
            "https" => self.https_links,
            "http" => self.http_links,
            "mailto" => self.mailto_links,
            _ => return Err(Denial::Address(url.as_str().into())),
        };
        let host = url.host_str().filter(|_| scheme != Stance::Deny);
        let own = host.and_then(|host| hosts::find(&self.links, host));
        Ok(own.copied().unwrap_or(scheme))
    }

    fn tool_stance(&self, tool: &ToolFacts) -> Stance {
        if let Some(stance) = self.tools.get(&tool.name) {
            return *stance;
        }
        match tool {
            // A tool that claims both is believed in the claim that costs more.
            ToolFacts { destructive: true, .. } => self.destructive_tools,
            ToolFacts { read_only: true, .. } => self.read_only_tools,
            _ => self.other_tools,
        }
    }

    fn ask<'t>(
        &self,
        decided: &Decided,
        wish: Wish<'_>,
        tools: impl IntoIterator<Item = &'t ToolFacts>,
    ) -> Verdict {
        let subject = match wish {
            Wish::CallTool(tool) => {
                if let Some(yes) = decided.tool(&tool.name, self.asked_alone(tool)) {
                    return verdict(yes, wish);
                }
                self.tool_subject(decided, tool, tools)
            }
            Wish::OpenLink(url) => Subject::Link(url.as_str().to_owned()),
            Wish::Download(names) => Subject::Download(names.to_vec()),
            Wish::Message => Subject::Message,
            Wish::UpdateModelContext => Subject::ModelContext,
            Wish::Sample => Subject::Sampling,
            Wish::DisplayMode => Subject::DisplayMode,
            Wish::AppTool { name, .. } => Subject::AppTool(name.to_owned()),
            Wish::Read { method, uri } => Subject::Read(uri.unwrap_or(method).to_owned()),
        };
        match decided.find(&subject) {
            Some(yes) => verdict(yes, wish),
            None => Verdict::Ask(subject),
        }
    }

    /// One prompt for the whole server the first time; a tool that destroys, or that was not on that
    /// list, is asked on its own.
    fn tool_subject<'t>(
        &self,
        decided: &Decided,
        tool: &ToolFacts,
        tools: impl IntoIterator<Item = &'t ToolFacts>,
    ) -> Subject {
        if self.asked_alone(tool) || !decided.together.is_empty() {
            return Subject::Tool(tool.name.clone());
        }
        let together = |other: &&ToolFacts| {
            other.for_app && !self.asked_alone(other) && self.tool_stance(other) == Stance::Ask
        };
        Subject::Tools(tools.into_iter().filter(together).map(|tool| tool.name.clone()).collect())
    }

    fn asked_alone(&self, tool: &ToolFacts) -> bool {
        tool.destructive || self.tools.contains_key(&tool.name)
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            read_only_tools: Stance::Allow,
            other_tools: Stance::Ask,
            destructive_tools: Stance::Ask,
            tools: BTreeMap::new(),
            reads: Stance::Allow,
            https_links: Stance::Ask,
            http_links: Stance::Deny,
            mailto_links: Stance::Deny,
            links: BTreeMap::new(),
            domains: Domains::default(),
            downloads: Stance::Ask,
            messages: Stance::Ask,
            model_context: Stance::Allow,
            sampling: Stance::Ask,
            display_modes: Stance::Allow,
            read_only_app_tools: Stance::Allow,
            other_app_tools: Stance::Ask,
        }
    }
}

impl Wish<'_> {
    /// What is wanted, in words for a refusal.
    fn name(self) -> &'static str {
        match self {
            Self::CallTool(_) => "calling this tool",
            Self::Read { .. } => "reading from the server",
            Self::OpenLink(_) => "opening this kind of address",
            Self::Download(_) => "downloads",
            Self::Message => "messages",
            Self::UpdateModelContext => "context for the model",
            Self::Sample => "sampling",
            Self::DisplayMode => "other display modes",
            Self::AppTool { .. } => "tools of this app",
        }
    }
}

impl Subject {
    /// What it is about, in words for a refusal.
    pub(crate) fn kind(&self) -> &str {
        match self {
            Self::Tools(_) => "the tools of this server",
            Self::Tool(name) | Self::AppTool(name) => name,
            Self::Read(_) => "reading from the server",
            Self::Link(_) => "opening an address",
            Self::Download(_) => "downloads",
            Self::Message => "messages",
            Self::ModelContext => "context for the model",
            Self::Sampling => "sampling",
            Self::DisplayMode => "other display modes",
            Self::Nearby(_) => "addresses of this machine or its network",
        }
    }
}

impl Decided {
    /// Remembers a decision for as long as this value lives.
    ///
    /// A "yes, this time" to a whole server's tools is a yes for the session: it was one question.
    pub fn remember(&mut self, subject: &Subject, decision: Decision) {
        let yes = matches!(decision, Decision::Allow | Decision::AllowAlways);
        let always = matches!(decision, Decision::AllowAlways | Decision::DenyAlways);
        match subject {
            Subject::Tools(names) if yes || always => {
                self.together.extend(names.iter().map(|name| (name.clone(), yes)));
            }
            _ if always => {
                self.always.insert(subject.clone(), yes);
            }
            _ => {}
        }
    }

    /// Takes a decision back: the next wish it covered is asked about again.
    pub fn forget(&mut self, subject: &Subject) {
        self.always.remove(subject);
        if let Subject::Tools(names) = subject {
            self.together.retain(|name, _| !names.contains(name));
        }
    }

    /// Every decision that still counts, and whether it was a yes; remembering them one by one gives
    /// the same value again.
    pub fn iter(&self) -> impl Iterator<Item = (Subject, bool)> {
        let listed = [true, false].map(|yes| {
            let names = self.together.iter().filter(|&(_, &decided)| decided == yes);
            (Subject::Tools(names.map(|(name, _)| name.clone()).collect()), yes)
        });
        let listed =
            listed.into_iter().filter(|(subject, _)| *subject != Subject::Tools([].into()));
        self.always.iter().map(|(subject, &yes)| (subject.clone(), yes)).chain(listed)
    }

    /// What was decided about a tool. A yes to the whole list is none to a tool that is asked on its
    /// own: it may have become one since.
    fn tool(&self, name: &str, alone: bool) -> Option<bool> {
        let own = self.find(&Subject::Tool(name.to_owned()));
        own.or_else(|| self.together.get(name).copied().filter(|yes| !(alone && *yes)))
    }

    /// What was decided about an address of this machine or its network, whatever it was asked about
    /// together with. Of two answers the no counts.
    pub fn nearby(&self, source: &str) -> Option<bool> {
        let about = self.always.iter().filter_map(|(subject, yes)| match subject {
            Subject::Nearby(sources) if sources.contains(source) => Some(*yes),
            _ => None,
        });
        about.min()
    }

    fn find(&self, subject: &Subject) -> Option<bool> {
        self.always.get(subject).copied()
    }
}

fn verdict(yes: bool, wish: Wish<'_>) -> Verdict {
    if yes { Verdict::Allow } else { Verdict::Deny(Denial::Refused(wish.name().into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_by_their_host_within_what_their_scheme_allows() {
        let rules = [("docs.x.com", Stance::Allow), ("*.evil.com", Stance::Deny)];
        let links = rules.map(|(host, stance)| (host.parse().unwrap(), stance)).into();
        let policy = Policy { links, ..Policy::default() };
        let judge = |url: &str| {
            let url = Url::parse(url).unwrap();
            policy.judge(&Decided::default(), Wish::OpenLink(&url), [])
        };
        assert_eq!(judge("https://docs.x.com/a?b"), Verdict::Allow);
        assert!(matches!(judge("https://a.evil.com/"), Verdict::Deny(_)));
        assert!(matches!(judge("https://x.com/"), Verdict::Ask(_)));
        // A name that only looks like it, and a scheme that is forbidden.
        assert!(matches!(judge("https://docs.x.com.evil.com/"), Verdict::Deny(_)));
        assert!(matches!(judge("https://docs.x.com@b.test/"), Verdict::Ask(_)));
        assert!(matches!(judge("http://docs.x.com/"), Verdict::Deny(_)));
        assert!(matches!(judge("mailto:docs.x.com"), Verdict::Deny(_)));
    }

    fn tool(name: &str, read_only: bool, destructive: bool) -> ToolFacts {
        ToolFacts { name: name.to_owned(), for_app: true, for_model: true, read_only, destructive }
    }

    fn tools() -> Vec<ToolFacts> {
        let mut hidden = tool("hidden", false, false);
        hidden.for_app = false;
        vec![
            tool("look", true, false),
            tool("save", false, false),
            tool("send", false, false),
            tool("drop", false, true),
            tool("both", true, true),
            hidden,
        ]
    }

    fn judge(policy: &Policy, decided: &Decided, name: &str) -> Verdict {
        let tools = tools();
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        policy.judge(decided, Wish::CallTool(tool), &tools)
    }

    fn names(names: &[&str]) -> Subject {
        Subject::Tools(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn tools_by_their_claims() {
        let (policy, decided) = (Policy::default(), Decided::default());
        let one = |name: &str| Verdict::Ask(Subject::Tool(name.to_owned()));
        #[rustfmt::skip]
        let table = [
            ("look", Verdict::Allow),
            // One prompt lists every tool that it covers, and only those a view could call.
            ("save", Verdict::Ask(names(&["save", "send"]))),
            ("drop", one("drop")),
            ("both", one("both")),
        ];
        for (name, verdict) in table {
            assert_eq!(judge(&policy, &decided, name), verdict, "{name}");
        }
    }

    #[test]
    fn one_yes_covers_the_listed_tools_and_no_later_one() {
        let policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&names(&["save"]), Decision::Allow);
        assert_eq!(judge(&policy, &decided, "save"), Verdict::Allow);
        assert_eq!(judge(&policy, &decided, "send"), Verdict::Ask(Subject::Tool("send".into())));
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
    }

    #[test]
    fn a_yes_to_the_list_does_not_cover_a_tool_that_came_to_destroy() {
        let policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&names(&["save", "drop"]), Decision::AllowAlways);
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
        decided.remember(&Subject::Tool("drop".into()), Decision::AllowAlways);
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Allow);
        // A no to the list stays one.
        let mut decided = Decided::default();
        decided.remember(&names(&["save", "drop"]), Decision::DenyAlways);
        assert!(matches!(judge(&policy, &decided, "drop"), Verdict::Deny(Denial::Refused(_))));
    }

    #[test]
    fn d6_a_tool_asked_on_its_own_does_not_cost_the_one_prompt() {
        let mut policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&Subject::Tool("drop".into()), Decision::AllowAlways);
        assert_eq!(judge(&policy, &decided, "save"), Verdict::Ask(names(&["save", "send"])));
        // What the operator wants asked on its own is not on the list either.
        policy.tools.insert("send".into(), Stance::Ask);
        assert_eq!(judge(&policy, &decided, "save"), Verdict::Ask(names(&["save"])));
    }

    #[test]
    fn decisions_can_be_listed_and_taken_back() {
        let mut decided = Decided::default();
        decided.remember(&names(&["save", "send"]), Decision::Allow);
        decided.remember(&names(&["late"]), Decision::DenyAlways);
        decided.remember(&Subject::Message, Decision::AllowAlways);
        let listed: Vec<_> = decided.iter().collect();
        let expected =
            [(Subject::Message, true), (names(&["save", "send"]), true), (names(&["late"]), false)];
        assert_eq!(listed, expected);
        let mut again = Decided::default();
        for (subject, yes) in listed {
            let decision = if yes { Decision::AllowAlways } else { Decision::DenyAlways };
            again.remember(&subject, decision);
            decided.forget(&subject);
        }
        assert_eq!(again.iter().count(), 3);
        assert_eq!(decided, Decided::default());
    }

    #[test]
    fn a_no_is_remembered_only_when_it_is_meant_for_ever() {
        let policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&Subject::Tool("drop".into()), Decision::Deny);
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
        decided.remember(&Subject::Tool("drop".into()), Decision::DenyAlways);
        assert!(matches!(judge(&policy, &decided, "drop"), Verdict::Deny(Denial::Refused(_))));
    }

    #[test]
    fn the_operator_overrules_a_hint() {
        let mut policy = Policy::default();
        policy.tools.insert("look".into(), Stance::Deny);
        policy.tools.insert("drop".into(), Stance::Allow);
        policy.tools.insert("send".into(), Stance::Ask);
        let decided = Decided::default();
        assert!(matches!(judge(&policy, &decided, "look"), Verdict::Deny(Denial::Policy(_))));
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Allow);
        assert_eq!(judge(&policy, &decided, "send"), Verdict::Ask(Subject::Tool("send".into())));
    }

    #[test]
    fn h_90_only_some_schemes_are_opened_at_all() {
        let policy = Policy::default();
        #[rustfmt::skip]
        let table = [
            ("https://a.test/x?y#z",  "ask"),
            ("http://a.test/",        "policy"),
            ("mailto:a@a.test",       "policy"),
            ("javascript:alert(1)",   "address"),
            ("file:///etc/passwd",    "address"),
            ("data:text/html,x",      "address"),
            ("blob:https://a.test/1", "address"),
            ("vbscript:x",            "address"),
        ];
        for (address, expected) in table {
            let url = Url::parse(address).unwrap();
            let actual = match policy.judge(&Decided::default(), Wish::OpenLink(&url), []) {
                Verdict::Ask(Subject::Link(full)) if full == address => "ask",
                Verdict::Deny(Denial::Policy(_)) => "policy",
                Verdict::Deny(Denial::Address(_)) => "address",
                other => panic!("{address}: {other:?}"),
            };
            assert_eq!(actual, expected, "{address}");
        }
    }

    #[test]
    fn h_115_app_tools_that_claim_nothing_are_asked() {
        let policy = Policy::default();
        let judge = |read_only| {
            policy.judge(&Decided::default(), Wish::AppTool { name: "t", read_only }, [])
        };
        assert_eq!(judge(true), Verdict::Allow);
        assert_eq!(judge(false), Verdict::Ask(Subject::AppTool("t".into())));
    }
}
