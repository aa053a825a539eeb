//! What a view's card shows of its document: what it declares, what it was given of that, and the policy that comes of it.

use data_encoding::HEXLOWER;
use serde::Serialize;
use transom::{
    csp::{Declaration, List},
    wire::ResourcePermissions,
};

use super::Prepared;
use crate::{documents::Pin, grants::permissions};

/// What a card shows of a document.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DocumentFacts {
    /// Its address.
    pub(crate) uri: String,
    /// The hash of its bytes.
    pub(crate) sha256: String,
    /// How many bytes it has.
    pub(crate) size: usize,
    /// Whether a person is asked before other bytes run.
    pub(crate) pinned: bool,
    /// The origin that it runs on.
    pub(crate) origin: String,
    /// Whether it has that origin, and what it stores there, the next time.
    pub(crate) stable: bool,
    /// Whether it declares anything about domains: what declares nothing gets the strictest policy.
    pub(crate) declares: bool,
    /// The domains that it declares, and whether it has them.
    pub(crate) domains: Vec<Claim>,
    /// The permissions that it asks for, and whether it has them.
    pub(crate) permissions: Vec<Claim>,
    /// Its policy, directive by directive.
    pub(crate) policy: Vec<(String, String)>,
}

/// One thing that a document wants.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct Claim {
    /// The list that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<&'static str>,
    /// What it is.
    pub(crate) name: String,
    /// Whether it is given.
    pub(crate) granted: bool,
    /// Why it cannot be given, whoever agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

impl Prepared {
    /// What its card shows.
    pub(crate) fn facts(&self) -> DocumentFacts {
        let (document, mounted) = (&self.document, &self.mounted);
        DocumentFacts {
            uri: document.uri.as_str().to_owned(),
            sha256: HEXLOWER.encode(document.hash.as_bytes()),
            size: document.html.len(),
            pinned: !self.unpinned,
            origin: mounted.guest_origin.to_string(),
            stable: mounted.is_stable,
            declares: document.declaration.is_some(),
            domains: self.domains(),
            permissions: claims(document.meta.permissions.unwrap_or_default(), mounted.permissions),
            policy: mounted
                .csp
                .directives()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }
    }

    /// What is remembered of its document, to be compared with the next.
    pub(crate) fn pinned(&self) -> Pin {
        Pin::of(&self.document, None)
    }

    fn domains(&self) -> Vec<Claim> {
        let given = |list, source: &_| {
            self.mounted.declaration.as_ref().is_some_and(|all| all.list(list).contains(source))
        };
        let declared = |declaration: &Declaration| -> Vec<Claim> {
            let of = |list: List| {
                declaration.list(list).iter().map(move |source| Claim {
                    list: Some(list.name()),
                    name: source.to_string(),
                    granted: given(list, source),
                    why: None,
                })
            };
            List::ALL.into_iter().flat_map(of).collect()
        };
        let mut claims = self.document.declaration.as_ref().map(declared).unwrap_or_default();
        claims.extend(self.document.refused.iter().map(|refused| Claim {
            list: Some(refused.list.name()),
            name: refused.entry.as_str().to_owned(),
            granted: false,
            why: Some(refused.reason.to_string()),
        }));
        claims
    }
}

fn claims(asked: ResourcePermissions, given: ResourcePermissions) -> Vec<Claim> {
    let given = permissions(given);
    let claim = |name: &'static str| {
        let granted = given.contains(&name);
        Claim { list: None, name: name.to_owned(), granted, why: None }
    };
    permissions(asked).into_iter().map(claim).collect()
}
