//! Verdicts in words: what a person is asked, and what the log says of it.

mod choice;
mod for_model;
mod readable;
mod told;

pub(crate) use choice::Choice;
pub(crate) use for_model::model_call;
use told::grouped;
pub(crate) use told::{closed, ending, limited, ruling, ruling_kind};

use std::collections::BTreeSet;

use transom::{
    csp::Source,
    host::{AT_ONCE, FileBody, Preview, Question, Task},
    policy::{Claimed, Grantable, Reach, Subject},
    printed::Folded,
    quoted::legible,
    violation::Quoted,
};

use crate::{
    documents::{Change, Difference, Pin},
    envelope::{Ask, Deed, FileOffer, Fold},
    grants::purposes,
    server::Doubt,
    words,
    words::Words,
};

/// A question of a session, for the person at the page: who asks what of whom. `lasts` if a yes for longer is still there
/// after the end; if not, it is offered as what it is.
pub(crate) fn ask(server: &str, tool: &str, question: &Question, id: String, lasts: bool) -> Ask {
    let (server, tool) = (Quoted::new(server), Quoted::new(tool));
    let choices = if lasts { &CHOICES[..] } else { &FOR_THIS_RUN }.to_vec();
    let since = |change: &String| words!("since you allowed it: {}", Words::ours(change));
    let changes = question.changes.iter().map(since).collect();
    let who = head(&server, &tool);
    let ask = Ask { id, server: server.clone(), who, choices, changes, ..Ask::default() };
    match &question.subject {
        // No session asks about several: people are asked about one, and may choose all.
        Subject::Tools(_) => ask,
        Subject::Tool(name) => {
            let name = Quoted::new(name);
            Ask {
                kind: "tool",
                text: words!("A view of {} wants to call {} of {} with:", server, name, server),
                tools: vec![name],
                ..ask.offering(&question.all, lasts).showing(question)
            }
        }
        Subject::Route { tool, route } => {
            let name = Quoted::new(tool);
            let request = question.request.as_ref();
            let words = request.map_or_else(|| route.clone(), ToString::to_string);
            let size = request.map_or(0, |request| request.size);
            let mut changes = ask.changes.clone();
            if words != *route {
                let route = Quoted::long(route, WHOLE);
                changes.push(words!("a yes for longer is for all of {}", route));
            }
            Ask {
                kind: "tool",
                text: words!(
                    "A view of {} wants {} of {} to send {} with {} bytes:",
                    server,
                    name,
                    server,
                    Quoted::long(&words, WHOLE),
                    Words::ours(&grouped(size as u64))
                ),
                tools: vec![name],
                changes,
                ..ask.showing(question)
            }
        }
        Subject::Read(what) => Ask {
            kind: "read",
            text: words!("A view of {} wants to read from {}:", server, server),
            ..ask.showing_text(&Preview {
                text: match &*question.preview.text {
                    "" => (**what).into(),
                    beside => format!("{what}\n{beside}").into(),
                },
                beyond: question.preview.beyond,
            })
        },
        Subject::Link(url) => Ask {
            kind: "link",
            text: words!("A view of {} wants to open:", server),
            url: Some(url.clone()),
            choices: ONCE.to_vec(),
            ..ask
        },
        Subject::Download(names) => Ask {
            kind: "download",
            text: match names.len() {
                1 => words!("A view of {} wants to save a file:", server),
                count => words!("A view of {} wants to save {} files:", server, count),
            },
            choices: ONCE.to_vec(),
            contents: question.files.iter().map(shown).collect(),
            ..ask
        },
        Subject::Message => Ask {
            kind: "message",
            text: words!("A view of {} wants to say in your name:", server),
            ..ask.showing(question)
        },
        Subject::ModelContext => Ask {
            kind: "context",
            text: words!("A view of {} wants to tell the model:", server),
            ..ask.showing(question)
        },
        Subject::Sampling => Ask {
            kind: "sampling",
            text: words!("A view of {} wants to use the model:", server),
            ..ask.showing(question)
        },
        Subject::DisplayMode => Ask {
            kind: "mode",
            text: words!("A view of {} wants to be shown in another way.", server),
            ..ask
        },
        Subject::AppTool(name) => Ask {
            kind: "app-tool",
            text: words!(
                "The model wants to use {}, a tool that a view of {} offers, with:",
                Quoted::new(name),
                server
            ),
            ..ask.showing(question)
        },
        Subject::Nearby(wishes) => nearby(&server, &tool, wishes, ask.id, lasts),
        Subject::Grants(wanted) => grants(&server, &tool, wanted, ask.id, lasts),
    }
}

