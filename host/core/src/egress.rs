//! Which addresses and ports may be reached.
//!
//! Denied by default: whatever is not a peer on a network of its own. Allowed by default: private ranges, because
//! agents live there.

use std::net::IpAddr;

/// What an operator adds to the default rules.
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
}

/// A CIDR network, in its normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    /// The network's first address.
    pub address: IpAddr,
    /// How many leading bits count.
    pub prefix: u8,
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
            Self::Operator => "operator",
        }
    }
}

impl EgressRules {
    /// Judges one address and port, whatever spelling of IPv4 an IPv6 address carries.
    ///
    /// # Errors
    ///
    /// The rule that denies it.
    pub fn judge(&self, _address: IpAddr, _port: u16) -> Result<(), DenyRule> {
        unimplemented!()
    }
}
