//! The messages between view, host, sandbox and server, under the spec's names without `McpUi`.
//!
//! Strict when written, lenient when read. A value of these types prints as something the reference
//! peers accept: enums are closed, options are left out and never `null`, flags are `{}`. Reading
//! ignores the odd item and keeps the rest; where the oddity matters to an author, it becomes a
//! [`Finding`]. What only passes through stays raw text.
//!
//! The raw types borrow from the text they were read from: read them with `serde_json::from_str`
//! or `from_slice`, not from a `Value`.

mod annotations;
mod capabilities;
mod content;
mod context;
mod dimensions;
mod download;
mod extension;
mod finding;
mod init;
mod json;
pub mod method;
mod mime;
mod notifications;
mod raw;
mod requests;
mod resource;
mod results;
mod style;
mod tool;
mod tool_meta;
mod uri;

pub use crate::rpc::Id as RequestId;
pub use capabilities::{
    AppCapabilities, Experimental, HostCapabilities, ListChanged, Modalities, Sampling,
    SandboxCapabilities,
};
pub use content::{Base64, ContentBlock, Modality};
pub use context::{DeviceCapabilities, DisplayMode, HostContext, Platform, SafeAreaInsets, Theme};
pub use dimensions::{Axis, ContainerDimensions};
pub use download::{Body, DownloadFileParams, Downloadable, EmbeddedResource, ResourceLink};
pub use extension::{EXTENSION, UiCapability};
pub use finding::{Compat, Finding};
pub use init::{
    Icon, Implementation, InitializeParams, InitializeResult, PROTOCOL_VERSION, SUPPORTED_VERSIONS,
    negotiate,
};
pub use mime::{MIME, is_app_mime};
pub use notifications::{
    CancelledParams, EmptyParams, LogLevel, LogParams, ProgressParams, SandboxResourceReadyParams,
    SizeChangedParams, ToolCancelledParams, ToolInputParams,
};
pub use raw::{Members, Meta, ProgressToken, RawObject};
pub use requests::{
    CallToolParams, CreateMessageParams, ListParams, MessageParams, OpenLinkParams,
    ReadResourceParams, RequestDisplayModeParams, TeardownParams, UpdateModelContextParams,
};
pub use resource::{ResourceCsp, ResourceMeta, ResourcePermissions};
pub use results::{ActionResult, CallToolResult, DisplayModeResult, EmptyResult, ListToolsResult};
pub use style::{HostCss, HostStyles, StyleVariable};
pub use tool::{NotATool, Tool, ToolInfo};
pub use tool_meta::{ToolMeta, Visibilities, Visibility};
pub use uri::UiUri;
