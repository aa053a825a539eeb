//! A piece of content: text, a picture, sound, a resource or a link to one.

use super::annotations::Annotations;
use super::json::{closed_enum, present};
use super::{Members, RawObject, Theme};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;

/// One block of content, kept as it was written.
///
/// It has a known type and everything that type needs. Optional members that a peer would refuse
/// are dropped when read; unknown ones are kept.
#[derive(Clone, Debug)]
pub struct ContentBlock {
    modality: Modality,
    raw: Box<RawValue>,
}

closed_enum! {
    /// The type of a content block.
    Modality {
        Text = "text",
        Image = "image",
        Audio = "audio",
        Resource = "resource",
        ResourceLink = "resource_link",
    }
}

impl ContentBlock {
    /// A block of text.
    pub fn text(text: &str) -> Self {
        Self::of(Modality::Text, json!({ "type": "text", "text": text }))
    }

    /// A picture.
    pub fn image(data: &Base64<'_>, mime_type: &str) -> Self {
        let block = json!({ "type": "image", "data": data, "mimeType": mime_type });
        Self::of(Modality::Image, block)
    }

    /// Sound.
    pub fn audio(data: &Base64<'_>, mime_type: &str) -> Self {
        let block = json!({ "type": "audio", "data": data, "mimeType": mime_type });
        Self::of(Modality::Audio, block)
    }

    /// Reads a block.
    pub fn read(raw: &RawValue) -> serde_json::Result<Self> {
        let mut members: Members<'_> = serde_json::from_str(raw.get())?;
        let kind = members.get("type").ok_or_else(|| serde_json::Error::missing_field("type"))?;
        let modality = serde_json::from_str(kind.get())?;
        if !is_complete(modality, &members) {
            let problem = format_args!("the {modality} block lacks a part or has a wrong one");
            return Err(serde_json::Error::custom(problem));
        }
        let before = members.len();
        members.retain(|name, value| is_sound(modality, name, value));
        let untouched = members.len() == before;
        let raw = if untouched { raw.to_owned() } else { to_raw_value(&members)? };
        Ok(Self { modality, raw })
    }

    /// Its type.
    pub fn modality(&self) -> Modality {
        self.modality
    }

    /// The block as it was written.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    fn of(modality: Modality, block: serde_json::Value) -> Self {
        let raw = to_raw_value(&block).expect("a JSON value prints");
        Self { modality, raw }
    }
}

impl PartialEq for ContentBlock {
    /// Compares the text, so that spelling matters.
    fn eq(&self, other: &Self) -> bool {
        self.raw.get() == other.raw.get()
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Self::read(raw).map_err(D::Error::custom)
    }
}

/// Blocks as a list. One block alone, which the prose of the spec shows, reads as a list of one.
pub(super) fn blocks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ContentBlock>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    let list = match RawObject::new(raw) {
        Some(block) => ContentBlock::read(block.raw()).map(|block| vec![block]),
        None => serde_json::from_str(raw.get()),
    };
    list.map_err(D::Error::custom)
}

/// Bytes, written in base64 that a browser's `atob` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Base64<'a>(Cow<'a, str>);

impl<'a> Base64<'a> {
    /// Takes text that is base64.
    pub fn parse(text: impl Into<Cow<'a, str>>) -> Option<Self> {
        let text = text.into();
        is_base64(&text).then_some(Self(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Base64<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        Self::parse(text).ok_or_else(|| D::Error::custom("not base64"))
    }
}

/// A string, borrowed unless it is written with escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// What `atob` takes: white space is skipped, padding may be missing.
fn is_base64(text: &str) -> bool {
    let mut digits = 0;
    let mut padding = 0;
    for byte in text.bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | 0x0C | b'\r' => {}
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => digits += 1,
            _ => return false,
        }
    }
    let padded = padding == 0 || (padding <= 2 && (digits + padding) % 4 == 0);
    padded && digits % 4 != 1
}

fn is_complete(modality: Modality, members: &Members<'_>) -> bool {
    match modality {
        Modality::Text => has::<Text<'_>>(members, "text"),
        Modality::Image | Modality::Audio => {
            has::<Base64<'_>>(members, "data") && has::<Text<'_>>(members, "mimeType")
        }
        Modality::Resource => members.get("resource").is_some_and(is_contents),
        Modality::ResourceLink => {
            has::<Text<'_>>(members, "uri") && has::<Text<'_>>(members, "name")
        }
    }
}

/// Whether an optional member is one that a peer takes.
fn is_sound(modality: Modality, name: &str, value: &RawValue) -> bool {
    match (modality, name) {
        (_, "annotations") => is::<Annotations>(value),
        (_, "_meta") => RawObject::new(value).is_some(),
        (Modality::ResourceLink, "title" | "description" | "mimeType") => is::<Text<'_>>(value),
        (Modality::ResourceLink, "size") => is::<f64>(value),
        (Modality::ResourceLink, "icons") => is::<Vec<StrictIcon<'_>>>(value),
        _ => true,
    }
}

fn has<'a, T: Deserialize<'a>>(members: &Members<'a>, name: &str) -> bool {
    members.get(name).is_some_and(is::<T>)
}

fn is<'a, T: Deserialize<'a>>(value: &'a RawValue) -> bool {
    serde_json::from_str::<T>(value.get()).is_ok()
}

/// Whether this is the inside of an embedded resource.
fn is_contents(value: &RawValue) -> bool {
    let Ok(members) = serde_json::from_str::<Members<'_>>(value.get()) else { return false };
    has::<Text<'_>>(&members, "uri")
        && members.get("mimeType").is_none_or(is::<Text<'_>>)
        && members.get("_meta").is_none_or(|meta| RawObject::new(meta).is_some())
        && (has::<Text<'_>>(&members, "text") || has::<Base64<'_>>(&members, "blob"))
}

/// An icon that a peer takes.
#[derive(Deserialize)]
struct StrictIcon<'a> {
    #[serde(borrow, rename = "src")]
    _src: Cow<'a, str>,
    #[serde(borrow, default, rename = "mimeType", deserialize_with = "present")]
    _mime_type: Option<Cow<'a, str>>,
    #[serde(default, rename = "sizes", deserialize_with = "present")]
    _sizes: Option<Vec<String>>,
    #[serde(default, rename = "theme", deserialize_with = "present")]
    _theme: Option<Theme>,
}
