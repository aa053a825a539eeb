//! Questions that a server of the stateless era puts in the place of a result.
//!
//! It cannot ask us anything by itself; so it answers a call with what it wants to know, and the call is
//! made again with the answers.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Ask, CallError, Request, greeting::raw};

/// Answers what the server wants to know, and gives the request to make again.
pub(super) async fn answer(
    ask: Option<Arc<dyn Ask>>,
    mut request: Request,
    wanted: Box<RawValue>,
) -> Result<Request, CallError> {
    let Some(answers) = gather(ask, &wanted).await else {
        return Err(CallError::InputRequired(wanted));
    };
    request.forget(&[RESPONSES, STATE]);
    if !answers.is_empty() {
        request.push(RESPONSES, &raw(&answers));
    }
    // Handed back as it came, or not at all: it is the server's, and it may be sealed.
    let wanted: Wanted<'_> = serde_json::from_str(wanted.get()).unwrap_or_default();
    if let Some(state) = wanted.request_state {
        request.push(STATE, state);
    }
    Ok(request)
}

type Answers = BTreeMap<String, Box<RawValue>>;

/// Nothing if there is no person to ask, or one question is refused.
async fn gather(ask: Option<Arc<dyn Ask>>, wanted: &RawValue) -> Option<Answers> {
    let wanted: Wanted<'_> = serde_json::from_str(wanted.get()).ok()?;
    let questions = wanted.input_requests.unwrap_or_default();
    if questions.is_empty() && wanted.request_state.is_none() || questions.len() > MAX_QUESTIONS {
        return None;
    }
    let mut answers = Answers::new();
    for (name, Question { method, params }) in questions {
        // One after the other: a person answers one question at a time.
        let answer = ask.as_ref()?.ask(&method, params.as_deref()).await;
        answers.insert(name, answer.ok()?);
    }
    Some(answers)
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted<'a> {
    input_requests: Option<BTreeMap<String, Question>>,
    #[serde(borrow)]
    request_state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Question {
    method: String,
    params: Option<Box<RawValue>>,
}

const RESPONSES: &str = "inputResponses";
const STATE: &str = "requestState";
/// How much a server may want to know at once.
const MAX_QUESTIONS: usize = 16;
/// How often it may come back with more.
pub(super) const MAX_ROUNDS: u32 = 8;
