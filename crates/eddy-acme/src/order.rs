//! One certificate order, from the request to the certificate and its key.

use std::sync::Arc;
use std::time::Duration;

use eddy_tls::Challenges;
use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, ChallengeType, Identifier, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, KeyPair};

use crate::error::OrderError;
use crate::settings::ChallengeKind;

/// Contents of an order.
pub(crate) struct OrderRequest<'a> {
    pub(crate) hosts: &'a [String],
    pub(crate) profile: Option<&'a str>,
    pub(crate) kind: ChallengeKind,
    /// Certificate that the order replaces, if the authority should know (RFC 9773).
    pub(crate) replaces: Option<CertificateIdentifier<'static>>,
}

/// Orders a certificate, waits for it, and returns the chain and its new key as PEM.
///
/// # Errors
/// When no certificate is issued; all challenge responses are withdrawn then.
pub(crate) async fn order(
    account: &Account,
    ask: OrderRequest<'_>,
    challenges: &Arc<Challenges>,
) -> Result<String, OrderError> {
    let identifiers: Vec<Identifier> = ask.hosts.iter().cloned().map(Identifier::Dns).collect();
    let mut new = NewOrder::new(&identifiers);
    if let Some(profile) = ask.profile {
        new = new.profile(profile);
    }
    if let Some(replaced) = ask.replaces {
        new = new.replaces(replaced);
    }
    let mut order = account.new_order(&new).await?;
    let mut shown = ActiveChallenges { challenges, names: Vec::new(), tokens: Vec::new() };
    prove(&mut order, ask.kind, &mut shown).await?;
    let ready = order.poll_ready(&POLL_POLICY).await;
    if !matches!(ready, Ok(OrderStatus::Ready)) {
        // The validation error of a host says more than the failure of the order.
        if let Some(unproven) = unproven(&mut order).await {
            return Err(unproven);
        }
        ready?;
        return Err(OrderError::Authority("the order was rejected without a reason".into()));
    }
    drop(shown);
    let key = order.finalize().await?;
    let chain = order.poll_certificate(&POLL_POLICY).await?;
    Ok(format!("{}\n{key}", chain.trim_end()))
}

/// Publishes the challenge response of each host and tells the authority that it is ready.
async fn prove(
    order: &mut Order,
    kind: ChallengeKind,
    shown: &mut ActiveChallenges<'_>,
) -> Result<(), OrderError> {
    let wanted = match kind {
        ChallengeKind::TlsAlpn01 => ChallengeType::TlsAlpn01,
        ChallengeKind::Http01 => ChallengeType::Http01,
    };
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let host = authorization.identifier().to_string();
        let Some(mut challenge) = authorization.challenge(wanted.clone()) else {
            return Err(OrderError::Kind { kind: kind.name(), host });
        };
        let proof = challenge.key_authorization();
        match kind {
            ChallengeKind::TlsAlpn01 => shown.show(host, proof.digest().as_ref())?,
            ChallengeKind::Http01 => shown.answer(challenge.token.clone(), proof.as_str()),
        }
        challenge.set_ready().await?;
    }
    Ok(())
}

/// Returns the first host that failed validation, with the authority's reason.
async fn unproven(order: &mut Order) -> Option<OrderError> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.ok()?;
        let host = authorization.identifier().to_string();
        let state = authorization.refresh().await.ok()?;
        let error = state.challenges.iter().find_map(|challenge| challenge.error.as_ref());
        if let Some(error) = error {
            let kind = error.r#type.as_deref().unwrap_or("no problem type");
            let reason = format!("{} ({kind})", error.detail.as_deref().unwrap_or("no reason given"));
            return Some(OrderError::Unproven { host, reason });
        }
    }
    None
}

/// Published challenge responses; withdrawn on drop.
struct ActiveChallenges<'c> {
    challenges: &'c Arc<Challenges>,
    names: Vec<String>,
    tokens: Vec<String>,
}

impl ActiveChallenges<'_> {
    fn show(&mut self, host: String, digest: &[u8]) -> Result<(), OrderError> {
        let (certificate, key) = proof(&host, digest)?;
        self.challenges.show(&host, certificate, key)?;
        self.names.push(host);
        Ok(())
    }

    fn answer(&mut self, token: String, answer: &str) {
        self.challenges.answer(&token, answer);
        self.tokens.push(token);
    }
}

impl Drop for ActiveChallenges<'_> {
    fn drop(&mut self) {
        self.names.iter().for_each(|name| self.challenges.withdraw(name));
        self.tokens.iter().for_each(|token| self.challenges.forget(token));
    }
}

/// Returns the self-signed challenge certificate of a host (RFC 8737 §3), which contains the digest, and its key. Both
/// are DER.
fn proof(host: &str, digest: &[u8]) -> Result<(Vec<u8>, Vec<u8>), OrderError> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec![host.to_owned()])?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    Ok((params.self_signed(&key)?.der().to_vec(), key.serialize_der()))
}

/// Polling interval and timeout for the state of an order.
const POLL_POLICY: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(500))
    .backoff(1.5)
    .timeout(Duration::from_secs(300));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_response_is_correct_and_is_withdrawn_when_dropped() {
        let challenges = Arc::new(Challenges::default());
        let (certificate, _) = proof("a.test", &[7; 32]).unwrap();
        // The extension id-pe-acmeIdentifier, critical, with the digest as an octet string in it.
        let extension =
            [&b"\x06\x08\x2b\x06\x01\x05\x05\x07\x01\x1f\x01\x01\xff\x04\x22\x04\x20"[..], &[7; 32]].concat();
        assert!(certificate.windows(extension.len()).any(|part| part == extension));
        let mut shown = ActiveChallenges { challenges: &challenges, names: Vec::new(), tokens: Vec::new() };
        shown.show("a.test".to_owned(), &[7; 32]).unwrap();
        shown.answer("token".to_owned(), "token.print");
        assert!(challenges.answer_to(b"/.well-known/acme-challenge/token").is_some());
        drop(shown);
        assert!(challenges.answer_to(b"/.well-known/acme-challenge/token").is_none());
    }
}
