//! A frame: what it is asked to be, and what it became.

use std::sync::Arc;

use transom::csp::{Ceiling, Csp, Declaration, Grant};
use transom::origin::Origin;
use transom::wire::ResourcePermissions;

use super::page::ServedPage;
use super::reports::Reports;
use super::sites::{self, Lease};
use super::stable::StableDomain;
use crate::documents::Document;
use crate::place::Place;
use crate::relay::Relay;

/// What a frame is asked to be: a document, and how much of its wishes it gets.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The document.
    pub document: Arc<Document>,
    /// Where its server is: whose the frame's names are, and the storage behind them.
    pub place: Place,
    /// The domains the host agrees to. What the document did not declare is left out (H-25).
    pub declaration: Option<Declaration>,
    /// The permissions the host agrees to. What the document did not ask for is left out.
    pub permissions: ResourcePermissions,
    /// The origins of the host pages that may embed it; every ancestor is checked.
    pub page_origins: Vec<Origin>,
    /// The domain its stable name is made of; without one, names are random.
    pub domain: Option<StableDomain>,
    /// What the operator or a person allows this server beside its declarations.
    pub grants: Vec<Grant>,
    /// Where the host's own fonts come from.
    pub fonts: Vec<Origin>,
    /// What the sandbox page lets through.
    pub relay: Relay,
    /// Who is told what its policy blocks, if there is anyone.
    pub reports: Option<Reports>,
    /// Whether they are told its errors too, by a script that is put into the document: for its author alone.
    pub watch_errors: bool,
}

impl Frame {
    /// Makes a frame with what its document declared, and without permissions or grants.
    ///
    /// A `ui.domain` that is no host counts as none.
    pub fn new(document: Arc<Document>, place: Place, page_origins: Vec<Origin>) -> Self {
        let domain = document.meta.domain.as_deref();
        Self {
            declaration: document.declaration.clone(),
            permissions: ResourcePermissions::default(),
            page_origins,
            domain: domain.and_then(|domain| StableDomain::parse(domain).ok()),
            grants: Vec::new(),
            fonts: Vec::new(),
            relay: Relay::default(),
            reports: None,
            watch_errors: false,
            document,
            place,
        }
    }
}

/// A frame that is served. Dropping it takes its names away.
#[derive(Debug)]
pub struct Mounted {
    /// Where the host page's frame points.
    pub sandbox_url: String,
    /// The origin of the sandbox page: what the host page talks to.
    pub sandbox_origin: Origin,
    /// Where the sandbox page's frame points.
    pub porch_url: String,
    /// Where the porch's frame points.
    pub guest_url: String,
    /// The origin of the document, and of the porch in front of it.
    pub guest_origin: Origin,
    /// The `allow` attribute of the host page's frame.
    pub allow: String,
    /// The policy the document runs under (H-27).
    pub csp: Csp,
    /// The domains it was granted (H-32).
    pub declaration: Option<Declaration>,
    /// The permissions it was granted (H-32).
    pub permissions: ResourcePermissions,
    /// Whether the guest will have the same origin next time, and its storage with it.
    pub is_stable: bool,
    place: Place,
    domain: Option<StableDomain>,
    path: String,
    leases: Leases,
}

impl Mounted {
    /// Takes the frame's names away: the same as dropping it, said aloud.
    pub fn unmount(self) {}

    pub(super) fn new(frame: Frame, granted: Granted, names: Names, leases: Leases) -> Self {
        Self {
            sandbox_url: names.sandbox_url(),
            porch_url: names.porch_url(),
            guest_url: names.guest_url(),
            allow: granted.allow(&names),
            csp: granted.csp(&frame, &names),
            declaration: granted.declaration,
            permissions: granted.permissions,
            is_stable: frame.domain.is_some() && !leases.guest.is_port() && frame.place.is_kept(),
            place: frame.place,
            domain: frame.domain,
            sandbox_origin: names.sandbox,
            guest_origin: names.guest,
            path: names.path,
            leases,
        }
    }

    /// Serves its document, if that was withheld: everything that has to be known and agreed to before it runs is.
    pub fn reveal(&self) {
        self.leases.guest.reveal();
    }

    /// The policy that a document would run under, were the frame this one.
    pub fn policy_of(&self, frame: &Frame) -> Csp {
        Granted::to(frame).csp(frame, &self.names())
    }

    /// Tells whether a frame has a right to these names.
    pub(super) fn is_for(&self, frame: &Frame) -> bool {
        self.place == frame.place && self.domain == frame.domain
    }

    pub(super) fn names(&self) -> Names {
        let (sandbox, guest) = (self.sandbox_origin.clone(), self.guest_origin.clone());
        Names { sandbox, guest, path: self.path.clone() }
    }

