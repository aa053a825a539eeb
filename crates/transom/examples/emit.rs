//! Prints every message that the wire types can emit, one JSON object per line, for the schema check.
//!
//! The seeds are complete messages: every option set, every enum value, all 76 style variables. Each is
//! then damaged in every place (a member removed, or replaced by something odd), read with the
//! wire types and printed again. Whatever a stranger sends, what leaves these types must be sound.

#![expect(clippy::disallowed_macros, reason = "printing is its job")]

#[path = "../tests/it/reprint.rs"]
mod reprint;

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use transom::wire::{
    ActionResult, AppCapabilities, Axis, Base64, Body, CancelledParams, Compat,
    ContainerDimensions, ContentBlock, DeviceCapabilities, DisplayMode, DisplayModeResult,
    DownloadFileParams, Downloadable, EmbeddedResource, EmptyParams, EmptyResult, Experimental,
    HostCapabilities, HostContext, HostCss, HostStyles, Icon, Implementation, InitializeParams,
    InitializeResult, ListChanged, ListToolsResult, LogLevel, MessageParams, Modalities,
    OpenLinkParams, Platform, ProgressParams, RequestDisplayModeParams, RequestId, ResourceCsp,
    ResourceLink, ResourceMeta, ResourcePermissions, SafeAreaInsets, Sampling, SandboxCapabilities,
    SandboxResourceReadyParams, SizeChangedParams, StyleVariable, TeardownParams, Theme, Tool,
    ToolCancelledParams, ToolInfo, ToolMeta, UiUri, Visibilities, method,
};

fn main() {
    let mut printed = HashSet::new();
    for seed in seeds() {
        for line in seed.lines() {
            let line = line.to_string();
            if printed.insert(line.clone()) {
                println!("{line}");
            }
        }
    }
}

/// One complete message, or a piece of metadata.
struct Seed {
    kind: Kind,
    method: &'static str,
    body: Option<Value>,
    damage: bool,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Request,
    Notification,
    Result,
    ToolMeta,
    ResourceMeta,
}

impl Seed {
    /// Nothing in it is looked into by the types, so there is no sense in damaging it.
    fn intact(self) -> Self {
        Self { damage: false, ..self }
    }

    fn lines(&self) -> Vec<Value> {
        let Some(body) = &self.body else { return vec![self.line(self.message(None))] };
        let damaged = if self.damage { damages(body) } else { Vec::new() };
        let bodies = std::iter::once(body.clone()).chain(damaged);
        bodies.filter_map(|body| self.reprint(body)).map(|message| self.line(message)).collect()
    }

    fn reprint(&self, body: Value) -> Option<Value> {
        let findings = &mut Vec::new();
        match self.kind {
            Kind::Request | Kind::Notification | Kind::Result => {
                reprint::message(&self.message(Some(body)), Some(self.method))
            }
            Kind::ToolMeta => {
                let meta = ToolMeta::read(body.as_object()?, Compat::default(), findings);
                Some(Value::Object(meta.to_meta()))
            }
            Kind::ResourceMeta => Some(json!(ResourceMeta::read(body.as_object()?, findings))),
        }
    }

    fn message(&self, body: Option<Value>) -> Value {
        let mut message = json!({ "jsonrpc": "2.0" });
        if self.kind != Kind::Notification {
            message["id"] = json!(1);
        }
        if self.kind != Kind::Result {
            message["method"] = json!(self.method);
        }
        if let Some(body) = body {
            message[if self.kind == Kind::Result { "result" } else { "params" }] = body;
        }
        message
    }

    fn line(&self, message: Value) -> Value {
        json!({ "method": self.method, "kind": self.kind, "message": message })
    }
}

