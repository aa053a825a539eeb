//! Verdicts in words: what a person is asked, and what the log says of it.

use std::collections::BTreeSet;

use transom::{
    csp::Source,
    host::{FileBody, Question, Reason, Ruling, Task},
    policy::{Decision, Reach, Subject},
    violation::{Holder, Limit, Over, Quoted},
};

use crate::{
    documents::Change,
    envelope::{Ask, Deed, FileOffer},
};

/// A question of a session, for the person at the page: who asks what of whom.
pub(crate) fn ask(server: &str, question: &Question, id: String) -> Ask {
    let ask = Ask { id, server: server.to_owned(), choices: CHOICES.to_vec(), ..Ask::default() };
    let preview = Some(question.preview.to_string()).filter(|preview| !preview.is_empty());
    let ask = match &question.subject {
        Subject::Tools(names) => Ask {
            kind: "tools",
            text: format!("A view of {server} wants to call these tools of {server}:"),
            tools: names.iter().cloned().collect(),
            ..ask
        },
        Subject::Tool(name) => Ask {
            kind: "tool",
            text: format!("A view of {server} wants to call {name} of {server} with:"),
            tools: vec![name.clone()],
            preview,
            ..ask
        },
        Subject::Read(what) => Ask {
            kind: "read",
            text: format!("A view of {server} wants to read from {server}:"),
            preview: Some(what.clone()),
            ..ask
        },
        Subject::Link(url) => Ask {
            kind: "link",
            text: format!("A view of {server} wants to open:"),
            url: Some(url.clone()),
            choices: ONCE.to_vec(),
            ..ask
        },
        Subject::Download(names) => Ask {
            kind: "download",
            text: format!("A view of {server} wants to save: {}", names.join(", ")),
            choices: ONCE.to_vec(),
            contents: question.files.iter().map(named).collect(),
            ..ask
        },
        Subject::Message => Ask {
            kind: "message",
            text: format!("A view of {server} wants to say in your name:"),
            preview,
            ..ask
        },
        Subject::ModelContext => Ask {
            kind: "context",
            text: format!("A view of {server} wants to tell the model:"),
            preview,
            ..ask
        },
        Subject::Sampling => Ask {
            kind: "sampling",
            text: format!("A view of {server} wants to use the model:"),
            preview,
            ..ask
        },
        Subject::DisplayMode => Ask {
            kind: "mode",
            text: format!("A view of {server} wants to be shown in another way."),
            ..ask
        },
        Subject::AppTool(name) => Ask {
            kind: "app-tool",
            text: format!(
                "The model wants to use {name}, a tool that a view of {server} offers, with:"
            ),
            preview,
            ..ask
        },
        Subject::Nearby(sources) => nearby(server, "a tool", sources),
    };
    legible(ask)
}

/// A document that declares private addresses: it reaches none of them before a person agrees.
pub(crate) fn nearby(server: &str, tool: &str, sources: &BTreeSet<String>) -> Ask {
    let line = |source: &String| match Source::parse(source).map(|source| source.reach()) {
        Ok(Reach::Machine) => format!("{source} (this machine)"),
        _ => format!("{source} (your network)"),
    };
    legible(Ask {
        id: NEARBY.to_owned(),
        kind: NEARBY,
        text: format!(
            "The view of {tool} from {server} wants to reach programs and devices that outsiders cannot:"
        ),
        choices: CHOICES.to_vec(),
        server: server.to_owned(),
        preview: Some(sources.iter().map(line).collect::<Vec<_>>().join("\n")),
        ..Ask::default()
    })
}

/// What a person reads is what is written: a stranger's words must not be turned round, nor hide anything.
fn legible(mut ask: Ask) -> Ask {
    let names = ask.contents.iter_mut().map(|file| &mut file.name);
    let words = ask.tools.iter_mut().chain(&mut ask.changes).chain(&mut ask.preview);
    for text in words.chain(names).chain([&mut ask.text]) {
        if text.contains(is_trick) {
            let plain = |c: char| match c {
                c if is_trick(c) => c.escape_unicode().to_string(),
                c => c.to_string(),
            };
            *text = text.chars().map(plain).collect();
        }
    }
    ask
}

