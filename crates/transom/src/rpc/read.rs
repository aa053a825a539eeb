//! Reading a message: its members, each present or absent.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{ErrorObject, Id, Malformed, Message, Notification, Request, Response, string};
use crate::{
    printed::{Ambiguous, reads_as},
    quoted::Quoted,
};

/// The top-level members, each present or absent; extra ones are dropped
/// (docs/reference/mcp-apps.md §4.2).
#[derive(Default)]
pub(super) struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// An extra one that a lenient reader would take for one of these.
    pub(super) twin: Option<Ambiguous>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members: Members<'de> = deserializer.deserialize_map(MembersVisitor)?;
        Ok(members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(Name(name)) = map.next_key()? {
            let member = match &*name {
                "jsonrpc" => &mut members.jsonrpc,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                "result" => &mut members.result,
                "error" => &mut members.error,
                other => {
                    members.twin = members.twin.take().or_else(|| twin(other));
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if member.is_some() {
                return Err(A::Error::custom("a member stands twice"));
            }
            *member = Some(map.next_value()?);
        }
        Ok(members)
    }
}

/// A member's name, borrowed unless it is written with escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

fn twin(name: &str) -> Option<Ambiguous> {
    let of = MEMBERS.into_iter().find(|member| reads_as(name, member))?;
    Some(Ambiguous::Twin { of, got: Quoted::new(name) })
}

/// The members of an error, whatever they hold.
#[derive(Deserialize)]
pub(super) struct ErrorParts<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) code: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) data: Option<&'a RawValue>,
}

impl<'a> Members<'a> {
    pub(super) fn read(self) -> Result<Message<'a>, Malformed> {
        if self.jsonrpc.and_then(string).as_deref() != Some("2.0") {
            return Err(Malformed::Foreign);
        }
        let id = self.id.map(|raw| Id::read(raw).ok_or(Malformed::BadId)).transpose()?;
        match (self.method, id) {
            (Some(_), _) if self.result.is_some() || self.error.is_some() => {
                Err(Malformed::Shapeless)
            }
            (Some(method), id) => {
                let method = string(method).ok_or(Malformed::BadMethod)?;
                let params = self.params;
                if params.is_some_and(|params| !is_object(params)) {
                    return Err(Malformed::BadParams);
                }
                Ok(match id {
                    Some(id) => Message::Request(Request { id, method, params }),
                    None => Message::Notification(Notification { method, params }),
                })
            }
            (None, Some(id)) => answered(id, self.result, self.error),
            (None, None) => Err(Malformed::Shapeless),
        }
    }
}

fn answered<'a>(
    id: Id,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
) -> Result<Message<'a>, Malformed> {
    let outcome = match (result, error) {
        (Some(result), None) if is_object(result) => Ok(result),
        (Some(_), None) => {
            return Err(Malformed::BadAnswer { id, reason: "a result that is not an object" });
        }
        (None, Some(error)) => match ErrorObject::read(error) {
            Some(error) => Err(error),
            None => return Err(Malformed::BadAnswer { id, reason: "an error we cannot read" }),
        },
        (Some(_), Some(_)) => {
            return Err(Malformed::BadAnswer { id, reason: "both a result and an error" });
        }
        (None, None) => {
            return Err(Malformed::BadAnswer { id, reason: "neither a result nor an error" });
        }
    };
    Ok(Message::Response(Response { id, outcome }))
}

pub(super) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Keeps `null` apart from absent: `Option` would read both as `None`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(deserializer).map(Some)
}

const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
