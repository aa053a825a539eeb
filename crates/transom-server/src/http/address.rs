//! Addresses of a backend: looked up once for a connection, all of them judged, and connected to as they were judged.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use transom::csp::Reach;
use url::{Host, Url};

use crate::render::BoxFuture;

/// Which addresses a backend's name may lead to (FSE-7).
///
/// An address may be as near as the name says, and no nearer: a public name that resolves to this machine or its
/// network is an attempt to reach what the author did not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Near {
    named: Reach,
    /// The author says that the name leads into a private network.
    private: bool,
}

impl Near {
    pub(crate) fn of(url: &Url, private: bool) -> Self {
        let named = url.host_str().map_or(Reach::Public, Reach::of);
        Self { named, private }
    }

    pub(crate) fn allows(self, address: IpAddr) -> bool {
        match Reach::of(&host_of(address)) {
            Reach::Public => self.named != Reach::Machine,
            reach => reach == self.named || (self.private && reach == Reach::Network),
        }
    }
}

/// Looks a name up. The system does; tests answer by themselves.
pub(crate) type Lookup =
    Arc<dyn Fn(String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> + Send + Sync>;

pub(crate) fn system() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// What reqwest asks. It connects to the addresses in the answer and to no others, so that no name server can answer differently in
/// between (ATK-44).
pub(crate) struct Judged {
    pub(crate) near: Near,
    pub(crate) lookup: Lookup,
}

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let near = self.near;
        let found = (self.lookup)(name.as_str().to_owned());
        Box::pin(async move {
            let found = found.await?;
            // One address that is not allowed spoils them all: it shows that the name is not what it was taken for.
            if found.is_empty() || !found.iter().all(|&address| near.allows(address)) {
                return Err("the name leads to an address that is not allowed".into());
            }
            let found = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(found) as Addrs)
        })
    }
}

/// A host as an address writes it: IPv6 stands in brackets there.
fn host_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => Host::<String>::Ipv4(address).to_string(),
        IpAddr::V6(address) => Host::<String>::Ipv6(address).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn near(url: &str) -> Near {
        Near::of(&Url::parse(url).expect("it is one"), false)
    }

    // ATK-45, FSE-7: what a public name may not resolve to.
    #[test]
    fn atk_45_a_public_name_leads_to_public_addresses_alone() {
        let private = [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "198.51.100.7",
            "203.0.113.9",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:db8::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
        ];
        for address in private {
            assert!(
                !near("https://api.example.com").allows(address.parse().expect(address)),
                "{address}"
            );
        }
        for address in [
            "93.184.216.34",
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
        ] {
            assert!(
                near("https://api.example.com").allows(address.parse().expect(address)),
                "{address}"
            );
        }
    }

    // ATK-45: every spelling of this machine is this machine, and an author who names it means it.
    #[test]
    fn what_the_author_names_is_what_may_be_reached() {
        let machine: IpAddr = "127.0.0.1".parse().expect("it is one");
        let network: IpAddr = "10.1.2.3".parse().expect("it is one");
        for url in [
            "http://127.0.0.1:8080",
            "http://2130706433",
            "http://0x7f.1",
            "http://127.1",
            "http://0177.0.0.1",
            "http://localhost",
            "http://localhost.",
            "http://\u{ff11}27.0.0.1",
            "http://[::1]:1",
        ] {
            assert!(near(url).allows(machine), "{url}");
            assert!(!near(url).allows(network), "{url}");
            assert!(!near(url).allows("1.1.1.1".parse().expect("it is one")), "{url}");
        }
        assert!(
            near("http://backend").allows(network),
            "a name without a dot is one of this network"
        );
        assert!(!near("http://backend").allows(machine));
        let private = Near::of(&Url::parse("https://api.example.com").expect("it is one"), true);
        assert!(private.allows(network) && !private.allows(machine));
    }

    // ATK-44: a resolver that answers differently the second time is asked once for a connection, and judged each time.
    #[tokio::test]
    async fn atk_44_what_was_judged_is_what_is_connected_to() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let lookup: Lookup = Arc::new(move |_| {
            let first = count.fetch_add(1, Ordering::SeqCst) == 0;
            let answer = if first { ["1.1.1.1", "1.0.0.1"] } else { ["1.1.1.1", "127.0.0.1"] };
            Box::pin(async move {
                Ok(answer.map(|address| address.parse().expect("it is one")).to_vec())
            })
        });
        let judged = Judged { near: near("https://rebind.example.com"), lookup };
        let name = || "rebind.example.com".parse().expect("it is a name");
        let first: Vec<_> = judged
            .resolve(name())
            .await
            .expect("it is public")
            .map(|found| found.ip().to_string())
            .collect();
        assert_eq!(first, ["1.1.1.1", "1.0.0.1"]);
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert!(judged.resolve(name()).await.is_err(), "one loopback address spoils the answer");
    }
}
