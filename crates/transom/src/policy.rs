//! May this view do that? Pure judgement: a wish and the rules go in, a verdict comes out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::violation::Denial;

mod claims;
mod hosts;

pub use crate::reach::Reach;
pub(crate) use claims::canonical;
pub use claims::{Claimed, Claims};
pub use hosts::{Domains, HostPattern, Nearby, NearbyError};

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
        claims: &'a Claims,
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
    /// All that a yes for longer than once is bound to.
    pub claims: Arc<Claims>,
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
    /// Addresses of this machine or of its networks that a document declares, each as the list that it stands in and the
    /// source: `connectDomains http://localhost:3000`.
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
///
/// A yes to a tool is a yes to what the tool said of itself at that time: once it says something else, the yes does not
/// count, and the next question tells what changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decided {
    always: BTreeMap<Subject, Answer>,
    /// By the one prompt that lists them.
    together: BTreeMap<String, Answer>,
}

/// A yes or a no for longer than once.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    yes: bool,
    /// What the tool said of itself when a person was asked; nothing for what is no tool.
    said: Option<Arc<Claims>>,
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
            Wish::AppTool { claims, .. } if claims.is_read_only() => self.read_only_app_tools,
            Wish::AppTool { .. } => self.other_app_tools,
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
                if let Some(yes) = decided.tool(tool, self.asked_alone(tool)) {
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
        let claims = match wish {
            Wish::CallTool(tool) => Some(&*tool.claims),
            Wish::AppTool { claims, .. } => Some(claims),
            _ => None,
        };
        match decided.find(&subject, claims) {
            Some(yes) => verdict(yes, wish),
            None => Verdict::Ask(subject),
        }
    }

    /// One prompt for the whole server the first time; a tool that destroys, that was not on that list, or that changed
    /// since it was allowed, is asked on its own.
    fn tool_subject<'t>(
        &self,
        decided: &Decided,
        tool: &ToolFacts,
        tools: impl IntoIterator<Item = &'t ToolFacts>,
    ) -> Subject {
        let alone = |tool: &ToolFacts| self.asked_alone(tool) || decided.is_outdated(tool);
        if alone(tool) || !decided.together.is_empty() {
            return Subject::Tool(tool.name.clone());
        }
        let together = |other: &&ToolFacts| {
            other.for_app && !alone(other) && self.tool_stance(other) == Stance::Ask
        };
        let listed = tools.into_iter().filter(together).take(TOGETHER);
        let mut names: BTreeSet<String> = listed.map(|tool| tool.name.clone()).collect();
        if !names.contains(&tool.name) && names.len() == TOGETHER {
            names.pop_last();
            names.insert(tool.name.clone());
        }
        Subject::Tools(names)
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
    /// Remembers a decision for as long as this value lives. `said` is what its tools said of themselves when the person
    /// was asked: a yes to a tool that is not in there counts for nothing.
    ///
    /// A "yes, this time" to a whole server's tools is a yes for the session: it was one question.
    pub fn remember(&mut self, subject: &Subject, decision: Decision, said: &Claimed) {
        let yes = matches!(decision, Decision::Allow | Decision::AllowAlways);
        let always = matches!(decision, Decision::AllowAlways | Decision::DenyAlways);
        let answer = |name: &str| Answer { yes, said: said.get(name).cloned() };
        match subject {
            Subject::Tools(names) if yes || always => {
                self.together.extend(names.iter().map(|name| (name.clone(), answer(name))));
            }
            Subject::Tool(name) | Subject::AppTool(name) if always => {
                self.always.insert(subject.clone(), answer(name));
            }
            _ if always => {
                self.always.insert(subject.clone(), Answer { yes, said: None });
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

    /// Every decision, and whether it was a yes.
    pub fn iter(&self) -> impl Iterator<Item = (Subject, bool)> {
        let listed = [true, false].map(|yes| {
            let names = self.together.iter().filter(|(_, answer)| answer.yes == yes);
            (Subject::Tools(names.map(|(name, _)| name.clone()).collect()), yes)
        });
        let listed =
            listed.into_iter().filter(|(subject, _)| *subject != Subject::Tools([].into()));
        self.always.iter().map(|(subject, answer)| (subject.clone(), answer.yes)).chain(listed)
    }

    /// In words, what a subject's tools say of themselves now and did not say when a person allowed them for longer.
    /// Nothing, where nobody has, or where nothing changed.
    pub fn changes(&self, subject: &Subject, now: &Claimed) -> Vec<String> {
        let (Subject::Tool(name) | Subject::AppTool(name)) = subject else { return vec![] };
        let together = self.together.get(name).filter(|_| matches!(subject, Subject::Tool(_)));
        let before = self.always.get(subject).or(together).filter(|answer| answer.yes);
        match (before.and_then(|answer| answer.said.as_ref()), now.get(name)) {
            (Some(before), Some(now)) => before.changes(now),
            _ => vec![],
        }
    }

    /// What was decided about a tool. A yes to the whole list is none to a tool that is asked on its
    /// own: it may have become one since.
    fn tool(&self, tool: &ToolFacts, alone: bool) -> Option<bool> {
        let own = self.find(&Subject::Tool(tool.name.clone()), Some(&tool.claims));
        let listed = || self.together.get(&tool.name)?.about(Some(&tool.claims));
        own.or_else(|| listed().filter(|yes| !(alone && *yes)))
    }

    /// What was decided about an address of this machine or its network in one list, whatever it was asked about
    /// together with. Of two answers the no counts.
    pub fn nearby(&self, wish: &str) -> Option<bool> {
        let about = self.always.iter().filter_map(|(subject, answer)| match subject {
            Subject::Nearby(wishes) if wishes.contains(wish) => Some(answer.yes),
            _ => None,
        });
        about.min()
    }

    /// Whether a tool was allowed for longer and has changed since.
    fn is_outdated(&self, tool: &ToolFacts) -> bool {
        let own = self.always.get(&Subject::Tool(tool.name.clone()));
        let any = [own, self.together.get(&tool.name)];
        any.into_iter().flatten().any(|answer| answer.about(Some(&tool.claims)).is_none())
    }

    fn find(&self, subject: &Subject, claims: Option<&Claims>) -> Option<bool> {
        self.always.get(subject)?.about(claims)
    }
}

impl Answer {
    /// What it says of a tool with these claims. A no stays one: a tool must not get rid of it by calling itself
    /// something else.
    fn about(&self, claims: Option<&Claims>) -> Option<bool> {
        (!self.yes || self.said.as_deref() == claims).then_some(self.yes)
    }
}

fn verdict(yes: bool, wish: Wish<'_>) -> Verdict {
    if yes { Verdict::Allow } else { Verdict::Deny(Denial::Refused(wish.name().into())) }
}

/// The most tools that one prompt is for. The others are asked about one by one.
pub const TOGETHER: usize = 50;

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
        let claims = Claims::of(
            |hint| match hint {
                "readOnlyHint" => Some(read_only),
                "destructiveHint" => Some(destructive),
                _ => None,
            },
            "{}".into(),
        );
        let claims = Arc::new(claims);
        let name = name.to_owned();
        ToolFacts { name, for_app: true, for_model: true, read_only, destructive, claims }
    }

    /// What the tools say of themselves.
    fn said() -> Claimed {
        tools().into_iter().map(|tool| (tool.name, tool.claims)).collect()
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
    fn one_prompt_lists_no_more_than_people_read() {
        let tools: Vec<ToolFacts> = (100..400)
            .map(|number| ToolFacts { name: format!("t{number}"), ..tools()[1].clone() })
            .collect();
        let (policy, decided) = (Policy::default(), Decided::default());
        let asked = policy.judge(&decided, Wish::CallTool(&tools[299]), &tools);
        let Verdict::Ask(Subject::Tools(names)) = asked else { panic!("{asked:?}") };
        assert_eq!(names.len(), TOGETHER);
        assert!(names.contains("t399") && !names.contains("t398"));
    }

    #[test]
    fn one_yes_covers_the_listed_tools_and_no_later_one() {
        let policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&names(&["save"]), Decision::Allow, &said());
        assert_eq!(judge(&policy, &decided, "save"), Verdict::Allow);
        assert_eq!(judge(&policy, &decided, "send"), Verdict::Ask(Subject::Tool("send".into())));
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
    }

    #[test]
    fn a_yes_to_the_list_does_not_cover_a_tool_that_came_to_destroy() {
        let policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&names(&["save", "drop"]), Decision::AllowAlways, &said());
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
        decided.remember(&Subject::Tool("drop".into()), Decision::AllowAlways, &said());
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Allow);
        // A no to the list stays one.
        let mut decided = Decided::default();
        decided.remember(&names(&["save", "drop"]), Decision::DenyAlways, &said());
        assert!(matches!(judge(&policy, &decided, "drop"), Verdict::Deny(Denial::Refused(_))));
    }

    #[test]
    fn d6_a_tool_asked_on_its_own_does_not_cost_the_one_prompt() {
        let mut policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&Subject::Tool("drop".into()), Decision::AllowAlways, &said());
        assert_eq!(judge(&policy, &decided, "save"), Verdict::Ask(names(&["save", "send"])));
        // What the operator wants asked on its own is not on the list either.
        policy.tools.insert("send".into(), Stance::Ask);
        assert_eq!(judge(&policy, &decided, "save"), Verdict::Ask(names(&["save"])));
    }

    #[test]
    fn decisions_can_be_listed_and_taken_back() {
        let mut decided = Decided::default();
        decided.remember(&names(&["save", "send"]), Decision::Allow, &said());
        decided.remember(&names(&["late"]), Decision::DenyAlways, &said());
        decided.remember(&Subject::Message, Decision::AllowAlways, &said());
        let listed: Vec<_> = decided.iter().collect();
        let expected =
            [(Subject::Message, true), (names(&["save", "send"]), true), (names(&["late"]), false)];
        assert_eq!(listed, expected);
        let mut again = Decided::default();
        for (subject, yes) in listed {
            let decision = if yes { Decision::AllowAlways } else { Decision::DenyAlways };
            again.remember(&subject, decision, &said());
            decided.forget(&subject);
        }
        assert_eq!(again.iter().count(), 3);
        assert_eq!(decided, Decided::default());
    }

    #[test]
    fn a_yes_for_longer_does_not_outlive_what_the_tool_said_of_itself() {
        let (policy, own) = (Policy::default(), Subject::Tool("send".into()));
        let same = || tool("send", false, false);
        let hints = |name: &str| (name == "destructiveHint").then_some(true);
        let mut other = Claims::clone(&same().claims);
        other.schema = r#"{"type":"object"}"#.into();
        let other = ToolFacts { claims: Arc::new(other), ..same() };
        let worse = ToolFacts { claims: Arc::new(Claims::of(hints, "{}".into())), ..same() };
        let asks: [(&ToolFacts, &[&str]); 2] = [
            (&other, &["what it takes as arguments has changed"]),
            (
                &worse,
                &[
                    "readOnlyHint was false, and is not said any more",
                    "destructiveHint was false, and is true now",
                ],
            ),
        ];
        let list = names(&["send", "save"]);
        for (subject, decision) in [
            (&own, Decision::AllowAlways),
            (&list, Decision::AllowAlways),
            (&list, Decision::Allow),
        ] {
            let mut decided = Decided::default();
            decided.remember(subject, decision, &said());
            let judge = |tool: &ToolFacts| policy.judge(&decided, Wish::CallTool(tool), [tool]);
            let changes = |tool: &ToolFacts| {
                let said = [("send".to_owned(), Arc::clone(&tool.claims))].into();
                decided.changes(&own, &said)
            };
            assert_eq!(judge(&same()), Verdict::Allow, "{subject:?} {decision:?}");
            assert_eq!(changes(&same()), [""; 0]);
            for (tool, words) in &asks {
                assert_eq!(judge(tool), Verdict::Ask(own.clone()), "{subject:?} {decision:?}");
                assert_eq!(changes(tool), *words);
            }
        }
        // A never is a never, whatever the tool says of itself next.
        let mut decided = Decided::default();
        decided.remember(&own, Decision::DenyAlways, &said());
        let verdict = policy.judge(&decided, Wish::CallTool(&worse), [&worse]);
        assert!(matches!(verdict, Verdict::Deny(Denial::Refused(_))));
    }

    #[test]
    fn a_yes_to_a_tool_of_which_nothing_is_known_counts_for_nothing() {
        let mut decided = Decided::default();
        decided.remember(&Subject::Tool("send".into()), Decision::AllowAlways, &Claimed::new());
        decided.remember(&names(&["save"]), Decision::AllowAlways, &Claimed::new());
        for name in ["send", "save"] {
            let asked = Verdict::Ask(Subject::Tool(name.into()));
            assert_eq!(judge(&Policy::default(), &decided, name), asked);
        }
    }

    #[test]
    fn a_no_is_remembered_only_when_it_is_meant_for_ever() {
        let policy = Policy::default();
        let mut decided = Decided::default();
        decided.remember(&Subject::Tool("drop".into()), Decision::Deny, &said());
        assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
        decided.remember(&Subject::Tool("drop".into()), Decision::DenyAlways, &said());
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
            let claims = &tool("t", read_only, false).claims;
            policy.judge(&Decided::default(), Wish::AppTool { name: "t", claims }, [])
        };
        assert_eq!(judge(true), Verdict::Allow);
        assert_eq!(judge(false), Verdict::Ask(Subject::AppTool("t".into())));
    }
}
