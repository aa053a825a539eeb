//! Which members of a view's message count: one closed table, and everything else is left out.
//!
//! A server may read a message otherwise than we do. If it got what the view wrote, the gate would judge one
//! call and the server carry out another: `{"name": "look", "Name": "drop"}` is a call of `drop` to a reader
//! that ignores capital letters. So what goes on is written by us, from the members that are named here.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor, value::MapDeserializer},
};
use serde_json::value::RawValue;

use crate::{
    printed::{Ambiguous, Printed, push_string, reads_as},
    quoted::Quoted,
    rpc::{self, Name},
    violation::Violation,
    wire::{ProgressToken, method},
};

/// The members of a view's params that count, method by method. What is not here does not come from a view:
/// `task`, `inputResponses` and `requestState` are the person's, or the host's own.
#[rustfmt::skip]
const TABLE: [(&str, &[&str]); 24] = [
    (method::TOOLS_CALL,               &["name", "arguments", META]),
    (method::RESOURCES_READ,           &["uri", META]),
    (method::TOOLS_LIST,               &["cursor", META]),
    (method::RESOURCES_LIST,           &["cursor", META]),
    (method::RESOURCES_TEMPLATES_LIST, &["cursor", META]),
    (method::PROMPTS_LIST,             &["cursor", META]),
    (method::PING,                     &[META]),
    // The names of plain MCP were in the sample code of the first print.
    (method::INITIALIZE,               &["appInfo", "appCapabilities", "protocolVersion", "clientInfo", "capabilities", META]),
    (method::OPEN_LINK,                &["url", META]),
    (method::DOWNLOAD_FILE,            &["contents", META]),
    (method::MESSAGE,                  &["role", "content", META]),
    (method::UPDATE_MODEL_CONTEXT,     &["content", "structuredContent", META]),
    (method::REQUEST_DISPLAY_MODE,     &["mode", META]),
    (method::SAMPLING_CREATE_MESSAGE,  &["messages", "modelPreferences", "systemPrompt", "includeContext", "temperature",
                                         "maxTokens", "stopSequences", "metadata", "tools", "toolChoice", META]),
    (method::SIZE_CHANGED,             &["width", "height", META]),
    (method::LOG,                      &["level", "logger", "data", META]),
    (method::CANCELLED,                &["requestId", "reason", META]),
    // What views of mcp-ui say, before it is translated.
    (ENVELOPE,                         &["type", "payload", "messageId"]),
    (TOOL,                             &["toolName", "params"]),
    (PROMPT,                           &["prompt"]),
    (LINK,                             &["url"]),
    (INTENT,                           &["intent", "params"]),
    (NOTIFY,                           &["message"]),
    (SIZE,                             &["width", "height"]),
];

/// The params of a view's message, as far as they count.
#[derive(Debug)]
pub(super) struct Sifted<'a> {
    method: &'static str,
    kept: Vec<(&'static str, &'a RawValue)>,
    dropped: Dropped,
}

/// What was left out of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// Some of the names.
    pub(super) names: Vec<Quoted>,
    /// How many more there are.
    pub(super) more: usize,
}

impl<'a> Sifted<'a> {
    /// Looks through the params of a message.
    pub(super) fn new(
        method: &'static str,
        params: Option<&'a RawValue>,
    ) -> Result<Self, Violation> {
        let known = TABLE.iter().find(|(name, _)| *name == method).map_or(&[][..], |(_, all)| all);
        let mut sifted = Self { method, kept: vec![], dropped: Dropped::default() };
        let Some(params) = params else { return Ok(sifted) };
        let mut trouble = None;
        members(params, |name, value| {
            let twin = |of: &&'static str| reads_as(name, of);
            match known.iter().copied().find(twin) {
                Some(of) if of != name => {
                    trouble = Some(Ambiguous::Twin { of, got: Quoted::new(name) });
                }
                Some(of) if sifted.kept.iter().any(|(kept, _)| *kept == of) => {
                    trouble = Some(Ambiguous::Twice(Quoted::new(name)));
                }
                Some(of) => sifted.kept.push((of, value)),
                None => sifted.dropped.add(name),
            }
        })
        .map_err(|error| sifted.bad(&error))?;
        match trouble {
            Some(why) => Err(sifted.ambiguous(why)),
            None => Ok(sifted),
        }
    }

