//! Verdicts in words: what a person is asked, and what the log says of it.

use std::collections::BTreeSet;

use transom::{
    csp::Source,
    host::{AT_ONCE, FileBody, Preview, Question, Reason, Ruling, Task},
    policy::{Decision, Reach, Subject, TOGETHER},
    printed::Folded,
    quoted::legible,
    violation::{Holder, Limit, Over, Quoted},
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
    let choices = if lasts { CHOICES } else { FOR_THIS_RUN }.to_vec();
    let since = |change: &String| words!("since you allowed it: {}", Words::ours(change));
    let changes = question.changes.iter().map(since).collect();
    let who = head(&server, &tool);
    let ask = Ask { id, server: server.clone(), who, choices, changes, ..Ask::default() };
    match &question.subject {
        Subject::Tools(names) => Ask {
            kind: "tools",
            changes: match names.len() {
                TOGETHER => vec![
                    "it may have more tools than these; your answer is for none of the others"
                        .into(),
                ],
                _ => ask.changes.clone(),
            },
            text: words!(
                "A view of {} wants to call these tools of {}, and now {} with what stands below:",
                server,
                server,
                question.about
            ),
            tools: names.iter().map(|name| Quoted::new(name)).collect(),
            // One question for all of them: whoever says yes is not asked at the next call.
            choices: if lasts { ALL_TOOLS.to_vec() } else { ALL_TOOLS_FOR_THIS_RUN.to_vec() },
            ..ask.showing(&question.preview)
        },
        Subject::Tool(name) => {
            let name = Quoted::new(name);
            Ask {
                kind: "tool",
                text: words!("A view of {} wants to call {} of {} with:", server, name, server),
                tools: vec![name],
                ..ask.showing(&question.preview)
            }
        }
        Subject::Read(what) => Ask {
            kind: "read",
            text: words!("A view of {} wants to read from {}:", server, server),
            ..ask.showing(&Preview {
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
            ..ask.showing(&question.preview)
        },
        Subject::ModelContext => Ask {
            kind: "context",
            text: words!("A view of {} wants to tell the model:", server),
            ..ask.showing(&question.preview)
        },
        Subject::Sampling => Ask {
            kind: "sampling",
            text: words!("A view of {} wants to use the model:", server),
            ..ask.showing(&question.preview)
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
            ..ask.showing(&question.preview)
        },
        Subject::Nearby(wishes) => nearby(&server, &tool, wishes, ask.id, lasts),
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
        choices: if lasts { CHOICES } else { FOR_THIS_RUN }.to_vec(),
        who: head(server, tool),
        server: server.clone(),
        preview: Some(lines.join("\n")),
        ..Ask::default()
    }
}

impl Ask {
    /// Shows what would be sent: the beginning at once, the rest when somebody unfolds it, and how much that is.
    fn showing(mut self, Preview { text, beyond }: &Preview) -> Self {
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

/// A document that nobody agreed to as it is: it does not run before they do.
pub(crate) fn doubted(server: &str, tool: &str, doubt: &Doubt<'_>, id: String) -> Ask {
    let ask = match doubt {
        Doubt::Changed(change) => changed(server, tool, change),
        Doubt::Unpinned(pin) => unpinned(server, tool, pin),
    };
    Ask { id, ..ask }
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
        choices: ONCE.to_vec(),
        server,
        changes,
        ..Ask::default()
    }
}

/// A document that is not what somebody agreed to.
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
    // Where nothing but the content changed, it may be one that changes every time.
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
    let choices = match change.what.iter().all(content) && change.others.is_empty() {
        true => CHANGING.to_vec(),
        false => ONCE.to_vec(),
    };
    let (server, tool) = (Quoted::new(server), Quoted::new(tool));
    Ask {
        kind: "document",
        who: head(&server, &tool),
        text: words!("The view of {} from {} is not the one you have seen before:", tool, server),
        choices,
        server,
        changes,
        ..Ask::default()
    }
}

/// A line for each, with its words whole; the rest is counted, so that nobody takes what is listed for all.
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
    let verb = if deed.kind == "link" { "open" } else { "save" };
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

/// What a person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Allow,
    AllowUntilEnd,
    AllowChanging,
    AllowAlways,
    Deny,
    DenyAlways,
}

impl Choice {
    /// What a click meant. Anything that is not a yes is a no.
    pub(crate) fn of(word: &str) -> Self {
        let all = [
            Self::Allow,
            Self::AllowUntilEnd,
            Self::AllowChanging,
            Self::AllowAlways,
            Self::DenyAlways,
        ];
        all.into_iter().find(|choice| choice.word() == word).unwrap_or(Self::Deny)
    }

    /// As the page says it, and as it is written down.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowUntilEnd => "allow-until-end",
            Self::AllowChanging => "allow-changing",
            Self::AllowAlways => "allow-always",
            Self::Deny => "deny",
            Self::DenyAlways => "deny-always",
        }
    }

    /// What it means to a session.
    pub(crate) fn decision(self) -> Decision {
        match self {
            Self::Allow => Decision::Allow,
            Self::AllowUntilEnd | Self::AllowChanging | Self::AllowAlways => Decision::AllowAlways,
            Self::Deny => Decision::Deny,
            Self::DenyAlways => Decision::DenyAlways,
        }
    }

    /// Whether it is meant for longer than this process runs.
    pub(crate) fn lasts(self) -> bool {
        matches!(self, Self::AllowAlways | Self::DenyAlways)
    }
}

