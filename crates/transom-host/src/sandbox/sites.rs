//! The pages that are served, by name and path.

use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, RwLock};

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use transom::origin::Origin;

use super::page::ServedPage;
use super::{MAX_PAGES, MountError, ports};

/// All names, as a browser writes them in `Host`, and their pages by path.
#[derive(Debug, Default)]
pub(super) struct Sites {
    names: RwLock<HashMap<String, HashMap<String, Arc<ServedPage>>>>,
    /// Ports that a frame had once. None gets one again: the browser may remember things.
    ports: Mutex<HashSet<u16>>,
    /// Addresses that a guest had once.
    addresses: Mutex<HashSet<Ipv4Addr>>,
}

/// What is known of a name and a path.
pub(super) enum Found {
    NoSuchName,
    NoSuchPath,
    Page(Arc<ServedPage>),
}

impl Sites {
    pub(super) fn find(&self, name: &str, path: &str) -> Found {
        let names = self.names.read().expect(UNPOISONED);
        let Some(paths) = names.get(name) else { return Found::NoSuchName };
        paths.get(path).cloned().map_or(Found::NoSuchPath, Found::Page)
    }

    pub(super) fn count(&self) -> usize {
        self.names.read().expect(UNPOISONED).values().map(HashMap::len).sum()
    }

    /// Tells whether a port is new, and takes it.
    pub(super) fn take_port(&self, port: u16) -> bool {
        self.ports.lock().expect(UNPOISONED).insert(port)
    }

    /// Tells whether an address is new, and takes it.
    pub(super) fn take_address(&self, address: Ipv4Addr) -> bool {
        self.addresses.lock().expect(UNPOISONED).insert(address)
    }

    fn add(&self, name: &str, path: &str, page: ServedPage) -> Result<(), MountError> {
        let mut names = self.names.write().expect(UNPOISONED);
        if names.values().map(HashMap::len).sum::<usize>() >= MAX_PAGES {
            return Err(MountError::Full);
        }
        names.entry(name.to_owned()).or_default().insert(path.to_owned(), Arc::new(page));
        Ok(())
    }

    fn replace(&self, name: &str, path: &str, page: ServedPage) {
        let mut names = self.names.write().expect(UNPOISONED);
        if let Some(place) = names.get_mut(name).and_then(|paths| paths.get_mut(path)) {
            // What no browser was told to clear yet is still to be cleared.
            let page = if place.clears() { page.clearing_once() } else { page };
            let page = if place.is_withheld() { page.withheld() } else { page };
            *place = Arc::new(page);
        }
    }

    fn reveal(&self, name: &str, path: &str) {
        if let Found::Page(page) = self.find(name, path) {
            page.reveal();
        }
    }

    fn remove(&self, name: &str, path: &str) {
        let mut names = self.names.write().expect(UNPOISONED);
        let Some(paths) = names.get_mut(name) else { return };
        paths.remove(path);
        if paths.is_empty() {
            names.remove(name);
        }
    }
}

/// Where a page will be: a name of the shared listener, or a listener of its own.
pub(super) enum Site {
    Name(Origin),
    Port(Origin, TcpListener),
}

impl Site {
    pub(super) fn origin(&self) -> &Origin {
        match self {
            Self::Name(origin) | Self::Port(origin, _) => origin,
        }
    }

    pub(super) fn is_port(&self) -> bool {
        matches!(self, Self::Port(..))
    }

    /// Serves a page there, for as long as the lease is held.
    pub(super) fn serve(
        self,
        sites: &Arc<Sites>,
        path: &str,
        page: ServedPage,
    ) -> Result<Lease, MountError> {
        let name = name(self.origin());
        sites.add(&name, path, page)?;
        let listener = match self {
            Self::Name(_) => None,
            Self::Port(_, listener) => Some(ports::serve(listener, sites.clone(), name.clone())),
        };
        Ok(Lease { sites: sites.clone(), name, path: path.to_owned(), listener })
    }
}

/// A right to a name and a path, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    sites: Arc<Sites>,
    name: String,
    path: String,
    /// Dropping it ends the listener.
    listener: Option<oneshot::Sender<()>>,
}

impl Lease {
    pub(super) fn is_port(&self) -> bool {
        self.listener.is_some()
    }

    /// Serves another page under the same name.
    pub(super) fn beside(&self, path: &str, page: ServedPage) -> Result<Self, MountError> {
        let (sites, name) = (self.sites.clone(), self.name.clone());
        sites.add(&name, path, page)?;
        Ok(Self { sites, name, path: path.to_owned(), listener: None })
    }

    /// Serves the page if it was withheld.
    pub(super) fn reveal(&self) {
        self.sites.reveal(&self.name, &self.path);
    }

    pub(super) fn replace(&self, page: ServedPage) {
        self.sites.replace(&self.name, &self.path, page);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.sites.remove(&self.name, &self.path);
    }
}

/// An origin as it stands in `Host`.
fn name(origin: &Origin) -> String {
    match origin.port() {
        Some(port) => format!("{}:{port}", origin.host()),
        None => origin.host().to_owned(),
    }
}

const UNPOISONED: &str = "nothing panics while it holds the names";
