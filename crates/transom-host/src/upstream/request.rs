//! What is asked of a server, before it has a number.

use serde_json::value::RawValue;
use transom::{
    host::ToolCall,
    printed::Printed,
    rpc::{self, Id, Message, Notification},
    wire::{Members, method},
};

use super::{Era, TraceParent, trace::NAME as TRACE};

/// A method and its params, ready to be sent.
///
/// The params stay the text they were. Only `_meta` is taken apart, because part of it is ours: the
/// progress token (H-74, never a view's), and what the stateless era repeats in each request.
#[derive(Clone, Debug)]
pub struct Request {
    method: Box<str>,
    /// What `Mcp-Name` says: the tool or the resource.
    name: Option<Box<str>>,
    /// All members of the params but `_meta`, printed, without braces.
    body: String,
    /// All members of `_meta` but ours, printed, without braces.
    meta: String,
    /// Which trace it belongs to, if its server is told.
    trace: Option<TraceParent>,
    /// Whether it says that we show views, where every request says it by itself.
    views: bool,
}

/// Params that are not an object, or hold a member twice: readers differ about which one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("params should be an object without doubled members")]
pub struct NotParams;

impl Request {
    /// A request without params.
    pub fn new(method: &str) -> Self {
        let (body, meta) = (String::new(), String::new());
        Self { method: method.into(), name: None, body, meta, trace: None, views: true }
    }

    /// Says in this one request that we show no views. In the greeting era it was said once for all, and
    /// this changes nothing.
    #[must_use]
    pub fn without_views(mut self) -> Self {
        self.views = false;
        self
    }

    /// Tells the server which trace it belongs to. Nobody else does: what params say of one is left out.
    #[must_use]
    pub fn in_trace(mut self, trace: TraceParent) -> Self {
        self.trace = Some(trace);
        self
    }

    /// A request with params as they were written elsewhere.
    pub fn with_params(method: &str, params: &RawValue) -> Result<Self, NotParams> {
        Self::with_text(method, params.get())
    }

    /// A request of a view, with the params that the session printed.
    pub fn of_view(method: &str, params: &Printed) -> Result<Self, NotParams> {
        Self::with_text(method, params.get())
    }

    fn with_text(method: &str, params: &str) -> Result<Self, NotParams> {
        let mut members: Members<'_> = serde_json::from_str(params).map_err(|_| NotParams)?;
        let mut request = Self::new(method);
        if let Some(meta) = members.take("_meta") {
            request.read_meta(meta.get())?;
        }
        for (name, value) in members.iter() {
            request.push(name, value);
        }
        Ok(request)
    }

    /// Reads one resource.
    pub fn read_resource(uri: &str) -> Self {
        let mut request = Self::new(method::RESOURCES_READ);
        request.push("uri", &text(uri));
        request
    }

    /// Calls a tool, from the parts that a session gives.
    ///
    /// The parts are a view's, judged, printed and named by the machine; nothing else of the view goes out.
    pub fn call_tool(call: &ToolCall) -> Result<Self, NotParams> {
        let mut request = Self::new(method::TOOLS_CALL);
        request.push("name", &text(&call.name));
        if let Some(arguments) = &call.arguments {
            push_member(&mut request.body, "arguments", arguments.get());
        }
        if let Some(meta) = &call.meta {
            request.read_meta(meta.get())?;
        }
        Ok(request)
    }

    /// Adds a member to the params.
    pub(super) fn push(&mut self, name: &str, value: &RawValue) {
        if name == name_key(&self.method) {
            self.name = serde_json::from_str::<String>(value.get()).ok().map(Into::into);
        }
        push_member(&mut self.body, name, value.get());
    }

