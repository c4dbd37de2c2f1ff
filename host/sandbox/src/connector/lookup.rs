//! From a name to addresses that may be reached.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use kourier_core::egress::{DenyRule, EgressRules};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// A resolver that needs longer is as good as none: it leaves time for the request.
const TIME: Duration = Duration::from_secs(2);
/// Addresses of one name that are looked at. A name with more is refused, so that none goes unjudged.
const ADDRESSES: usize = 64;

/// How a name becomes addresses.
#[derive(Clone)]
pub struct Lookup(Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>);

impl Lookup {
    /// The system's resolver, with its hosts file and search domains.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|name| {
            Box::pin(async move {
                let found = tokio::net::lookup_host((name, 0)).await?;
                Ok(found.map(|address| address.ip()).collect())
            })
        })
    }

    /// Another way, for tests. The function is given a name, with a dot at its end when it is absolute.
    pub fn new(
        look_up: impl Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(look_up))
    }
}

/// The rules denied an address of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("egress denied: {}", .0.as_str())]
pub(super) struct Denied(pub(super) DenyRule);

/// Looks names up for one route, and judges what comes.
pub(super) struct Gate {
    pub(super) rules: Arc<EgressRules>,
    pub(super) lookup: Lookup,
    pub(super) port: u16,
    pub(super) absolute_name: bool,
}

impl Resolve for Gate {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str();
        let name = if self.absolute_name && !name.ends_with('.') { format!("{name}.") } else { name.to_owned() };
        let (rules, port, found) = (Arc::clone(&self.rules), self.port, self.lookup.0(name));
        Box::pin(async move {
            let timed_out = |_| io::Error::new(io::ErrorKind::TimedOut, "the name was not resolved in time");
            let addresses = tokio::time::timeout(TIME, found).await.map_err(timed_out)??;
            if addresses.is_empty() || addresses.len() > ADDRESSES {
                return Err(format!("the name has {} addresses", addresses.len()).into());
            }
            for address in &addresses {
                rules.judge(*address, port).map_err(Denied)?;
            }
            let addresses = with_a_way(addresses.into_iter().map(|address| SocketAddr::new(address, port)), has_way)?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// This machine has no way to any address of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this machine has no way to an address of the peer")]
pub(super) struct NoWay;

/// Those addresses to which there is a way. To try the others would end in an error that says that this machine lacks
/// something, and hide what became of the rest.
///
/// # Errors
///
/// When there is none.
pub(super) fn with_a_way(
    addresses: impl Iterator<Item = SocketAddr>,
    has_way: impl Fn(SocketAddr) -> bool,
) -> Result<Vec<SocketAddr>, NoWay> {
    let addresses: Vec<_> = addresses.filter(|address| has_way(*address)).collect();
    if addresses.is_empty() { Err(NoWay) } else { Ok(addresses) }
}

/// Whether the kernel knows a route to this address and an address to send from. A machine without IPv6 does not: error
/// 97, 99 or 101, as it is compiled or configured. Nothing is sent.
pub(super) fn has_way(address: SocketAddr) -> bool {
    const NO_WAY: [i32; 3] = [97, 99, 101];
    let any: IpAddr = if address.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
    let tried = UdpSocket::bind((any, 0)).and_then(|socket| socket.connect(address));
    !tried.is_err_and(|error| error.raw_os_error().is_some_and(|number| NO_WAY.contains(&number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_way_is_left_out_and_a_peer_without_another_is_unreachable() {
        let (v4, v6): (SocketAddr, SocketAddr) =
            ("192.0.2.1:443".parse().unwrap(), "[2001:db8::1]:443".parse().unwrap());
        assert_eq!(with_a_way([v6, v4].into_iter(), |_| true), Ok(vec![v6, v4]));
        assert_eq!(with_a_way([v6, v4].into_iter(), |address| address.is_ipv4()), Ok(vec![v4]));
        assert_eq!(with_a_way([v6].into_iter(), |address| address.is_ipv4()), Err(NoWay));
    }

    #[test]
    fn every_machine_has_a_way_to_itself() {
        assert!(has_way("127.0.0.1:443".parse().unwrap()));
    }
}
