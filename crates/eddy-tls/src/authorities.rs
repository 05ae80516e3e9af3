//! Authorities: whose certificates are taken.

use std::sync::Arc;

use rustls::RootCertStore;
use sha2::{Digest, Sha256};

use crate::identity::chain_of;
use crate::server::TlsError;

/// Authorities whose certificates are taken; at least one.
#[derive(Clone, Debug)]
pub struct Authorities {
    pub(crate) roots: Arc<RootCertStore>,
    print: Fingerprint,
}

/// Tells what was read apart from anything else.
pub type Fingerprint = [u8; 32];

impl Authorities {
    /// The authorities of a text in PEM, each of which must be one.
    ///
    /// # Errors
    /// [`TlsError::Authorities`] or [`TlsError::Authority`].
    ///
    /// # Cost
    /// Some 10 µs an authority.
    pub fn from_pem(text: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        let authorities = chain_of(text).map_err(TlsError::Authorities)?;
        for (number, authority) in (1..).zip(authorities) {
            roots.add(authority).map_err(|error| TlsError::Authority(number, error))?;
        }
        Ok(Self { roots: Arc::new(roots), print: Sha256::digest(text).into() })
    }

    /// The authorities that a machine comes with; what can't be used of so many is passed over.
    ///
    /// # Errors
    /// [`TlsError::Authorities`] when it is no PEM, or [`TlsError::NoAuthority`] when none can be used.
    ///
    /// # Cost
    /// As [`Self::from_pem`].
    pub fn of_machine(text: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(chain_of(text).map_err(TlsError::Authorities)?);
        if roots.is_empty() {
            return Err(TlsError::NoAuthority);
        }
        Ok(Self { roots: Arc::new(roots), print: Sha256::digest(text).into() })
    }

    /// The same for the same text, and for no other.
    pub fn print(&self) -> &Fingerprint {
        &self.print
    }
}