impl From<Decision> for Choice {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::AllowAlways => Self::AllowAlways,
            Decision::Deny => Self::Deny,
            Decision::DenyAlways => Self::DenyAlways,
        }
    }
}

/// A verdict as a line of the log.
pub(crate) fn ruling(method: Option<&'static str>, about: &Quoted, ruling: &Ruling) -> Words {
    let what = match (method, about.as_str()) {
        (Some(method), "") => method.into(),
        (Some(method), _) => words!("{} {}", method, about),
        (None, _) => words!("{}", about),
    };
    match ruling {
        Ruling::Allowed => words!("{}: allowed", what),
        Ruling::Refused(why) => words!("{}: {}", what, why),
        Ruling::Withdrawn => words!("{}: taken back", what),
    }
}

/// The kind of that line; none for the handshake, which says so itself.
pub(crate) fn ruling_kind(method: Option<&str>, ruling: &Ruling) -> Option<&'static str> {
    match ruling {
        Ruling::Allowed if method == Some(transom::wire::method::INITIALIZE) => None,
        Ruling::Allowed => Some("allowed"),
        Ruling::Refused(_) | Ruling::Withdrawn => Some("refused"),
    }
}

/// A limit that a view reached, for the person at the page.
pub(crate) fn limited(over: &Over, server: &str, method: Option<&'static str>) -> Words {
    let Over { limit, of, most } = over;
    let who = match of {
        Holder::View => "This view".to_owned(),
        Holder::Server => format!("The views of {} together", Quoted::new(server)),
        Holder::Host => "All views together".to_owned(),
    };
    let (most, method) = (grouped(*most), method.unwrap_or("this request"));
    let is = if *of == Holder::View { "has" } else { "have" };
    let verb = if *of == Holder::View { "sends" } else { "send" };
    let (what, rest) = match limit {
        Limit::Messages => (format!("{verb} more than {most} messages a second"), SLOWED),
        Limit::Bytes => (format!("{verb} more than {most} bytes a second"), REST),
        Limit::Size => (format!("{verb} messages of more than {most} bytes"), "they are refused"),
        Limit::Method => (format!("{verb} {method} more than {most} times a second"), REST),
        Limit::Params => {
            (format!("{verb} {method} with more than {most} bytes"), "that is refused")
        }
        Limit::Calls => (format!("{is} {most} requests under way"), UNTIL),
        Limit::Questions => (format!("{is} {most} questions for you"), UNTIL),
        Limit::Held => (format!("{is} {most} bytes waiting for your decision"), UNTIL),
        Limit::Queued => (
            format!("{is} {most} bytes waiting for this page"),
            "what comes on top is not passed on",
        ),
        Limit::Views => {
            let words = format!("{who} are as many as may be: {most}. Close one of them first.");
            return Words::ours(&words);
        }
        Limit::Files => {
            (format!("wants to save more than {most} files at once"), "that is refused")
        }
        Limit::Asking => (
            format!("asks you more than {most} questions a minute that it takes back"),
            "more are refused",
        ),
        other => (format!("went over its limit of {most} {other}"), REST),
    };
    // Numbers, names of methods, and what is quoted.
    Words::ours(&format!("{who} {what}; {rest}. Everything else goes on."))
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Why a view ended, for the log.
pub(crate) fn closed(reason: Reason) -> &'static str {
    match reason {
        Reason::Closed => "closed",
        Reason::Asked => "closed at its own wish",
        Reason::NeverInitialized => "stopped: it never finished its handshake",
        Reason::ReloadLoop => "stopped: it was loaded over and over",
        Reason::Flood => "stopped: it broke too many rules, or sent far too many messages",
        Reason::PastSandbox => "stopped: it wrote to this page itself, past its sandbox",
        Reason::NotText => "stopped: it sent something other than text on its port",
        Reason::Focus => {
            "stopped: it took the keyboard while you were using the page, and took it again"
        }
        Reason::TakenBack => {
            "stopped: you took back an address of this machine or its network that it could reach; open it again, and you are asked"
        }
        Reason::ServerGone => "closed: its server is gone",
        Reason::PageGone => "closed: its page is gone",
        _ => "ended",
    }
}

