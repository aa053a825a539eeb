//! Printing a message with the members of W-5.

use serde_json::value::RawValue;

use super::{ErrorObject, Id};
use crate::printed::push_string;

pub(super) fn call(id: Option<&Id>, method: &str, params: Option<&RawValue>) -> String {
    let mut text = String::with_capacity(64 + method.len() + params.map_or(0, |p| p.get().len()));
    text.push_str(r#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        text.push_str(r#","id":"#);
        push_id(&mut text, id);
    }
    text.push_str(r#","method":"#);
    push_string(&mut text, method);
    if let Some(params) = params {
        text.push_str(r#","params":"#);
        text.push_str(params.get());
    }
    text.push('}');
    text
}

pub(super) fn answer(id: &Id, result: &RawValue) -> String {
    let mut text = String::with_capacity(64 + result.get().len());
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push_id(&mut text, id);
    text.push_str(r#","result":"#);
    text.push_str(result.get());
    text.push('}');
    text
}

pub(super) fn refuse(id: &Id, error: &ErrorObject<'_>) -> String {
    let data = error.data.map_or("", RawValue::get);
    let mut text = String::with_capacity(96 + error.message.len() + data.len());
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push_id(&mut text, id);
    text.push_str(r#","error":{"code":"#);
    text.push_str(&error.code.to_string());
    text.push_str(r#","message":"#);
    push_string(&mut text, &error.message);
    if error.data.is_some() {
        text.push_str(r#","data":"#);
        text.push_str(data);
    }
    text.push_str("}}");
    text
}

fn push_id(text: &mut String, id: &Id) {
    match id {
        Id::Number(number) => text.push_str(&number.to_string()),
        Id::String(string) => push_string(text, string),
    }
}
