//! A pair of neighbouring ports on loopback, for the page and for the sandbox.

use std::io;

use anyhow::{Result, bail};
use axum::Router;
use tokio::net::TcpListener;

/// One port on both loopback addresses.
pub(crate) struct Both {
    pub(crate) port: u16,
    pub(crate) listeners: Vec<TcpListener>,
}

/// Serves on both addresses, for as long as the runtime lives.
pub(crate) fn serve(both: Both, router: &Router) {
    for listener in both.listeners {
        let router = router.clone();
        tokio::spawn(transom_host::serve(listener, router));
    }
}

/// The wanted port, or the next free one.
pub(crate) async fn one(wanted: u16) -> Result<Both> {
    for port in (wanted..=u16::MAX).take(PAIRS) {
        if let Ok(both) = both(port).await {
            return Ok(both);
        }
    }
    bail!("no free port from {wanted} on; choose another")
}

/// The wanted pair, or the next free one.
pub(crate) async fn pair(wanted: u16) -> Result<(Both, Both)> {
    let mut port = wanted;
    for _ in 0..PAIRS {
        let Some(next) = port.checked_add(1) else { break };
        if let (Ok(page), Ok(sandbox)) = (both(port).await, both(next).await) {
            return Ok((page, sandbox));
        }
        port = port.saturating_add(2);
    }
    bail!("no free pair of ports from {wanted} on; choose another with --port")
}

/// A port counts as free only when both addresses are: who holds one of them would get half of our
/// visitors.
pub(crate) async fn both(port: u16) -> io::Result<Both> {
    let four = TcpListener::bind(("127.0.0.1", port)).await?;
    match TcpListener::bind(("::1", port)).await {
        Ok(six) => Ok(Both { port, listeners: vec![four, six] }),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        // A machine without IPv6.
        Err(_) => Ok(Both { port, listeners: vec![four] }),
    }
}

const PAIRS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_busy_port_means_the_next_pair() {
        let (first, _) = pair(17_420).await.unwrap();
        let (second, sandbox) = pair(first.port).await.unwrap();
        assert!(second.port >= first.port + 2);
        assert_eq!(sandbox.port, second.port + 1);
    }
}
