//! `proxy_pass`: the cluster that it leads to, and what is sent there.

use std::sync::Arc;

use eddy_route::nginx::{
    Hand, ProxyHand, RedirectForm, RedirectRule, TextTemplate, Upstream, UpstreamScheme,
};
use eddy_upstream::{BEAR_ALL, ClusterConfig, EndpointConfig};

use super::reader::{ClusterKey, Reader};
use super::scope::{Redirects, Scope};
use super::tree::Word;
use super::upstream::{UpstreamGroup, with_port};
use crate::config::{Action, ActionKind, WeightedCluster};
use crate::problem::{Place, shown};
use crate::read::Word as _;
use crate::value::Endpoint;

/// Whether a `proxy_pass` may have a URI, and the text that it takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced<'t> {
    /// The text of a location.
    Text(&'t str),
    /// There is none: an expression, a name, or an `if`.
    Nothing,
}

impl Reader<'_> {
    /// Reads a `proxy_pass` under the settings of its block.
    pub(super) fn proxy_pass(&mut self, word: &Word, scope: &Scope, replaced: Replaced<'_>) -> Hand {
        match self.proxy_hand(word, scope, replaced) {
            Some(hand) => Hand::Proxy(Arc::new(hand)),
            None => Hand::Nobody,
        }
    }

    fn proxy_hand(&mut self, word: &Word, scope: &Scope, replaced: Replaced<'_>) -> Option<ProxyHand> {
        let (upstream, uri) = if word.text.contains('$') {
            (self.computed(word, scope)?, None)
        } else {
            self.fixed(word, scope)?
        };
        let location_len = match (&uri, replaced) {
            (Some(_), Replaced::Nothing) => {
                self.report
                    .error(
                        word.place,
                        "`proxy_pass` has a URI, but no text of a location that it could replace",
                    )
                    .hint(
                        "leave the URI out, also a `/` at the end; rewrite the path with `rewrite ... break`",
                    );
                return None;
            }
            (_, Replaced::Text(text)) => text.len(),
            (None, Replaced::Nothing) => 0,
        };
        let location = match replaced {
            Replaced::Text(text) => text,
            Replaced::Nothing => "",
        };
        let is_host = |name: &str| name.eq_ignore_ascii_case("host");
        let host = scope.proxy_fields.iter().find(|field| is_host(&field.name));
        let host = match host {
            Some(field) => field.value.clone(),
            None => self.text_at("$proxy_host", word.place)?,
        };
        let fields = scope.proxy_fields.iter().filter(|field| !is_host(&field.name)).cloned().collect();
        let redirects = match &scope.redirects {
            Redirects::Default => default_redirects(word, uri.as_deref(), location),
            Redirects::Own(rules) => {
                let own = rules.iter().flat_map(|rule| match rule {
                    Some(rule) => vec![rule.clone()],
                    None => default_redirects(word, uri.as_deref(), location),
                });
                own.collect()
            }
        };
        Some(ProxyHand {
            upstream,
            uri,
            location_len,
            host,
            fields,
            redirects,
            intercepts_errors: scope.intercepts_errors,
        })
    }

    /// An upstream without variables, and the URI.
    fn fixed(&mut self, word: &Word, scope: &Scope) -> Option<(Upstream, Option<Box<str>>)> {
        let Some((scheme, rest)) = split_scheme(&word.text) else {
            self.report
                .error(word.place, "`proxy_pass` needs an address")
                .hint("write `http://host:port` or `https://host:port`");
            return None;
        };
        let (host, uri) = match rest.strip_prefix("unix:") {
            Some(path) => match path.split_once(':') {
                Some((path, uri)) => (rest.get(..5 + path.len()).unwrap_or_default(), uri),
                None => (rest, ""),
            },
            None => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
        };
        let uri = match uri {
            "" => None,
            uri if uri.starts_with('/') => Some(uri.into()),
            uri => Some(format!("/{uri}").into()),
        };
        let action = self.action_of(host, scheme, word.place, scope)?;
        let plain = without_port(host, scheme);
        let (shown_host, port) = match plain.rsplit_once(':') {
            _ if plain.starts_with("unix:") => ("localhost", ""),
            Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (plain, port),
            _ => (plain, scheme.port()),
        };
        let upstream = Upstream::Fixed { action, host: shown_host.into(), port: port.into() };
        Some((upstream, uri))
    }

    /// An upstream that variables name: one of the configuration's.
    fn computed(&mut self, word: &Word, scope: &Scope) -> Option<Upstream> {
        let address = self.text(word)?;
        let (scheme, rest) = match split_scheme(&word.text) {
            Some((scheme, rest)) => (scheme, Some(rest)),
            // What a variable holds begins with `http://`.
            None => (UpstreamScheme::Http, None),
        };
        let mut names = self.targets.choices.get(&word.text).cloned().unwrap_or_else(|| {
            let mut names: Vec<String> = self.groups.keys().cloned().collect();
            names.sort();
            names.extend(self.addresses.clone());
            names
        });
        let literal = rest.and_then(|rest| rest.split(['/', '?', '$']).next());
        // What follows the host may only be a URI.
        let is_whole = |literal: &str| {
            let rest = rest.and_then(|rest| rest.get(literal.len()..)).unwrap_or_default();
            !rest.starts_with('$') || rest.starts_with("$request_uri") || rest.starts_with("$uri")
        };
        if let Some(literal) = literal.filter(|literal| !literal.is_empty() && is_whole(literal)) {
            names.push(literal.to_owned());
        }
        names.dedup();
        let mut choices = Vec::with_capacity(names.len());
        for name in names {
            if let Some(action) = self.action_of(&name, scheme, word.place, scope) {
                let plain = without_port(&name, scheme);
                choices.push((plain.into(), action));
            }
        }
        if choices.is_empty() {
            self.report
                .warning(word.place, "no upstream is known that these variables could name")
                .hint("name it in an `upstream`, or as `host:port` in a `set` or `map`");
        }
        Some(Upstream::Computed { address, scheme, choices })
    }

    /// What is done with requests for a name or address under the settings of a block.
    fn action_of(&mut self, host: &str, scheme: UpstreamScheme, place: Place, scope: &Scope) -> Option<u32> {
        let kind = match self.targets.splits.get(host).cloned() {
            None => ActionKind::Cluster(self.cluster(host, scheme, place, scope)?),
            Some(shares) => {
                let shares = shares.into_iter().filter_map(|(name, weight)| {
                    let cluster = self.cluster(&name, scheme, place, scope)?;
                    Some(WeightedCluster { cluster, weight })
                });
                ActionKind::Weighted(shares.collect())
            }
        };
        Some(self.action(kind, scope))
    }

    /// The cluster for a name or address under the settings of a block.
    fn cluster(&mut self, host: &str, scheme: UpstreamScheme, place: Place, scope: &Scope) -> Option<usize> {
        let lower = host.to_ascii_lowercase();
        let is_secure = scheme == UpstreamScheme::Https;
        let key = ClusterKey {
            host: lower.clone(),
            connect_timeout: scope.connect_timeout,
            read_timeout: scope.read_timeout,
            tls: is_secure.then(|| scope.upstream_tls.key()),
        };
        if let Some(cluster) = self.cluster_keys.get(&key) {
            return Some(*cluster);
        }
        let group = match self.groups.get(&lower) {
            Some(group) => group.clone(),
            None => self.single(host, scheme, place)?,
        };
        // The same endpoints under other settings are another cluster.
        let count = self.clusters_of.entry(lower).or_default();
        *count += 1;
        let name = if *count == 1 { group.name.clone() } else { format!("{}#{count}", group.name) };
        let mut cluster = ClusterConfig::new(&name, group.endpoints);
        // A backup is asked when none of the others can be.
        cluster.overprovision_percent = BEAR_ALL;
        cluster.balance = group.balance;
        cluster.pool = group.pool;
        cluster.ejection = group.ejection;
        cluster.connect_timeout = scope.connect_timeout;
        cluster.first_byte_timeout = scope.read_timeout;
        cluster.read_idle_timeout = scope.read_timeout;
        cluster.pool.idle_max = cluster.pool.idle_max.min(cluster.links_max);
        cluster.tls = is_secure.then(|| self.cluster_tls(&scope.upstream_tls, host, place));
        self.clusters.push(cluster);
        self.hash_keys.push(group.key);
        self.cluster_keys.insert(key, self.clusters.len() - 1);
        Some(self.clusters.len() - 1)
    }

    /// A group of one address that has no name.
    fn single(&mut self, host: &str, scheme: UpstreamScheme, place: Place) -> Option<UpstreamGroup> {
        match Endpoint::parse(&with_port(host, scheme.port())) {
            Ok(Endpoint(address)) => {
                let mut group = UpstreamGroup::new(host);
                group.endpoints.push(EndpointConfig::new(address));
                // A lone endpoint is asked however often it fails.
                group.ejection.failures = 0;
                Some(group)
            }
            Err(_) => {
                self.report
                    .error(place, format!("`{}` is neither an upstream nor an address", shown(host)))
                    .hint("write `http://host:port`, or the name of an `upstream`");
                None
            }
        }
    }

    fn action(&mut self, kind: ActionKind, scope: &Scope) -> u32 {
        let mut retry = scope.retry.clone();
        let mut hash_key = None;
        if let ActionKind::Cluster(index) = kind
            && let Some(cluster) = self.clusters.get(index)
        {
            hash_key = self.hash_keys.get(index).cloned().flatten();
            // Each endpoint is asked once; how many a name stands for is not known yet.
            let asked = cluster.endpoints.iter().filter(|endpoint| !endpoint.terms.is_down).count();
            let others = u8::try_from(asked.saturating_sub(1)).unwrap_or(u8::MAX);
            retry.attempts = retry.attempts.min(others.max(u8::from(cluster.has_names())));
        }
        self.spec.hash_keys.push(hash_key);
        self.actions.push(Action {
            response_edits: scope.hidden.clone(),
            retry,
            upgrades: scope.upgrades(),
            ..Action::new(kind)
        });
        u32::try_from(self.actions_before + self.actions.len() - 1).unwrap_or(u32::MAX)
    }

    /// Gathers addresses that a variable may be given, so that `proxy_pass` can name them.
    pub(super) fn gather_addresses(&mut self, directives: &[super::tree::Directive]) {
        for directive in directives {
            let block = directive.block.as_deref().unwrap_or_default();
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("set", [_, value]) => self.gather_address(&value.text),
                ("map", _) => {
                    let values = block.iter().filter_map(|row| row.arguments.first());
                    values.for_each(|value| self.gather_address(&value.text));
                }
                _ => self.gather_addresses(block),
            }
        }
    }

    fn gather_address(&mut self, text: &str) {
        let address = match split_scheme(text) {
            Some((scheme, rest)) => with_port(rest.split('/').next().unwrap_or_default(), scheme.port()),
            None => text.to_owned(),
        };
        let is_address = !address.contains('$') && Endpoint::parse(&address).is_ok();
        if is_address && self.known_addresses.insert(address.clone()) {
            self.addresses.push(address);
        }
    }
}

/// The scheme of an address, and what follows it.
fn split_scheme(text: &str) -> Option<(UpstreamScheme, &str)> {
    [UpstreamScheme::Http, UpstreamScheme::Https].into_iter().find_map(|scheme| {
        let (start, rest) = text.split_at_checked(scheme.start().len())?;
        start.eq_ignore_ascii_case(scheme.start()).then_some((scheme, rest))
    })
}

/// A host without the port that its scheme has anyway.
fn without_port(host: &str, scheme: UpstreamScheme) -> &str {
    let plain = host.strip_suffix(scheme.port()).and_then(|rest| rest.strip_suffix(':'));
    plain.unwrap_or(host)
}

/// `proxy_redirect default`: what the upstream names by the address of `proxy_pass` is named by the location.
fn default_redirects(pass: &Word, uri: Option<&str>, location: &str) -> Vec<RedirectRule> {
    if pass.text.contains('$') {
        return Vec::new();
    }
    let (from, to) = match uri {
        Some(_) => (pass.text.clone(), location),
        None => (format!("{}/", pass.text), "/"),
    };
    let form = RedirectForm::Text(TextTemplate::plain(&from));
    vec![RedirectRule { form, replacement: TextTemplate::plain(to) }]
}
