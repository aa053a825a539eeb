//! One port for each name, where names below `localhost` do not resolve.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use transom::origin::Origin;

use super::answer;
use super::sites::{Place, Sites};

/// Binds a port of the loopback that no frame had before.
///
/// The host is an address: the host page is at `localhost`, so that its cookies are not sent here.
pub(super) async fn bind(sites: &Sites) -> io::Result<Place> {
    // Held until the end, so that the system does not offer them again.
    let mut refused = Vec::new();
    while refused.len() < MAX_TRIES {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let origin = Origin::parse(&format!("http://{}:{port}", Ipv4Addr::LOCALHOST));
        match origin {
            Ok(origin) if sites.take_port(port) => return Ok(Place::Port(origin, listener)),
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
        // Nobody needs an answer of a name that has ended.
        tokio::select! {
            () = crate::serve(listener, router) => {}
            _ = ended => {}
        }
    });
    end
}

const MAX_TRIES: usize = 64;