/// Whether it changes how other characters are read, or is not seen: what sets the direction, has no
/// width, or is a control and no end of a line. Not the joiners, which words and pictures are made of.
fn is_trick(c: char) -> bool {
    let format = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}');
    format || c.is_control() && !matches!(c, '\n' | '\t')
}

/// A document that is not what somebody agreed to: it does not run before they do so again.
pub(crate) fn changed(server: &str, tool: &str, change: &Change) -> Ask {
    let mut changes: Vec<_> = change.what.iter().map(|what| shorten(&what.to_string())).collect();
    let more = changes.len().saturating_sub(CHANGES);
    changes.truncate(CHANGES);
    if more > 0 {
        changes.push(format!("and {more} more"));
    }
    legible(Ask {
        id: "document".to_owned(),
        kind: "document",
        text: format!("The view of {tool} from {server} is not the one you have seen before:"),
        choices: ONCE.to_vec(),
        server: server.to_owned(),
        changes,
        ..Ask::default()
    })
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
pub(crate) fn click(server: &str, deed: &Deed) -> Ask {
    let verb = if deed.kind == "link" { "open:" } else { "save:" };
    let bare = |file: &FileOffer| FileOffer { text: None, blob: None, ..file.clone() };
    Ask {
        id: deed.id.clone(),
        kind: deed.kind,
        text: format!("A view of {server} may {verb}"),
        choices: ONCE.to_vec(),
        server: server.to_owned(),
        url: deed.url.clone(),
        contents: deed.contents.iter().map(bare).collect(),
        ..Ask::default()
    }
}

/// What a click meant. Anything that is not a yes is a no.
pub(crate) fn decision(choice: &str) -> Decision {
    match choice {
        "allow" => Decision::Allow,
        "allow-always" => Decision::AllowAlways,
        "deny-always" => Decision::DenyAlways,
        _ => Decision::Deny,
    }
}

/// A verdict as a line of the log.
pub(crate) fn ruling(method: Option<&str>, about: &Quoted, ruling: &Ruling) -> String {
    let what = match (method, about.as_str()) {
        (Some(method), "") => method.to_owned(),
        (Some(method), _) => format!("{method} {about}"),
        (None, _) => about.to_string(),
    };
    match ruling {
        Ruling::Allowed => format!("{what}: allowed"),
        Ruling::Refused(why) => format!("{what}: {why}"),
        Ruling::Withdrawn => format!("{what}: taken back"),
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
pub(crate) fn limited(over: &Over, server: &str, method: Option<&str>) -> String {
    let Over { limit, of, most } = over;
    let who = match of {
        Holder::View => "This view".to_owned(),
        Holder::Server => format!("The views of {server} together"),
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
            return format!("{who} are as many as may be: {most}. Close one of them first.");
        }
        other => (format!("went over its limit of {most} {other}"), REST),
    };
    format!("{who} {what}; {rest}. Everything else goes on.")
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
        _ => "flood",
    }
}

/// The beginning of a stranger's words, on one line.
pub(crate) fn shorten(words: &str) -> String {
    let line: String =
        words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
    if line.len() < words.len() { format!("{line}…") } else { line }
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

/// The name of the question about private addresses, of which a view has one at a time.
pub(crate) const NEARBY: &str = "nearby";
const CHOICES: [&str; 3] = ["allow", "allow-always", "deny"];
/// The most differences that are listed one by one.
const CHANGES: usize = 20;
const REST: &str = "what is above that is refused";
const SLOWED: &str = "what is above that waits, or is refused";
const UNTIL: &str = "more are refused until there are fewer";
const ONCE: [&str; 2] = ["allow", "deny"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atk_22_what_is_read_is_what_is_written() {
        let name = "<b>\u{202e}gnp.exe\u{200b}".to_owned();
        let text = format!("wants to call {name}\nnow\r");
        let ask = legible(Ask { text, tools: vec![name], ..Ask::default() });
        assert_eq!(ask.text, "wants to call <b>\\u{202e}gnp.exe\\u{200b}\nnow\\u{d}");
        assert_eq!(ask.tools, ["<b>\\u{202e}gnp.exe\\u{200b}"]);
        let plain = Ask { text: "Größe 中 👍".to_owned(), ..Ask::default() };
        assert_eq!(legible(plain.clone()), plain);
    }
}
