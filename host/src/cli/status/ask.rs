//! The question to the broker.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use rustls::{ClientConfig, RootCertStore};

use kourier_kube::api::BindingList;

/// A broker that answers has answered by then.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A running broker.
pub(super) struct Broker {
    admin: String,
    client: reqwest::Client,
}

impl Broker {
    /// The broker whose admin port is at this address.
    pub(super) fn new(admin: &str) -> anyhow::Result<Self> {
        // The admin port speaks plain HTTP. The client wants a TLS library all the same: one that trusts nobody.
        let tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let client = reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().timeout(TIMEOUT).build()?;
        Ok(Self { admin: admin.to_owned(), client })
    }

    /// All Bindings.
    ///
    /// # Errors
    ///
    /// When nobody answers, or somebody else does.
    pub(super) async fn bindings(&self) -> anyhow::Result<BindingList> {
        let admin = &self.admin;
        let answer = self.client.get(format!("http://{admin}/bindings")).send().await.map_err(|_| {
            anyhow!(
                "no broker answers at {admin}: start one with `agent-kourier run`, or name the address of its admin \
                 port with --admin"
            )
        })?;
        if answer.status() == reqwest::StatusCode::SERVICE_UNAVAILABLE {
            bail!("the broker at {admin} has not read its configuration yet: ask again in a moment");
        }
        let body = answer.error_for_status().with_context(|| format!("what answers at {admin} is not a broker"))?;
        let text = body.bytes().await.with_context(|| format!("the answer of {admin} was cut off"))?;
        serde_json::from_slice(&text).with_context(|| format!("what answers at {admin} is not a broker"))
    }
}
