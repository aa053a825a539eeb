//! `/v1/messages`: what is asked, and the events of the answer.

use std::{borrow::Cow, collections::BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use transom::quoted::Quoted;

use super::{
    endpoint::Reader,
    model::{Asking, Delta, Finish, ModelError, ModelTool, Prompt, Turn},
    openai::malformed,
};

pub(super) fn body(model: &str, prompt: &Prompt) -> String {
    let mut messages = vec![];
    for turn in &prompt.turns {
        let (role, content) = match turn {
            Turn::User(text) => ("user", vec![text_block(text)]),
            Turn::Assistant { text, calls } => {
                // An empty text block is refused.
                let text = Some(text).filter(|text| !text.trim().is_empty());
                let text = text.map(|text| text_block(text));
                ("assistant", text.into_iter().chain(calls.iter().map(call_block)).collect())
            }
            Turn::Results(results) => {
                let block = |result: &super::model::Answered| {
                    json!({
                        "type": "tool_result", "tool_use_id": result.id,
                        "content": result.text, "is_error": result.failed,
                    })
                };
                ("user", results.iter().map(block).collect::<Vec<_>>())
            }
        };
        if !content.is_empty() {
            messages.push(json!({ "role": role, "content": content }));
        }
    }
    let mut body = json!({
        "model": model, "system": prompt.system, "messages": messages, "stream": true,
        "max_tokens": prompt.max_tokens.unwrap_or(MOST),
    });
    let tool = |tool: &ModelTool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema });
    if !prompt.tools.is_empty() {
        body["tools"] = prompt.tools.iter().map(tool).collect();
    }
    if let Some(temperature) = prompt.temperature {
        body["temperature"] = json!(temperature);
    }
    body.to_string()
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn call_block(call: &Asking) -> Value {
    let input: Option<Box<RawValue>> = serde_json::from_str(&call.arguments).ok();
    let input = input.map_or_else(|| json!({}), |input| json!(input));
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

/// The events of one answer.
#[derive(Default)]
pub(super) struct Events {
    finish: Option<Finish>,
    ended: bool,
    calls: BTreeSet<u64>,
    tokens: u64,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content_block: Option<Block<'a>>,
    #[serde(borrow)]
    delta: Option<Part<'a>>,
    message: Option<Message>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    partial_json: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message {
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

impl Reader for Events {
    fn take(&mut self, data: &[u8], say: &mut dyn FnMut(Delta)) -> Result<(), ModelError> {
        let event: Event<'_> = serde_json::from_slice(data).map_err(|_| malformed(data))?;
        match &*event.kind {
            "message_start" => {
                let usage = event.message.and_then(|message| message.usage);
                self.tokens = usage.and_then(|usage| usage.input_tokens).unwrap_or(0);
            }
            "content_block_start" => self.block(event.index, event.content_block, say)?,
            "content_block_delta" => self.delta(event.index, event.delta, say)?,
            "message_delta" => {
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.finish = reason.map(|reason| match &*reason {
                    "max_tokens" | "model_context_window_exceeded" => Finish::Cut,
                    "refusal" => Finish::Withheld,
                    _ => Finish::Said,
                });
                let out = event.usage.and_then(|usage| usage.output_tokens).unwrap_or(0);
                say(Delta::Used { tokens: self.tokens.saturating_add(out) });
            }
            "message_stop" => self.ended = true,
            "error" => {
                let error = event.error.unwrap_or_default();
                let words = Quoted::long(error["message"].as_str().unwrap_or("an error"), 300);
                return Err(match error["type"].as_str() {
                    Some("overloaded_error" | "rate_limit_error") => {
                        ModelError::Busy(words.to_string())
                    }
                    _ => ModelError::Refused(words.to_string()),
                });
            }
            // Pings, ends of blocks, and what is newer than this.
            _ => {}
        }
        Ok(())
    }

    fn finish(&self) -> Option<Finish> {
        self.finish.filter(|_| self.ended)
    }
}

impl Events {
    fn block(
        &mut self,
        at: u64,
        block: Option<Block<'_>>,
        say: &mut dyn FnMut(Delta),
    ) -> Result<(), ModelError> {
        let Some(block) = block else { return Ok(()) };
        match (&*block.kind, block.id, block.name) {
            ("tool_use", Some(id), Some(name)) if self.calls.insert(at) => {
                say(Delta::Call { at, id: id.into_owned(), name: name.into_owned() });
            }
            ("tool_use", ..) => {
                return Err(ModelError::Malformed("a call without a name".to_owned()));
            }
            ("text", ..) => {
                if let Some(text) = block.text.filter(|text| !text.is_empty()) {
                    say(Delta::Text(text.into_owned()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn delta(
        &self,
        at: u64,
        part: Option<Part<'_>>,
        say: &mut dyn FnMut(Delta),
    ) -> Result<(), ModelError> {
        let Some(part) = part else { return Ok(()) };
        if let Some(text) = part.text.filter(|text| !text.is_empty()) {
            say(Delta::Text(text.into_owned()));
        }
        match part.partial_json.filter(|text| !text.is_empty()) {
            Some(text) if self.calls.contains(&at) => {
                say(Delta::Piece { at, text: text.into_owned() });
            }
            Some(_) => {
                let words = "a part of a call that was not begun";
                return Err(ModelError::Malformed(words.to_owned()));
            }
            None => {}
        }
        Ok(())
    }
}

/// How much it may say at a time, unless something else is asked for.
const MOST: u32 = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[&str]) -> (Vec<Delta>, Result<Option<Finish>, ModelError>) {
        let (mut reader, mut said) = (Events::default(), vec![]);
        for event in events {
            if let Err(error) = reader.take(event.as_bytes(), &mut |delta| said.push(delta)) {
                return (said, Err(error));
            }
        }
        (said, Ok(reader.finish()))
    }

    const CALL: &str = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"x","input":{}}}"#;

    #[test]
    fn text_a_call_and_their_end() {
        let (said, finish) = read(&[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            CALL,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#,
            r#"{"type":"message_stop"}"#,
        ]);
        let expected = [
            Delta::Text("Hi".into()),
            Delta::Call { at: 1, id: "t".into(), name: "x".into() },
            Delta::Piece { at: 1, text: "{}".into() },
            Delta::Used { tokens: 14 },
        ];
        assert_eq!(said, expected);
        assert_eq!(finish, Ok(Some(Finish::Said)));
    }

    #[test]
    fn what_breaks_off_or_is_an_error_is_no_answer() {
        assert_eq!(read(&[CALL]).1, Ok(None));
        assert!(matches!(read(&[CALL, CALL]).1, Err(ModelError::Malformed(_))), "begun twice");
        let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"later"}}"#;
        assert_eq!(read(&[error]).1, Err(ModelError::Busy("\"later\"".into())));
        assert!(matches!(read(&["{"]).1, Err(ModelError::Malformed(_))));
    }
}
