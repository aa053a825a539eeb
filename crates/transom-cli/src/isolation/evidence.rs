//! What was seen of each attempt, and what follows from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::attempts::{ATTEMPTS, Attacker, Attempt, Sort};

/// Something that was seen.
#[derive(Debug)]
pub(super) enum Seen {
    /// A view, or the page, said something.
    Said(Box<Said>),
    /// Something arrived at an address that no view declares; the path names the attempt.
    Trapped(String),
}

/// What a view or the page may say of itself. Whatever else it says is not heard.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Said {
    pub(super) click: Option<String>,
    pub(super) trying: Option<String>,
    pub(super) tried: Option<String>,
    pub(super) got: Option<String>,
    pub(super) how: Option<String>,
    /// Everything the stranger could read somewhere.
    pub(super) seen: Option<String>,
    /// What the neighbour was made to believe.
    pub(super) fooled: Option<String>,
    pub(super) ready: Option<bool>,
    pub(super) closed: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) page: Option<PageFacts>,
}

/// What the page knows at the end.
#[derive(Debug, Deserialize)]
pub(super) struct PageFacts {
    pub(super) cookie: String,
    pub(super) key: String,
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    attempts: BTreeMap<String, Trace>,
    /// What the stranger read, all of it.
    read: String,
    page: Option<PageFacts>,
    closed: BTreeMap<String, String>,
    /// The attempt that waits for a click.
    pub(super) click: Option<String>,
    /// What must not be in anything that a stranger reads.
    pub(super) secrets: Vec<String>,
    /// Files that were saved.
    pub(super) downloads: usize,
}

#[derive(Debug, Default)]
struct Trace {
    begun: bool,
    ended: bool,
    got: String,
    how: Option<String>,
    trapped: bool,
    fooled: bool,
}

impl Evidence {
    /// Notes it down.
    pub(super) fn note(&mut self, seen: Seen) {
        match seen {
            Seen::Trapped(id) => self.trace(&id).trapped = true,
            Seen::Said(said) => self.hear(*said),
        }
    }

    fn hear(&mut self, said: Said) {
        if let Some(id) = said.trying {
            self.click.take_if(|click| *click == id);
            self.trace(&id).begun = true;
        }
        if let Some(id) = said.tried {
            let trace = self.trace(&id);
            trace.begun = true;
            trace.ended = true;
            trace.got = said.got.unwrap_or_default();
            trace.how = said.how;
        }
        if let Some(id) = said.fooled {
            self.trace(&id).fooled = true;
        }
        if let Some(text) = said.seen {
            self.read.push_str(&text);
        }
        if let Some(view) = said.closed {
            self.closed.insert(view, said.reason.unwrap_or_default());
        }
        self.click = said.click.or_else(|| self.click.take());
        self.page = said.page.or_else(|| self.page.take());
    }

    fn trace(&mut self, id: &str) -> &mut Trace {
        self.attempts.entry(id.to_owned()).or_default()
    }

    /// Whether the page gave its last word.
    pub(super) fn is_final(&self) -> bool {
        self.page.is_some()
    }

    /// Whether nothing more is to be expected: each attempt is over, or its view is.
    pub(super) fn is_complete(&self) -> bool {
        ATTEMPTS.iter().all(|attempt| {
            let trace = self.attempts.get(attempt.id);
            let over = trace.is_some_and(|trace| match attempt.by {
                // It may not live to tell.
                Attacker::Alone => trace.begun,
                Attacker::Main | Attacker::Clicked | Attacker::Granted | Attacker::Doomed => {
                    trace.ended
                }
            });
            over || self.closed.contains_key(attempt.view())
        })
    }

    /// Whether all has arrived that no host can stop, as far as it was tried.
    pub(super) fn has_all_open(&self) -> bool {
        ATTEMPTS.iter().filter(|attempt| matches!(attempt.sort, Sort::Open(_))).all(|attempt| {
            self.attempts.get(attempt.id).is_none_or(|trace| trace.trapped || !trace.begun)
        })
    }

