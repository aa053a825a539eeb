//! Sandbox origins: a second listener, where each view has two names and nothing else is served.
//!
//! ```text
//! host page ──frames──▶ http://<random>.<guest>.localhost:7421/   the sandbox page, a relay
//!                          └──frames──▶ http://<guest>.localhost:7421/porch   the porch
//!                                          └──frames──▶ http://<guest>.localhost:7421/   the guest: the document
//! ```
//!
//! The porch is there for guests that look at their `parent`: it is of their own origin, and what they do to it
//! they do to themselves.
//!
//! Three origins and two sites: below `localhost` the sandbox's name stands below its guest's, so that
//! browsers may run both in one process, and starting a second one is most of what opening a view
//! costs. The sandbox page holds no secret and can do nothing but what its own view may ask for. The
//! host page and every other view stay on other sites.
//!
//! A name exists from [`Sandbox::mount`] until its [`Mounted`] is dropped. Every policy is a header,
//! written when the frame is mounted and from parsed values only; a request chooses among what was
//! prepared and adds nothing to it.

mod answer;
mod domain;
mod errors;
mod frame;
mod naming;
mod page;
mod ports;
mod reports;
mod sites;
mod spare;
mod stable;

use std::sync::Arc;

use axum::Router;
use transom::csp::{Csp, Script};
use transom::origin::Origin;

pub use crate::relay::{PageLimits, Relay};
pub use domain::{NotAWildcard, Wildcard};
pub use frame::{Frame, Mounted, MountedRaw, RawPage};
pub use naming::{Naming, PageAmongFrames};
pub use page::{NotInline, SandboxScript};
pub use ports::{Loopback, NoLoopback};
pub use reports::{Blocked, BlockedKind, Report, Reports};
pub use spare::Spare;
pub use stable::{KeyError, NotADomain, StableDomain, StableKey};

use frame::{Granted, Leases, Names, Pages};
use page::{Attributes, ServedPage};
use sites::{Site, Sites};

/// The frames that are served, and the router that serves them. Clones share everything.
#[derive(Clone)]
pub struct Sandbox {
    shared: Arc<Shared>,
}

struct Shared {
    naming: Naming,
    key: StableKey,
    script: SandboxScript,
    porch: SandboxScript,
    sites: Arc<Sites>,
}

impl Sandbox {
    /// Makes a sandbox without frames, from the scripts of its two pages: the sandbox page and the porch.
    pub fn new(
        naming: Naming,
        key: StableKey,
        script: SandboxScript,
        porch: SandboxScript,
    ) -> Self {
        Self { shared: Arc::new(Shared { naming, key, script, porch, sites: Arc::default() }) }
    }

    /// Returns the router of the second listener: every path of every name goes through it.
    ///
    /// With [`Naming::Ports`] it knows no name; each frame has listeners of its own.
    pub fn router(&self) -> Router {
        answer::router(self.shared.sites.clone(), None)
    }

    /// Gives a frame its names, and serves it under them until what is returned is dropped.
    pub async fn mount(&self, frame: Frame) -> Result<Mounted, MountError> {
        self.check_pages(&frame.page_origins)?;
        let granted = Granted::to(&frame);
        let (label, path) = self.guest_name(&frame)?;
        let (sandbox, guest) = self.places(&label, &frame.page_origins).await?;
        let names = Names::new(&sandbox, &guest, path);
        let mut pages = self.pages(&frame, &granted, &names);
        if guest.is_port() {
            // An address may have had an owner before us, who left things in the browser's storage.
            pages.guest = pages.guest.clearing_once();
        }
        let sandbox = sandbox.serve(&self.shared.sites, "/", pages.sandbox)?;
        let guest = guest.serve(&self.shared.sites, &names.path, pages.guest)?;
        let porch = guest.beside(&names.porch_path(), pages.porch)?;
        let leases = Leases { sandbox, porch, guest };
        Ok(Mounted::new(frame, granted, names, leases))
    }

    /// Serves a frame anew under the names it has: a page was reloaded, and the document may be
    /// another version of what it was.
    ///
    /// A frame of a server in another place is refused, because the names hold the storage of this one. What
    /// is refused leaves the frame as it was.
    pub fn remount(&self, mounted: &mut Mounted, frame: Frame) -> Result<(), MountError> {
        self.check_pages(&frame.page_origins)?;
        if !mounted.is_for(&frame) {
            return Err(MountError::OtherServer);
        }
        let granted = Granted::to(&frame);
        let pages = self.pages(&frame, &granted, &mounted.names());
        mounted.replace(&frame, granted, pages);
        Ok(())
    }

    /// Serves a sandbox page without a guest, which waits for HTML as the spec words it.
    pub async fn mount_raw(&self, page: RawPage) -> Result<MountedRaw, MountError> {
        self.check_pages(&page.page_origins)?;
        let place = self.place(&naming::label()?, &page.page_origins).await?;
        let attributes = Attributes {
            host: &page.page_origins,
            porch: None,
            allow: page.permissions.to_allow(),
            relay: page.relay,
            private: page.ceiling.private(),
            title: RAW_TITLE,
        };
        let csp = Csp::raw_page(&page.ceiling, &page.page_origins);
        let body = self.shared.script.page(attributes.title, attributes.list());
        let served = ServedPage::new(&csp, &page.permissions.to_header(&[]), body.into());
        let origin = place.origin().clone();
        let lease = place.serve(&self.shared.sites, "/", served)?;
        Ok(MountedRaw::new(origin, csp, page.permissions, lease))
    }

    /// Returns how many pages are served: three for a frame, one for a raw page.
    pub fn pages_served(&self) -> usize {
        self.shared.sites.count()
    }