    /// Reads what counts as the method's own type.
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Result<T, Violation> {
        let members = MapDeserializer::<_, serde_json::Error>::new(self.kept.iter().copied());
        T::deserialize(members).map_err(|error| self.bad(&error))
    }

    /// A member that is a text, and ends where it seems to: it is judged by, and some readers stop at a NUL.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<Cow<'a, str>>, Violation> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let text =
            rpc::string(value).ok_or_else(|| self.bad(&format_args!("{name} should be a text")))?;
        if text.contains('\0') {
            return Err(self.ambiguous(Ambiguous::Nul(Quoted::new(&text))));
        }
        Ok(Some(text))
    }

    /// Like [`Self::text`], for a member that must be there.
    pub(super) fn need(&self, name: &'static str) -> Result<Cow<'a, str>, Violation> {
        self.text(name)?.ok_or_else(|| self.bad(&format_args!("{name} is missing")))
    }

    /// A member that is an object, read and printed.
    pub(super) fn object(&self, name: &'static str) -> Result<Option<Printed>, Violation> {
        let printed = self.print(name)?;
        if printed.as_ref().is_some_and(|printed| !printed.is_object()) {
            return Err(self.bad(&format_args!("{name} should be an object")));
        }
        Ok(printed)
    }

    /// A member, read and printed. Null counts as absent.
    fn print(&self, name: &str) -> Result<Option<Printed>, Violation> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        Printed::read(value).map(Some).map_err(|why| self.ambiguous(why))
    }

    /// Everything but `_meta`, read and printed.
    pub(super) fn print_all(&self) -> Result<Printed, Violation> {
        let mut printed = vec![];
        for (name, value) in self.kept.iter().filter(|(name, _)| *name != META) {
            let value = Printed::read(value).map_err(|why| self.ambiguous(why))?;
            printed.push((*name, value));
        }
        Ok(Printed::object(printed.iter().map(|(name, value)| (*name, value))))
    }

    /// Something that was read, printed: all its names are the specification's.
    pub(super) fn print_folded(&self, value: &RawValue) -> Result<Printed, Violation> {
        Printed::read_folded(value).map_err(|why| self.ambiguous(why))
    }

    /// `_meta` as it goes on, if anything of it does, and the view's progress token apart from it. The token would
    /// collide with another view's (R-09): the client that carries the request gives it one of its own. What is reserved is
    /// left out: only the host says it.
    pub(super) fn meta(&mut self) -> Result<(Option<Printed>, Option<ProgressToken>), Violation> {
        let Some(meta) = self.raw(META) else { return Ok((None, None)) };
        let (mut token, mut trouble) = (None, None);
        let mut text = String::from("{");
        members(meta, |name, value| match name {
            TOKEN if token.is_some() => trouble = Some(Ambiguous::Twice(TOKEN.into())),
            TOKEN => token = Some(value),
            name if reads_as(name, TOKEN) => {
                trouble = Some(Ambiguous::Twin { of: TOKEN, got: Quoted::new(name) });
            }
            name if is_reserved(name) => self.dropped.add(name),
            name => push_member(&mut text, name, value.get()),
        })
        .map_err(|error| self.bad(&error))?;
        if let Some(why) = trouble {
            return Err(self.ambiguous(why));
        }
        let token = match token.filter(|value| value.get() != "null") {
            Some(value) => {
                Some(ProgressToken::deserialize(value).map_err(|error| self.bad(&error))?)
            }
            None => None,
        };
        if text.len() == 1 {
            return Ok((None, token));
        }
        text.push('}');
        let printed = Printed::parse(&text).map_err(|why| self.ambiguous(why))?;
        Ok((Some(printed), token))
    }

    /// What was left out, if anything.
    pub(super) fn dropped(&mut self) -> Option<Dropped> {
        Some(std::mem::take(&mut self.dropped)).filter(|dropped| !dropped.names.is_empty())
    }

    /// A member as it came. Null counts as absent.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.kept.iter().find(|(kept, _)| *kept == name).map(|(_, value)| *value);
        found.filter(|value| value.get() != "null")
    }

    fn ambiguous(&self, why: Ambiguous) -> Violation {
        Violation::Ambiguous { place: self.method, why }
    }

    fn bad(&self, error: &dyn fmt::Display) -> Violation {
        Violation::BadParams { method: self.method, reason: Quoted::new(&error.to_string()) }
    }
}

