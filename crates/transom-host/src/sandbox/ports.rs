//! One port for each name, where names below `localhost` do not resolve.
//!
//! Cookies know hosts and no ports. So each guest has a loopback address of its own, which no other program
//! uses: neither the page, nor another view, nor another program of this machine at 127.0.0.1.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use transom::origin::Origin;

use super::answer;
use super::sites::{Site, Sites};

/// Loopback addresses for frames, on a machine that has enough of them.
///
/// Sandbox pages share one, so that the host page can name it in its policy: they are ours, and keep no
/// cookies. Each guest gets one that is drawn for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loopback {
    sandbox: Ipv4Addr,
}

impl Loopback {
    /// Draws the address of the sandbox pages, and tries whether this machine has it. Linux and Windows
    /// have all of 127.0.0.0/8; macOS has 127.0.0.1 alone, which every program uses.
    pub fn find() -> Result<Self, NoLoopback> {
        let sandbox = draw().map_err(NoLoopback)?;
        std::net::TcpListener::bind((sandbox, 0)).map_err(NoLoopback)?;
        Ok(Self { sandbox })
    }

    /// Returns where sandbox pages are, as a source of the host page's policy.
    pub(crate) fn source(&self) -> String {
        format!("http://{}:*", self.sandbox)
    }

    /// Tells whether a program listens at the address of the sandbox pages.
    pub(super) fn is_at(&self, host: &str) -> bool {
        self.sandbox.to_string() == host
    }

    /// Binds a port for a sandbox page that no other had before.
    pub(super) async fn sandbox(&self, sites: &Sites) -> io::Result<Site> {
        bind(|| Ok(self.sandbox), |_, port| sites.take_port(port)).await
    }

    /// Binds a port at an address that no guest had before, and that is not a page's.
    pub(super) async fn guest(&self, sites: &Sites, pages: &[Origin]) -> io::Result<Site> {
        let is_page = |host: &str| pages.iter().any(|page| page.host() == host);
        bind(draw, |address, _| {
            let host = address.to_string();
            !self.is_at(&host) && !is_page(&host) && sites.take_address(address)
        })
        .await
    }
}

/// Frames cannot have addresses of their own.
#[derive(Debug, thiserror::Error)]
#[error(
    "this machine has no loopback address for frames beside 127.0.0.1 ({0}), where a view would share cookies \
     with every other program; use names below localhost, or a domain for frames"
)]
pub struct NoLoopback(#[source] io::Error);

/// Draws from 127.0.0.0/8 without 127.0.0.0/16, where machines keep addresses for purposes of their own.
fn draw() -> io::Result<Ipv4Addr> {
    let mut bytes = [0; 3];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let inner = |byte: u8| 1 + byte % 254;
    Ok(Ipv4Addr::new(127, inner(bytes[0]), bytes[1], inner(bytes[2])))
}

async fn bind(
    mut address: impl FnMut() -> io::Result<Ipv4Addr>,
    mut take: impl FnMut(Ipv4Addr, u16) -> bool,
) -> io::Result<Site> {
    // Held until the end, so that the system does not offer them again.
    let mut refused = Vec::new();
    while refused.len() < MAX_TRIES {
        let address = address()?;
        let listener = TcpListener::bind((address, 0)).await?;
        let port = listener.local_addr()?.port();
        match Origin::parse(&format!("http://{address}:{port}")) {
            Ok(origin) if take(address, port) => return Ok(Site::Port(origin, listener)),
            _ => refused.push(listener),
        }
    }
    Err(io::Error::other("every port that the system offers had a frame before"))
}

/// Serves one name on its listener until the returned end is dropped.
pub(super) fn serve(listener: TcpListener, sites: Arc<Sites>, name: String) -> oneshot::Sender<()> {
    let (end, ended) = oneshot::channel::<()>();
    let router = answer::router(sites, Some(name));
    tokio::spawn(async move {
        // A name that has ended gives no answer.
        tokio::select! {
            () = crate::serve(listener, router) => {}
            _ = ended => {}
        }
    });
    end
}

const MAX_TRIES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_drawn_where_nobody_else_lives() {
        for _ in 0..10_000 {
            let address = draw().unwrap();
            let [first, second, _, last] = address.octets();
            assert!(address.is_loopback() && first == 127 && second != 0, "{address}");
            assert!(!matches!(last, 0 | 255), "{address}");
        }
    }
}
