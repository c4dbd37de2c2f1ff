//! The network, behind the egress rules.

use futures::future::BoxFuture;
use kourier_core::egress::EgressRules;
use tokio::time::Instant;

use crate::transport::{Failure, HttpRequest, HttpResponse, Transport};

/// The one way out: resolve once, judge every answer, connect to the judged address.
pub struct Connector {}

impl Connector {
    /// A connector under these rules, which reads at most `body_limit` bytes of an answer's body.
    ///
    /// # Errors
    ///
    /// When the system's roots or the TLS library cannot be set up.
    pub fn new(_rules: EgressRules, _body_limit: usize) -> anyhow::Result<Self> {
        unimplemented!()
    }
}

impl Transport for Connector {
    fn send(&self, _request: HttpRequest, _deadline: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        unimplemented!()
    }
}
