//! The certificate that every target shows over TLS, made anew for each run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;

/// A key of ECDSA P-256 and a certificate for [`NAME`], signed by itself; its files go when it is dropped.
#[derive(Debug)]
pub struct TlsIdentity {
    /// File of the certificate.
    pub chain: PathBuf,
    /// File of the key.
    pub key: PathBuf,
    /// File of both, as HAProxy takes them.
    pub both: PathBuf,
    /// The certificate, which clients trust.
    pub certificate: CertificateDer<'static>,
}

impl TlsIdentity {
    /// Makes one, with its files in `folder`.
    ///
    /// # Errors
    /// When there is no randomness, or the files can't be written.
    pub fn make(folder: &Path) -> Result<Self> {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([NAME.to_owned()]).context("cannot make a certificate")?;
        // Targets work in folders of their own, and Envoy takes no path with two dots.
        let folder = fs::canonicalize(folder).with_context(|| format!("no folder `{}`", folder.display()))?;
        let file = |name: &str| folder.join(name);
        let (chain, key, both) = (file("chain.pem"), file("key.pem"), file("chain-and-key.pem"));
        let (certificate, secret) = (cert.pem(), signing_key.serialize_pem());
        for (path, text) in
            [(&chain, &certificate), (&key, &secret), (&both, &format!("{certificate}{secret}"))]
        {
            fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        Ok(Self { chain, key, both, certificate: cert.der().clone() })
    }
}

impl Drop for TlsIdentity {
    fn drop(&mut self) {
        for path in [&self.chain, &self.key, &self.both] {
            // One that is gone already needs no removing.
            let _ = fs::remove_file(path);
        }
    }
}

/// The name that the certificate is for.
pub const NAME: &str = "bench.test";
