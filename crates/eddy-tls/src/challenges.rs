//! Responses to ACME challenges.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::names::SniCertResolver;

/// Responses to the challenges of ACME authorities (RFC 8555 §8). The ACME agent puts them here; the listeners of all
/// workers send them.
///
/// # Cost
/// A read lock for each challenge request; none for other requests.
#[derive(Debug, Default)]
pub struct Challenges {
    /// Challenge certificates by name, presented only to clients that ask for the validation protocol alone.
    identities: RwLock<HashMap<String, Arc<CertifiedKey>>>,
    /// HTTP responses by token.
    answers: RwLock<HashMap<String, Arc<[u8]>>>,
}

impl Challenges {
    /// Presents this certificate (DER) with its key (PKCS #8) when an authority validates `name` (in lower case), until
    /// [`Self::withdraw`] is called.
    ///
    /// The certificate is the caller's own and not compared with its key: that would take a certificate parser that
    /// knows the critical extension of challenge certificates.
    ///
    /// # Errors
    /// When the kind of key is not supported.
    ///
    /// # Spec
    /// RFC 8737 §3
    pub fn show(&self, name: &str, certificate: Vec<u8>, key: Vec<u8>) -> Result<(), rustls::Error> {
        let key = any_supported_type(&PrivateKeyDer::Pkcs8(key.into()))?;
        let shown = CertifiedKey::new(vec![CertificateDer::from(certificate)], key);
        let mut identities = self.identities.write().unwrap_or_else(PoisonError::into_inner);
        identities.insert(name.to_owned(), Arc::new(shown));
        Ok(())
    }

    /// Withdraws the challenge certificate of a name.
    pub fn withdraw(&self, name: &str) {
        self.identities.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// Sends this response to requests for `token`, until [`Self::forget`] is called.
    ///
    /// # Spec
    /// RFC 8555 §8.3
    pub fn answer(&self, token: &str, answer: &str) {
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        answers.insert(token.to_owned(), answer.as_bytes().into());
    }

    /// Withdraws the response to a token.
    pub fn forget(&self, token: &str) {
        self.answers.write().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    /// Returns the response to a request for this path, if it names a known token.
    pub fn answer_to(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        let token = std::str::from_utf8(path.strip_prefix(CHALLENGE_PATH)?).ok()?;
        self.answers.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    fn proof_of(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        self.identities.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

/// Presents the challenge certificate of a name to clients that ask for the validation protocol alone, and the
/// listener's identities to all others.
#[derive(Debug)]
pub(crate) struct Proving {
    pub(crate) names: SniCertResolver,
    pub(crate) challenges: Arc<Challenges>,
}

impl ResolvesServerCert for Proving {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let asks_for_proof = hello.alpn().is_some_and(|mut protocols| {
            protocols.next() == Some(CHALLENGE_PROTOCOL) && protocols.next().is_none()
        });
        if asks_for_proof {
            // Without a challenge certificate the handshake fails: nothing is ever served under this protocol.
            return self.challenges.proof_of(hello.server_name()?);
        }
        self.names.resolve(hello)
    }
}

/// ALPN protocol of authorities that validate a name; no data is exchanged in it (RFC 8737 §6.2).
pub const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";
/// Path prefix at which authorities request the response to a token (RFC 8555 §8.3).
const CHALLENGE_PATH: &[u8] = b"/.well-known/acme-challenge/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_tokens_get_a_response() {
        let challenges = Challenges::default();
        challenges.answer("token", "token.print");
        let asked = |path: &str| {
            challenges.answer_to(path.as_bytes()).map(|answer| String::from_utf8(answer.to_vec()).unwrap())
        };
        assert_eq!(asked("/.well-known/acme-challenge/token").as_deref(), Some("token.print"));
        for path in [
            "/.well-known/acme-challenge/",
            "/.well-known/acme-challenge/other",
            "/.well-known/acme-challenge/token/",
            "/x/.well-known/acme-challenge/token",
            "/",
        ] {
            assert_eq!(asked(path), None, "{path}");
        }
        assert!(challenges.answer_to(b"/.well-known/acme-challenge/\xff").is_none());
        challenges.forget("token");
        assert!(challenges.answer_to(b"/.well-known/acme-challenge/token").is_none());
    }
}
