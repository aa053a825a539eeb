//! May this view do that? Pure judgement: a wish and the rules go in, a verdict comes out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::{
    routes::{Handling, HttpRequest, RoutePattern, Routes},
    violation::Denial,
};

mod claims;
mod decided;
mod grantable;
mod hosts;
mod requested;

pub use crate::reach::Reach;
pub(crate) use claims::canonical;
pub use claims::{Claimed, Claims};
pub use decided::Decided;
pub use grantable::{Grantable, NotGrantable};
pub use hosts::{Domains, HostPattern, Nearby, NearbyError};

/// The answer to a wish.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Do it.
    Allow,
    /// Do not, and say why.
    Deny(Denial),
    /// A person decides; the subject is what their answer will cover.
    Ask(Subject),
}

/// What a view wants to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish<'a> {
    /// Call a tool of its own server.
    CallTool(&'a ToolFacts),
    /// Have such a tool make an HTTP request: the tool declares which ones it makes.
    Request {
        /// The tool.
        tool: &'a ToolFacts,
        /// What it declares.
        routes: &'a Routes,
        /// The request.
        request: &'a HttpRequest,
    },
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
    /// The HTTP requests that it makes for views, if it declares them: each route is then decided about by itself, and
    /// never the tool as a whole (FSE-16).
    pub routes: Option<Arc<Routes>>,
    /// What it says of handles.
    pub handling: Option<Arc<Handling>>,
    /// All that a yes for longer than once is bound to.
    pub claims: Arc<Claims>,
}

/// What one question to a person is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Several tools of the server, by name: what a person allowed who was asked about one of them and chose all.
    Tools(BTreeSet<String>),
    /// One tool.
    Tool(String),
    /// One route of a tool that makes HTTP requests: a method and the paths that it takes.
    Route {
        /// The tool.
        tool: String,
        /// `POST /api/cart/{id}`.
        route: String,
    },
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
    /// What its policy blocks, or its documents ask for.
    Grants(BTreeSet<Grantable>),
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes, this time.
    Allow,
    /// Yes, and do not ask again for as long as this view lives.
    AllowView,
    /// Yes, and do not ask again.
    AllowAlways,
    /// Yes, also to all other tools that the question lists, and do not ask again.
    AllowAll,
    /// No, this time.
    Deny,
    /// No, and do not ask again.
    DenyAlways,
}

impl Decision {
    /// Whether what was asked may happen.
    pub fn is_yes(self) -> bool {
        !matches!(self, Self::Deny | Self::DenyAlways)
    }

    /// Whether it counts for more than this time.
    pub fn lasts(self) -> bool {
        !matches!(self, Self::Allow | Self::Deny)
    }
}

/// A rule of the operator for one kind of wish; the strictest is the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// HTTP requests of tools, whatever the tools declare. Of several rules for one request the strictest counts.
    pub routes: BTreeMap<RoutePattern, Stance>,
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

impl Policy {
    /// Judges one wish.
    pub(crate) fn judge(&self, decided: &Decided, wish: Wish<'_>) -> Verdict {
        let stance = match self.stance(wish) {
            Ok(stance) => stance,
            Err(denial) => return Verdict::Deny(denial),
        };
        match stance {
            Stance::Allow => Verdict::Allow,
            Stance::Deny => Verdict::Deny(Denial::Policy(wish.name().into())),
            Stance::Ask => self.ask(decided, wish),
        }
    }

    fn stance(&self, wish: Wish<'_>) -> Result<Stance, Denial> {
        Ok(match wish {
            Wish::CallTool(tool) => self.tool_stance(tool),
            Wish::Request { tool, routes, request } => {
                self.request_stance(tool, routes, request)?
            }
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

    pub(crate) fn tool_stance(&self, tool: &ToolFacts) -> Stance {
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

    fn ask(&self, decided: &Decided, wish: Wish<'_>) -> Verdict {
        let subject = match wish {
            Wish::CallTool(tool) => {
                if let Some(yes) = decided.tool(tool, self.asked_alone(tool)) {
                    return verdict(yes, wish);
                }
                Subject::Tool(tool.name.clone())
            }
            Wish::Request { tool, routes, request } => {
                // A yes to the tool, from before it declared any routes, is none to a route; a no stays one.
                if decided.tool(tool, true) == Some(false) {
                    return verdict(false, wish);
                }
                let path = match routes.find(request) {
                    Some(route) => route.pattern().to_string(),
                    None => request.path.clone(),
                };
                let route = format!("{} {path}", request.method);
                Subject::Route { tool: tool.name.clone(), route }
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
            Wish::CallTool(tool) | Wish::Request { tool, .. } => Some(&*tool.claims),
            Wish::AppTool { claims, .. } => Some(claims),
            _ => None,
        };
        match decided.find(&subject, claims) {
            Some(yes) => verdict(yes, wish),
            None => Verdict::Ask(subject),
        }
    }

    /// The tools that a person may allow together with one that they are asked about: those that would be asked about too,
    /// but for tools that claim to destroy, that make requests of their own, that the operator wants asked about, or that a
    /// person refused. None, if the one is such a tool itself or there are no others.
    pub(crate) fn beside<'t>(
        &self,
        decided: &Decided,
        tool: &str,
        tools: impl IntoIterator<Item = &'t ToolFacts>,
    ) -> Claimed {
        let together = |other: &&ToolFacts| {
            other.for_app
                && other.routes.is_none()
                && !self.asked_alone(other)
                && self.tool_stance(other) == Stance::Ask
                && decided.tool(other, false) != Some(false)
        };
        let listed = tools.into_iter().filter(together);
        // The one that is asked about first: it is on the list however many there are.
        let (asked, others): (Vec<_>, Vec<_>) = listed.partition(|other| other.name == tool);
        if asked.is_empty() || others.is_empty() {
            return Claimed::new();
        }
        let all = asked.into_iter().chain(others).take(TOGETHER);
        all.map(|tool| (tool.name.clone(), Arc::clone(&tool.claims))).collect()
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
            routes: BTreeMap::new(),
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
            Self::Request { .. } => "this request",
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
            Self::Route { route, .. } => route,
            Self::Read(_) => "reading from the server",
            Self::Link(_) => "opening an address",
            Self::Download(_) => "downloads",
            Self::Message => "messages",
            Self::ModelContext => "context for the model",
            Self::Sampling => "sampling",
            Self::DisplayMode => "other display modes",
            Self::Nearby(_) => "addresses of this machine or its network",
            Self::Grants(_) => "what its policy blocks",
        }
    }
}

fn verdict(yes: bool, wish: Wish<'_>) -> Verdict {
    if yes { Verdict::Allow } else { Verdict::Deny(Denial::Refused(wish.name().into())) }
}

/// The most tools that are allowed together. The others are asked about one by one.
pub const TOGETHER: usize = 50;

#[cfg(test)]
mod tests;
