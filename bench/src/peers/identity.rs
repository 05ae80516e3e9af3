//! The TLS certificate of every target, generated for each run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;

/// An ECDSA P-256 key and a self-signed certificate for [`NAME`]; its files are removed on drop.
#[derive(Debug)]
pub struct TlsIdentity {
    /// Certificate file.
    pub chain: PathBuf,
    /// Key file.
    pub key: PathBuf,
    /// File with both, as HAProxy requires.
    pub both: PathBuf,
    /// The certificate, which clients trust.
    pub certificate: CertificateDer<'static>,
}

impl TlsIdentity {
    /// Generates an identity with its files in `folder`.
    ///
    /// # Errors
    /// Returns an error if there is no randomness, or the files cannot be written.
    pub fn make(folder: &Path) -> Result<Self> {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([NAME.to_owned()]).context("cannot create a certificate")?;
        // Targets run in folders of their own, and Envoy rejects a path with two dots.
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
            // A file that is gone already needs no removal.
            let _ = fs::remove_file(path);
        }
    }
}

/// The name that the certificate is for.
pub const NAME: &str = "bench.test";
