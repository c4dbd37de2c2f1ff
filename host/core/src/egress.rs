//! Which addresses and ports may be reached.
//!
//! Denied by default: whatever is not a peer on a network of its own. Allowed by default: private ranges (10/8,
//! 172.16/12, 192.168/16, fc00::/7), because agents live there, and the carriers' shared range 100.64/10, because
//! clusters and overlay networks number pods and machines from it. An IPv6 address that carries an IPv4 address is
//! judged as that address.
//!
//! What is absent: names. The connector resolves a name once, judges every answer, and connects to a judged address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

mod network;
mod spelling;

pub use network::{BadNetwork, Network};

use spelling::carried_by;

/// What an operator adds to the default rules. The lists of denials beat everything, the lists of permissions beat
/// the default rules; an address and a port each need to pass on their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EgressRules {
    /// Networks that are allowed though a default rule denies them.
    pub allow: Vec<Network>,
    /// Networks that are denied in any case.
    pub deny: Vec<Network>,
    /// Ports that are allowed though a default rule denies them.
    pub allow_ports: Vec<u16>,
    /// Ports that are denied in any case.
    pub deny_ports: Vec<u16>,
    /// Whether loopback may be reached: for work on one machine.
    pub allow_loopback: bool,
    /// Where the API server is that the broker itself talks to: denied in any case, at this port alone.
    pub api_server: Vec<SocketAddr>,
}

/// The rule that denied an address, for logs and metric labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DenyRule {
    /// 0.0.0.0/8 and `::`.
    Unspecified,
    /// 127.0.0.0/8 and `::1`.
    Loopback,
    /// 169.254.0.0/16 and fe80::/10.
    LinkLocal,
    /// Addresses at which clouds tell machines their secrets.
    Metadata,
    /// 224.0.0.0/4 and ff00::/8.
    Multicast,
    /// 255.255.255.255.
    Broadcast,
    /// Documentation and benchmark ranges.
    Documentation,
    /// Ranges that are reserved or lead nowhere.
    Reserved,
    /// A port of the node's own management.
    Port,
    /// The API server.
    ApiServer,
    /// The operator's list.
    Operator,
}

impl DenyRule {
    /// The rule's name in logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Reserved => "reserved",
            Self::Port => "port",
            Self::ApiServer => "api-server",
            Self::Operator => "operator",
        }
    }
}

impl std::fmt::Display for DenyRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Ports that a default rule denies: 0 is no port; the kubelet (10250, 10255) and etcd (2379, 2380) answer on nodes'
/// addresses, which lie in private ranges.
const MANAGEMENT_PORTS: [u16; 5] = [0, 10250, 10255, 2379, 2380];

impl EgressRules {
    /// Judges one address and port, whatever spelling of IPv4 an IPv6 address carries.
    ///
    /// # Errors
    ///
    /// The rule that denies it.
    pub fn judge(&self, address: IpAddr, port: u16) -> Result<(), DenyRule> {
        let carried = match address {
            IpAddr::V4(_) => Vec::new(),
            IpAddr::V6(v6) => carried_by(v6),
        };
        let carried = || carried.iter().copied().map(IpAddr::V4);
        if self.deny_ports.contains(&port) || std::iter::once(address).chain(carried()).any(|one| self.denies(one)) {
            return Err(DenyRule::Operator);
        }
        if std::iter::once(address).chain(carried()).any(|one| self.api_server.contains(&SocketAddr::new(one, port))) {
            return Err(DenyRule::ApiServer);
        }
        if MANAGEMENT_PORTS.contains(&port) && !self.allow_ports.contains(&port) {
            return Err(DenyRule::Port);
        }
        if carried().next().is_none() {
            return self.judge_plain(address);
        }
        carried().try_for_each(|one| self.judge_plain(one))
    }

    fn denies(&self, address: IpAddr) -> bool {
        self.deny.iter().any(|network| network.contains(address))
    }

    fn judge_plain(&self, address: IpAddr) -> Result<(), DenyRule> {
        let Some(rule) = default_rule(address) else { return Ok(()) };
        let allowed = self.allow.iter().any(|network| network.contains(address))
            || (rule == DenyRule::Loopback && self.allow_loopback);
        if allowed { Ok(()) } else { Err(rule) }
    }
}