/// Whose question it is: what stands above it, in words of the gate and not of whoever made the page.
fn head(server: &Quoted, tool: &Quoted) -> Words {
    words!("View of {} from {}", tool, server)
}

/// A document that declares private addresses: it reaches none of them before a person agrees. A yes for longer is for
/// every view of the server, and for what is named here.
pub(crate) fn nearby(
    server: &Quoted,
    tool: &Quoted,
    wishes: &BTreeSet<String>,
    id: String,
    lasts: bool,
) -> Ask {
    let line = |(source, purposes): (&str, String)| {
        let place = match Source::parse(source).map(|source| source.reach()) {
            Ok(Reach::Machine) => "this machine",
            _ => "your network",
        };
        words!("{} ({}): {}", Words::ours(source), place, Words::ours(&purposes))
    };
    let lines: Vec<Words> = purposes(wishes).into_iter().map(line).collect();
    let lines: Vec<&str> = lines.iter().map(Words::as_str).collect();
    Ask {
        id,
        kind: "nearby",
        text: words!(
            "Views of {} want to reach programs and devices that outsiders cannot:",
            server.clone()
        ),
        choices: for_a_view(if lasts { &CHOICES[..] } else { &FOR_THIS_RUN }),
        who: head(server, tool),
        server: server.clone(),
        preview: Some(lines.join("\n")),
        ..Ask::default()
    }
}

/// What the policy of a server's views blocks, or what their documents ask for. What is listed is what a yes gives.
pub(crate) fn grants(
    server: &Quoted,
    tool: &Quoted,
    wanted: &BTreeSet<Grantable>,
    id: String,
    lasts: bool,
) -> Ask {
    let is_policy = |grant: &Grantable| matches!(grant, Grantable::Policy(_));
    let text = match wanted.iter().all(is_policy) {
        true => words!(
            "This was blocked for views of {}; none of it reaches another address. Allow them to:",
            server.clone()
        ),
        false => words!("This was blocked for views of {}. Allow them to:", server.clone()),
    };
    Ask {
        id,
        kind: "grant",
        text,
        // It is a person who began this one: who never wants it does not begin it.
        choices: for_a_view(if lasts { &CHOICES[..5] } else { &FOR_THIS_RUN[..4] }),
        who: head(server, tool),
        server: server.clone(),
        changes: wanted.iter().map(|grant| grant.words().into()).collect(),
        ..Ask::default()
    }
}

