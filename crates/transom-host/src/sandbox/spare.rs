//! A spare: the two pages of ours that stand around a guest, served before there is a view for them.
//!
//! Browsers start a process for each site, and that takes longer than anything else in opening a view. So a page loads
//! the sandbox and the porch of the next view ahead; the porch waits, and shows its guest when it is told to.
//!
//! ```text
//! Sandbox::spare ──▶ sandbox page and waiting porch ──Sandbox::mount_in──▶ the same names, complete pages
//!                    no guest under its name                guest withheld ──Mounted::reveal──▶ guest served
//! ```

use transom::csp::{Csp, Script};
use transom::origin::Origin;
use transom::wire::ResourcePermissions;

use super::frame::{Frame, Granted, Leases, Mounted, Names};
use super::naming::Naming;
use super::page::{Attributes, ServedPage};
use super::sites::{Lease, Site};
use super::{MountError, Sandbox, naming};
use crate::relay::Relay;

/// Names for a view that is not there yet, which are served. Dropping it takes them away; no other view gets them.
#[derive(Debug)]
pub struct Spare {
    /// Where the host page's frame points.
    pub sandbox_url: String,
    names: Names,
    page_origins: Vec<Origin>,
    sandbox: Lease,
    porch: Lease,
}

impl Spare {
    /// Whether the pages that a browser has loaded are those that the frame would have: names of its own, the usual limits,
    /// and no permissions, which a page keeps as it was loaded.
    fn fits(&self, frame: &Frame, granted: &Granted) -> bool {
        frame.domain.is_none()
            && frame.relay == Relay::default()
            && granted.permissions == ResourcePermissions::default()
            && frame.page_origins == self.page_origins
    }
}

impl Sandbox {
    /// Gives the next view of a page its names ahead. There is none where frames have ports: each would hold an address.
    pub fn spare(&self, page_origins: &[Origin]) -> Result<Option<Spare>, MountError> {
        self.check_pages(page_origins)?;
        if matches!(self.shared.naming, Naming::Ports(_)) {
            return Ok(None);
        }
        let (label, below) = (naming::label()?, naming::label()?);
        let place = |origin: Option<Origin>| Site::Name(origin.expect("only ports have no names"));
        let guest = place(self.shared.naming.origin(&label));
        let sandbox = place(self.shared.naming.sandbox(&below, &label));
        let names = Names::new(&sandbox, &guest, "/".to_owned());
        let [outer, inner] = self.spare_pages(&names, page_origins);
        Ok(Some(Spare {
            sandbox_url: names.sandbox_url(),
            sandbox: sandbox.serve(&self.shared.sites, "/", outer)?,
            porch: guest.serve(&self.shared.sites, &names.porch_path(), inner)?,
            page_origins: page_origins.to_vec(),
            names,
        }))
    }

    /// Mounts a frame under the names of a spare, or under names of its own when it needs other pages than those that a
    /// browser has loaded already. Under a spare's names its document is withheld until [`Mounted::reveal`].
    pub async fn mount_in(
        &self,
        spare: Option<Spare>,
        frame: Frame,
    ) -> Result<Mounted, MountError> {
        let granted = Granted::to(&frame);
        match spare.filter(|spare| spare.fits(&frame, &granted)) {
            Some(spare) => self.fill(spare, frame, granted),
            None => self.mount(frame).await,
        }
    }

    fn fill(&self, spare: Spare, frame: Frame, granted: Granted) -> Result<Mounted, MountError> {
        let Spare { names, sandbox, porch, .. } = spare;
        let pages = self.pages(&frame, &granted, &names);
        // For whoever loads them anew: the same view on a page that is reloaded.
        sandbox.replace(pages.sandbox);
        porch.replace(pages.porch);
        let guest = porch.beside(&names.path, pages.guest.withheld())?;
        Ok(Mounted::new(frame, granted, names, Leases { sandbox, porch, guest }))
    }

    /// The sandbox page and the porch of a view of which nothing is known.
    fn spare_pages(&self, names: &Names, page_origins: &[Origin]) -> [ServedPage; 2] {
        let none = ResourcePermissions::default();
        let attributes = Attributes {
            host: page_origins,
            porch: Some(names),
            allow: none.to_allow(),
            relay: Relay::default(),
            private: vec![],
            title: super::RAW_TITLE,
        };
        let scripts = [Script::Token(self.shared.script.token())];
        let csp = Csp::sandbox_page(&scripts, &names.guest, page_origins);
        let body = self.shared.script.page(attributes.title, attributes.list());
        let header = none.to_header(std::slice::from_ref(&names.guest));
        let sandbox = ServedPage::new(&csp, &header, body.into());

        let scripts = [Script::Token(self.shared.porch.token())];
        let csp = Csp::sandbox_page(&scripts, &names.guest, &names.above_porch(page_origins));
        let list = vec![("data-guest", names.path.clone()), ("data-spare", "yes".to_owned())];
        let body = self.shared.porch.page(attributes.title, list);
        let porch = ServedPage::new(&csp, &none.to_header(&[]), body.into());
        match self.shared.naming.is_nested() {
            true => [sandbox, porch].map(ServedPage::sharing_a_process),
            false => [sandbox, porch],
        }
    }
}
