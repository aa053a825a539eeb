//! `/chat/completions`: what is asked, and the chunks of the answer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};
use transom::quoted::Quoted;

use super::{
    endpoint::Reader,
    model::{Delta, Finish, ModelError, Prompt, Turn},
};

pub(super) fn body(model: &str, prompt: &Prompt) -> String {
    let mut messages = vec![json!({ "role": "system", "content": prompt.system })];
    for turn in &prompt.turns {
        match turn {
            Turn::User(text) => messages.push(json!({ "role": "user", "content": text })),
            Turn::Assistant { text, calls } => {
                let call = |call: &super::model::Asking| {
                    let function = json!({ "name": call.name, "arguments": call.arguments });
                    json!({ "id": call.id, "type": "function", "function": function })
                };
                let mut message = json!({ "role": "assistant", "content": text });
                if !calls.is_empty() {
                    message["tool_calls"] = calls.iter().map(call).collect();
                }
                messages.push(message);
            }
            Turn::Results(results) => messages.extend(results.iter().map(
                |result| json!({ "role": "tool", "tool_call_id": result.id, "content": result.text }),
            )),
        }
    }
    let mut body = json!({
        "model": model, "messages": messages,
        "stream": true, "stream_options": { "include_usage": true },
    });
    let tool = |tool: &super::model::ModelTool| {
        let (name, description, parameters) = (&tool.name, &tool.description, &tool.schema);
        json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": parameters },
        })
    };
    if !prompt.tools.is_empty() {
        body["tools"] = prompt.tools.iter().map(tool).collect();
    }
    if let Some(most) = prompt.max_tokens {
        body["max_tokens"] = most.into();
    }
    if let Some(temperature) = prompt.temperature {
        body["temperature"] = json!(temperature);
    }
    body.to_string()
}

/// The chunks of one answer.
#[derive(Default)]
pub(super) struct Chunks {
    finish: Option<Finish>,
    /// Calls that were begun, by their places.
    begun: Vec<u64>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Said<'a>>,
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallPart<'a>>>,
}

#[derive(Deserialize)]
struct CallPart<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: Option<FunctionPart<'a>>,
}

#[derive(Deserialize)]
struct FunctionPart<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Usage {
    total_tokens: Option<u64>,
}

impl Reader for Chunks {
    fn take(&mut self, data: &[u8], say: &mut dyn FnMut(Delta)) -> Result<(), ModelError> {
        if data == b"[DONE]" {
            // Some never say why they end, but say that they do.
            self.finish.get_or_insert(Finish::Said);
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|_| malformed(data))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            let words = error["message"].as_str().unwrap_or("an error");
            return Err(ModelError::Refused(Quoted::long(words, 300).to_string()));
        }
        if let Some(tokens) = chunk.usage.and_then(|usage| usage.total_tokens) {
            say(Delta::Used { tokens });
        }
        // Only one answer was asked for.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        if let Some(said) = choice.delta {
            let texts = [said.content, said.refusal];
            for text in texts.into_iter().flatten().filter(|text| !text.is_empty()) {
                say(Delta::Text(text.into_owned()));
            }
            for part in said.tool_calls.unwrap_or_default() {
                self.call(part, say)?;
            }
        }
        if let Some(reason) = choice.finish_reason {
            self.finish = Some(match &*reason {
                "length" => Finish::Cut,
                "content_filter" => Finish::Withheld,
                _ => Finish::Said,
            });
        }
        Ok(())
    }

    fn finish(&self) -> Option<Finish> {
        self.finish
    }
}

impl Chunks {
    fn call(&mut self, part: CallPart<'_>, say: &mut dyn FnMut(Delta)) -> Result<(), ModelError> {
        let CallPart { index, id, function } = part;
        let FunctionPart { name, arguments } =
            function.unwrap_or(FunctionPart { name: None, arguments: None });
        let name = name.filter(|name| !name.is_empty());
        let id = id.filter(|id| !id.is_empty());
        // Some send each call whole and number none of them.
        let fresh = self.begun.len() as u64;
        let last = self.begun.last().copied();
        let at = index.unwrap_or_else(|| if name.is_some() { fresh } else { last.unwrap_or(0) });
        if !self.begun.contains(&at) {
            let Some(name) = name else {
                let words = "a part of a call that was not begun";
                return Err(ModelError::Malformed(words.to_owned()));
            };
            self.begun.push(at);
            let id = id.map_or_else(|| format!("call_{at}"), Cow::into_owned);
            say(Delta::Call { at, id, name: name.into_owned() });
        }
        if let Some(text) = arguments.filter(|text| !text.is_empty()) {
            say(Delta::Piece { at, text: text.into_owned() });
        }
        Ok(())
    }
}

pub(super) fn malformed(data: &[u8]) -> ModelError {
    ModelError::Malformed(Quoted::long(&String::from_utf8_lossy(data), 120).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[&str]) -> (Vec<Delta>, Result<Option<Finish>, ModelError>) {
        let (mut chunks, mut said) = (Chunks::default(), vec![]);
        for event in events {
            if let Err(error) = chunks.take(event.as_bytes(), &mut |delta| said.push(delta)) {
                return (said, Err(error));
            }
        }
        (said, Ok(chunks.finish()))
    }

    #[test]
    fn text_and_two_calls_side_by_side() {
        let (said, finish) = read(&[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"H\u00e9"},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"total_tokens":7}}"#,
            "[DONE]",
        ]);
        let call = |at, id: &str, name: &str| Delta::Call { at, id: id.into(), name: name.into() };
        let piece = |at, text: &str| Delta::Piece { at, text: text.into() };
        let expected = [
            Delta::Text("Hé".into()),
            call(0, "a", "x"),
            call(1, "b", "y"),
            piece(1, "{"),
            piece(0, "{}"),
            Delta::Used { tokens: 7 },
        ];
        assert_eq!(said, expected);
        assert_eq!(finish, Ok(Some(Finish::Said)));
    }

    #[test]
    fn what_breaks_off_has_no_finish_and_what_is_no_chunk_is_said() {
        let (_, finish) = read(&[r#"{"choices":[{"delta":{"content":"Hal"}}]}"#]);
        assert_eq!(finish, Ok(None));
        let (_, finish) = read(&["<html>"]);
        assert!(matches!(finish, Err(ModelError::Malformed(_))));
        let (_, finish) = read(&[r#"{"error":{"message":"overloaded"}}"#]);
        assert_eq!(finish, Err(ModelError::Refused("\"overloaded\"".into())));
        let (_, finish) = read(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":3,"function":{"arguments":"{"}}]}}]}"#,
        ]);
        assert!(matches!(finish, Err(ModelError::Malformed(_))));
    }
}
