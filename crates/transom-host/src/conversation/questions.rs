//! What people are asked beside the questions of views: calls of the model, and what servers want to know.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tokio::{sync::watch, time::Instant};

use crate::{envelope::Ask, words::Words};

/// A question on the page.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct Pending {
    #[cfg_attr(test, ts(type = "Ask"))]
    pub(crate) ask: Ask,
    /// The form that a server wants filled in, as a JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub(crate) form: Option<Value>,
    /// The address that a server wants opened, and the host of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// What the server says; a stranger's words, drawn as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

/// What a person answered.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct TalkAnswer {
    pub(crate) ask: String,
    pub(crate) choice: String,
    /// What stands in the form.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub(crate) content: Option<Box<RawValue>>,
}

/// What is done with an answer; it says why one cannot be taken, and then the question stays.
type Take = Box<dyn FnMut(&TalkAnswer) -> Result<(), String> + Send>;

/// All questions that wait for the person.
pub(super) struct Questions {
    open: Mutex<Open>,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct Open {
    next: u64,
    version: u64,
    all: BTreeMap<String, (Pending, Take)>,
    /// When each server asked lately.
    lately: BTreeMap<String, Vec<Instant>>,
}

impl Questions {
    pub(super) fn new(changed: watch::Sender<u64>) -> Arc<Self> {
        Arc::new(Self { open: Mutex::default(), changed })
    }

    pub(super) fn fresh(&self, kind: &str) -> String {
        let mut open = self.lock();
        open.next += 1;
        format!("talk-{kind}-{}", open.next)
    }

    pub(super) fn put(&self, pending: Pending, take: Take) {
        let mut open = self.lock();
        open.all.insert(pending.ask.id.clone(), (pending, take));
        open.version += 1;
        drop(open);
        self.tell();
    }

    pub(super) fn withdraw(&self, id: &str) {
        let mut open = self.lock();
        if open.all.remove(id).is_some() {
            open.version += 1;
            drop(open);
            self.tell();
        }
    }

    /// Takes an answer once, and only one that was offered.
    pub(super) fn answer(&self, answer: &TalkAnswer) -> Result<(), String> {
        let mut open = self.lock();
        let Some((pending, _)) = open.all.get(&answer.ask) else {
            return Err("This is not asked any more.".to_owned());
        };
        if !pending.ask.choices.contains(&answer.choice.as_str()) {
            return Err("That is none of the choices.".to_owned());
        }
        let (pending, mut take) = open.all.remove(&answer.ask).expect("it was there");
        open.version += 1;
        drop(open);
        let taken = take(answer);
        if taken.is_err() {
            let mut open = self.lock();
            open.all.insert(answer.ask.clone(), (pending, take));
            open.version += 1;
        }
        self.tell();
        taken
    }

    pub(super) fn shown(&self) -> (u64, Vec<Pending>) {
        let open = self.lock();
        (open.version, open.all.values().map(|(pending, _)| pending.clone()).collect())
    }

    /// Whether a server may ask once more: so many wait, and so many in a while.
    pub(super) fn may_ask(&self, server: &str) -> Result<(), Words> {
        let now = Instant::now();
        let mut open = self.lock();
        let waiting = open.all.values().filter(|(it, _)| it.message.is_some()).count();
        if waiting >= WAITING {
            return Err("too many questions wait for the person".into());
        }
        let lately = open.lately.entry(server.to_owned()).or_default();
        lately.retain(|at| now.duration_since(*at) < WHILE);
        if lately.len() >= LATELY {
            return Err("this server has asked the person too often".into());
        }
        lately.push(now);
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|version| *version += 1);
    }
}

const WAITING: usize = 8;
const LATELY: usize = 20;
const WHILE: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_counts_once_and_only_if_it_was_offered() {
        let questions = Questions::new(watch::channel(0).0);
        let heard = Arc::new(Mutex::new(vec![]));
        let choices = vec!["allow", "deny"];
        let ask = Ask { id: "a".to_owned(), choices, ..Ask::default() };
        let (form, url, host, message) = (None, None, None, None);
        let hears = Arc::clone(&heard);
        let take = move |answer: &TalkAnswer| {
            hears.lock().unwrap().push(answer.choice.clone());
            Ok(())
        };
        questions.put(Pending { ask, form, url, host, message }, Box::new(take));
        let answer = |choice: &str| TalkAnswer {
            ask: "a".to_owned(),
            choice: choice.to_owned(),
            content: None,
        };
        assert!(questions.answer(&answer("allow-always")).is_err());
        assert!(questions.answer(&answer("allow")).is_ok());
        assert!(questions.answer(&answer("allow")).is_err());
        assert_eq!(*heard.lock().unwrap(), ["allow"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_asks_without_end_is_refused_for_a_while() {
        let questions = Questions::new(watch::channel(0).0);
        let refused = (0..100).filter(|_| questions.may_ask("a").is_err()).count();
        assert_eq!(refused, 100 - LATELY);
        assert!(questions.may_ask("b").is_ok(), "another one is not held up");
        tokio::time::advance(WHILE).await;
        assert!(questions.may_ask("a").is_ok());
    }
}
