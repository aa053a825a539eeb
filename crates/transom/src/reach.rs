//! How near a host is, as far as its name tells.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::Host;

/// Where a host is, as far as what it is called tells.
///
/// This is the one judgement of what is private: policies, findings and warnings all ask here. A public
/// name whose owner lets it resolve to a private address is [`Reach::Public`]: only the browser looks
/// names up, and no policy that a host can send judges what it finds.
///
/// ```
/// use transom::policy::Reach;
/// assert_eq!(Reach::of("0x7f.1"), Reach::Machine);
/// assert_eq!(Reach::of("169.254.169.254"), Reach::Network);
/// assert_eq!(Reach::of("printer.local."), Reach::Network);
/// assert_eq!(Reach::of("api.example.com"), Reach::Public);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// This machine.
    Machine,
    /// A network that this machine is in, or whatever else is not on the public internet.
    Network,
    /// The public internet.
    Public,
}

impl Reach {
    /// Judges a host in any spelling that a browser reads; what is no host is not public.
    pub fn of(host: &str) -> Self {
        match Host::parse(host) {
            Ok(Host::Domain(name)) => of_name(name.strip_suffix('.').unwrap_or(&name)),
            Ok(Host::Ipv4(address)) => of_ipv4(address),
            Ok(Host::Ipv6(address)) => of_ipv6(address),
            Err(_) => Self::Network,
        }
    }

    /// Whether it is not on the public internet.
    pub fn is_private(self) -> bool {
        self != Self::Public
    }
}

fn of_name(name: &str) -> Reach {
    let under = |suffix: &&str| {
        name.strip_suffix(*suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if MACHINE.iter().any(under) {
        return Reach::Machine;
    }
    // A name without a dot is found in the search list of this network, or not at all.
    if !name.contains('.') || NETWORK.iter().any(under) {
        return Reach::Network;
    }
    Reach::Public
}

fn of_ipv4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        // Linux and macOS connect 0.0.0.0 to themselves.
        [0 | 127, ..] => Reach::Machine,
        [10, ..]
        | [100, 64..=127, ..]
        | [169, 254, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [192, 0, 0 | 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [198, 18..=19, ..]
        | [224..=255, ..] => Reach::Network,
        _ => Reach::Public,
    }
}

fn of_ipv6(address: Ipv6Addr) -> Reach {
    let within = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        of_ipv4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Reach::Machine,
        // An IPv4 address: mapped, compatible, translated, and in a 6to4 network.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => within(high, low),
        // Of this network, for documents, or an IPv4 address behind Teredo that cannot be told from outside.
        [0xfc00..=0xfdff | 0xfe80..=0xffff, ..]
        | [0x64, 0xff9b, 1, ..]
        | [0x100, 0, 0, 0, ..]
        | [0x2001, 0 | 0xdb8, ..] => Reach::Network,
        _ => Reach::Public,
    }
}

/// Names of this machine, and what stands below them.
const MACHINE: [&str; 2] = ["localhost", "localdomain"];

/// Names that no public server answers for, and what stands below them: RFC 6762 with its appendix G, RFC
/// 8375, ICANN's `internal`, and what routers and companies use all the same.
const NETWORK: [&str; 8] =
    ["local", "internal", "home.arpa", "lan", "home", "corp", "private", "intranet"];