/// The choices where a view has something as long as it is there, so that there is no "once".
fn for_a_view(choices: &[&'static str]) -> Vec<&'static str> {
    choices[1..].to_vec()
}

impl Ask {
    /// Offers a yes to all tools that would be asked about, and lists them.
    fn offering(mut self, all: &Claimed, lasts: bool) -> Self {
        if all.is_empty() {
            return self;
        }
        self.choices.extend(if lasts { &ALL_TOOLS[..] } else { &ALL_TOOLS[..1] });
        self.all = all.keys().map(|name| Quoted::new(name)).collect();
        self
    }

    /// Shows what would be sent: in parts that people can read, and as it is sent.
    fn showing(self, question: &Question) -> Self {
        let parts = question.parts.iter().map(readable::part).collect();
        Self { parts, ..self.showing_text(&question.preview) }
    }

    /// Shows a text: the beginning at once, the rest when the person unfolds it, and how much that is.
    fn showing_text(mut self, Preview { text, beyond }: &Preview) -> Self {
        if text.is_empty() {
            return self;
        }
        let at_once = text.floor_char_boundary(AT_ONCE);
        self.preview = Some(legible(&text[..at_once]).into_owned());
        let folded = Folded::after(text, at_once);
        let rest = beyond.unwrap_or(Folded { bytes: 0, members: 0 });
        if let Some(Folded { bytes, members }) = folded.or(*beyond) {
            let [bytes, members] = match folded {
                Some(_) => [bytes + rest.bytes, members + rest.members],
                None => [bytes, members],
            };
            self.folded = Some(Fold {
                words: words!("… {}", amount(bytes, members)),
                text: legible(&text[at_once..]).into_owned(),
                beyond: beyond.map(|Folded { bytes, members }| {
                    words!("… {}, too many to be shown", amount(bytes, members))
                }),
            });
        }
        self
    }
}

/// `12,345 more bytes, 17 more members`.
fn amount(bytes: usize, members: usize) -> Words {
    let grouped = |number: usize| Words::ours(&grouped(number as u64));
    let member = if members == 1 { "member" } else { "members" };
    words!("{} more bytes, {} more {}", grouped(bytes), grouped(members), member)
}

/// A document that no person agreed to as it is: it does not run before one does. A yes is to this document, whenever the
/// tool shows it; `lasts` as with [`ask`].
pub(crate) fn doubted(server: &str, tool: &str, doubt: &Doubt<'_>, id: String, lasts: bool) -> Ask {
    let (ask, may_change) = match doubt {
        Doubt::Changed(change) => (changed(server, tool, change), is_content_alone(change)),
        Doubt::Unpinned(pin) => (unpinned(server, tool, pin), false),
    };
    let mut choices = vec![if lasts { "allow-always" } else { "allow-until-end" }];
    choices.extend(may_change.then_some("allow-changing"));
    choices.push("deny");
    Ask { id, choices, ..ask }
}

fn unpinned(server: &str, tool: &str, pin: &Pin) -> Ask {
    let addresses = Quoted::new(pin.pattern.as_deref().unwrap_or(&pin.uri));
    let mut changes = vec![words!("its address is one of {}", addresses)];
    let csp = pin.csp.clone().unwrap_or_default();
    let lists =
        [csp.connect_domains, csp.resource_domains, csp.frame_domains, csp.base_uri_domains];
    let domains: BTreeSet<String> = lists.into_iter().flatten().collect();
    changes.extend(each(&domains, |domain| words!("it declares {}", domain)));
    if let Some(domain) = &pin.domain {
        changes.push(words!("it wants {} for an origin of its own", Quoted::new(domain)));
    }
    let asked = crate::grants::permissions(pin.permissions);
    if !asked.is_empty() {
        changes.push(words!("it asks for {}", Words::ours(&asked.join(", "))));
    }
    let (server, tool) = (Quoted::new(server), Quoted::new(tool));
    Ask {
        kind: "document",
        who: head(&server, &tool),
        text: words!(
            "The view of {} from {} is made anew for each request, so you are not asked when its content changes:",
            tool,
            server
        ),
        server,
        changes,
        ..Ask::default()
    }
}

/// A document that is not what a person agreed to.
fn changed(server: &str, tool: &str, change: &Change) -> Ask {
    let mut changes: Vec<_> =
        change.what.iter().take(CHANGES).map(|what| Words::ours(&what.to_string())).collect();
    let more = change.what.len().saturating_sub(CHANGES);
    if more > 0 {
        changes.push(words!("and {} more", more));
    }
    changes.extend(each(&change.others, |tool| {
        words!("{} shows the same view; your answer is for it too", tool)
    }));
    let (server, tool) = (Quoted::new(server), Quoted::new(tool));
    Ask {
        kind: "document",
        who: head(&server, &tool),
        text: words!("The view of {} from {} is not the one you have seen before:", tool, server),
        server,
        changes,
        ..Ask::default()
    }
}

/// Where nothing but the content changed, it may be a document that changes every time.
fn is_content_alone(change: &Change) -> bool {
    let content = |what: &Difference| {
        use Difference::{Content, FindingAdded, FindingRemoved, OriginAdded, OriginRemoved};
        matches!(
            what,
            Content { .. }
                | FindingAdded(_)
                | FindingRemoved(_)
                | OriginAdded(_)
                | OriginRemoved(_)
        )
    };
    change.what.iter().all(content) && change.others.is_empty()
}

/// A line for each, with its words whole; the rest is counted, so that no reader takes what is listed for all.
fn each<'a>(
    all: impl IntoIterator<Item = &'a String>,
    line: impl Fn(Quoted) -> Words,
) -> Vec<Words> {
    let mut all = all.into_iter();
    let shown = all.by_ref().take(CHANGES);
    let mut lines: Vec<_> = shown.map(|words| line(Quoted::long(words, WHOLE))).collect();
    let more = all.count();
    if more > 0 {
        lines.push(words!("and {} more", more));
    }
    lines
}

/// What the page is told to do for a view.
pub(crate) fn deed(task: &Task, id: String) -> Option<Deed> {
    match task {
        Task::OpenLink { url } => {
            Some(Deed { id, kind: "link", url: Some(url.clone()), contents: vec![] })
        }
        Task::Download { files } => {
            let contents = files.iter().map(offer).collect();
            Some(Deed { id, kind: "download", url: None, contents })
        }
        _ => None,
    }
}

/// Asks for the click without which the browser lets the page do nothing.
pub(crate) fn click(server: &str, tool: &str, deed: &Deed) -> Ask {
    let verb = if deed.url.is_some() { "open" } else { "save" };
    let bare = |file: &FileOffer| FileOffer { text: None, blob: None, ..file.clone() };
    let (server, tool) = (Quoted::new(server), Quoted::new(tool));
    Ask {
        id: deed.id.clone(),
        kind: deed.kind,
        who: head(&server, &tool),
        text: words!("A view of {} may {}:", server, verb),
        choices: ONCE.to_vec(),
        server,
        url: deed.url.clone(),
        contents: deed.contents.iter().map(bare).collect(),
        ..Ask::default()
    }
}

/// A file as the person who decides sees it: what its server would be asked for is named in full (H-97).
fn shown(file: &transom::host::File) -> FileOffer {
    let offer = named(file);
    match &file.body {
        FileBody::Link(address) => {
            let from = Quoted::long(address, address.len());
            FileOffer { name: format!("{} from {from}, read by its server", file.name), ..offer }
        }
        FileBody::Text(_) | FileBody::Blob(_) => offer,
    }
}

fn named(file: &transom::host::File) -> FileOffer {
    FileOffer { name: file.name.clone(), mime_type: file.mime_type.clone(), ..FileOffer::default() }
}

fn offer(file: &transom::host::File) -> FileOffer {
    let offer = named(file);
    match &file.body {
        FileBody::Text(text) => FileOffer { text: Some(text.clone()), ..offer },
        FileBody::Blob(blob) => FileOffer { blob: Some(blob.clone()), ..offer },
        // H-97: an address is never fetched on a view's behalf.
        FileBody::Link(_) => offer,
    }
}

/// What can be answered, where a yes for longer is still there after the end. The words mean the same in every question.
const CHOICES: [&str; 6] =
    ["allow", "allow-view", "allow-until-end", "allow-always", "deny", "deny-always"];

/// Where it is not.
const FOR_THIS_RUN: [&str; 5] =
    ["allow", "allow-view", "allow-until-end", "deny", "deny-until-end"];

/// Beside these, where there are other tools that would be asked about.
const ALL_TOOLS: [&str; 2] = ["allow-all-until-end", "allow-all-always"];

/// The most differences that are listed one by one.
const CHANGES: usize = 20;
/// How much of a name is shown where all of it counts, in characters.
const WHOLE: usize = 300;
const ONCE: [&str; 2] = ["allow", "deny"];

#[cfg(test)]
mod tests;
