//! The answer to `resources/read`, down to the one item that is asked for.

use std::fmt;

use data_encoding::BASE64_NOPAD;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use transom::violation::Quoted;
use transom::wire::{Compat, MIME, UiUri, is_app_mime};

use super::DocumentLimits;

/// Why an answer to `resources/read` holds no document. The words tell a server's author what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotADocument {
    /// The answer is not a list of contents.
    #[error(
        "the server's answer to resources/read cannot be read ({0}); it should be an object with a list \"contents\""
    )]
    Unreadable(Quoted),
    /// The list is empty.
    #[error(
        "the server's answer to resources/read is empty; it should hold one item, the document"
    )]
    Empty,
    /// No item has the address that was asked for.
    #[error(
        "asked for {asked}, got {got}; the item's \"uri\" should be the address it was asked for under"
    )]
    OtherUri {
        /// What was asked for.
        asked: Quoted,
        /// The address of the first item.
        got: Quoted,
    },
    /// The item is not an app (H-08).
    #[error("got the type {got}; an app's \"mimeType\" is \"{MIME}\"")]
    Mime {
        /// The type it has, empty if none.
        got: Quoted,
    },
    /// More than one item fits, and it cannot be said which is meant.
    #[error("{count} items of the answer are this app; there should be one")]
    Ambiguous {
        /// How many fit.
        count: usize,
    },
    /// Neither text nor a blob.
    #[error("the item has neither \"text\" nor \"blob\"; the HTML goes into \"text\"")]
    NoBody,
    /// A document without anything in it.
    #[error("the document is empty; there is nothing to show")]
    Blank,
    /// A blob that is not base64.
    #[error("\"blob\" is not base64 ({0}); send the HTML as \"text\" instead")]
    Base64(Quoted),
    /// A blob that is not UTF-8.
    #[error("the document is not UTF-8 from byte {at} on; save it as UTF-8")]
    Utf8 {
        /// The first byte that is wrong.
        at: usize,
    },
    /// More than is taken.
    #[error("the {part} has {size} bytes, limit {limit}; make it smaller, or raise the limit")]
    TooLarge {
        /// Which part.
        part: Part,
        /// How many bytes it has.
        size: usize,
        /// How many are taken.
        limit: usize,
    },
}

/// A part of an answer that has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The HTML.
    Document,
    /// What is declared about it.
    Metadata,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Document => "document",
            Self::Metadata => "metadata",
        })
    }
}

/// The one item: its HTML, and an object with its metadata and nothing else.
pub(super) struct Item {
    pub(super) html: String,
    pub(super) meta: Value,
}

pub(super) fn item(
    uri: &UiUri,
    result: &RawValue,
    limits: &DocumentLimits,
) -> Result<Item, NotADocument> {
    let answer: Answer<'_> = parse(result)?;
    // An odd item is no document; it does not take the others with it.
    let heads: Vec<Head> = answer.contents.0.iter().map(|r| parse(r).unwrap_or_default()).collect();
    let raw = answer.contents.0[choose(uri, &heads, limits.compat)?];
    let body: Body<'_> = parse(raw)?;
    let html = html(&body, limits.html)?;
    if html.trim_ascii().is_empty() {
        return Err(NotADocument::Blank);
    }
    Ok(Item { html, meta: meta(&body, limits.meta)? })
}

/// docs/reference/mcp-apps.md §3.14: the item whose address and type both fit.
fn choose(uri: &UiUri, heads: &[Head], compat: Compat) -> Result<usize, NotADocument> {
    let first = heads.first().ok_or(NotADocument::Empty)?;
    let asked = |head: &&Head| head.uri.as_deref() == Some(uri.as_str());
    let fits = |head: &Head| is_app_mime(head.mime_type.as_deref().unwrap_or_default(), compat);
    let Some(named) = heads.iter().find(asked) else {
        let got = Quoted::new(first.uri.as_deref().unwrap_or_default());
        return Err(NotADocument::OtherUri { asked: Quoted::new(uri.as_str()), got });
    };
    let mut fitting = (0..heads.len()).filter(|at| asked(&&heads[*at]) && fits(&heads[*at]));
    let Some(at) = fitting.next() else {
        let got = Quoted::new(named.mime_type.as_deref().unwrap_or_default());
        return Err(NotADocument::Mime { got });
    };
    match fitting.count() {
        0 => Ok(at),
        more => Err(NotADocument::Ambiguous { count: more + 1 }),
    }
}

/// Text before a blob: with both, the published peers take the text
/// (docs/reference/mcp-apps.md §3.14).
pub(super) fn html(body: &Body<'_>, limit: usize) -> Result<String, NotADocument> {
    if let Some(text) = present(body.text) {
        let text: String = parse(text)?;
        return check(Part::Document, text.len(), limit).map(|()| text);
    }
    let blob: String = parse(present(body.blob).ok_or(NotADocument::NoBody)?)?;
    // Before it is decoded: three bytes for four characters, at most two of them padding.
    check(Part::Document, (blob.len() / 4 * 3).saturating_sub(2), limit)?;
    let bytes = BASE64_NOPAD.decode(without_padding(&blob).as_bytes());
    let bytes = bytes.map_err(|e| NotADocument::Base64(quote(&e)))?;
    check(Part::Document, bytes.len(), limit)?;
    let at = |e: std::string::FromUtf8Error| e.utf8_error().valid_up_to();
    String::from_utf8(bytes).map_err(|e| NotADocument::Utf8 { at: at(e) })
}

/// Some servers leave the padding out. More of it than belongs there is left where it is, and is wrong.
fn without_padding(blob: &str) -> &str {
    let bare = blob.trim_end_matches('=');
    let most = (4 - bare.len() % 4) % 4;
    if blob.len() - bare.len() <= most { bare } else { blob }
}

fn meta(body: &Body<'_>, limit: usize) -> Result<Value, NotADocument> {
    let mut found = Map::new();
    // Servers on the Python SDK have been seen to write `meta`.
    for (key, raw) in [("_meta", body.underscored), ("meta", body.meta)] {
        let Some(raw) = raw else { continue };
        check(Part::Metadata, raw.get().len(), limit)?;
        found.insert(key.to_owned(), parse(raw)?);
    }
    Ok(Value::Object(found))
}

pub(super) fn check(part: Part, size: usize, limit: usize) -> Result<(), NotADocument> {
    if size > limit { Err(NotADocument::TooLarge { part, size, limit }) } else { Ok(()) }
}

pub(super) fn present(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

pub(super) fn parse<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, NotADocument> {
    serde_json::from_str(raw.get()).map_err(|e| NotADocument::Unreadable(quote(&e)))
}

fn quote(error: &impl fmt::Display) -> Quoted {
    Quoted::new(&error.to_string())
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    contents: Items<'a>,
}

/// The items of an answer, unread. The list stops where no honest server goes on.
pub(super) struct Items<'a>(pub(super) Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Vec<&'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of contents")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while items.len() < MAX_ITEMS {
                    let Some(item) = list.next_element()? else { return Ok(items) };
                    items.push(item);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(items)
            }
        }
        deserializer.deserialize_seq(List).map(Self)
    }
}

/// What an item is chosen by; a member of another kind than expected is absent.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    #[serde(default, deserialize_with = "text")]
    pub(super) uri: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) mime_type: Option<String>,
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

#[derive(Deserialize)]
pub(super) struct Body<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    blob: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    pub(super) underscored: Option<&'a RawValue>,
    #[serde(borrow, default)]
    meta: Option<&'a RawValue>,
}

/// The most items that are looked at.
const MAX_ITEMS: usize = 64;
