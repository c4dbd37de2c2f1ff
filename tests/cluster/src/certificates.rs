//! A certificate authority for one cluster, and what it signs.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

/// Files in PEM, all in one folder.
#[derive(Debug)]
pub(crate) struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    /// Makes an authority, a certificate for a server on loopback, one for a client that may do everything, and a key
    /// that signs the tokens of service accounts.
    pub(crate) fn make(folder: &Path) -> anyhow::Result<Self> {
        let made = Self { folder: folder.to_owned() };
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "authority of a test cluster");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        fs::write(made.authority(), authority.as_ref().pem())?;

        let mut server = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        made.sign("server", server, &authority)?;

        let mut admin = CertificateParams::default();
        admin.distinguished_name.push(DnType::CommonName, "admin");
        // The one group that no rule of RBAC can lock out.
        admin.distinguished_name.push(DnType::OrganizationName, "system:masters");
        admin.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        made.sign("admin", admin, &authority)?;

        let accounts = KeyPair::generate()?;
        fs::write(made.key("accounts"), accounts.serialize_pem())?;
        fs::write(made.accounts(), accounts.public_key_pem())?;
        Ok(made)
    }

    /// The authority's certificate.
    pub(crate) fn authority(&self) -> PathBuf {
        self.certificate("authority")
    }

    /// The public key that checks the tokens of service accounts.
    pub(crate) fn accounts(&self) -> PathBuf {
        self.folder.join("accounts.pub")
    }

    /// The certificate of `server` or `admin`.
    pub(crate) fn certificate(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.crt"))
    }

    /// The key of `server`, `admin` or `accounts`.
    pub(crate) fn key(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.key"))
    }

    fn sign(
        &self,
        name: &str,
        mut params: CertificateParams,
        authority: &CertifiedIssuer<'_, KeyPair>,
    ) -> anyhow::Result<()> {
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        fs::write(self.certificate(name), params.signed_by(&key, authority)?.pem())?;
        fs::write(self.key(name), key.serialize_pem())?;
        Ok(())
    }
}
