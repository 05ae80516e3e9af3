//! Which identity goes with the name that a client asks for.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::identity::Identity;

/// The identities of a listener by name: exact names first, then `*.` with one label in its place, then the longest domain
/// that an identity is to be shown below, then those for every host, then the first identity of all.
#[derive(Debug)]
pub struct SniCertResolver {
    /// By name; of several identities for one name the first that the client can check is shown.
    exact: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// By what stands behind `*.`.
    wildcard: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// By the domain that it is shown below, whatever its names are.
    below: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// Those that are shown for every host, whatever their names are.
    every: Vec<Arc<CertifiedKey>>,
    /// What is shown to clients that ask for no name, or for one that no identity has; all of them, in their order.
    all: Vec<Arc<CertifiedKey>>,
    /// Whether those are turned away instead.
    is_strict: bool,
}

impl SniCertResolver {
    /// The names of these identities, in their order.
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

    /// Those that have a name, or are shown for it.
    fn find_named(&self, name: &str) -> Option<&Vec<Arc<CertifiedKey>>> {
        // rustls gives names in lower case and without a dot at the end, and refuses what is no name.
        let exact = self.exact.get(name);
        let found = exact.or_else(|| self.wildcard.get(name.split_once('.')?.1));
        found.or_else(|| self.find_below(name))
    }

    /// Those that are shown below the longest domain that a name is in.
    fn find_below(&self, name: &str) -> Option<&Vec<Arc<CertifiedKey>>> {
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            if let Some(found) = self.below.get(parent) {
                return Some(found);
            }
            rest = parent;
        }
        None
    }

    /// The identities for a name, the preferred one first; empty where a client is to be turned away.
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
        // Where it can check none, the handshake fails with the alert that says so.
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
    fn the_name_decides_which_identity_is_shown() {
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
    fn an_identity_can_be_shown_for_other_hosts_than_it_names() {
        let shown = |hosts: &[&str]| {
            identity(&["own.test"]).shown_for(hosts.iter().map(|host| (*host).to_owned()).collect())
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
