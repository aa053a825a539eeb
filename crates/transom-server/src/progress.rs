//! Telling a client how far a tool is, and hearing that the client does not wait for it any more.

use std::sync::{Mutex, PoisonError};

use rmcp::handler::server::common::{AsRequestContext, FromContextPart};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer};

/// Tells the client of a call how far it is. A tool takes it as an argument.
///
/// A client that did not ask to be told is told nothing, so a tool need not care. Hosts pass on what they are told to
/// the view that called, and show it to the person.
///
/// ```
/// # use rmcp::{ServerHandler, tool_handler, tool_router};
/// # use transom_server::{Progress, Shown};
/// # struct Baker;
/// #[tool_router]
/// impl Baker {
///     /// Bake three loaves.
///     #[transom_server::tool]
///     async fn bake(&self, progress: Progress) -> Shown<()> {
///         for loaf in 1..=3 {
///             progress.tell(loaf, 3, format!("loaf {loaf} is in the oven")).await;
///         }
///         Shown::new("three loaves", ())
///     }
/// }
/// # #[tool_handler]
/// # impl ServerHandler for Baker {}
/// ```
#[derive(Debug)]
pub struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    last: Mutex<f64>,
}

impl Progress {
    /// Takes it from a request, for code that is no tool of rmcp's macros.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let to = token.map(|token| (context.peer.clone(), token));
        Self { to, last: Mutex::new(f64::NEG_INFINITY) }
    }

    /// Tells whether the client asked to be told.
    pub fn is_wanted(&self) -> bool {
        self.to.is_some()
    }

    /// Tells how much of a whole is done, with words for the person.
    ///
    /// Progress goes forwards (MCP): what is not more than was told before is left out.
    pub async fn tell(
        &self,
        done: impl Into<f64>,
        total: impl Into<f64>,
        words: impl Into<String>,
    ) {
        self.send(done.into(), Some(total.into()), words.into()).await;
    }

    /// Tells how much is done of something whose end is not known, with words for the person.
    pub async fn tell_so_far(&self, done: impl Into<f64>, words: impl Into<String>) {
        self.send(done.into(), None, words.into()).await;
    }

    async fn send(&self, done: f64, total: Option<f64>, words: String) {
        let Some((peer, token)) = &self.to else { return };
        if !self.is_more(done) {
            return;
        }
        let mut told = ProgressNotificationParam::new(token.clone(), done);
        told.total = total.filter(|total| total.is_finite());
        told.message = (!words.is_empty()).then_some(words);
        // A client that is gone will not miss it, and the call goes on or is cancelled.
        let _ = peer.notify_progress(told).await;
    }

    /// Keeps how far it is. What is no number is never more.
    fn is_more(&self, done: f64) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let more = done.is_finite() && done > *last;
        if more {
            *last = done;
        }
        more
    }
}

impl<C: AsRequestContext> FromContextPart<C> for Progress {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        Ok(Self::of(context.as_request_context()))
    }
}

/// Says whether the client still waits for a call. A tool takes it as an argument.
///
/// A person who closes a view, or stops a model, cancels the calls that run; what is cancelled need not be done.
///
/// ```
/// # use rmcp::ErrorData;
/// # use transom_server::{Cancelled, Shown};
/// async fn count(cancelled: Cancelled) -> Result<Shown<()>, ErrorData> {
///     for page in 0..100 {
///         cancelled.check()?; // between two steps
///         // or: tokio::select! { () = cancelled.wait() => …, done = step(page) => … }
///         # let _ = page;
///     }
///     Ok(Shown::new("100 pages", ()))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Cancelled {
    context: tokio_util::sync::CancellationToken,
}

impl Cancelled {
    /// Takes it from a request, for code that is no tool of rmcp's macros.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        Self { context: context.ct.clone() }
    }

    /// Tells whether the call was cancelled.
    pub fn is(&self) -> bool {
        self.context.is_cancelled()
    }

    /// Waits until the call is cancelled.
    pub async fn wait(&self) {
        self.context.cancelled().await;
    }

    /// Ends a tool with `?` when its call was cancelled.
    ///
    /// # Errors
    ///
    /// The call was cancelled. The client does not hear of it.
    pub fn check(&self) -> Result<(), ErrorData> {
        if self.is() {
            Err(ErrorData::internal_error("the call was cancelled", None))
        } else {
            Ok(())
        }
    }
}

impl<C: AsRequestContext> FromContextPart<C> for Cancelled {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        Ok(Self::of(context.as_request_context()))
    }
}
