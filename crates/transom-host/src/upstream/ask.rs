//! What a server may ask of us.

use std::{future::Future, pin::Pin};

use serde_json::{Map, Value, value::RawValue};
use transom::{rpc::METHOD_NOT_FOUND, violation::Quoted};

use super::Refusal;

/// Answers what a server asks: sampling, elicitation, roots. Without one, it is told that there is
/// no person to ask.
pub trait Ask: Send + Sync {
    /// What to say in our capabilities, beside that we show views.
    fn capabilities(&self) -> Map<String, Value>;

    /// Answers one request, or refuses it. Dropped when the server takes its request back.
    fn ask(&self, method: &str, params: Option<&RawValue>) -> Answer;
}

/// An answer in the making.
pub type Answer = Pin<Box<dyn Future<Output = Result<Box<RawValue>, Refusal>> + Send>>;

impl Refusal {
    /// Says that this host does not know the method.
    pub fn no_such_method(method: &str) -> Self {
        let message = format!("no such method: {}", Quoted::new(method));
        Self { code: METHOD_NOT_FOUND, message, data: None }
    }
}
