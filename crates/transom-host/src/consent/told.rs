//! What people are told: rulings, limits that were reached, and why a view ended.

use transom::{
    host::{Reason, Ruling},
    violation::{Holder, Limit, Over, Quoted},
};

use crate::{envelope::Ending, log::LineKind, words, words::Words};

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
pub(crate) fn ruling_kind(method: Option<&str>, ruling: &Ruling) -> Option<LineKind> {
    match ruling {
        Ruling::Allowed if method == Some(transom::wire::method::INITIALIZE) => None,
        Ruling::Allowed => Some(LineKind::Allowed),
        Ruling::Refused(_) | Ruling::Withdrawn => Some(LineKind::Refused),
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
pub(super) fn grouped(number: u64) -> String {
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
            "stopped: you took back something that you had given it; open it again, and you are asked"
        }
        Reason::ServerGone => "closed: its server is gone",
        Reason::PageGone => "closed: its page is gone",
        _ => "ended",
    }
}

/// How a view that ended for this reason is taken from its page.
pub(crate) fn ending(reason: Reason) -> Ending {
    match reason {
        Reason::Closed | Reason::Asked | Reason::ServerGone | Reason::PageGone => Ending::Teardown,
        Reason::NeverInitialized => Ending::Silent,
        Reason::Focus => Ending::Focus,
        Reason::TakenBack => Ending::TakenBack,
        _ => Ending::Flood,
    }
}

pub(super) const REST: &str = "what is above that is refused";

pub(super) const SLOWED: &str = "what is above that waits, or is refused";

pub(super) const UNTIL: &str = "more are refused until there are fewer";