/// Why a view ended, in the word of the envelope.
pub(crate) fn close_word(reason: Reason) -> &'static str {
    match reason {
        Reason::Closed | Reason::Asked | Reason::ServerGone | Reason::PageGone => "teardown",
        Reason::NeverInitialized => "silent",
        Reason::Focus => "focus",
        Reason::TakenBack => "taken-back",
        _ => "flood",
    }
}

/// A file as the person who decides sees it: what would be fetched for the view is named in full (H-97).
fn shown(file: &transom::host::File) -> FileOffer {
    let offer = named(file);
    match &file.body {
        FileBody::Link(address) => {
            let from = Quoted::long(address, address.len());
            FileOffer { name: format!("{} from {from}", file.name), ..offer }
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

const CHOICES: [&str; 3] = ["allow", "allow-always", "deny"];
const FOR_THIS_RUN: [&str; 3] = ["allow", "allow-until-end", "deny"];
const ALL_TOOLS: [&str; 3] = ["allow-until-end", "allow-always", "deny"];
const ALL_TOOLS_FOR_THIS_RUN: [&str; 2] = ["allow-until-end", "deny"];
/// The most differences that are listed one by one.
const CHANGES: usize = 20;
/// How much of a name is shown where all of it counts, in characters.
const WHOLE: usize = 300;
const REST: &str = "what is above that is refused";
const SLOWED: &str = "what is above that waits, or is refused";
const UNTIL: &str = "more are refused until there are fewer";
const ONCE: [&str; 2] = ["allow", "deny"];
const CHANGING: [&str; 3] = ["allow", "allow-changing", "deny"];

#[cfg(test)]
mod tests {
    use super::*;

    fn question(subject: Subject, text: &str) -> Question {
        let preview = Preview { text: text.into(), beyond: None };
        let about = Quoted::new("save");
        Question {
            id: 0,
            subject,
            method: "tools/call",
            about,
            preview,
            files: vec![],
            said: Default::default(),
            changes: vec![],
        }
    }

    #[test]
    fn atk_22_what_is_read_is_what_is_written() {
        let name = "<b>\u{202e}gnp.exe\u{200b}".to_owned();
        let ask = ask(
            "demo",
            "show",
            &question(Subject::Tool(name), "{\"a\":\"\u{202e}Größe 中 👍\"}"),
            "q0".to_owned(),
            true,
        );
        assert_eq!(
            ask.text,
            r#"A view of "demo" wants to call "<b>\u{202e}gnp.exe\u{200b}" of "demo" with:"#
        );
        assert_eq!(ask.tools[0].as_str(), "<b>\\u{202e}gnp.exe\\u{200b}");
        assert_eq!(ask.preview.as_deref(), Some(r#"{"a":"\u{202e}Größe 中 👍"}"#));
    }

    #[test]
    fn a_name_does_not_begin_a_sentence_of_its_own() {
        let name =
            "save\" of \"demo\".\nIt is safe. Click Allow. The view wants \"nothing".to_owned();
        let ask =
            ask("x\" of y", "show", &question(Subject::Tool(name), "{}"), "q0".to_owned(), true);
        assert_eq!(
            ask.text,
            r#"A view of "x\" of y" wants to call "save\" of \"demo\".\nIt is safe. Click Allow. The view wants \"nothing" of "x\" of y" with:"#
        );
    }

    #[test]
    fn a_question_about_all_tools_offers_what_a_yes_to_it_means() {
        for (lasts, choices) in [
            (true, &["allow-until-end", "allow-always", "deny"][..]),
            (false, &["allow-until-end", "deny"]),
        ] {
            let tools = Subject::Tools(["save".to_owned()].into());
            let ask = ask("demo", "board", &question(tools, "{}"), "q0".to_owned(), lasts);
            assert_eq!(ask.choices, choices);
        }
    }

    #[test]
    fn a_choice_is_written_down_as_it_was_offered() {
        for choices in [&CHOICES[..], &FOR_THIS_RUN, &ALL_TOOLS, &ONCE, &CHANGING, &["deny-always"]]
        {
            choices.iter().for_each(|choice| assert_eq!(Choice::of(choice).word(), *choice));
        }
        assert_eq!(Choice::of("yes"), Choice::Deny);
    }

    #[test]
    fn a_question_says_how_much_is_folded() {
        let text = format!(r#"{{"a":"{}","b":1,"c":{{"d":2}}}}"#, "x".repeat(14_327));
        let subject = Subject::Tool("save".to_owned());
        let ask = ask("demo", "show", &question(subject, &text), "q0".to_owned(), true);
        let (preview, folded) = (ask.preview.unwrap(), ask.folded.unwrap());
        assert_eq!(preview.len(), AT_ONCE);
        assert_eq!(folded.words, "… 12,353 more bytes, 3 more members");
        assert_eq!(preview + &folded.text, text);
        assert_eq!(folded.beyond, None);
    }

    #[test]
    fn a_question_that_cannot_be_shown_whole_says_so() {
        let preview = Preview {
            text: "x".repeat(3_000).into(),
            beyond: Some(Folded { bytes: 1_000_000, members: 7 }),
        };
        let ask = Ask::default().showing(&preview);
        let folded = ask.folded.unwrap();
        assert_eq!(folded.words, "… 1,001,000 more bytes, 7 more members");
        assert_eq!(
            folded.beyond.unwrap(),
            "… 1,000,000 more bytes, 7 more members, too many to be shown"
        );
    }

    fn pin(uri: &str) -> Pin {
        Pin {
            uri: uri.to_owned(),
            pattern: None,
            hash: crate::documents::ContentHash::of(b""),
            size: 0,
            csp: None,
            permissions: Default::default(),
            domain: None,
            origins: vec![],
            findings: vec![],
        }
    }

    fn lines(ask: &Ask) -> Vec<&str> {
        ask.changes.iter().map(Words::as_str).collect()
    }

    #[test]
    fn a_question_about_a_view_that_is_made_anew_shows_all_that_it_declares() {
        let long = format!("https://{}.test", "a".repeat(60));
        let csp = transom::wire::ResourceCsp {
            connect_domains: vec![long.clone(), "https://b.test".to_owned()],
            base_uri_domains: vec!["https://base.test".to_owned()],
            ..Default::default()
        };
        let domain = Some("own.test".to_owned());
        let mut pin = Pin { csp: Some(csp), domain, ..pin("ui://a/b") };
        let ask = unpinned("demo", "show", &pin);
        let first = format!("it declares \"{long}\"");
        let expected = [
            "its address is one of \"ui://a/b\"",
            &first,
            "it declares \"https://b.test\"",
            "it declares \"https://base.test\"",
            "it wants \"own.test\" for an origin of its own",
        ];
        assert_eq!(lines(&ask), expected);
        let many = (10..40).map(|number| format!("https://{number}.test")).collect();
        pin.csp = Some(transom::wire::ResourceCsp { frame_domains: many, ..Default::default() });
        let ask = unpinned("demo", "show", &pin);
        assert_eq!(
            lines(&ask)[CHANGES..=CHANGES + 1],
            ["it declares \"https://29.test\"", "and 10 more"]
        );
    }

    #[test]
    fn every_tool_that_a_yes_is_for_has_a_line() {
        let others: Vec<String> = (1..=9).map(|number| format!("a-long-name-{number}")).collect();
        let change = Change::between(pin("ui://a/b"), Pin { size: 1, ..pin("ui://a/c") }).unwrap();
        let change = Change { others: others.clone(), ..change };
        let ask = changed("demo", "show", &change);
        for other in others {
            let line = format!("\"{other}\" shows the same view; your answer is for it too");
            assert!(lines(&ask).contains(&&*line), "{line}");
        }
    }

    #[test]
    fn what_goes_along_with_a_read_is_shown_with_it() {
        for (beside, shown) in
            [("", "file:///a"), (r#"{"cursor":"x"}"#, "file:///a\n{\"cursor\":\"x\"}")]
        {
            let question = question(Subject::Read("file:///a".to_owned()), beside);
            let ask = ask("demo", "show", &question, "q0".to_owned(), true);
            assert_eq!(ask.preview.as_deref(), Some(shown));
        }
    }
}
