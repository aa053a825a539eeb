//! What a server says on a connection: answers, notifications, and requests of its own.

use std::{
    fmt,
    sync::{Arc, PoisonError, atomic::Ordering},
};

use serde::{
    Deserialize, Deserializer as _,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tokio::task::AbortHandle;
use transom::{
    calls::NotServed,
    host::List,
    rpc::{DENIED, ErrorObject, Id, Malformed, Message, Notification, Response},
    wire::method,
};

use super::{Life, Link};
use crate::upstream::{
    Answer, CallError, Era, Event, Refusal, Rubbish, Strays, desk::PING, request, salvage,
};

impl Life {
    /// Takes one message, or several in an array, as servers of 2025-03-26 may send them. `answers` is
    /// the call that it can only be the answer of, if it came alone.
    pub(in crate::upstream) fn receive(self: &Arc<Self>, text: &str, answers: Option<u64>) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        if text.starts_with('[') {
            let mut batch = serde_json::Deserializer::from_str(text);
            if let Err(error) = batch.deserialize_seq(Batch(self)) {
                tracing::debug!(line = error.line(), column = error.column(), "a broken batch");
            }
        } else {
            self.receive_one(text, answers);
        }
    }

    pub(super) fn receive_one(self: &Arc<Self>, text: &str, answers: Option<u64>) {
        if let Some(overhear) = &self.options.overhear {
            overhear.received(text);
        }
        match Message::parse(text, self.limits().rpc()) {
            Ok(Message::Response(response)) => self.answered(response),
            Ok(Message::Notification(notification)) => self.notified(&notification),
            Ok(Message::Request(request)) => {
                self.asked(request.id, &request.method, request.params);
            }
            Err(error) => {
                let id = match &error {
                    Malformed::BadAnswer { id, .. } => number(id),
                    _ => salvage::answered(text.as_bytes()),
                };
                if id.is_none() {
                    self.stray_line(text);
                }
                self.rubbish(id.or(answers), error.into());
            }
        }
    }

    /// Keeps that a line on a pipe was no message; over HTTP there is nothing else that a body could be.
    pub(in crate::upstream) fn stray_line(&self, line: &str) {
        if matches!(self.link, Link::Pipe(_)) {
            self.strays.lock().unwrap_or_else(PoisonError::into_inner).note(line);
        }
    }

    /// What came on a pipe and was no message.
    pub(in crate::upstream) fn strays(&self) -> Strays {
        self.strays.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn answered(&self, response: Response<'_>) {
        let Some(id) = number(&response.id) else { return self.stray(&response.id) };
        let outcome = match response.outcome {
            Ok(result) if self.wants_input(id, result) => {
                Err(CallError::InputRequired(result.to_owned()))
            }
            Ok(result) => Ok(result.to_owned()),
            Err(error) => Err(CallError::Refused(error.into())),
        };
        if !self.settle(id, outcome) {
            self.stray(&response.id);
        }
    }

    /// Whether a result is none yet. Looked at only where the words occur: reading a large result once
    /// more would cost as much as reading it did.
    pub(super) fn wants_input(&self, id: u64, result: &RawValue) -> bool {
        self.desk().era_of(id) == Some(Era::Stateless)
            && memchr::memmem::find(result.get().as_bytes(), INPUT_REQUIRED.as_bytes()).is_some()
            && serde_json::from_str::<Unfinished>(result.get())
                .is_ok_and(|result| result.result_type.as_deref() == Some(INPUT_REQUIRED))
    }

    pub(super) fn stray(&self, id: &Id) {
        tracing::debug!(%id, "answer that no call waits for");
    }

    /// Fails the call that something unreadable was meant for, if that is known.
    pub(in crate::upstream) fn rubbish(&self, answers: Option<u64>, rubbish: Rubbish) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(?answers, %rubbish, "unreadable");
        if let Some(id) = answers {
            self.settle(id, Err(rubbish.into()));
        }
    }

    pub(super) fn notified(&self, notification: &Notification<'_>) {
        let Notification { method, params } = notification;
        let size = params.map_or(0, |params| params.get().len());
        tracing::trace!(%method, bytes = size, "notification");
        match (&**method, params) {
            (method::TOOLS_LIST_CHANGED, _) => self.changes.note(List::Tools),
            (method::RESOURCES_LIST_CHANGED, _) => self.changes.note(List::Resources),
            (method::PROMPTS_LIST_CHANGED, _) => self.changes.note(List::Prompts),
            (method::CANCELLED, Some(params)) => self.asked_no_more(params),
            _ if size > self.limits().notification => {
                tracing::warn!(bytes = size, "a notification too large to pass on");
            }
            (method::PROGRESS, Some(params)) => self.progressed(params),
            (method::LOG, Some(params)) => self.emit(Event::Log(shared(params))),
            (method, params) => {
                self.emit(Event::Notification { method: method.into(), params: params.map(shared) })
            }
        }
    }

    pub(super) fn progressed(&self, params: &RawValue) {
        let token = serde_json::from_str::<Progress>(params.get()).ok();
        let known = token.and_then(|progress| number(&progress.progress_token));
        // Late or invented: the call is settled, and no caller waits for its progress.
        if !known.is_some_and(|id| self.desk().progress(self.now(), id, params)) {
            tracing::debug!("progress on a call that has been settled");
        }
    }

    pub(super) fn asked(self: &Arc<Self>, id: Id, method: &str, params: Option<&RawValue>) {
        match &self.options.ask {
            _ if method == PING => self.send(request::answer(id, Ok(&empty()))),
            Some(ask) => {
                let answer = ask.ask(method, params);
                self.serve(id, answer);
            }
            None => self.refuse(id, &Refusal::no_such_method(method)),
        }
    }

    pub(super) fn serve(self: &Arc<Self>, id: Id, answer: Answer) {
        let admitted = self.desk().serve(id.clone());
        match admitted {
            Ok(()) => {
                let (life, its) = (Arc::clone(self), id.clone());
                let task = self.spawn(async move { life.served(its, answer.await) });
                self.desk().served_by(&id, task);
            }
            // An answer would settle the request that holds the id.
            Err(NotServed::DuplicateId) => tracing::debug!(%id, "request with an id that is open"),
            Err(NotServed::TooMany) => {
                let message = "too many requests at a time".to_owned();
                self.refuse(id, &Refusal { code: DENIED, message, data: None });
            }
        }
    }

    pub(super) fn served(&self, id: Id, outcome: Result<Box<RawValue>, Refusal>) {
        if self.desk().served(&id).is_none() {
            return;
        }
        match outcome {
            Ok(result) => self.send(request::answer(id, Ok(&result))),
            Err(refusal) => self.refuse(id, &refusal),
        }
    }

    pub(super) fn refuse(&self, id: Id, refusal: &Refusal) {
        let Refusal { code, message, data } = refusal;
        let error = ErrorObject { code: *code, message: message.into(), data: data.as_deref() };
        self.send(request::answer(id, Err(error)));
    }

    pub(super) fn asked_no_more(&self, params: &RawValue) {
        let Ok(cancelled) = serde_json::from_str::<Cancelled>(params.get()) else { return };
        let task = self.desk().served(&cancelled.request_id);
        task.flatten().inspect(AbortHandle::abort);
    }
}

/// The messages of a batch, received one by one: a list of them could be much larger than their text.
pub(super) struct Batch<'a>(&'a Arc<Life>);

impl<'de> Visitor<'de> for Batch<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut messages: A) -> Result<(), A::Error> {
        while let Some(message) = messages.next_element::<&RawValue>()? {
            self.0.receive_one(message.get(), None);
        }
        Ok(())
    }
}

/// The number that an id of ours is.
pub(super) fn number(id: &Id) -> Option<u64> {
    match id {
        Id::Number(number) => u64::try_from(*number).ok(),
        Id::String(_) => None,
    }
}

pub(super) fn shared(raw: &RawValue) -> Arc<RawValue> {
    raw.to_owned().into()
}

pub(super) fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    pub(super) progress_token: Id,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cancelled {
    pub(super) request_id: Id,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Unfinished {
    pub(super) result_type: Option<String>,
}

pub(super) const INPUT_REQUIRED: &str = "input_required";