/// Every way to remove one part of a value, or to put something odd in its place.
fn damages(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, member)| {
                let mut without = members.clone();
                without.shift_remove(key);
                let with = |replacement| {
                    let mut copy = members.clone();
                    copy.insert(key.clone(), replacement);
                    Value::Object(copy)
                };
                let mut damaged = vec![Value::Object(without)];
                damaged.extend(replacements(member).into_iter().map(with));
                damaged
            })
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, item)| {
                let with = |replacement| {
                    let mut copy = items.clone();
                    copy[index] = replacement;
                    Value::Array(copy)
                };
                replacements(item).into_iter().map(with).collect::<Vec<_>>()
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn replacements(value: &Value) -> Vec<Value> {
    let odd = ODD.iter().map(|odd| serde_json::from_str(odd).expect("the odd values are JSON"));
    odd.chain(damages(value)).collect()
}

const ODD: &[&str] = &[
    "null",
    "true",
    "false",
    "7",
    "-1.5",
    r#""odd""#,
    "[]",
    "[null, 7, \"odd\", {}]",
    "{}",
    r#"{"odd":null}"#,
];

fn seeds() -> Vec<Seed> {
    let mut seeds = from_view();
    seeds.extend(from_host());
    seeds.extend(from_either());
    seeds.extend(results());
    seeds.extend(metadata());
    seeds
}

fn from_view() -> Vec<Seed> {
    let mut seeds = vec![
        request(method::INITIALIZE, initialize_params()),
        request(method::INITIALIZE, InitializeParams::default()),
        bare(Kind::Notification, method::INITIALIZED),
        notification(method::INITIALIZED, EmptyParams {}),
        notification(
            method::SIZE_CHANGED,
            SizeChangedParams { width: Some(400.), height: Some(0.5) },
        ),
        bare(Kind::Notification, method::REQUEST_TEARDOWN),
        notification(method::REQUEST_TEARDOWN, EmptyParams {}),
        request(method::OPEN_LINK, OpenLinkParams { url: "https://x.test".into() }),
        request(method::DOWNLOAD_FILE, download()),
        request(method::MESSAGE, MessageParams::new(blocks())),
        request(
            method::UPDATE_MODEL_CONTEXT,
            json!({ "content": blocks(), "structuredContent": { "a": 1 } }),
        ),
        request(method::SAMPLING_CREATE_MESSAGE, sampling()).intact(),
        request(
            method::RESOURCES_READ,
            json!({ "uri": "ui://a", "_meta": { "progressToken": "t" } }),
        ),
        notification(method::SANDBOX_PROXY_READY, EmptyParams {}),
    ];
    let modes = DisplayMode::ALL.iter();
    seeds.extend(modes.map(|mode| {
        request(method::REQUEST_DISPLAY_MODE, RequestDisplayModeParams { mode: *mode })
    }));
    let levels = LogLevel::ALL.iter();
    seeds.extend(levels.map(|level| {
        notification(method::LOG, json!({ "level": level, "logger": "view", "data": { "a": [1] } }))
    }));
    for list in [method::RESOURCES_LIST, method::RESOURCES_TEMPLATES_LIST, method::PROMPTS_LIST] {
        seeds.push(bare(Kind::Request, list));
        seeds.push(request(list, json!({ "cursor": "next", "_meta": { "progressToken": 1 } })));
    }
    seeds
}

fn from_host() -> Vec<Seed> {
    let arguments = json!({ "arguments": { "a": { "b": [1, null] } } });
    let mut seeds = vec![
        notification(method::TOOL_INPUT_PARTIAL, arguments.clone()),
        notification(method::TOOL_INPUT, arguments),
        notification(method::TOOL_RESULT, tool_result()).intact(),
        notification(
            method::TOOL_CANCELLED,
            ToolCancelledParams { reason: Some("stop".to_owned()) },
        ),
        notification(method::HOST_CONTEXT_CHANGED, host_context()),
        notification(method::HOST_CONTEXT_CHANGED, all_variables()).intact(),
        request(method::RESOURCE_TEARDOWN, TeardownParams { reason: Some("closed".to_owned()) }),
        notification(method::SANDBOX_RESOURCE_READY, document()),
    ];
    for list in [method::RESOURCES_LIST_CHANGED, method::PROMPTS_LIST_CHANGED] {
        seeds.push(bare(Kind::Notification, list));
        seeds.push(notification(list, EmptyParams {}));
    }
    seeds.extend(
        closed_values()
            .into_iter()
            .map(|context| notification(method::HOST_CONTEXT_CHANGED, context)),
    );
    seeds
}

fn from_either() -> Vec<Seed> {
    let progress = ProgressParams {
        progress_token: RequestId::Number(1),
        progress: 0.5,
        total: Some(1.),
        message: Some("half".to_owned()),
    };
    let cancelled = CancelledParams { request_id: "a".into(), reason: Some("late".to_owned()) };
    vec![
        bare(Kind::Request, method::PING),
        request(method::PING, EmptyParams {}),
        notification(method::CANCELLED, cancelled),
        notification(method::PROGRESS, progress),
        request(
            method::TOOLS_CALL,
            json!({ "name": "a", "arguments": { "b": 1 }, "_meta": { "progressToken": 1, "new": null } }),
        ),
        bare(Kind::Request, method::TOOLS_LIST),
        request(method::TOOLS_LIST, json!({ "cursor": "next" })),
        bare(Kind::Notification, method::TOOLS_LIST_CHANGED),
        notification(method::TOOLS_LIST_CHANGED, EmptyParams {}),
    ]
}

fn results() -> Vec<Seed> {
    let mut seeds = vec![
        result(method::INITIALIZE, initialize_result()),
        result(method::INITIALIZE, InitializeResult::default()),
        result(method::PING, EmptyResult {}),
        result(method::UPDATE_MODEL_CONTEXT, EmptyResult {}),
        result(method::RESOURCE_TEARDOWN, EmptyResult {}),
        result(method::TOOLS_CALL, tool_result()).intact(),
        result(
            method::TOOLS_LIST,
            ListToolsResult { tools: vec![tool()], next_cursor: Some("next".to_owned()) },
        ),
    ];
    for action in [method::OPEN_LINK, method::DOWNLOAD_FILE, method::MESSAGE] {
        seeds.push(result(action, ActionResult { is_error: true }));
        seeds.push(result(action, ActionResult { is_error: false }));
    }
    let modes = DisplayMode::ALL.iter();
    seeds.extend(
        modes.map(|mode| result(method::REQUEST_DISPLAY_MODE, DisplayModeResult { mode: *mode })),
    );
    seeds
}

fn metadata() -> Vec<Seed> {
    let visibilities =
        [Visibilities::BOTH, Visibilities::MODEL, Visibilities::APP, Visibilities::NONE];
    let tools = visibilities.into_iter().map(|visibility| {
        let meta = ToolMeta { resource_uri: UiUri::parse("ui://a"), visibility };
        seed(Kind::ToolMeta, "tool-meta", Value::Object(meta.to_meta()))
    });
    let resource = ResourceMeta {
        csp: Some(csp()),
        permissions: Some(permissions()),
        domain: Some("a.test".to_owned()),
        prefers_border: Some(true),
    };
    tools.chain([seed(Kind::ResourceMeta, "resource-meta", resource)]).collect()
}

fn seed(kind: Kind, method: &'static str, body: impl Serialize) -> Seed {
    let body = serde_json::to_string(&body).expect("a seed prints");
    let body = serde_json::from_str(&body).expect("what was printed is JSON");
    Seed { kind, method, body: Some(body), damage: true }
}

fn request(method: &'static str, params: impl Serialize) -> Seed {
    seed(Kind::Request, method, params)
}

fn notification(method: &'static str, params: impl Serialize) -> Seed {
    seed(Kind::Notification, method, params)
}

fn result(method: &'static str, result: impl Serialize) -> Seed {
    seed(Kind::Result, method, result)
}

fn bare(kind: Kind, method: &'static str) -> Seed {
    Seed { kind, method, body: None, damage: false }
}

fn implementation() -> Implementation {
    let icon = Icon {
        src: "data:,".to_owned(),
        mime_type: Some("image/png".to_owned()),
        sizes: Some(vec!["48x48".to_owned()]),
        theme: Some(Theme::Dark),
    };
    Implementation {
        title: Some("T".to_owned()),
        description: Some("d".to_owned()),
        website_url: Some("https://x.test".to_owned()),
        icons: vec![icon],
        ..Implementation::new("n", "1")
    }
}

fn meta() -> Value {
    json!({ "progressToken": 1, "io.modelcontextprotocol/related-task": { "taskId": "t" }, "new": null })
}

fn experimental() -> Experimental {
    let Value::Object(settings) = json!({ "a": 1 }) else { unreachable!() };
    Experimental::from([("transom/port".to_owned(), settings)])
}

fn initialize_params() -> InitializeParams {
    InitializeParams {
        app_info: implementation(),
        app_capabilities: AppCapabilities {
            experimental: Some(experimental()),
            tools: Some(ListChanged { list_changed: true }),
            available_display_modes: Some(DisplayMode::ALL.to_vec()),
        },
        ..InitializeParams::default()
    }
}

fn initialize_result() -> InitializeResult {
    let Value::Object(rest) = json!({ "_meta": meta(), "unknown": null }) else { unreachable!() };
    InitializeResult {
        host_info: implementation(),
        host_capabilities: host_capabilities(),
        host_context: host_context(),
        rest,
        ..InitializeResult::default()
    }
}

fn host_capabilities() -> HostCapabilities {
    let modalities = Modalities::ALL;
    HostCapabilities {
        experimental: Some(experimental()),
        open_links: true,
        download_file: true,
        server_tools: Some(ListChanged { list_changed: true }),
        server_resources: Some(ListChanged { list_changed: true }),
        logging: true,
        sandbox: Some(SandboxCapabilities { permissions: Some(permissions()), csp: Some(csp()) }),
        update_model_context: Some(modalities),
        message: Some(modalities),
        sampling: Some(Sampling { tools: true }),
    }
}

fn permissions() -> ResourcePermissions {
    ResourcePermissions { camera: true, microphone: true, geolocation: true, clipboard_write: true }
}

fn csp() -> ResourceCsp {
    let sources = || vec!["https://a.test".to_owned(), "https://*.b.test".to_owned()];
    ResourceCsp {
        connect_domains: sources(),
        resource_domains: sources(),
        frame_domains: sources(),
        base_uri_domains: sources(),
    }
}

fn host_context() -> HostContext {
    let Value::Object(rest) =
        json!({ "unknown": null, "acme": { "theme": "auto" }, "_meta": meta() })
    else {
        unreachable!()
    };
    let fonts = HostCss { fonts: Some("@font-face{}".to_owned()) };
    let variables = BTreeMap::from([(StyleVariable::FontSans, "serif".to_owned())]);
    HostContext {
        tool_info: Some(ToolInfo { id: Some(RequestId::Number(1)), tool: tool() }),
        theme: Some(Theme::Dark),
        styles: Some(HostStyles { variables, css: Some(fonts) }),
        display_mode: Some(DisplayMode::Inline),
        available_display_modes: Some(DisplayMode::ALL.to_vec()),
        container_dimensions: Some(ContainerDimensions {
            width: Axis::Fixed(400.),
            height: Axis::AtMost(0.5),
        }),
        locale: Some("de-DE".to_owned()),
        time_zone: Some("Europe/Berlin".to_owned()),
        user_agent: Some("transom".to_owned()),
        platform: Some(Platform::Web),
        device_capabilities: Some(DeviceCapabilities { touch: Some(true), hover: Some(false) }),
        safe_area_insets: Some(SafeAreaInsets { top: 1., right: 2.5, bottom: 0., left: 4. }),
        rest,
    }
}

/// One context for each value of a closed set, and for each combination of axes.
fn closed_values() -> Vec<HostContext> {
    let mut contexts = Vec::new();
    let empty = HostContext::default;
    contexts.extend(Theme::ALL.iter().map(|v| HostContext { theme: Some(*v), ..empty() }));
    contexts.extend(Platform::ALL.iter().map(|v| HostContext { platform: Some(*v), ..empty() }));
    contexts
        .extend(DisplayMode::ALL.iter().map(|v| HostContext { display_mode: Some(*v), ..empty() }));
    contexts.extend(StyleVariable::ALL.iter().map(|variable| {
        let variables = BTreeMap::from([(*variable, "x".to_owned())]);
        HostContext { styles: Some(HostStyles { variables, css: None }), ..empty() }
    }));
    let axes = [Axis::Fixed(1.), Axis::AtMost(1.5), Axis::Free, Axis::Fixed(f64::NAN)];
    for width in axes {
        contexts.extend(axes.map(|height| HostContext {
            container_dimensions: Some(ContainerDimensions { width, height }),
            ..empty()
        }));
    }
    contexts
}

fn all_variables() -> HostContext {
    let variables = StyleVariable::ALL.iter().map(|variable| (*variable, "x".to_owned())).collect();
    HostContext { styles: Some(HostStyles { variables, css: None }), ..HostContext::default() }
}

fn tool() -> Tool {
    let wire = json!({
        "name": "a", "title": "A", "description": "d",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": { "x": { "type": "string" }, "y": true }, "required": ["x"],
        },
        "outputSchema": { "$schema": "s", "type": "object", "properties": { "x": {} }, "required": ["x"] },
        "annotations": {
            "title": "A", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false,
        },
        "execution": { "taskSupport": "optional" },
        "icons": [{ "src": "data:,", "mimeType": "image/png", "sizes": ["1x1"], "theme": "light" }],
        "_meta": { "ui": { "resourceUri": "ui://a" } },
    });
    serde_json::from_value(wire).expect("a sound tool")
}

