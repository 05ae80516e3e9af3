//! Warnings about valid certificates that will cause problems: expired ones, and hosts without a certificate.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use eddy_config::{GatewayConfig, ListenerConfig, ListenerTlsConfig};
use eddy_model::WrittenPath;
use eddy_route::HostPattern;
use eddy_spec::problem::{Problem, Severity};
use eddy_tls::{Identity, Revocations, Validity};
use jiff::Timestamp;

use super::parts::TlsParts;

/// Returns warnings about valid certificates.
pub(crate) fn advise(config: &GatewayConfig, parts: &TlsParts) -> Vec<Problem> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let mut problems = Vec::new();
    for (listener, parts) in config.listeners.iter().zip(&parts.listeners) {
        let (Some(tls), Some(parts)) = (&listener.tls, parts) else { continue };
        let revoked =
            tls.clients.as_ref().and_then(|clients| clients.revoked.as_ref()).zip(parts.revoked.as_ref());
        problems.extend(revoked.and_then(|(file, lists)| old_lists(lists, file, now)));
        let mut names: BTreeSet<String> = BTreeSet::new();
        for (files, identity) in tls.certificates.iter().zip(&parts.identities) {
            let ordered = config.acme.as_ref().and_then(|acme| acme.ordered_in(&files.chain.path));
            names.extend(ordered.into_iter().flat_map(|ordered| &ordered.hosts).cloned());
            let Some(identity) = identity else { continue };
            names.extend(identity.names().iter().cloned());
            problems.extend(match ordered {
                Some(_) => age_of_ordered(identity, &files.chain, now),
                None => age(identity, &files.chain, "clients", now),
            });
            problems.extend(nameless(identity, &files.chain));
        }
        problems.extend(strangers(config, listener, tls, &names));
    }
    for (cluster, parts) in config.clusters.values().zip(&parts.clusters) {
        let files = cluster.tls.as_ref().and_then(|tls| tls.identity.as_ref());
        let identity = parts.as_ref().and_then(|parts| parts.identity.as_ref());
        if let (Some(files), Some(identity)) = (files, identity) {
            problems.extend(age(identity, &files.chain, "endpoints", now));
        }
    }
    problems.dedup();
    problems
}

/// Warns about the validity period of a chain that is presented to `others`.
fn age(identity: &Identity, chain: &WrittenPath, others: &str, now: u64) -> Option<Problem> {
    let (message, hint) = validity(identity.validity(), now)?;
    let hint = hint.replace("OTHERS", others);
    Some(Problem::about(chain, Severity::Warning, message, Some(hint)))
}

/// Warns about a certificate without a subjectAltName, which most clients refuse.
fn nameless(identity: &Identity, chain: &WrittenPath) -> Option<Problem> {
    if identity.has_alternative_names() {
        return None;
    }
    let message =
        "the first certificate has no host in a subjectAltName: browsers and most other clients reject it";
    let hint =
        "reissue it with a subjectAltName, as in `openssl req -addext subjectAltName=DNS:www.example.com`";
    Some(Problem::about(chain, Severity::Warning, message, Some(hint.to_owned())))
}

/// Warns about outdated revocation lists.
fn old_lists(lists: &Revocations, file: &WrittenPath, now: u64) -> Option<Problem> {
    let next = lists.next_update().filter(|next| *next < now)?;
    let message = format!("a revocation list is outdated; its next update was due: {}", date(next));
    let hint =
        "certificates revoked since then are accepted; get the current list from the certificate authority";
    Some(Problem::about(file, Severity::Warning, message, Some(hint.to_owned())))
}

/// Warns about a chain renewed by ACME that has expired.
fn age_of_ordered(identity: &Identity, chain: &WrittenPath, now: u64) -> Option<Problem> {
    let not_after = identity.validity().not_after;
    let message = format!("the certificate has expired and was not renewed: {}", date(not_after));
    let hint = "clients reject it; the log and `/acme` of the admin listener show why orders fail";
    (not_after < now).then(|| Problem::about(chain, Severity::Warning, message, Some(hint.to_owned())))
}

/// Returns message and hint about a chain's validity period; `OTHERS` is a placeholder for its peers.
fn validity(validity: Validity, now: u64) -> Option<(String, &'static str)> {
    let Validity { not_before, not_after } = validity;
    if not_after < now {
        let message = format!("a certificate of the chain has expired: {}", date(not_after));
        return Some((message, "OTHERS reject it; renew it"));
    }
    if not_before > now {
        let message = format!("a certificate of the chain is not valid before {}", date(not_before));
        return Some((message, "OTHERS reject it until then; check the clock of this machine"));
    }
    (not_after - now < SOON_S).then(|| {
        let message = format!("a certificate of the chain expires soon: {}", date(not_after));
        (message, "renew it; eddy loads the new file within a second")
    })
}

/// Warns about hosts in rules of the listener that no certificate covers.
fn strangers(
    config: &GatewayConfig,
    listener: &ListenerConfig,
    tls: &ListenerTlsConfig,
    names: &BTreeSet<String>,
) -> Option<Problem> {
    let rules = config.tables_of(listener).into_iter().flat_map(|table| &table.routes.rules);
    let mut hosts = BTreeSet::new();
    for rule in rules {
        for host in &rule.hosts {
            if let HostPattern::Exact(host) = host {
                let host = host.to_ascii_lowercase();
                if !is_covered(&host, names) {
                    hosts.insert(host);
                }
            }
        }
    }
    let first = hosts.first()?;
    let more = match hosts.len() {
        1 => String::new(),
        count => format!(" (and {} others)", count - 1),
    };
    let message = format!("no certificate of listener `{}` covers the host `{first}`{more}", listener.name);
    let hint = "clients reject the certificate that they get for it; add a certificate for it";
    let first = &tls.certificates.first()?.chain;
    Some(Problem::about(first, Severity::Warning, message, Some(hint.to_owned())))
}

fn is_covered(host: &str, names: &BTreeSet<String>) -> bool {
    let wildcard = || host.split_once('.').map(|(_, parent)| format!("*.{parent}"));
    names.contains(host) || wildcard().is_some_and(|wildcard| names.contains(&wildcard))
}

fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "an invalid time".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

const SOON_S: u64 = 14 * 24 * 3600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_reported_before_and_after_its_validity() {
        let now = 1_800_000_000;
        let day = 24 * 3600;
        let told =
            |not_before, not_after| validity(Validity { not_before, not_after }, now).map(|told| told.0);
        assert_eq!(told(now - day, now + 15 * day), None);
        assert!(told(now - day, now + 13 * day).unwrap().contains("expires soon: 2027-01-28"));
        assert!(told(now - 9 * day, now - day).unwrap().contains("has expired: 2027-01-14"));
        assert!(told(now + day, now + 99 * day).unwrap().contains("is not valid before 2027-01-16"));
    }

    #[test]
    fn a_wildcard_matches_one_label() {
        let names = BTreeSet::from(["a.test".to_owned(), "*.b.test".to_owned()]);
        let covered = |host| is_covered(host, &names);
        assert!(covered("a.test") && covered("x.b.test"));
        assert!(!covered("b.test") && !covered("y.x.b.test") && !covered("x.a.test"));
    }
}
