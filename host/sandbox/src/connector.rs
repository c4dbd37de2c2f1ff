//! The network, behind the egress rules.

mod client;
mod exchange;
mod lookup;
mod trust;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use kourier_core::egress::EgressRules;
use reqwest::Client;
use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};

use crate::transport::{Failure, HttpRequest, HttpResponse, Method, Transport, Trust};
use client::{Connections, client};
use exchange::{Broken, exchange};
use lookup::{has_way, with_a_way};

pub use lookup::Lookup;
pub use trust::check_certificates;

/// The one way out: resolve once, judge every answer, connect to the judged address.
///
/// A name is looked up for each new connection, and all of its addresses are judged: one that is denied denies the
/// name. A literal address is judged before anything is sent. Connections are kept for the next request of a pass and
/// closed when the pass ends.
pub struct Connector {
    rules: Arc<EgressRules>,
    lookup: Lookup,
    body_limit: usize,
    system: ClientConfig,
    clients: Mutex<HashMap<Route, Client>>,
}

/// What one client, and with it a pool of connections, is for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Route {
    trust: Trust,
    absolute_name: bool,
    /// A client's resolver is told a name without a port, and the rules judge both.
    port: u16,
}

impl Connector {
    /// A connector under these rules, which reads at most `body_limit` bytes of an answer's body.
    ///
    /// # Errors
    ///
    /// When the system's roots or the TLS library cannot be set up.
    pub fn new(rules: EgressRules, body_limit: usize) -> anyhow::Result<Self> {
        Self::with_lookup(rules, body_limit, Lookup::system())
    }

    /// A connector that looks names up in this way.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn with_lookup(rules: EgressRules, body_limit: usize, lookup: Lookup) -> anyhow::Result<Self> {
        Ok(Self { rules: Arc::new(rules), lookup, body_limit, system: trust::system()?, clients: Mutex::default() })
    }

    async fn attempt(&self, request: &HttpRequest) -> Result<HttpResponse, Failure> {
        let Some(port) = request.url.port_or_known_default().filter(|port| *port != 0) else {
            return Err(Failure::Unreachable("the URL has no port that can be reached".to_owned()));
        };
        if let Some(address) = literal(request) {
            self.rules.judge(address, port).map_err(Failure::Denied)?;
            with_a_way([SocketAddr::new(address, port)].into_iter(), has_way)
                .map_err(|no_way| Failure::Unreachable(no_way.to_string()))?;
        }
        let route = Route { trust: request.trust.clone(), absolute_name: request.absolute_name, port };
        let kept = self.kept(&route)?;
        match exchange(&kept, request, self.body_limit).await {
            // The peer closed a kept connection in the moment in which it was used again: it never saw the request.
            Err(Broken::ReusedConnection(_)) if request.method == Method::Get => {
                let fresh = self.make(&route, Connections::Once)?;
                exchange(&fresh, request, self.body_limit).await.map_err(Broken::into_failure)
            }
            answer => answer.map_err(Broken::into_failure),
        }
    }

    /// The client of a route, made when there is none. Making one does no IO.
    fn kept(&self, route: &Route) -> Result<Client, Failure> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(route) {
            return Ok(client.clone());
        }
        let client = self.make(route, Connections::Kept)?;
        clients.insert(route.clone(), client.clone());
        Ok(client)
    }

    fn make(&self, route: &Route, connections: Connections) -> Result<Client, Failure> {
        let tls = match &route.trust {
            Trust::System => self.system.clone(),
            Trust::Only(certificates) => trust::only(certificates)
                .map_err(|problem| Failure::Unreachable(format!("the CA bundle cannot be used: {problem}")))?,
        };
        let gate = lookup::Gate {
            rules: Arc::clone(&self.rules),
            lookup: self.lookup.clone(),
            port: route.port,
            absolute_name: route.absolute_name,
        };
        client(tls, gate, connections).map_err(|error| Failure::Host(exchange::chain(&error)))
    }
}

impl Transport for Connector {
    fn send(&self, request: HttpRequest, deadline: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        Box::pin(async move { timeout_at(deadline, self.attempt(&request)).await.unwrap_or(Err(Failure::TimedOut)) })
    }

    fn rest(&self) {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The address that stands in a URL, whatever its spelling was.
fn literal(request: &HttpRequest) -> Option<std::net::IpAddr> {
    match request.url.host()? {
        url::Host::Domain(_) => None,
        url::Host::Ipv4(address) => Some(address.into()),
        url::Host::Ipv6(address) => Some(address.into()),
    }
}