fn tool_result() -> Value {
    json!({
        "content": blocks(),
        "structuredContent": { "a": 1 },
        "isError": false,
        "_meta": { "a": null },
    })
}

fn blocks() -> Vec<ContentBlock> {
    let data = Base64::parse("AA==").expect("base64");
    let annotations = json!({
        "audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-26T00:00:00Z",
    });
    let others = [
        json!({ "type": "text", "text": "a", "annotations": annotations, "_meta": {}, "new": null }),
        json!({ "type": "resource", "resource": { "uri": "x:", "mimeType": "a/b", "text": "a", "_meta": {} } }),
        json!({ "type": "resource", "resource": { "uri": "x:", "mimeType": "a/b", "blob": "AA==" } }),
        json!({
            "type": "resource_link", "uri": "x:", "name": "x", "title": "X", "description": "d",
            "mimeType": "a/b", "size": 1.5, "annotations": annotations, "_meta": {},
            "icons": [{ "src": "data:,", "sizes": ["1x1"], "theme": "dark" }],
        }),
    ];
    let others =
        others.map(|block| serde_json::from_str(&block.to_string()).expect("a sound block"));
    // The richest first: the first item of a list is the one that is damaged.
    let mut blocks = Vec::from(others);
    blocks.extend([
        ContentBlock::text("b"),
        ContentBlock::image(&data, "image/png"),
        ContentBlock::audio(&data, "audio/wav"),
    ]);
    blocks
}

fn download() -> DownloadFileParams<'static> {
    let file = |body| {
        let mime_type = Some("a/b".to_owned());
        Downloadable::Embedded(EmbeddedResource { uri: "file:///a".into(), mime_type, body })
    };
    let link = ResourceLink {
        uri: "https://x.test/a".into(),
        name: "a".into(),
        title: Some("A".to_owned()),
        description: Some("d".to_owned()),
        mime_type: Some("a/b".to_owned()),
    };
    DownloadFileParams {
        contents: vec![
            file(Body::Text("a".into())),
            file(Body::Blob(Base64::parse("AA==").expect("base64"))),
            Downloadable::Link(link),
        ],
    }
}

fn document() -> SandboxResourceReadyParams<'static> {
    SandboxResourceReadyParams {
        html: "<!doctype html>".into(),
        sandbox: Some("allow-scripts".to_owned()),
        csp: Some(csp()),
        permissions: Some(permissions()),
    }
}

fn sampling() -> Value {
    json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": "a" } }],
        "maxTokens": 1,
        "tools": [tool()],
    })
}
