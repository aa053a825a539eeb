//! Messages in mcp-ui's form, written.

use serde_json::value::RawValue;

use crate::{
    printed::push_string,
    rpc::{self, ErrorObject, Id, Message, Response},
};

/// An answer in mcp-ui's form; to a JSON-RPC request, should there have been one, in that of JSON-RPC.
pub(super) fn answer(response: &Response<'_>) -> String {
    let Response { id, outcome } = response;
    let ours = match id {
        Id::String(text) => text.strip_prefix(PREFIX).and_then(|text| text.split_once(' ')),
        Id::Number(_) => None,
    };
    let Some((_, id)) = ours else { return Message::Response(response.clone()).print() };
    let id = Some(id).filter(|id| !id.is_empty());
    // Hosts of mcp-ui name it beside the payload, and its adapter in there.
    let mut payload = String::from("{");
    if let Some(id) = id {
        payload.push_str(r#""messageId":"#);
        payload.push_str(id);
    }
    match outcome {
        Ok(result) => push_raw(&mut payload, "response", Some(*result)),
        Err(ErrorObject { code, message, data }) => {
            let mut error = format!(r#"{{"code":{code}"#);
            push_text(&mut error, "message", message);
            push_raw(&mut error, "data", *data);
            error.push('}');
            let error = RawValue::from_string(error).expect("it is written from JSON");
            push_raw(&mut payload, "error", Some(&error));
        }
    }
    payload.push('}');
    written("ui-message-response", id, &payload)
}

/// One message in mcp-ui's form, from JSON.
pub(super) fn written(kind: &str, id: Option<&str>, payload: &str) -> String {
    let mut text = format!(r#"{{"type":"{kind}""#);
    if let Some(id) = id {
        text.push_str(r#","messageId":"#);
        text.push_str(id);
    }
    match (payload, id) {
        ("", Some(id)) => text.push_str(&format!(r#","payload":{{"messageId":{id}}}}}"#)),
        ("", None) => text.push('}'),
        (payload, _) => {
            text.push_str(r#","payload":"#);
            text.push_str(payload);
            text.push('}');
        }
    }
    text
}

pub(super) fn raw(id: Option<&Id>) -> Option<String> {
    id.map(|id| rpc::raw(id).get().to_owned())
}

pub(super) fn push_text(object: &mut String, name: &str, text: &str) {
    push_name(object, name);
    push_string(object, text);
}

pub(super) fn push_raw(object: &mut String, name: &str, value: Option<&RawValue>) {
    if let Some(value) = value {
        push_name(object, name);
        object.push_str(value.get());
    }
}

fn push_name(object: &mut String, name: &str) {
    if object.len() > 1 {
        object.push(',');
    }
    push_string(object, name);
    object.push(':');
}

pub(super) fn push_message(params: &mut String, text: &str) {
    params.push_str(r#""role":"user","content":[{"type":"text","text":"#);
    push_string(params, text);
    params.push_str("}]");
}

/// How ids begin that we gave to messages of mcp-ui's.
pub(super) const PREFIX: &str = "mcp-ui ";
