//! The model that conversations are with, and what every kind of model is asked and says.

use std::fmt;

use serde_json::value::RawValue;
use transom::quoted::Quoted;
use url::Url;

use super::{endpoint::Endpoint, scripted};
use crate::upstream::is_loopback;

/// A model, and how it is reached.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    endpoint: Option<Endpoint>,
}

/// What an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelKind {
    /// `/chat/completions`, as OpenAI has it and many others.
    OpenAi,
    /// `/v1/messages`, as Anthropic has it.
    Anthropic,
    /// The built-in script: no model, but it goes the way of one.
    Script,
}

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelRefused {
    /// The key would be readable on its way.
    #[error("the key would go to {0} in the clear: use https, or an address of this machine")]
    InTheClear(Quoted),
    /// A key that no header can hold.
    #[error("the key cannot be sent: it has characters that no header can hold")]
    Key,
    /// No client could be made.
    #[error("cannot prepare HTTP")]
    Client,
}

impl Model {
    /// A model of this name at an address, asked with a key if one is given.
    ///
    /// The key goes to that address and nowhere else, is written nowhere, and is taken out of whatever the endpoint says.
    pub fn at(
        name: &str,
        kind: ModelKind,
        url: &Url,
        key: Option<&str>,
    ) -> Result<Self, ModelRefused> {
        if kind == ModelKind::Script {
            return Ok(Self::script());
        }
        if key.is_some() && url.scheme() != "https" && !is_loopback(url) {
            return Err(ModelRefused::InTheClear(Quoted::new(url.host_str().unwrap_or_default())));
        }
        let endpoint = Some(Endpoint::new(kind, url, key)?);
        Ok(Self { name: name.to_owned(), endpoint })
    }

    /// The built-in script, which understands simple words and calls tools by them.
    pub fn script() -> Self {
        Self { name: "built-in script".to_owned(), endpoint: None }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is, in words without anything secret.
    pub fn place(&self) -> String {
        self.endpoint.as_ref().map_or_else(|| "no model is set".to_owned(), Endpoint::place)
    }

    /// Whether it is a model, and not the script.
    pub fn is_real(&self) -> bool {
        self.endpoint.is_some()
    }

    /// Has it go on, and says each piece as it comes.
    pub(super) async fn answer(
        &self,
        prompt: &Prompt,
        say: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Finish, ModelError> {
        match &self.endpoint {
            Some(endpoint) => endpoint.answer(&self.name, prompt, say).await,
            None => scripted::answer(prompt, say).await,
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Script => "script",
        })
    }
}

/// What a model is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    pub(super) system: String,
    pub(super) turns: Vec<Turn>,
    pub(super) tools: Vec<ModelTool>,
    pub(super) max_tokens: Option<u32>,
    pub(super) temperature: Option<f64>,
}

#[derive(Clone, Debug)]
pub(super) enum Turn {
    User(String),
    Assistant { text: String, calls: Vec<Asking> },
    Results(Vec<Answered>),
}

/// A call that the model made.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    pub(super) id: String,
    pub(super) name: String,
    /// A JSON object.
    pub(super) arguments: String,
}

/// What came of one.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) failed: bool,
}

/// A tool as the model is told of it.
#[derive(Clone, Debug)]
pub(super) struct ModelTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Box<RawValue>,
}

/// A piece of what a model says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Delta {
    Text(String),
    /// It begins a call; `at` tells its pieces from those of others.
    Call {
        at: u64,
        id: String,
        name: String,
    },
    Piece {
        at: u64,
        text: String,
    },
    /// Tokens so far, in and out.
    Used {
        tokens: u64,
    },
}

/// How an answer ended that came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Said,
    /// As much as it may say at a time.
    Cut,
    /// The endpoint keeps the rest to itself.
    Withheld,
}

/// Why there is no answer, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ModelError {
    #[error("The model's endpoint cannot be reached: {0}.")]
    Unreachable(String),
    #[error(
        "The endpoint refuses the key ({0}). Check the variable that holds it, and start again."
    )]
    Key(String),
    #[error("The endpoint has no time now ({0}). Try again in a moment.")]
    Busy(String),
    #[error("The endpoint refuses the request ({0}).")]
    Refused(String),
    #[error("The endpoint points elsewhere ({0}), which is not followed.")]
    Redirect(u16),
    #[error("The model said nothing for {0} seconds; it was given up.")]
    Slow(u64),
    #[error("The model stopped in the middle. Nothing that it had begun to ask for was done.")]
    Broken,
    #[error("The endpoint said something that is no answer: {0}.")]
    Malformed(String),
    #[error("The model said more than {0} bytes in one answer; it was stopped.")]
    TooLong(usize),
}
