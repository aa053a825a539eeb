//! Conversations of a person with a model that uses the tools of servers and of views.
//!
//! ```text
//!   page ──wish──▶ Conversations ──prompt──▶ model (OpenAI-compatible, Anthropic, or the built-in script)
//!        ◀─news──       │  ▲  ◀──deltas──
//!                Wanted │  │ Hear
//!                       ▼  │
//!                     driver ──▶ policy, question, audit ──▶ server
//!                        └─────▶ the views of the calls
//! ```
//!
//! Nothing that a model wants is done here: its calls go to the driver, which judges them, asks the person, writes them down and
//! makes them, as it does for views.

mod anthropic;
mod asked;
mod endpoint;
mod export;
mod fits;
mod gate;
mod hear;
mod house;
mod model;
mod names;
mod openai;
mod prompt;
mod questions;
mod scripted;
mod shelf;
mod talk;
mod tree;
mod turn;
mod wishes;

pub(crate) use gate::{FOR_THIS, Hear, Offered, Sampler, Settled, Wanted};
pub(crate) use house::{Conversations, Reception, Seen};
pub use model::{Model, ModelKind, ModelRefused};
#[cfg(test)]
pub(crate) use questions::{Pending, TalkAnswer};
#[cfg(test)]
pub(crate) use tree::{Call, CallState, Chip, Context, Node, NodeState, Role};
#[cfg(test)]
pub(crate) use wishes::News;
#[cfg(test)]
pub(crate) use wishes::{
    Branch, Dismissed, Edit, Named, Saying, Showing, ShownModel, Summary, TalkState,
};
pub(crate) use wishes::{Wish, WishError};
