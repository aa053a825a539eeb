//! What is asked of the other side.

use super::content::{Text, blocks};
use super::json::or_absent;
use super::{ContentBlock, DisplayMode, Members, Meta, RawObject};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A link to open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenLinkParams<'a> {
    /// The address, unchecked: whether it may be opened is policy.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
}

/// Something the view says in the user's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageParams {
    role: User,
    /// What it says.
    #[serde(deserialize_with = "blocks")]
    pub content: Vec<ContentBlock>,
}

/// The only role a view may speak in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum User {
    User,
}

impl MessageParams {
    /// A message of the user.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self { role: User::User, content }
    }
}

/// The display mode a view would like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestDisplayModeParams {
    /// The mode.
    pub mode: DisplayMode,
}

/// What the model shall know about the view from now on. Nothing at all means "forget".
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateModelContextParams<'a> {
    /// For reading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
    /// For computing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<RawObject<'a>>,
}

/// A tool call.
#[derive(Clone, Debug, Serialize)]
pub struct CallToolParams<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// Its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawObject<'a>>,
    /// About the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'a>>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub rest: Members<'a>,
}

/// A resource to read.
#[derive(Clone, Debug, Serialize)]
pub struct ReadResourceParams<'a> {
    /// Its address.
    pub uri: Cow<'a, str>,
    /// About the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'a>>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub rest: Members<'a>,
}

/// A list to read: of tools, resources, templates or prompts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ListParams<'a> {
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cow<'a, str>>,
    /// About the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'a>>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub rest: Members<'a>,
}

/// Something for the host's model to write.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct CreateMessageParams<'a> {
    members: Members<'a>,
}

impl CreateMessageParams<'_> {
    /// Whether the model is given tools, which takes a capability of its own.
    pub fn has_tools(&self) -> bool {
        self.members.get("tools").is_some_and(|tools| tools.get() != "null")
    }
}

/// Why a view is being closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeardownParams {
    /// In words for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub reason: Option<String>,
}

impl<'a> CallToolParams<'a> {
    /// A call without arguments.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), arguments: None, meta: None, rest: Members::default() }
    }

    fn read(mut members: Members<'a>) -> serde_json::Result<Self> {
        let Text(name) = members.need("name")?;
        let arguments = members.read("arguments")?;
        let meta = members.read("_meta")?;
        Ok(Self { name, arguments, meta, rest: members })
    }
}

impl<'a> ReadResourceParams<'a> {
    /// A resource by its address.
    pub fn new(uri: impl Into<Cow<'a, str>>) -> Self {
        Self { uri: uri.into(), meta: None, rest: Members::default() }
    }

    fn read(mut members: Members<'a>) -> serde_json::Result<Self> {
        let Text(uri) = members.need("uri")?;
        let meta = members.read("_meta")?;
        Ok(Self { uri, meta, rest: members })
    }
}

impl<'a> ListParams<'a> {
    fn read(mut members: Members<'a>) -> serde_json::Result<Self> {
        let cursor = members.read("cursor")?.map(|Text(cursor)| cursor);
        let meta = members.read("_meta")?;
        Ok(Self { cursor, meta, rest: members })
    }
}

impl<'a> UpdateModelContextParams<'a> {
    fn read(mut members: Members<'a>) -> serde_json::Result<Self> {
        let content = members.take("content").map(blocks).transpose()?;
        let structured_content = members.read("structuredContent")?;
        Ok(Self { content: content.unwrap_or_default(), structured_content })
    }
}

impl<'a> CreateMessageParams<'a> {
    fn read(members: Members<'a>) -> serde_json::Result<Self> {
        for name in ["messages", "maxTokens"] {
            if members.get(name).is_none() {
                return Err(serde_json::Error::missing_field(name));
            }
        }
        Ok(Self { members })
    }
}

/// Reads a type by its members.
macro_rules! read_members {
    ($($name:ident),+) => { $(
        impl<'de: 'a, 'a> Deserialize<'de> for $name<'a> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let members = Members::deserialize(deserializer)?;
                Self::read(members).map_err(D::Error::custom)
            }
        }
    )+ };
}
read_members!(
    CallToolParams,
    ReadResourceParams,
    ListParams,
    UpdateModelContextParams,
    CreateMessageParams
);
