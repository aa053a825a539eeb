//! One call in flight, as whoever made it sees it.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::value::RawValue;
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        oneshot,
    },
    time::timeout,
};
use transom::calls::Patience;

use super::{CallError, Request, life::Life, rounds};

/// How a call is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallOptions {
    /// Whether the server is asked to tell how it gets on.
    pub progress: bool,
    /// How long it may take; the upstream's patience, unless said otherwise.
    pub patience: Option<Patience>,
}

/// A call in flight. Dropping it takes it back.
#[derive(Debug)]
pub struct Call {
    life: Arc<Life>,
    state: State,
    /// What to make the call again with; only where the server may want more before it answers.
    again: Option<Again>,
}

#[derive(Debug)]
enum State {
    /// The server is at it.
    Waiting(Waiting),
    /// We are: it wants to know something first.
    Asking(Asking),
    /// It has ended.
    Over,
}

/// Our end of a [`Waiter`].
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) id: u64,
    progress: Option<broadcast::Receiver<Box<RawValue>>>,
    outcome: oneshot::Receiver<Outcome>,
}

/// The request to be made again, once there are answers.
struct Asking(Pin<Box<dyn Future<Output = Result<Request, CallError>> + Send>>);

#[derive(Debug)]
struct Again {
    request: Request,
    options: CallOptions,
    rounds: u32,
}

/// News of a call.
#[derive(Debug)]
pub enum Update {
    /// The params of a `notifications/progress`, as the server wrote them.
    Progress(Box<RawValue>),
    /// The result as the server wrote it, or why there is none. Nothing comes after.
    Done(Outcome),
}

/// The result of a call, as the server wrote it, or why there is none.
pub type Outcome = Result<Box<RawValue>, CallError>;

/// The other end of a [`Waiting`].
#[derive(Debug)]
pub(super) struct Waiter {
    progress: Option<broadcast::Sender<Box<RawValue>>>,
    outcome: oneshot::Sender<Outcome>,
}

impl Call {
    /// A call that waits.
    pub(super) fn new(life: Arc<Life>, waiting: Waiting) -> Self {
        Self { life, state: State::Waiting(waiting), again: None }
    }

    /// Makes the call again when the server wants to know more first.
    #[must_use]
    pub(super) fn with_rounds(mut self, request: Request, options: CallOptions) -> Self {
        self.again = Some(Again { request, options, rounds: 0 });
        self
    }

    /// Its number, which is also its progress token; none while the server waits for us.
    pub fn id(&self) -> Option<u64> {
        match &self.state {
            State::Waiting(waiting) => Some(waiting.id),
            State::Asking(_) | State::Over => None,
        }
    }

    /// Waits for news, in the order they came; there are none after [`Update::Done`].
    ///
    /// May be dropped while waiting without losing any.
    pub async fn next(&mut self) -> Option<Update> {
        loop {
            let outcome = match &mut self.state {
                State::Waiting(waiting) => match waiting.next().await {
                    Update::Done(outcome) => outcome,
                    progress => return Some(progress),
                },
                State::Asking(asking) => match (&mut asking.0).await {
                    Ok(request) => match self.repeat(request) {
                        Ok(()) => continue,
                        Err(error) => Err(error),
                    },
                    Err(error) => Err(error),
                },
                State::Over => return None,
            };
            match outcome {
                Err(CallError::InputRequired(wanted)) if self.may_repeat() => self.ask(wanted),
                outcome => {
                    self.state = State::Over;
                    return Some(Update::Done(outcome));
                }
            }
        }
    }

    /// Waits for the result.
    pub async fn outcome(mut self) -> Outcome {
        loop {
            match self.next().await {
                Some(Update::Done(outcome)) => return outcome,
                Some(Update::Progress(_)) => {}
                None => return Err(CallError::Cancelled),
            }
        }
    }

    /// Takes the call back and tells the server why.
    pub fn cancel(mut self, reason: &str) {
        self.retract(reason);
    }

    fn retract(&mut self, reason: &str) {
        if let State::Waiting(waiting) = &self.state {
            self.life.cancel(waiting.id, reason);
        }
        self.state = State::Over;
    }

    /// Whether a server that wants more gets it. One that was refused comes out of `Asking`.
    fn may_repeat(&self) -> bool {
        matches!(self.state, State::Waiting(_))
            && self.again.as_ref().is_some_and(|again| again.rounds < rounds::MAX_ROUNDS)
    }

    fn ask(&mut self, wanted: Box<RawValue>) {
        let Some(again) = &mut self.again else { return };
        again.rounds += 1;
        let options = self.life.options();
        let bound = again.options.patience.unwrap_or(options.patience).total;
        let answer = rounds::answer(options.ask.clone(), again.request.clone(), wanted);
        self.state = State::Asking(Asking(Box::pin(async move {
            timeout(bound, answer).await.unwrap_or(Err(CallError::Timeout))
        })));
    }

    fn repeat(&mut self, request: Request) -> Result<(), CallError> {
        let options = self.again.as_ref().map(|again| again.options).unwrap_or_default();
        self.state = State::Waiting(self.life.send_call(&request, options)?);
        Ok(())
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.retract("no longer wanted");
    }
}

impl Waiting {
    async fn next(&mut self) -> Update {
        while let Some(progress) = &mut self.progress {
            match progress.recv().await {
                Ok(params) => return Update::Progress(params),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => self.progress = None,
            }
        }
        // The waiter is dropped unsettled only together with the whole connection.
        Update::Done((&mut self.outcome).await.unwrap_or(Err(CallError::Cancelled)))
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asking")
    }
}

impl Waiter {
    /// A waiter, and what waits for it once there is a number.
    pub(super) fn new(progress: bool) -> (Self, impl FnOnce(u64) -> Waiting) {
        let (outcome, settled) = oneshot::channel();
        let (news, heard) = progress.then(|| broadcast::channel(WAITING)).unzip();
        let waiting = |id| Waiting { id, progress: heard, outcome: settled };
        (Self { progress: news, outcome }, waiting)
    }

    /// Settles the call. Its caller may have stopped waiting.
    pub(super) fn settle(self, outcome: Outcome) {
        let _ = self.outcome.send(outcome);
    }

    /// Whether the server was asked to tell how it gets on.
    pub(super) fn hears_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Passes progress on. A listener that is too slow loses the oldest: the newest says more.
    pub(super) fn progress(&self, params: &RawValue) {
        if let Some(progress) = &self.progress {
            let _ = progress.send(params.to_owned());
        }
    }
}

/// How much progress waits for a slow listener.
const WAITING: usize = 64;