impl Dropped {
    fn add(&mut self, name: &str) {
        if self.names.len() < NAMED {
            self.names.push(Quoted::new(name));
        } else {
            self.more += 1;
        }
    }
}

/// Whether MCP keeps a key of `_meta` for itself: its prefix has `modelcontextprotocol` or `mcp` for its second
/// label, or (before 2025-11-25) for any label but the last, or it is one of those for traces. Read as a lenient reader would.
fn is_reserved(key: &str) -> bool {
    let key = key.split('\0').next().unwrap_or_default();
    let Some((prefix, _)) = key.split_once('/') else {
        return TRACING.iter().any(|of| reads_as(key, of));
    };
    let labels: Vec<&str> = prefix.split('.').collect();
    let is_mcp = |label: &str| reads_as(label, "mcp") || reads_as(label, "modelcontextprotocol");
    labels.iter().enumerate().any(|(at, label)| is_mcp(label) && (at <= 1 || at + 1 < labels.len()))
}

/// What says which trace a request belongs to: the host's to say, whose spans they are.
const TRACING: [&str; 3] = ["traceparent", "tracestate", "baggage"];

fn push_member(object: &mut String, name: &str, value: &str) {
    if object.len() > 1 {
        object.push(',');
    }
    push_string(object, name);
    object.push(':');
    object.push_str(value);
}

/// Shows every member of an object, one after the other.
fn members<'a>(
    object: &'a RawValue,
    see: impl FnMut(&str, &'a RawValue),
) -> Result<(), serde_json::Error> {
    object.deserialize_map(Each(see))
}

struct Each<F>(F);

impl<'de, F: FnMut(&str, &'de RawValue)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut count = 0_usize;
        while let Some(Name(name)) = map.next_key()? {
            count += 1;
            if count > MOST {
                return Err(A::Error::custom("too many members"));
            }
            (self.0)(&name, map.next_value()?);
        }
        Ok(())
    }
}

/// What every message of mcp-ui's has, as the table of members names it.
pub(super) const ENVELOPE: &str = "a message of mcp-ui";
pub(super) const TOOL: &str = "tool";
pub(super) const PROMPT: &str = "prompt";
pub(super) const LINK: &str = "link";
pub(super) const INTENT: &str = "intent";
pub(super) const NOTIFY: &str = "notify";
pub(super) const SIZE: &str = "ui-size-change";