/// The default rule that denies this address; an IPv6 address here carries no IPv4 address.
fn default_rule(address: IpAddr) -> Option<DenyRule> {
    match address {
        IpAddr::V4(v4) => DENIED_V4.iter().find(|(network, _)| network.contains(v4.into())).map(|(_, rule)| *rule),
        IpAddr::V6(v6) => default_rule_v6(v6),
    }
}

fn default_rule_v6(address: Ipv6Addr) -> Option<DenyRule> {
    let listed = DENIED_V6.iter().find(|(network, _)| network.contains(address.into())).map(|(_, rule)| *rule);
    let numbered = PEERS_V6.iter().any(|network| network.contains(address.into()));
    listed.or(if numbered { None } else { Some(DenyRule::Reserved) })
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Network {
    Network::literal(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix)
}

const fn v6(head: [u16; 3], tail: u16, prefix: u8) -> Network {
    let [a, b, c] = head;
    Network::literal(IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, tail)), prefix)
}

/// What is denied of IPv4; the first that contains an address is the rule.
const DENIED_V4: [(Network, DenyRule); 17] = [
    (v4(0, 0, 0, 0, 8), DenyRule::Unspecified),
    (v4(127, 0, 0, 0, 8), DenyRule::Loopback),
    (v4(169, 254, 169, 254, 32), DenyRule::Metadata), // most clouds
    (v4(169, 254, 170, 2, 32), DenyRule::Metadata),   // AWS tasks
    (v4(169, 254, 170, 23, 32), DenyRule::Metadata),  // AWS pod identities
    (v4(100, 100, 100, 200, 32), DenyRule::Metadata), // Alibaba
    (v4(168, 63, 129, 16, 32), DenyRule::Metadata),   // Azure's wire server
    (v4(192, 0, 0, 192, 32), DenyRule::Metadata),     // Oracle, older shapes
    (v4(169, 254, 0, 0, 16), DenyRule::LinkLocal),
    (v4(224, 0, 0, 0, 4), DenyRule::Multicast),
    (v4(255, 255, 255, 255, 32), DenyRule::Broadcast),
    (v4(192, 0, 2, 0, 24), DenyRule::Documentation),
    (v4(198, 51, 100, 0, 24), DenyRule::Documentation),
    (v4(203, 0, 113, 0, 24), DenyRule::Documentation),
    (v4(198, 18, 0, 0, 15), DenyRule::Documentation), // benchmarks
    (v4(192, 0, 0, 0, 24), DenyRule::Reserved),
    (v4(240, 0, 0, 0, 4), DenyRule::Reserved),
];

/// What is denied of IPv6; the first that contains an address is the rule.
const DENIED_V6: [(Network, DenyRule); 13] = [
    (v6([0, 0, 0], 0, 128), DenyRule::Unspecified),
    (v6([0, 0, 0], 1, 128), DenyRule::Loopback),
    (v6([0xfd00, 0x0ec2, 0], 0x254, 128), DenyRule::Metadata), // AWS
    (v6([0xfd00, 0x0ec2, 0], 0x23, 128), DenyRule::Metadata),  // AWS pod identities
    (v6([0xfd20, 0x00ce, 0], 0x254, 128), DenyRule::Metadata), // Google
    (v6([0xfd00, 0x0042, 0], 0x42, 128), DenyRule::Metadata),  // Scaleway
    (v6([0xfe80, 0, 0], 0, 10), DenyRule::LinkLocal),
    (v6([0xff00, 0, 0], 0, 8), DenyRule::Multicast),
    (v6([0x2001, 0x0db8, 0], 0, 32), DenyRule::Documentation),
    (v6([0x3fff, 0, 0], 0, 20), DenyRule::Documentation),
    (v6([0x2001, 0x0002, 0], 0, 48), DenyRule::Documentation), // benchmarks
    (v6([0x2001, 0x0010, 0], 0, 28), DenyRule::Reserved),      // hashes of keys, not addresses
    (v6([0x2001, 0x0020, 0], 0, 28), DenyRule::Reserved),      // the same, second version
];

/// From where peers have their IPv6 addresses: global unicast and unique local. All else is reserved.
const PEERS_V6: [Network; 2] = [v6([0x2000, 0, 0], 0, 3), v6([0xfc00, 0, 0], 0, 7)];

#[cfg(test)]
mod tests;
