//! Certificates that can be used, and will not do: expired ones, and hosts that none is for.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use eddy_config::{Config, ListenerConfig, ListenerTlsConfig, Problem, Serve, Severity};
use eddy_route::HostPattern;
use eddy_tls::{Identity, Validity};
use jiff::Timestamp;

use super::files::TlsFiles;

/// What there is to say of certificates that can be used.
pub(crate) fn advise(config: &Config, files: &TlsFiles) -> Vec<Problem> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let mut problems = Vec::new();
    for listener in &config.listeners {
        let Some(tls) = &listener.tls else { continue };
        let mut names = BTreeSet::new();
        for certificate in &tls.certificates {
            let read = Identity::from_pem(files.get(&certificate.chain), files.get(&certificate.key), None);
            let Ok(identity) = read else { continue };
            if let Some((message, hint)) = validity(identity.validity(), now) {
                problems.push(certificate.chain.problem(Severity::Warning, message, Some(hint.to_owned())));
            }
            names.extend(identity.names().iter().cloned());
        }
        problems.extend(strangers(config, listener, tls, &names));
    }
    problems.dedup();
    problems
}

/// What is wrong with when a chain holds.
fn validity(validity: Validity, now: u64) -> Option<(String, &'static str)> {
    let Validity { not_before, not_after } = validity;
    if not_after < now {
        let message = format!("the certificate, or one behind it, has expired: {}", date(not_after));
        return Some((message, "clients refuse it; renew it"));
    }
    if not_before > now {
        let message = format!("the certificate, or one behind it, does not hold before {}", date(not_before));
        return Some((message, "clients refuse it until then; is the clock of this machine right?"));
    }
    (not_after - now < SOON_S).then(|| {
        let message = format!("the certificate, or one behind it, expires soon: {}", date(not_after));
        (message, "renew it; eddy takes a new file up within a second")
    })
}

/// Hosts that rules of the listener name and that no certificate is for.
fn strangers(
    config: &Config,
    listener: &ListenerConfig,
    tls: &ListenerTlsConfig,
    names: &BTreeSet<String>,
) -> Option<Problem> {
    let Serve::Routes(tables) = &listener.serve else { return None };
    let rules = tables.iter().filter_map(|table| config.tables.get(*table)).flat_map(|table| &table.rules);
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
    let message = format!("no certificate of listener `{}` is for the host `{first}`{more}", listener.name);
    let hint = "clients refuse what they are shown for it; add a certificate for it";
    Some(tls.certificates.first()?.chain.problem(Severity::Warning, message, Some(hint.to_owned())))
}

fn is_covered(host: &str, names: &BTreeSet<String>) -> bool {
    let wildcard = || host.split_once('.').map(|(_, parent)| format!("*.{parent}"));
    names.contains(host) || wildcard().is_some_and(|wildcard| names.contains(&wildcard))
}

fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "in another age".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

const SOON_S: u64 = 14 * 24 * 3600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_told_of_before_and_after_its_time() {
        let now = 1_800_000_000;
        let day = 24 * 3600;
        let told =
            |not_before, not_after| validity(Validity { not_before, not_after }, now).map(|told| told.0);
        assert_eq!(told(now - day, now + 15 * day), None);
        assert!(told(now - day, now + 13 * day).unwrap().contains("expires soon: 2027-01-28"));
        assert!(told(now - 9 * day, now - day).unwrap().contains("has expired: 2027-01-14"));
        assert!(told(now + day, now + 99 * day).unwrap().contains("does not hold before 2027-01-16"));
    }

    #[test]
    fn a_wildcard_is_for_one_label() {
        let names = BTreeSet::from(["a.test".to_owned(), "*.b.test".to_owned()]);
        let covered = |host| is_covered(host, &names);
        assert!(covered("a.test") && covered("x.b.test"));
        assert!(!covered("b.test") && !covered("y.x.b.test") && !covered("x.a.test"));
    }
}
