//! The question to the broker, or to a cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use kourier_core::line::escaped;
use kourier_kube::api::BindingList;
use kourier_kube::client::{self, Access, Server};
use kourier_kube::inquiry;
use rustls::{ClientConfig, RootCertStore};

use crate::admin::PROBLEMS;

/// A broker that answers has answered by then.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest answer, in bytes: that of a few ten thousand Bindings.
const MAX_ANSWER: usize = 64 << 20;

/// A host and a port, as `--admin` takes them.
pub(super) fn address(text: &str) -> Result<String, String> {
    let right = "write HOST:PORT, such as 127.0.0.1:9090 or [::1]:9090";
    if text.contains('/') {
        return Err(format!("is a URL or a path: {right}, without http:// and without a path"));
    }
    let (host, port) = text.rsplit_once(':').ok_or_else(|| format!("has no port: {right}"))?;
    if url::Host::parse(host).is_err() {
        return Err(format!("has no host that can be looked up: {right}"));
    }
    match port.parse::<u16>() {
        Ok(1..) if port.bytes().all(|byte| byte.is_ascii_digit()) => Ok(text.to_owned()),
        _ => Err(format!("has no port from 1 to 65535: {right}")),
    }
}

/// Who is asked.
pub(super) enum Asked {
    /// A running broker.
    Broker(Broker),
    /// An API server, for the Bindings of a namespace or of all.
    Cluster(Box<Server>, Option<String>),
}

impl Asked {
    /// The API server of `access`.
    ///
    /// # Errors
    ///
    /// When there is no way to it.
    pub(super) async fn cluster(access: &Access, namespace: Option<String>) -> anyhow::Result<Self> {
        Ok(Self::Cluster(Box::new(client::server(access).await?), namespace))
    }

    /// The Bindings.
    ///
    /// # Errors
    ///
    /// When nobody answers, or somebody else does.
    pub(super) async fn bindings(&self) -> anyhow::Result<Answer> {
        match self {
            Self::Broker(broker) => broker.bindings().await,
            Self::Cluster(server, namespace) => inquiry::bindings(&server.client, namespace.as_deref())
                .await
                .map(|list| Answer { list, problems: 0 })
                .with_context(|| format!("the API server at {}:{}", server.host, server.port)),
        }
    }
}

/// What is answered.
pub(super) struct Answer {
    /// The Bindings.
    pub(super) list: BindingList,
    /// How many problems the files of the broker have; 0 with a cluster.
    pub(super) problems: usize,
}

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
    pub(super) async fn bindings(&self) -> anyhow::Result<Answer> {
        let admin = &self.admin;
        let answer = self.client.get(format!("http://{admin}/bindings")).send().await.map_err(|_| {
            anyhow!(
                "no broker answers at {admin}: start one with `agent-kourier run`, or name the address of its admin \
                 port with --admin"
            )
        })?;
        if answer.status() == reqwest::StatusCode::SERVICE_UNAVAILABLE {
            let said = body(answer).await.unwrap_or_default();
            bail!("the broker at {admin} is not ready: {}", escaped(String::from_utf8_lossy(&said).trim_end()));
        }
        let answer = answer.error_for_status().with_context(|| format!("what answers at {admin} is not a broker"))?;
        let problems = answer.headers().get(PROBLEMS).and_then(|count| count.to_str().ok()?.parse().ok());
        let text = body(answer).await.with_context(|| format!("the answer of {admin} cannot be read"))?;
        let list = serde_json::from_slice(&text).with_context(|| format!("what answers at {admin} is not a broker"))?;
        Ok(Answer { list, problems: problems.unwrap_or_default() })
    }
}

async fn body(mut answer: reqwest::Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await? {
        if body.len() + part.len() > MAX_ANSWER {
            bail!("it has more than {} MiB", MAX_ANSWER >> 20);
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for text in ["127.0.0.1:9090", "[::1]:1", "localhost:65535", "kourier.team-a.svc:9090"] {
            assert_eq!(address(text).as_deref(), Ok(text));
        }
        let check = |text: &str, what: &str| {
            let right = "write HOST:PORT, such as 127.0.0.1:9090 or [::1]:9090";
            assert_eq!(address(text), Err(format!("{what}: {right}")), "{text}");
        };
        for text in ["localhost", "9090", ""] {
            check(text, "has no port");
        }
        for text in ["localhost:", "localhost:0", "localhost:65536", "localhost:+1", "localhost:x"] {
            check(text, "has no port from 1 to 65535");
        }
        for text in ["[::1]", ":9090", "a b:9090", "::1:9090", "a@b:9090"] {
            check(text, "has no host that can be looked up");
        }
        let url = address("http://127.0.0.1:9090").unwrap_err();
        assert!(url.starts_with("is a URL or a path: write HOST:PORT") && url.contains("without http://"), "{url}");
    }
}