    /// Removes members of the params.
    pub(super) fn forget(&mut self, names: &[&str]) {
        if !names.iter().any(|name| self.body.contains(name)) {
            return;
        }
        let text = format!("{{{}}}", std::mem::take(&mut self.body));
        let members: Members<'_> = serde_json::from_str(&text).expect("we printed an object");
        for (name, value) in members.iter().filter(|(name, _)| !names.contains(name)) {
            push_member(&mut self.body, name, value.get());
        }
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The tool or resource it is about.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Which trace it belongs to, if its server is told.
    pub(super) fn trace(&self) -> Option<TraceParent> {
        self.trace
    }

    pub(super) fn says_views(&self) -> bool {
        self.views
    }

    /// The arguments of a tool call.
    pub(super) fn arguments(&self) -> Option<Box<RawValue>> {
        let body: Arguments = serde_json::from_str(&format!("{{{}}}", self.body)).ok()?;
        body.arguments
    }

    fn read_meta(&mut self, meta: &str) -> Result<(), NotParams> {
        let members: Members<'_> = serde_json::from_str(meta).map_err(|_| NotParams)?;
        for (name, value) in members.iter().filter(|(name, _)| !is_ours(name)) {
            push_member(&mut self.meta, name, value.get());
        }
        Ok(())
    }

    /// The message, with the number it was given and what every request of its era carries.
    pub(super) fn print(&self, id: u64, progress: bool, stamp: &Stamp) -> String {
        let mut text =
            String::with_capacity(128 + self.body.len() + self.meta.len() + stamp.0.len());
        text.push_str(r#"{"jsonrpc":"2.0","id":"#);
        text.push_str(&id.to_string());
        text.push_str(r#","method":"#);
        text.push_str(self::text(&self.method).get());
        text.push_str(r#","params":{"#);
        text.push_str(&self.body);
        self.print_meta(&mut text, progress.then_some(id), stamp);
        text.push_str("}}");
        text
    }

    fn print_meta(&self, text: &mut String, token: Option<u64>, stamp: &Stamp) {
        let token = token.map(|token| format!(r#""progressToken":{token}"#)).unwrap_or_default();
        let trace = self.trace.map(|trace| format!(r#""{TRACE}":"{trace}""#)).unwrap_or_default();
        let mut parts =
            [&*self.meta, &token, &trace, &stamp.0].into_iter().filter(|part| !part.is_empty());
        let Some(first) = parts.next() else { return };
        let comma = if self.body.is_empty() { "" } else { "," };
        text.push_str(comma);
        text.push_str(r#""_meta":{"#);
        text.push_str(first);
        for part in parts {
            text.push(',');
            text.push_str(part);
        }
        text.push('}');
    }
}

/// What every request of an era carries in its `_meta`, printed, without braces.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamp(String);

/// What the requests of one connection carry.
#[derive(Clone, Debug)]
pub(super) struct Stamps {
    pub(super) usual: Stamp,
    /// For a request that is made as a client that shows no views.
    pub(super) text: Stamp,
}

impl Stamp {
    /// Nothing in the greeting era; in the stateless one who we are and what we can do (H-02).
    pub(super) fn new(era: Era, version: &str, client: &RawValue, capabilities: &RawValue) -> Self {
        let mut stamp = String::new();
        if era == Era::Stateless {
            push_member(&mut stamp, META_VERSION, text(version).get());
            push_member(&mut stamp, META_CLIENT, client.get());
            push_member(&mut stamp, META_CAPABILITIES, capabilities.get());
        }
        Self(stamp)
    }
}

/// The notification that takes a request back.
pub(super) fn cancelled(id: u64, reason: &str) -> String {
    let params = format!(r#"{{"requestId":{id},"reason":{}}}"#, text(reason));
    notification(method::CANCELLED, Some(&params))
}

/// A notification of ours, with params that we printed.
pub(super) fn notification(method: &str, params: Option<&str>) -> String {
    let params = params.map(|params| serde_json::from_str(params).expect("we printed JSON"));
    Message::Notification(Notification { method: method.into(), params }).print()
}

/// Our answer to a request of the server.
pub(super) fn answer(id: Id, outcome: Result<&RawValue, rpc::ErrorObject<'_>>) -> String {
    Message::Response(rpc::Response { id, outcome }).print()
}

/// A string, as JSON.
pub(super) fn text(words: &str) -> Box<RawValue> {
    serde_json::value::to_raw_value(words).expect("a string is JSON")
}

fn push_member(object: &mut String, name: &str, value: &str) {
    if !object.is_empty() {
        object.push(',');
    }
    object.push_str(text(name).get());
    object.push(':');
    object.push_str(value);
}

/// Which member of the params `Mcp-Name` repeats.
fn name_key(method: &str) -> &'static str {
    match method {
        method::TOOLS_CALL | "prompts/get" => "name",
        method::RESOURCES_READ => "uri",
        // No member has this name in any method that we send.
        _ => "\0",
    }
}

/// What a caller's `_meta` may not say: it is said by us, or it is the other caller's number.
fn is_ours(name: &str) -> bool {
    [PROGRESS_TOKEN, TRACE, TRACE_STATE, BAGGAGE, META_VERSION, META_CLIENT, META_CAPABILITIES]
        .contains(&name)
}

#[derive(serde::Deserialize)]
struct Arguments {
    arguments: Option<Box<RawValue>>,
}

const PROGRESS_TOKEN: &str = "progressToken";
/// What the W3C has for traces beside, under which names MCP carries it.
const TRACE_STATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn stamp() -> Stamp {
        Stamp::new(Era::Stateless, "2026-07-28", &raw("{}"), &raw(r#"{"extensions":{}}"#))
    }

    #[test]
    fn params_keep_every_byte_but_the_callers_token() {
        let params = raw(
            r#"{"name":"t", "odd" : [1 , 2], "_meta":{"progressToken":"mine","x":{ "y":1}},"arguments":{"a":1e3}}"#,
        );
        let request = Request::with_params("tools/call", &params).unwrap();
        assert_eq!(request.name(), Some("t"));
        assert_eq!(
            request.print(7, true, &Stamp::default()),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","odd":[1 , 2],"arguments":{"a":1e3},"_meta":{"x":{ "y":1},"progressToken":7}}}"#
        );
    }

    #[test]
    fn h_02_the_stateless_era_says_who_we_are_in_every_request() {
        assert_eq!(
            Request::new("tools/list").print(0, false, &stamp()),
            r#"{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{"extensions":{}}}}}"#
        );
    }

    #[test]
    fn nobody_else_says_who_we_are() {
        let params =
            raw(r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}"#);
        let request = Request::with_params("tools/list", &params).unwrap();
        assert!(!request.print(0, false, &stamp()).contains("sampling"));
    }

    #[test]
    fn only_we_say_which_trace_a_request_belongs_to() {
        let meta =
            r#"{"_meta":{"traceparent":"00-theirs","tracestate":"x=1","baggage":"k=v","mine":1}}"#;
        let request = Request::with_params("tools/list", &raw(meta)).unwrap();
        let plain = request.print(3, false, &Stamp::default());
        assert!(plain.ends_with(r#""params":{"_meta":{"mine":1}}}"#), "{plain}");
        let trace = TraceParent::new().unwrap();
        let traced = request.in_trace(trace).print(3, true, &Stamp::default());
        let expected = format!(r#"{{"mine":1,"progressToken":3,"traceparent":"{trace}"}}"#);
        assert!(traced.contains(&expected), "{traced}");
    }

    #[test]
    fn a_request_without_params_has_empty_ones() {
        assert_eq!(
            Request::new("ping").print(3, false, &Stamp::default()),
            r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":{}}"#
        );
    }

    #[test]
    fn doubled_members_and_lists_are_no_params() {
        for text in [r#"{"a":1,"a":2}"#, "[]", r#"{"_meta":{"a":1,"a":1}}"#, r#"{"_meta":[]}"#] {
            assert!(Request::with_params("m", &raw(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_reason_is_quoted() {
        assert_eq!(
            cancelled(4, "the \"user\"\nleft"),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4,"reason":"the \"user\"\nleft"}}"#
        );
    }
}