    /// What became of each attempt.
    pub(super) fn findings(&self) -> Vec<Finding> {
        ATTEMPTS.iter().map(|attempt| self.judge(attempt)).collect()
    }

    fn judge(&self, attempt: &'static Attempt) -> Finding {
        let nothing = Trace::default();
        let trace = self.attempts.get(attempt.id).unwrap_or(&nothing);
        let (outcome, how) = match attempt.sort {
            // What arrives has got out, also when the view did not announce it.
            Sort::Escape | Sort::Open(_) => match self.got_out(attempt.id, trace) {
                Some(how) if attempt.sort == Sort::Escape => (Outcome::Escaped, Some(how)),
                Some(how) => (Outcome::Open, Some(how)),
                None if !trace.begun => (Outcome::NotTried, None),
                None => (Outcome::Blocked, trace.how.clone()),
            },
            Sort::Need if !trace.begun => (Outcome::NotTried, None),
            Sort::Need if trace.got == "works" => (Outcome::Works, None),
            Sort::Need => (Outcome::Broken, trace.how.clone()),
        };
        let how = match outcome {
            Outcome::NotTried => self.why_not(attempt),
            _ => how,
        };
        let why_open = match attempt.sort {
            Sort::Open(why) => Some(why),
            _ => None,
        };
        let need = attempt.sort == Sort::Need;
        Finding { id: attempt.id, words: attempt.words, need, outcome, how, why_open }
    }

    fn got_out(&self, id: &str, trace: &Trace) -> Option<String> {
        let secret_read = || self.secrets().any(|secret| self.read.contains(secret));
        let page = self.page.as_ref();
        let witness = match id {
            _ if trace.trapped => "it arrived",
            "odd-value" | "sandbox-odd-value" if trace.fooled => "the host page was given it",
            _ if trace.fooled => "the other view believed it",
            "credential" | "host-storage" if secret_read() => "a key of the host was among it",
            "host-cookie" if page.is_some_and(|page| page.cookie.contains("transom-isolation")) => {
                "the host page has it"
            }
            "download" if self.downloads > 0 => "a file was saved",
            "top-link" | "top-navigation" if trace.begun && page.is_none() => "the page is gone",
            _ if trace.got == "out" => "it succeeded",
            _ => return None,
        };
        Some(witness.to_owned())
    }

    fn secrets(&self) -> impl Iterator<Item = &str> {
        let key = self.page.as_ref().map(|page| page.key.as_str());
        self.secrets.iter().map(String::as_str).chain(key).filter(|secret| !secret.is_empty())
    }

    fn why_not(&self, attempt: &Attempt) -> Option<String> {
        if let Some(reason) = self.closed.get(attempt.view()) {
            return Some(format!("its view was ended: {reason}"));
        }
        let unclicked = self.click.as_deref() == Some(attempt.id);
        Some(
            if unclicked { "no click arrived" } else { "nothing more was heard of its view" }
                .to_owned(),
        )
    }
}

/// What became of one attempt.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) id: &'static str,
    pub(super) words: &'static str,
    /// Whether it should work.
    pub(super) need: bool,
    pub(super) outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) how: Option<String>,
    #[serde(rename = "whyOpen", skip_serializing_if = "Option::is_none")]
    pub(super) why_open: Option<&'static str>,
}

/// In a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    Blocked,
    /// It got out, and that must not be.
    Escaped,
    /// It got out, and no host could have stopped it.
    Open,
    Works,
    /// It should work and does not.
    Broken,
    NotTried,
}

