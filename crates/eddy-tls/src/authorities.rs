//! Trusted certificate authorities.

use std::sync::Arc;

use rustls::RootCertStore;
use sha2::{Digest, Sha256};

use crate::error::TlsError;
use crate::identity::{Fingerprint, chain_of};

/// Trusted certificate authorities; at least one.
#[derive(Clone, Debug)]
pub struct Authorities {
    pub(crate) roots: Arc<RootCertStore>,
    print: Fingerprint,
}

impl Authorities {
    /// Parses authorities in PEM; all of them must be valid.
    ///
    /// # Errors
    /// [`TlsError::Authorities`] or [`TlsError::Authority`].
    ///
    /// # Cost
    /// Some 10 µs per authority.
    pub fn from_pem(text: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        let authorities = chain_of(text).map_err(TlsError::Authorities)?;
        for (number, authority) in (1..).zip(authorities) {
            roots.add(authority).map_err(|error| TlsError::Authority(number, error))?;
        }
        Ok(Self { roots: Arc::new(roots), print: Sha256::digest(text).into() })
    }

    /// Parses the system's authorities; invalid ones are skipped.
    ///
    /// # Errors
    /// [`TlsError::Authorities`] when the text is not PEM, or [`TlsError::NoAuthority`] when no authority is usable.
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

    /// Returns the fingerprint, which is equal for equal texts only.
    pub fn print(&self) -> &Fingerprint {
        &self.print
    }
}