    pub(super) fn replace(&mut self, frame: &Frame, granted: Granted, pages: Pages) {
        let names = self.names();
        self.allow = granted.allow(&names);
        self.csp = granted.csp(frame, &names);
        self.declaration = granted.declaration;
        self.permissions = granted.permissions;
        self.leases.sandbox.replace(pages.sandbox);
        self.leases.porch.replace(pages.porch);
        self.leases.guest.replace(pages.guest);
    }
}

/// What is served for one frame.
pub(super) struct Pages {
    pub(super) sandbox: ServedPage,
    pub(super) porch: ServedPage,
    pub(super) guest: ServedPage,
}

impl Pages {
    /// See [`ServedPage::sharing_a_process`].
    pub(super) fn sharing_a_process(self) -> Self {
        Self {
            sandbox: self.sandbox.sharing_a_process(),
            porch: self.porch.sharing_a_process(),
            guest: self.guest.sharing_a_process(),
        }
    }
}

/// The rights to where they are served.
#[derive(Debug)]
pub(super) struct Leases {
    pub(super) sandbox: Lease,
    pub(super) porch: Lease,
    pub(super) guest: Lease,
}

/// A sandbox page in raw mode: it waits for HTML in a message, as hosts of the reference send it.
///
/// The document that arrives inherits the page's policy, so the ceiling is the most it can get;
/// what the message declares tightens it further (P-14, P-19).
#[derive(Clone, Debug)]
pub struct RawPage {
    /// The most domains any document there gets.
    pub ceiling: Ceiling,
    /// The most permissions any document there gets.
    pub permissions: ResourcePermissions,
    /// The origins of the host pages that may embed it.
    pub page_origins: Vec<Origin>,
    /// What the page lets through.
    pub relay: Relay,
}

/// A raw sandbox page that is served. Dropping it takes its name away.
#[derive(Debug)]
pub struct MountedRaw {
    /// Where the host page's frame points.
    pub url: String,
    /// The page's origin.
    pub origin: Origin,
    /// The `allow` attribute of the host page's frame.
    pub allow: String,
    /// The policy of the page, and the most any document in it gets.
    pub csp: Csp,
    _lease: Lease,
}

impl MountedRaw {
    pub(super) fn new(
        origin: Origin,
        csp: Csp,
        permissions: ResourcePermissions,
        lease: Lease,
    ) -> Self {
        let allow = permissions.to_allow_for(std::slice::from_ref(&origin));
        Self { url: format!("{origin}/"), allow, origin, csp, _lease: lease }
    }
}

/// What a frame gets: the document asked, and the host agreed.
pub(super) struct Granted {
    pub(super) declaration: Option<Declaration>,
    pub(super) permissions: ResourcePermissions,
}

impl Granted {
    pub(super) fn to(frame: &Frame) -> Self {
        let asked = frame.document.meta.permissions.unwrap_or_default();
        let declared = frame.document.declaration.as_ref();
        let declaration = frame.declaration.clone().zip(declared).map(|(mut agreed, declared)| {
            agreed.retain(|list, source| declared.list(list).contains(source));
            agreed
        });
        Self { declaration, permissions: frame.permissions.and(asked) }
    }

    /// The document's policy. Its ancestors are its porch, its sandbox page and the host page: every one of
    /// them is checked.
    pub(super) fn csp(&self, frame: &Frame, names: &Names) -> Csp {
        let mut ancestors = vec![names.guest.clone()];
        ancestors.extend(names.above_porch(&frame.page_origins));
        let csp = Csp::guest(self.declaration.as_ref())
            .fonts(&frame.fonts)
            .grant(&frame.grants)
            .frame_ancestors(&ancestors);
        match frame.reports {
            Some(_) => csp.report_to(&names.guest, &names.path),
            None => csp,
        }
    }

    fn allow(&self, names: &Names) -> String {
        self.permissions.to_allow_for(&[names.sandbox.clone(), names.guest.clone()])
    }
}

/// What a frame is called.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) sandbox: Origin,
    pub(super) guest: Origin,
    /// The path of the document.
    pub(super) path: String,
}

impl Names {
    pub(super) fn new(sandbox: &sites::Site, guest: &sites::Site, path: String) -> Self {
        Self { sandbox: sandbox.origin().clone(), guest: guest.origin().clone(), path }
    }

    /// Who may frame the porch: its sandbox page, and the host pages above that.
    pub(super) fn above_porch(&self, page_origins: &[Origin]) -> Vec<Origin> {
        std::iter::once(&self.sandbox).chain(page_origins).cloned().collect()
    }

    pub(super) fn sandbox_url(&self) -> String {
        format!("{}/", self.sandbox)
    }

    pub(super) fn porch_path(&self) -> String {
        format!("{}/porch", self.path.trim_end_matches('/'))
    }

    pub(super) fn porch_url(&self) -> String {
        format!("{}{}", self.guest, self.porch_path())
    }

    pub(super) fn guest_url(&self) -> String {
        format!("{}{}", self.guest, self.path)
    }
}
