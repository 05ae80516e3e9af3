//! What proves to an authority that a name is served here.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::names::SniCertResolver;

/// Answers to the challenges of authorities that are asked for certificates (RFC 8555 §8): left here by whoever orders
/// certificates, and given by listeners, on every worker.
///
/// # Cost
/// A lock for reading where somebody asks for such an answer, and none elsewhere.
#[derive(Debug, Default)]
pub struct Challenges {
    /// By the name, what is shown to those who ask for the proof and nothing else.
    identities: RwLock<HashMap<String, Arc<CertifiedKey>>>,
    /// By the token, what is answered over HTTP.
    answers: RwLock<HashMap<String, Arc<[u8]>>>,
}

impl Challenges {
    /// Shows this certificate (DER), whose key (PKCS #8) it is, to authorities that ask for the proof of `name`, in lower
    /// case, until it is taken back.
    ///
    /// Certificate and key are the caller's own, and not compared: that would take a reader of certificates that knows the
    /// extension which makes this one a proof.
    ///
    /// # Errors
    /// When the key is of a kind that is not known.
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

    /// Shows the proof of a name no longer.
    pub fn take_back(&self, name: &str) {
        self.identities.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// Gives this answer to who asks for `token`, until it is forgotten.
    ///
    /// # Spec
    /// RFC 8555 §8.3
    pub fn answer(&self, token: &str, answer: &str) {
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        answers.insert(token.to_owned(), answer.as_bytes().into());
    }

    /// Gives the answer to a token no longer.
    pub fn forget(&self, token: &str) {
        self.answers.write().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    /// The answer to a request for this path, if it asks for a token that is known.
    pub fn answer_to(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        let token = std::str::from_utf8(path.strip_prefix(CHALLENGE_PATH)?).ok()?;
        self.answers.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    fn proof_of(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        self.identities.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

/// Shows the proof of a name to those who ask for nothing else, and the identities of a listener to everybody.
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
            // Without one the handshake fails: nothing is ever served under this protocol.
            return self.challenges.proof_of(hello.server_name()?);
        }
        self.names.resolve(hello)
    }
}

/// The protocol that authorities ask for which want the proof of a name, and in which nothing is said (RFC 8737 §6.2).
pub const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";
/// Where authorities ask for the answer to a token (RFC 8555 §8.3).
const CHALLENGE_PATH: &[u8] = b"/.well-known/acme-challenge/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_that_are_known_are_answered() {
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
