//! Certificates that servers of tests show, good ones and bad ones.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

/// An authority that signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn new(name: &str) -> anyhow::Result<Self> {
        Ok(Self(CertifiedIssuer::self_signed(authority_params(name), KeyPair::generate()?)?))
    }

    /// One that this one signed: it may sign too.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn below(&self, name: &str) -> anyhow::Result<Self> {
        Ok(Self(CertifiedIssuer::signed_by(authority_params(name), KeyPair::generate()?, &self.0)?))
    }

    /// Its certificate in PEM: whoever trusts it trusts what it signed.
    #[must_use]
    pub fn pem(&self) -> String {
        self.0.as_ref().pem()
    }

    /// Its certificate.
    #[must_use]
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.0.as_ref().der().clone()
    }

    /// Signs a certificate.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn issue(&self, params: &CertificateParams) -> anyhow::Result<Identity> {
        let key = KeyPair::generate()?;
        Ok(Identity::of(&params.signed_by(&key, &self.0)?, key))
    }
}

/// A certificate with its key, and what is sent along with it.
pub struct Identity {
    /// The certificate in PEM.
    pub pem: String,
    /// What is shown, the certificate first.
    pub chain: Vec<CertificateDer<'static>>,
    key: KeyPair,
}

impl Identity {
    /// A certificate that signs itself.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn own(params: &CertificateParams) -> anyhow::Result<Self> {
        let key = KeyPair::generate()?;
        Ok(Self::of(&params.self_signed(&key)?, key))
    }

    fn of(certificate: &Certificate, key: KeyPair) -> Self {
        Self { pem: certificate.pem(), chain: vec![certificate.der().clone()], key }
    }

    /// A server that shows it.
    ///
    /// # Errors
    ///
    /// When the TLS library does not take it.
    pub fn server(&self) -> anyhow::Result<Arc<ServerConfig>> {
        self.server_with(rustls::ALL_VERSIONS, None, &[])
    }

    /// The same with these versions; clients have to show a certificate of this authority; protocols that it offers.
    ///
    /// # Errors
    ///
    /// As [`Self::server`].
    pub fn server_with(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        clients: Option<&Authority>,
        protocols: &[&[u8]],
    ) -> anyhow::Result<Arc<ServerConfig>> {
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions)?;
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.certificate())?;
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
                config.with_client_cert_verifier(verifier)
            }
        };
        let key = PrivatePkcs8KeyDer::from(self.key.serialize_der()).into();
        let mut config = config.with_single_cert(self.chain.clone(), key)?;
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(Arc::new(config))
    }
}

/// What a good server's certificate says, for these names and addresses.
///
/// # Errors
///
/// When one cannot stand in a certificate.
pub fn server_params(names: &[&str]) -> anyhow::Result<CertificateParams> {
    let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
    params.distinguished_name.push(DnType::CommonName, "a server");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(params)
}

fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params
}
