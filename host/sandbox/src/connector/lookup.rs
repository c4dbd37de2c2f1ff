//! From a name to addresses that may be reached.

use std::io;
use std::net::{IpAddr, SocketAddr};
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
            let addresses: Vec<_> = addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
