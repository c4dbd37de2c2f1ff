//! A CIDR network, as operators write it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A CIDR network, in its normal form: no bit is set past the prefix, and an IPv4 network is not spelt as IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is no network; the sentence says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadNetwork {
    /// The part before the slash is no address.
    Address(String),
    /// The part after the slash is no prefix length of this family.
    Prefix {
        /// What was written.
        written: String,
        /// The longest prefix of the family.
        longest: u8,
    },
    /// Bits are set past the prefix.
    HostBits {
        /// What was written.
        written: String,
        /// The network that holds it.
        network: Network,
    },
}

impl fmt::Display for BadNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(written) => write!(
                f,
                "{written:?} is not an IP address; write a network such as 10.0.0.0/8 or fd00::/8, or one address"
            ),
            Self::Prefix { written, longest } => {
                write!(f, "{written:?} is not a prefix length; write a number from 0 to {longest}")
            }
            Self::HostBits { written, network } => {
                write!(f, "{written} has bits set past its prefix; write {network}, or the address without a prefix")
            }
        }
    }
}

impl std::error::Error for BadNetwork {}

impl Network {
    /// The network that holds `address` and has this prefix length. A prefix that is too long counts as the longest.
    #[must_use]
    pub fn around(address: IpAddr, prefix: u8) -> Self {
        let (address, prefix) = unmapped(address, prefix);
        let network = match address {
            IpAddr::V4(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask_v4(prefix))),
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask_v6(prefix))),
        };
        Self { address: network, prefix: prefix.min(longest(address)) }
    }

    /// A network of a table, which is in its normal form as written (a test checks the tables).
    pub(super) const fn literal(address: IpAddr, prefix: u8) -> Self {
        Self { address, prefix }
    }

    /// The first address.
    #[must_use]
    pub const fn address(self) -> IpAddr {
        self.address
    }

    /// How many leading bits count.
    #[must_use]
    pub const fn prefix(self) -> u8 {
        self.prefix
    }

    /// Whether the address, as it is spelt, lies in this network. Of the two families neither holds the other's.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (own.to_bits() ^ other.to_bits()) & mask_v4(self.prefix) == 0,
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits()) & mask_v6(self.prefix) == 0,
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(before, after)| (before, Some(after)));
        let address: IpAddr = address.parse().map_err(|_| BadNetwork::Address(address.to_owned()))?;
        let longest = longest(address);
        let Some(written) = prefix else { return Ok(Self::around(address, longest)) };
        let length = parse_prefix(written, longest)
            .ok_or_else(|| BadNetwork::Prefix { written: written.to_owned(), longest })?;
        let network = Self::around(address, length);
        if network.address == unmapped(address, length).0 {
            Ok(network)
        } else {
            Err(BadNetwork::HostBits { written: text.to_owned(), network })
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// Digits only: `u8::from_str` would take a sign.
fn parse_prefix(written: &str, longest: u8) -> Option<u8> {
    let digits = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    written.parse().ok().filter(|length| digits && *length <= longest)
}

const fn longest(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// An IPv4 network that is spelt `::ffff:10.0.0.0/104` is 10.0.0.0/8: addresses are compared in that form.
fn unmapped(address: IpAddr, prefix: u8) -> (IpAddr, u8) {
    let IpAddr::V6(v6) = address else { return (address, prefix) };
    match v6.to_ipv4_mapped() {
        Some(v4) if prefix >= 96 => (IpAddr::V4(v4), prefix - 96),
        Some(_) | None => (address, prefix),
    }
}

fn mask_v4(prefix: u8) -> u32 {
    u32::MAX.checked_shl(32_u32.saturating_sub(prefix.into())).unwrap_or(0)
}

fn mask_v6(prefix: u8) -> u128 {
    u128::MAX.checked_shl(128_u32.saturating_sub(prefix.into())).unwrap_or(0)
}