impl Outcome {
    /// Whether it is as it should be.
    pub(super) fn is_good(self) -> bool {
        matches!(self, Self::Blocked | Self::Open | Self::Works)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Seen {
        Seen::Said(Box::new(serde_json::from_str(text).unwrap()))
    }

    fn outcome(evidence: &Evidence, id: &str) -> Outcome {
        evidence.findings().into_iter().find(|finding| finding.id == id).unwrap().outcome
    }

    #[test]
    fn whatever_a_view_says_of_itself_what_arrived_counts() {
        let mut evidence = Evidence::default();
        evidence.note(said(r#"{"tried":"image","got":"stopped"}"#));
        assert_eq!(outcome(&evidence, "image"), Outcome::Blocked);
        evidence.note(Seen::Trapped("image".to_owned()));
        assert_eq!(outcome(&evidence, "image"), Outcome::Escaped);
        evidence.note(Seen::Trapped("webrtc".to_owned()));
        assert_eq!(outcome(&evidence, "webrtc"), Outcome::Open);
        assert_eq!(outcome(&evidence, "fetch"), Outcome::NotTried);
    }

    #[test]
    fn a_key_in_what_was_read_is_an_escape() {
        let mut evidence = Evidence { secrets: vec!["t0ken".to_owned()], ..Evidence::default() };
        evidence.note(said(r#"{"tried":"credential","got":"sent"}"#));
        evidence.note(said(r#"{"seen":"http://a.localhost/"}"#));
        assert_eq!(outcome(&evidence, "credential"), Outcome::Blocked);
        evidence.note(said(r#"{"page":{"cookie":"","key":"k3y"}}"#));
        evidence.note(said(r#"{"seen":"http://a.localhost/?k3y"}"#));
        assert_eq!(outcome(&evidence, "credential"), Outcome::Escaped);
    }

    #[test]
    fn a_page_that_never_came_back_was_sent_elsewhere() {
        let mut evidence = Evidence::default();
        evidence.note(said(r#"{"tried":"top-link","got":"sent"}"#));
        assert_eq!(outcome(&evidence, "top-link"), Outcome::Escaped);
        evidence.note(said(r#"{"page":{"cookie":"","key":"k"}}"#));
        assert_eq!(outcome(&evidence, "top-link"), Outcome::Blocked);
    }

    #[test]
    fn a_click_is_wanted_until_the_attempt_begins() {
        let mut evidence = Evidence::default();
        evidence.note(said(r#"{"click":"popup"}"#));
        evidence.note(said(r#"{"trying":"fetch"}"#));
        assert_eq!(evidence.click.as_deref(), Some("popup"));
        let how =
            |id| evidence.findings().into_iter().find(|finding| finding.id == id).unwrap().how;
        assert_eq!(how("popup").as_deref(), Some("no click arrived"));
        assert_eq!(how("download").as_deref(), Some("nothing more was heard of its view"));
        evidence.note(said(r#"{"trying":"popup"}"#));
        assert_eq!(evidence.click, None);
    }

    #[test]
    fn what_no_host_can_stop_is_awaited_once_it_was_tried() {
        let mut evidence = Evidence::default();
        assert!(evidence.has_all_open());
        evidence.note(said(r#"{"tried":"webrtc","got":"sent"}"#));
        assert!(!evidence.has_all_open());
        evidence.note(Seen::Trapped("webrtc".to_owned()));
        assert!(evidence.has_all_open());
    }

    #[test]
    fn it_is_over_when_every_attempt_or_its_view_is() {
        let mut evidence = Evidence::default();
        for Attempt { id, by, .. } in ATTEMPTS {
            // The first end of a view is the end of all that it was to try.
            assert!(*by == Attacker::Granted || !evidence.is_complete());
            match by {
                Attacker::Alone => evidence.note(said(&format!(r#"{{"trying":"{id}"}}"#))),
                Attacker::Doomed => {
                    evidence.note(said(&format!(r#"{{"trying":"{id}"}}"#)));
                    assert!(!evidence.is_complete());
                    let end = format!(r#"{{"closed":"{id}","reason":"flood"}}"#);
                    evidence.note(said(&end));
                    assert_eq!(outcome(&evidence, id), Outcome::Blocked);
                }
                Attacker::Granted => {
                    evidence.note(said(r#"{"closed":"granted","reason":"flood"}"#))
                }
                _ => evidence.note(said(&format!(r#"{{"tried":"{id}","got":"stopped"}}"#))),
            }
        }
        assert!(evidence.is_complete());
        let wasm = evidence.findings().into_iter().find(|finding| finding.id == "wasm").unwrap();
        assert_eq!(wasm.outcome, Outcome::NotTried);
        assert_eq!(wasm.how.as_deref(), Some("its view was ended: flood"));
    }
}
