//! What a row says things happened to; a redacted export leaves it out.

use std::collections::BTreeSet;

use serde::Serialize;
use transom::{
    host::Which,
    policy::{Grantable, Subject},
    quoted::Quoted,
};

use super::chain::Hash;
use crate::{
    address::{plain, plain_subject},
    decisions,
    documents::Named,
};

/// What a redacted export leaves out.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<String>,
    /// The id that the view gave its request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// The SHA-256 of what is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
    /// The private addresses that a view reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reaches: Option<String>,
    /// What a view was granted by a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) granted: Option<String>,
    /// The policy that a document runs under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) policy: Option<String>,
}

impl Details {
    pub(super) fn of_document(Named { uri, hash, .. }: &Named) -> Self {
        let sha256 = Some(Hash(*hash.as_bytes()).to_string());
        Self { about: Some(short(&plain(uri))), sha256, ..Self::default() }
    }

    /// Private addresses, and which document declares them.
    pub(super) fn of_reach(document: &Named, sources: &BTreeSet<String>) -> Self {
        Self { about: Some(listed(sources)), ..Self::of_document(document) }
    }

    pub(super) fn of_grants(grants: &BTreeSet<Grantable>) -> Self {
        Self { about: Some(named(grants)), ..Self::default() }
    }

    pub(super) fn of_subject(subject: &Subject) -> Self {
        let about = decisions::words(&plain_subject(subject));
        Self { about: Some(short(&about)), ..Self::default() }
    }

    pub(super) fn of(which: &Which, method: Option<&'static str>, about: &str) -> Self {
        let id = match which {
            Which::View { id, .. } => Some(short(&id.to_string())),
            Which::App { .. } => None,
        };
        let about = Some(short(&about_of(method, about))).filter(|about| !about.is_empty());
        Self { about, id, ..Self::default() }
    }
}

/// What a request is about. Tools and app tools are named; everything else may be an address.
pub(crate) fn about_of(method: Option<&'static str>, about: &str) -> String {
    match method {
        Some("tools/call") => about.to_owned(),
        _ => plain(about),
    }
}

pub(super) fn listed(sources: &BTreeSet<String>) -> String {
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    short(&sources.join(", "))
}

pub(super) fn named(grants: &BTreeSet<Grantable>) -> String {
    grants.iter().map(|grant| grant.name()).collect::<Vec<_>>().join(", ")
}

/// A stranger's words are kept, but not without end.
pub(super) fn short(words: &str) -> String {
    Quoted::long(words, LONGEST).as_str().to_owned()
}

/// The longest text of a row, in characters.
const LONGEST: usize = 2_000;