    /// The guest's label, and the path of its document.
    fn guest_name(&self, frame: &Frame) -> Result<(String, String), MountError> {
        let Some(domain) = &frame.domain else { return Ok((naming::label()?, "/".to_owned())) };
        let label = self.shared.key.label(frame.place.id(), domain);
        // Views that share a stable name are told apart by their paths.
        Ok((label, format!("/{}", naming::label()?)))
    }

    /// The pages of a frame: the sandbox page, the porch and the document.
    fn pages(&self, frame: &Frame, granted: &Granted, names: &Names) -> Pages {
        let pages = Pages {
            sandbox: self.sandbox_page(frame, granted, names),
            porch: self.porch_page(frame, granted, names),
            guest: Self::guest_page(frame, granted, names),
        };
        match self.shared.naming.is_nested() {
            true => pages.sharing_a_process(),
            false => pages,
        }
    }

    fn sandbox_page(&self, frame: &Frame, granted: &Granted, names: &Names) -> ServedPage {
        let attributes = Attributes {
            host: &frame.page_origins,
            porch: Some(names),
            allow: granted.permissions.to_allow(),
            relay: frame.relay,
            // Its policy is a header, made of what was granted.
            private: vec![],
            title: &frame.document.server,
        };
        let scripts = [Script::Token(self.shared.script.token())];
        let csp = Csp::sandbox_page(&scripts, &names.guest, &frame.page_origins);
        let permissions = granted.permissions.to_header(std::slice::from_ref(&names.guest));
        let body = self.shared.script.page(attributes.title, attributes.list());
        ServedPage::new(&csp, &permissions, body.into())
    }

    fn guest_page(frame: &Frame, granted: &Granted, names: &Names) -> ServedPage {
        let html = match frame.watch_errors {
            true => errors::watched(&frame.document.html),
            false => frame.document.html.clone(),
        };
        let permissions = granted.permissions.to_header(&[]);
        ServedPage::new(&granted.csp(frame, names), &permissions, html)
            .reporting(frame.reports.clone())
    }

    /// The porch has the policy of a sandbox page, which is stricter than any guest's: what a guest does in its name gets
    /// it nothing. It cannot stand in another porch: its guest is not among its ancestors.
    fn porch_page(&self, frame: &Frame, granted: &Granted, names: &Names) -> ServedPage {
        let scripts = [Script::Token(self.shared.porch.token())];
        let csp =
            Csp::sandbox_page(&scripts, &names.guest, &names.above_porch(&frame.page_origins));
        let permissions = granted.permissions.to_header(&[]);
        let list = vec![("data-guest", names.path.clone())];
        let body = self.shared.porch.page(&frame.document.server, list);
        ServedPage::new(&csp, &permissions, body.into())
    }

    /// The places of a sandbox and of its guest, which has this label where guests have names.
    async fn places(&self, label: &str, pages: &[Origin]) -> Result<(Site, Site), MountError> {
        let Shared { naming, sites, .. } = &*self.shared;
        let sandbox = match naming {
            Naming::Ports(loopback) => loopback.sandbox(sites).await.map_err(MountError::Port)?,
            _ => {
                let origin = naming.sandbox(&naming::label()?, label);
                Site::Name(origin.expect("only ports have no names"))
            }
        };
        Ok((sandbox, self.place(label, pages).await?))
    }

    /// The place of a stranger's document: a name, or an address of its own.
    async fn place(&self, label: &str, pages: &[Origin]) -> Result<Site, MountError> {
        let Shared { naming, sites, .. } = &*self.shared;
        match naming {
            Naming::Ports(loopback) => loopback.guest(sites, pages).await.map_err(MountError::Port),
            _ => Ok(Site::Name(naming.origin(label).expect("only ports have no names"))),
        }
    }

    fn check_pages(&self, origins: &[Origin]) -> Result<(), MountError> {
        if origins.is_empty() {
            return Err(MountError::NoPage);
        }
        if origins.len() > MAX_ORIGINS {
            return Err(MountError::TooManyPages(origins.len()));
        }
        if let Some(origin) = origins.iter().find(|origin| origin.host().starts_with('[')) {
            return Err(MountError::Ipv6Page(origin.clone()));
        }
        Ok(self.shared.naming.check(origins)?)
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let naming = &self.shared.naming;
        f.debug_struct("Sandbox")
            .field("naming", naming)
            .field("pages", &self.pages_served())
            .finish()
    }
}

/// Why a frame cannot be mounted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// No page may embed it.
    #[error("no page may embed the frame; name the host page's origin")]
    NoPage,
    /// More pages than fit into a header.
    #[error("{0} pages may embed the frame, limit {MAX_ORIGINS}")]
    TooManyPages(usize),
    /// A page that no policy can name.
    #[error(
        "browsers ignore an IPv6 address in a policy, so {0} cannot embed the frame; open it by name"
    )]
    Ipv6Page(Origin),
    /// A page that shares with the frames what cookies go by.
    #[error(transparent)]
    PageAmongFrames(#[from] PageAmongFrames),
    /// As many frames as there may be.
    #[error("{MAX_PAGES} pages are served already; close a view")]
    Full,
    /// The frame belongs to another server, or asks for another stable name.
    #[error("the frame's names belong to another server or domain")]
    OtherServer,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// No port can be had.
    #[error("no port for the frame: {0}; close a view, or use names instead of ports")]
    Port(std::io::Error),
}

const RAW_TITLE: &str = "View";

/// The most pages that may embed one frame.
const MAX_ORIGINS: usize = 16;

/// The most pages that are served at a time.
const MAX_PAGES: usize = 12_288;
