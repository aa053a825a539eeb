//! What a document refers to: files of its folder, to be written into it, and other addresses, to be judged.

use std::collections::BTreeSet;

use data_encoding::BASE64;
use transom::csp::{Declaration, List};
use url::Url;

use crate::source::{Files, SourceError, join};

/// What a document may refer to, and everything that it must not.
pub(super) struct References<'a> {
    pub(super) files: Option<Files>,
    declared: &'a Declaration,
    pub(super) refusals: BTreeSet<String>,
}

impl<'a> References<'a> {
    pub(super) fn new(files: Option<Files>, declared: &'a Declaration) -> Self {
        Self { files, declared, refusals: BTreeSet::new() }
    }

    pub(super) fn refuse(&mut self, words: String) {
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.insert(words);
        }
    }

    /// The file's contents as an address of their own.
    pub(super) fn data_uri(&mut self, address: &str, from: &str) -> Option<String> {
        let name = self.local(address, from, List::Resource)?;
        let bytes = match self.files?.bytes(&name) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.unread(&name, &error);
                return None;
            }
        };
        Some(format!("data:{};base64,{}", mime(&name), BASE64.encode(&bytes)))
    }

    /// The file of the folder that an address means. Other addresses are judged here and left alone.
    pub(super) fn local(&mut self, address: &str, from: &str, list: List) -> Option<String> {
        let address = address.trim();
        if is_remote(address) {
            self.check_remote(address, list);
            return None;
        }
        if is_self_contained(address) {
            return None;
        }
        if self.files.is_none() {
            self.refuse(format!(
                "the document refers to {address:?}, but a view is one document: declare its folder \
                 with `dir`, which writes such files into it"
            ));
            return None;
        }
        join(from, address).map_err(|error| self.refuse(error.to_string())).ok()
    }

    pub(super) fn check_remote(&mut self, address: &str, list: List) {
        let absolute =
            if address.starts_with("//") { format!("https:{address}") } else { address.into() };
        let Ok(url) = Url::parse(&absolute) else {
            return self.refuse(format!("{address:?} is not an address"));
        };
        if self.declared.list(list).iter().any(|source| source.covers(&url)) {
            return;
        }
        let origin = url.origin().ascii_serialization();
        let key = match list {
            List::Connect => "connect",
            List::Resource => "resource",
            List::Frame => "frame",
            List::BaseUri => "base",
        };
        self.refuse(format!(
            "the document loads from {origin}, which it does not declare, so hosts will block it: add \
             csp({key} = \"{origin}\"), or put the file into the view's folder"
        ));
    }

    pub(super) fn read(&mut self, name: &str) -> Option<String> {
        match self.files?.text(name) {
            Ok(text) => Some(text),
            Err(error) => {
                self.unread(name, &error);
                None
            }
        }
    }

    pub(super) fn unread(&mut self, name: &str, error: &SourceError) {
        self.refuse(format!("the document refers to {name:?}: {error}"));
    }
}

pub(super) fn is_remote(address: &str) -> bool {
    let address = address.trim().to_ascii_lowercase();
    ["http:", "https:", "ws:", "wss:", "//"].iter().any(|start| address.starts_with(start))
}

/// Whether an address needs nothing beside the document.
pub(super) fn is_self_contained(address: &str) -> bool {
    let address = address.trim();
    let scheme = || {
        address.split_once(':').is_some_and(|(scheme, _)| {
            scheme.len() > 1
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        })
    };
    address.is_empty() || address.starts_with('#') || scheme()
}

fn mime(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref().unwrap_or_default() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "apng" => "image/apng",
        "bmp" => "image/bmp",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "aac" => "audio/aac",
        "flac" => "audio/flac",
        "ogg" | "oga" | "opus" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "vtt" => "text/vtt",
        _ => "application/octet-stream",
    }
}

/// What a person reads at once.
const MAX_REFUSALS: usize = 20;
