//! Files that a view hands to the user.

use super::content::Text;
use super::json::or_absent;
use super::{Base64, Members, Modality};
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// The files of one `ui/download-file`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DownloadFileParams<'a> {
    /// The files.
    #[serde(borrow)]
    pub contents: Vec<Downloadable<'a>>,
}

/// A file, or where to get it.
#[derive(Clone, Debug, PartialEq)]
pub enum Downloadable<'a> {
    /// The file itself.
    Embedded(EmbeddedResource<'a>),
    /// Where the file is.
    Link(ResourceLink<'a>),
}

/// A file with its content.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedResource<'a> {
    /// Its address; the last segment is its name.
    pub uri: Cow<'a, str>,
    /// Its MIME type.
    pub mime_type: Option<String>,
    /// What is in it.
    pub body: Body<'a>,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Body<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// Bytes.
    Blob(Base64<'a>),
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLink<'a> {
    /// Its address.
    #[serde(borrow)]
    pub uri: Cow<'a, str>,
    /// Its name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub title: Option<String>,
    /// What it is, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub description: Option<String>,
    /// Its MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub mime_type: Option<String>,
}

impl Serialize for Downloadable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// A link is written flat, beside its type.
        #[derive(Serialize)]
        struct Tagged<'a> {
            r#type: Modality,
            #[serde(flatten)]
            link: &'a ResourceLink<'a>,
        }
        match self {
            Self::Link(link) => {
                Tagged { r#type: Modality::ResourceLink, link }.serialize(serializer)
            }
            Self::Embedded(resource) => {
                let mut block = serializer.serialize_struct("EmbeddedResource", 2)?;
                block.serialize_field("type", &Modality::Resource)?;
                block.serialize_field("resource", resource)?;
                block.end()
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Downloadable<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&serde_json::value::RawValue>::deserialize(deserializer)?;
        Self::read(raw.get()).map_err(D::Error::custom)
    }
}

impl<'a> Downloadable<'a> {
    fn read(text: &'a str) -> serde_json::Result<Self> {
        let mut members: Members<'a> = serde_json::from_str(text)?;
        match members.need("type")? {
            Modality::Resource => members.need("resource").map(Self::Embedded),
            Modality::ResourceLink => serde_json::from_str(text).map(Self::Link),
            other => Err(serde_json::Error::custom(format_args!("{other} is not a file"))),
        }
    }
}

impl Serialize for EmbeddedResource<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut resource = serializer.serialize_struct("ResourceContents", 3)?;
        resource.serialize_field("uri", &self.uri)?;
        if let Some(mime_type) = &self.mime_type {
            resource.serialize_field("mimeType", mime_type)?;
        }
        match &self.body {
            Body::Text(text) => resource.serialize_field("text", text)?,
            Body::Blob(blob) => resource.serialize_field("blob", blob)?,
        }
        resource.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for EmbeddedResource<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members: Members<'a> = Members::deserialize(deserializer)?;
        Self::read(members).map_err(D::Error::custom)
    }
}

impl<'a> EmbeddedResource<'a> {
    /// With both a text and a blob, the text counts.
    fn read(mut members: Members<'a>) -> serde_json::Result<Self> {
        let Text(uri) = members.need("uri")?;
        let mime_type = members.read("mimeType").unwrap_or_default();
        let body = match members.read("text")? {
            Some(Text(text)) => Body::Text(text),
            None => Body::Blob(members.need("blob")?),
        };
        Ok(Self { uri, mime_type, body })
    }
}
