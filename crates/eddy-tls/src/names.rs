//! Selects the identity for the server name that a client requests (SNI).

use std::collections::HashMap;
use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::identity::Identity;

/// Identities of a listener by server name. The order is: exact names, `*.` in place of one label, the longest domain
/// whose subdomains an identity is assigned to, identities for every host, the first identity of all.
#[derive(Debug)]
pub struct SniCertResolver {
    /// Identities by exact name. Of several, the first whose signature the client can verify is presented.
    exact: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// Identities of wildcard names, by the part behind `*.`.
    wildcard: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// Identities assigned to all subdomains of a domain, regardless of the certificate's names.
    below: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// Identities assigned to every host, regardless of the certificate's names.
    every: Vec<Arc<CertifiedKey>>,
    /// All identities in configuration order, for clients that request no name or an unknown one.
    all: Vec<Arc<CertifiedKey>>,
    /// Whether such clients are rejected instead.
    is_strict: bool,
}

impl SniCertResolver {
    /// Indexes these identities by name; their order is kept.
    pub fn new(identities: &[Identity], is_strict: bool) -> Self {
        let mut names = Self {
            exact: HashMap::new(),
            wildcard: HashMap::new(),
            below: HashMap::new(),
            every: Vec::new(),
            all: Vec::new(),
            is_strict,
        };
        for identity in identities {
            names.all.push(Arc::clone(&identity.key));
            if let Some(hosts) = identity.other_hosts() {
                hosts.iter().for_each(|host| names.show_for(host, &identity.key));
                continue;
            }
            for name in identity.names() {
                let (table, name) = match name.strip_prefix("*.") {
                    Some(parent) => (&mut names.wildcard, parent),
                    None => (&mut names.exact, name.as_str()),
                };
                table.entry(name.to_owned()).or_default().push(Arc::clone(&identity.key));
            }
        }
        names
    }

    fn show_for(&mut self, host: &str, key: &Arc<CertifiedKey>) {
        let list = match host.strip_prefix('*') {
            None => self.exact.entry(host.to_owned()).or_default(),
            Some("") => &mut self.every,
            Some(parent) => self.below.entry(parent.trim_start_matches('.').to_owned()).or_default(),
        };
        list.push(Arc::clone(key));
    }

    /// Returns the identities that have a name or are assigned to it.
    fn find_named(&self, name: &str) -> Option<&Vec<Arc<CertifiedKey>>> {
        // rustls passes names in lower case and without a trailing dot, and rejects invalid ones.
        let exact = self.exact.get(name);
        let found = exact.or_else(|| self.wildcard.get(name.split_once('.')?.1));
        found.or_else(|| self.find_by_domain(name))
    }

    /// Returns the identities assigned to the longest domain that contains a name.
    fn find_by_domain(&self, name: &str) -> Option<&Vec<Arc<CertifiedKey>>> {
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            if let Some(found) = self.below.get(parent) {
                return Some(found);
            }
            rest = parent;
        }
        None
    }

    /// Returns the identities for a name, the preferred one first; empty when the client is to be rejected.
    fn find(&self, name: Option<&str>) -> &[Arc<CertifiedKey>] {
        match name.and_then(|name| self.find_named(name)) {
            Some(found) => found,
            None if !self.every.is_empty() => &self.every,
            None if self.is_strict => &[],
            None => &self.all,
        }
    }
}

impl ResolvesServerCert for SniCertResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let found = self.find(hello.server_name());
        let can_check = |key: &&Arc<CertifiedKey>| key.key.choose_scheme(hello.signature_schemes()).is_some();
        // When the client can verify none, the handshake fails with the appropriate alert.
        found.iter().find(can_check).or_else(|| found.first()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::tests::issue;

    fn identity(names: &[&str]) -> Identity {
        let (chain, key) = issue(names);
        Identity::from_pem(chain.as_bytes(), key.as_bytes(), None).unwrap()
    }

    #[test]
    fn the_server_name_selects_the_identity() {
        let all =
            [identity(&["a.test"]), identity(&["*.b.test", "b.test"]), identity(&["x.b.test", "a.test"])];
        let lenient = SniCertResolver::new(&all, false);
        let strict = SniCertResolver::new(&all, true);
        let which = |names: &SniCertResolver, name: Option<&str>| -> Vec<usize> {
            let place = |key: &Arc<CertifiedKey>| all.iter().position(|one| Arc::ptr_eq(&one.key, key));
            names.find(name).iter().filter_map(place).collect()
        };
        for (name, expected) in [
            (Some("a.test"), vec![0, 2]),
            (Some("b.test"), vec![1]),
            (Some("y.b.test"), vec![1]),
            (Some("x.b.test"), vec![2]),
        ] {
            assert_eq!(which(&lenient, name), expected, "{name:?}");
            assert_eq!(which(&strict, name), expected, "{name:?}");
        }
        // `*.` stands for one label only (RFC 9525 §6.3).
        for name in ["z.y.b.test", "other.test", "test"] {
            assert_eq!(which(&lenient, Some(name)), [0, 1, 2], "{name}");
            assert_eq!(which(&strict, Some(name)), [] as [usize; 0], "{name}");
        }
        assert_eq!(which(&lenient, None), [0, 1, 2]);
        assert_eq!(which(&strict, None), [] as [usize; 0], "who asks for no name asks for none of these");
    }

    #[test]
    fn an_identity_can_be_presented_for_hosts_that_it_does_not_name() {
        let shown = |hosts: &[&str]| {
            identity(&["own.test"]).presented_for(hosts.iter().map(|host| (*host).to_owned()).collect())
        };
        let mut all = vec![shown(&["*.b.test"]), shown(&["a.test", "x.b.test"]), shown(&["*.y.b.test"])];
        let which = |all: &[Identity], name: Option<&str>| -> Vec<usize> {
            let names = SniCertResolver::new(all, true);
            let place = |key: &Arc<CertifiedKey>| all.iter().position(|one| Arc::ptr_eq(&one.key, key));
            names.find(name).iter().filter_map(place).collect()
        };
        for (name, expected) in [
            ("a.test", Some(1)),
            ("x.b.test", Some(1)),
            ("z.x.b.test", Some(0)),
            ("b.test", None),
            ("q.y.b.test", Some(2)),
            ("own.test", None),
        ] {
            assert_eq!(which(&all, Some(name)), expected.into_iter().collect::<Vec<_>>(), "{name}");
        }
        all.push(shown(&["*"]));
        assert_eq!(which(&all, Some("own.test")), [3]);
        assert_eq!(which(&all, Some("a.test")), [1]);
        assert_eq!(which(&all, None), [3]);
    }
}