const META: &str = "_meta";
const TOKEN: &str = "progressToken";
/// How many of the members that are left out are named.
const NAMED: usize = 5;
/// A message has a dozen; each costs more here than on the wire.
const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    /// What is left of the params of a tool call, and the names of what is not.
    fn sift(text: &str) -> Result<(String, Vec<String>), Ambiguous> {
        let sift = || {
            let mut sifted = Sifted::new(method::TOOLS_CALL, Some(raw(text)))?;
            let meta = sifted.meta()?.0;
            let mut all = sifted.print_all()?.get().to_owned();
            all.extend(meta.map(|meta| format!(" {}", meta.get())));
            let dropped = sifted.dropped().unwrap_or_default();
            Ok((all, dropped.names.iter().map(Quoted::to_string).collect()))
        };
        sift().map_err(|violation| match violation {
            Violation::Ambiguous { why, .. } => why,
            other => panic!("{other}"),
        })
    }

    #[test]
    fn what_is_not_named_is_left_out() {
        #[rustfmt::skip]
        let table: [(&str, &str, &[&str]); 9] = [
            (r#"{"name":"a","arguments":{"x" : 1.0}}"#, r#"{"name":"a","arguments":{"x":1.0}}"#, &[]),
            (r#"{"name":"a","task":{"ttl":1},"inputResponses":{},"requestState":"s"}"#, r#"{"name":"a"}"#,
                &["\"task\"", "\"inputResponses\"", "\"requestState\""]),
            (r#"{"name":"a","__proto__":{},"names":1}"#, r#"{"name":"a"}"#, &["\"__proto__\"", "\"names\""]),
            (r#"{"name":"a","_meta":{"progressToken":1,"acme/trace":[ 1 ]}}"#, r#"{"name":"a"} {"acme/trace":[1]}"#, &[]),
            (r#"{"name":"a","_meta":{"progressToken":"mine"}}"#, r#"{"name":"a"}"#, &[]),
            (r#"{"name":"a","_meta":{"io.modelcontextprotocol/related-task":{},"TraceParent":"x","tracestate":"x","baggage":"x","trace":"x"}}"#, r#"{"name":"a"} {"trace":"x"}"#,
                &["\"io.modelcontextprotocol/related-task\"", "\"TraceParent\"", "\"tracestate\"", "\"baggage\""]),
            (r#"{"name":"a","_meta":{"IO.ModelContextProtocol/clientInfo":{},"io.modelcontextprotocol/x\u0000y":1}}"#, r#"{"name":"a"}"#,
                &["\"IO.ModelContextProtocol/clientInfo\"", "\"io.modelcontextprotocol/x\\u{0}y\""]),
            (r#"{"name":"a","_meta":{"tools.mcp.com/a":1,"mcp.dev/b":2,"com.example.mcp/c":3,"mcp":4}}"#, r#"{"name":"a"} {"com.example.mcp/c":3,"mcp":4}"#,
                &["\"tools.mcp.com/a\"", "\"mcp.dev/b\""]),
            (r#"{"name":"a","_meta":null,"arguments":null}"#, r#"{"name":"a","arguments":null}"#, &[]),
        ];
        for (text, left, dropped) in table {
            let (all, names) = sift(text).unwrap();
            assert_eq!(
                (all.as_str(), names.as_slice()),
                (
                    left,
                    dropped.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().as_slice()
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn a_twin_of_what_is_named_is_refused() {
        #[rustfmt::skip]
        let table = [
            (r#"{"name":"look","Name":"secret"}"#, "name", "Name"),
            (r#"{"name":"look","ARGUMENTS":{}}"#, "arguments", "ARGUMENTS"),
            (r#"{"name":"look","argument\u017f":{}}"#, "arguments", "argument\u{17f}"),
            (r#"{"name":"look","name\u0000":"secret"}"#, "name", "name\0"),
            (r#"{"name":"look","_Meta":{}}"#, "_meta", "_Meta"),
            (r#"{"name":"look","_meta":{"progresstoken":1}}"#, "progressToken", "progresstoken"),
            (r#"{"name":"look","_meta":{"progressTo\u212aen":1}}"#, "progressToken", "progressTo\u{212a}en"),
        ];
        for (text, of, got) in table {
            assert_eq!(sift(text), Err(Ambiguous::Twin { of, got: got.into() }), "{text}");
        }
        for text in [
            r#"{"name":"a","n\u0061me":"b"}"#,
            r#"{"name":"a","_meta":{"progressToken":1,"progressToken":2}}"#,
            r#"{"name":"a","_meta":{"x":1,"x":2}}"#,
            r#"{"name":"a","_meta":{"x":{"y":1,"y":2}}}"#,
            r#"{"name":"a","arguments":{"x":[{"y":1,"y":2}]}}"#,
        ] {
            assert!(matches!(sift(text), Err(Ambiguous::Twice(_))), "{text}");
        }
    }

    #[test]
    fn every_request_of_a_view_has_its_row() {
        for method in super::super::REQUESTS {
            assert!(TABLE.iter().any(|(name, _)| *name == method), "{method}");
        }
    }
}
