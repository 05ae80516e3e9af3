//! Hash policies: the part of a request that selects an endpoint of a cluster.

use std::collections::HashMap;

use eddy_check::ClusterDraft;
use eddy_ids::{ClusterId, Shared};
use eddy_model::{Balance, BalanceKey};
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::yaml::YamlNode;

use super::reader::{EnvoyReader, elements};

/// Hash keys of the routes to each cluster; `None` for a route without a key.
pub(super) type RouteKeys = HashMap<ClusterId, Vec<(Option<BalanceKey>, SourceSpan)>>;

impl EnvoyReader<'_> {
    /// Reads the key of a route's `hash_policy`; unsupported policies are reported.
    pub(super) fn hash_key(&mut self, node: &YamlNode<'_>) -> Option<BalanceKey> {
        let list = self.get(node, "hash_policy")?;
        let mut keys = Vec::new();
        for policy in elements(list) {
            // With a single key there is no later policy for `terminal` to skip.
            self.pass(policy, &["terminal"]);
            if let Some(header) = self.get(policy, "header") {
                let name = self.word(header, "header_name").unwrap_or_default();
                if name.is_empty() || name.starts_with(':') {
                    self.report
                        .objection(header.place, format!("balancing by `{}` is not supported", shown(name)))
                        .hint("name a request header");
                    continue;
                }
                keys.push(BalanceKey::Header(name.to_ascii_lowercase().into()));
            } else if let Some(cookie) = self.get(policy, "cookie") {
                let name: Shared<str> = self.word(cookie, "name").unwrap_or_default().into();
                self.pass(cookie, &["path"]);
                if self.get(cookie, "ttl").is_some() {
                    self.report
                        .objection(cookie.place, "eddy does not generate cookies for balancing")
                        .hint("leave `ttl` out: eddy uses the endpoint's own cookie");
                }
                keys.push(BalanceKey::Cookie(name));
            } else if let Some(properties) = self.get(policy, "connection_properties")
                && self.is_true(properties, "source_ip")
            {
                keys.push(BalanceKey::Address);
            } else {
                self.report
                    .objection(policy.place, "eddy balances by a header, a cookie or the client address")
                    .hint("write `header`, `cookie` or `connection_properties: {source_ip: true}`");
            }
        }
        if keys.len() > 1 {
            self.report
                .objection(list.place, "eddy balances by one key, not by a combination of several")
                .hint("keep one of them");
        }
        keys.into_iter().next()
    }
}

/// Sets the hash key of each cluster that balances by key, as its routes define it.
pub(super) fn set_hash_keys(clusters: &mut ClusterDraft<'_>, keys: &RouteKeys, report: &mut ProblemReport) {
    clusters.for_each_mut(|id, cluster| {
        if !cluster.balance.has_key() {
            return;
        }
        let own = keys.get(&id).map(Vec::as_slice).unwrap_or_default();
        let first = own.iter().find_map(|(key, _)| key.as_ref());
        let other = own.iter().find(|(key, _)| key.as_ref() != first);
        if let Some((_, place)) = other.filter(|_| first.is_some()) {
            report
                .objection(
                    *place,
                    format!("the routes to `{}` have different hash keys, or some have none", shown(&cluster.name)),
                )
                .hint("in eddy, the hash key belongs to the cluster: write the same `hash_policy`, or define another cluster");
        }
        cluster.key = first.cloned();
        if cluster.key.is_none() {
            // Envoy picks a random endpoint for requests without a key.
            cluster.balance = Balance::Random;
        }
    });
}
