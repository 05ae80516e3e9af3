//! `proxy_pass`: the cluster that it names, and the requests sent there.

use std::collections::BTreeSet;

use eddy_config::{Action, ActionKind, WeightedCluster};
use eddy_ids::{ActionId, ClusterId, DuplicateKey, Shared};
use eddy_model::{ClusterConfig, EndpointAddress, EndpointConfig, UNLIMITED_OVERPROVISIONING};
use eddy_route::nginx::{
    LocationHandler, ProxyPassSettings, ProxyPassTarget, RedirectForm, RedirectRule, TextTemplate,
    UpstreamScheme,
};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::read::FromScalar as _;
use eddy_spec::value::EndpointAddressText;

use super::constants::{EndKind, KnownText, OpenEnd, VariableValues};
use super::reader::{ClusterKey, NginxOutput, NginxReader};
use super::scope::{BlockSettings, Redirects};
use super::tree::NginxWord;
use super::upstream::with_port;
use super::upstream_group::UpstreamGroup;

/// Source of the upstream name of a `proxy_pass`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    /// Written in the directive.
    Written,
    /// Taken from variables.
    Computed,
}

impl NginxReader<'_, '_> {
    /// Reads a `proxy_pass` under the settings of its block. `replaced` is the text of its location, which the URI
    /// replaces; without one (in a regular expression, a named location, or an `if`) it may have no URI.
    pub(super) fn proxy_pass(
        &mut self,
        word: &NginxWord,
        scope: &BlockSettings,
        replaced: Option<&str>,
        held: &VariableValues,
    ) -> LocationHandler {
        match self.proxy_pass_settings(word, scope, replaced, held) {
            Some(hand) => LocationHandler::Proxy(Shared::new(hand)),
            None => LocationHandler::None,
        }
    }

    fn proxy_pass_settings(
        &mut self,
        word: &NginxWord,
        scope: &BlockSettings,
        replaced: Option<&str>,
        held: &VariableValues,
    ) -> Option<ProxyPassSettings> {
        let (upstream, uri) = if word.text.contains('$') {
            (self.computed(word, scope, held)?, None)
        } else {
            self.fixed(word, scope)?
        };
        if uri.is_some() && replaced.is_none() {
            self.report
                .error(
                    word.place,
                    "`proxy_pass` can't have a URI here: this location has no fixed path to replace",
                )
                .hint(
                    "remove the URI, including a `/` at the end; rewrite the path with `rewrite ... break`",
                );
            return None;
        }
        let location = replaced.unwrap_or_default();
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
        Some(ProxyPassSettings {
            upstream,
            uri,
            location_len: location.len(),
            host,
            fields,
            redirects,
            intercepts_errors: scope.intercepts_errors,
        })
    }

    /// Returns the upstream that is named without variables, and the URI.
    fn fixed(
        &mut self,
        word: &NginxWord,
        scope: &BlockSettings,
    ) -> Option<(ProxyPassTarget, Option<Box<str>>)> {
        let Some((scheme, rest)) = split_scheme(&word.text) else {
            self.report
                .error(word.place, "`proxy_pass` needs an address")
                .hint("write `http://host:port` or `https://host:port`");
            return None;
        };
        let (host, uri) = match rest.strip_prefix("unix:") {
            Some(path) => match path.split_once(':') {
                Some((path, uri)) => (&rest[..5 + path.len()], uri),
                None => (rest, ""),
            },
            None => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
        };
        let uri = match uri {
            "" => None,
            uri if uri.starts_with('/') => Some(uri.into()),
            uri => Some(format!("/{uri}").into()),
        };
        let action = self.action_of(host, scheme, Naming::Written, word.place, scope)?;
        let plain = without_port(host, scheme);
        let (shown_host, port) = match plain.rsplit_once(':') {
            _ if plain.starts_with("unix:") => ("localhost", ""),
            Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (plain, port),
            _ => (plain, scheme.port()),
        };
        let upstream = ProxyPassTarget::Fixed { action, host: shown_host.into(), port: port.into() };
        Some((upstream, uri))
    }

    /// Returns the upstream that variables name: one of those that the configuration assigns to them.
    fn computed(
        &mut self,
        word: &NginxWord,
        scope: &BlockSettings,
        held: &VariableValues,
    ) -> Option<ProxyPassTarget> {
        let address = self.text(word)?;
        let addresses: BTreeSet<String> = match self.targets.choices.get(&word.text) {
            Some(names) => names.iter().map(|name| format!("http://{name}")).collect(),
            None => self.addresses(word, held),
        };
        let mut choices = Vec::with_capacity(addresses.len());
        for text in addresses {
            let Some((scheme, host)) = split_scheme(&text) else { continue };
            if let Some(action) = self.action_of(host, scheme, Naming::Computed, word.place, scope) {
                choices.push((text.into(), action));
            }
        }
        Some(ProxyPassTarget::Computed { address, choices })
    }

    /// Returns the addresses that a value may name, each once and without a URI; those that cannot be known are
    /// reported.
    fn addresses(&mut self, word: &NginxWord, held: &VariableValues) -> BTreeSet<String> {
        let (mut addresses, mut unknown) = (BTreeSet::new(), BTreeSet::new());
        for KnownText { text, end } in self.constants.texts(&word.text, held) {
            let Some((scheme, rest)) = split_scheme(&text) else {
                unknown.extend(end);
                continue;
            };
            let host = match (rest.find(['/', '?']), end) {
                (Some(at), _) => &rest[..at],
                (None, None) => rest,
                // The request provides no more than the path.
                (None, Some(OpenEnd { kind: EndKind::Uri | EndKind::Group, .. }))
                    if !rest.is_empty() && !rest.ends_with(':') =>
                {
                    rest
                }
                (None, Some(end)) => {
                    unknown.insert(end);
                    continue;
                }
            };
            // A value without host is answered 500, as in NGINX.
            if host.is_empty() {
                continue;
            }
            if host.starts_with("unix:") {
                let message = "variables cannot select a Unix socket";
                self.refuse(word.place, message, "put it into an `upstream`");
                continue;
            }
            addresses.insert(format!("{}{host}", scheme.start()));
        }
        for end in &unknown {
            self.refuse_unknown(word.place, end);
        }
        if addresses.is_empty() && unknown.is_empty() && !self.report.has_errors() {
            let message = "none of the values of these variables is a URL";
            self.report.error(word.place, message).hint("it must begin with `http://` or `https://`");
        }
        addresses
    }

    /// Reports an address that is not known before a request arrives.
    fn refuse_unknown(&mut self, place: SourceSpan, end: &OpenEnd) {
        let name = shown(&end.variable);
        let (message, hint) = match end.kind {
            EndKind::TooMany => (
                format!(
                    "the values of `${name}` cannot be determined: there are too many, or it depends on itself"
                ),
                "set it in fewer places".to_owned(),
            ),
            EndKind::Uri | EndKind::Group | EndKind::Other => (
                format!("`${name}` comes from the request, so clients would choose where eddy connects to"),
                format!(
                    "list the allowed addresses: `map ${name} $upstream_of {{ a.test 10.0.0.5:80; ... }}` in \
                     `http` and `proxy_pass http://$upstream_of;`"
                ),
            ),
        };
        self.refuse(place, message, hint);
    }

    /// Returns the action for requests to a name or address, under the settings of a block.
    fn action_of(
        &mut self,
        host: &str,
        scheme: UpstreamScheme,
        naming: Naming,
        place: SourceSpan,
        scope: &BlockSettings,
    ) -> Option<ActionId> {
        let kind = match self.targets.splits.get(host).cloned() {
            None => ActionKind::Cluster(self.cluster(host, scheme, naming, place, scope)?),
            Some(shares) => {
                let shares = shares.into_iter().filter_map(|(name, weight)| {
                    let cluster = self.cluster(&name, scheme, naming, place, scope)?;
                    Some(WeightedCluster { cluster, weight })
                });
                ActionKind::Weighted(shares.collect())
            }
        };
        Some(self.action(kind, scope))
    }

    /// Returns the cluster for a name or address, under the settings of a block.
    fn cluster(
        &mut self,
        host: &str,
        scheme: UpstreamScheme,
        naming: Naming,
        place: SourceSpan,
        scope: &BlockSettings,
    ) -> Option<ClusterId> {
        let lower = host.to_ascii_lowercase();
        let is_secure = scheme == UpstreamScheme::Https;
        let group = match self.groups.get(&lower) {
            Some(group) => group.clone(),
            None => self.single(host, scheme, naming, place, scope)?,
        };
        let key = ClusterKey {
            host: lower.clone(),
            connect_timeout: scope.connect_timeout,
            read_timeout: scope.read_timeout,
            tls: is_secure.then(|| scope.upstream_tls.key()),
            resolver: group.resolver.clone(),
        };
        if let Some(cluster) = self.cluster_keys.get(&key) {
            return Some(*cluster);
        }
        // The same endpoints with other settings form another cluster.
        let count = self.clusters_of.entry(lower).or_default();
        *count += 1;
        let name = if *count == 1 { group.name.clone() } else { format!("{}#{count}", group.name) };
        let mut cluster = ClusterConfig::new(&name, group.endpoints);
        // A backup is used when none of the other endpoints is available.
        cluster.overprovision_percent = UNLIMITED_OVERPROVISIONING;
        cluster.balance = group.balance;
        cluster.pool = group.pool;
        cluster.ejection = group.ejection;
        cluster.connect_timeout = scope.connect_timeout;
        cluster.first_byte_timeout = scope.read_timeout;
        cluster.read_idle_timeout = scope.read_timeout;
        cluster.pool.idle_max = cluster.pool.idle_max.min(cluster.links_max);
        if let Some(resolver) = &group.resolver {
            resolver.serve(&mut cluster);
        }
        cluster.tls = is_secure.then(|| self.cluster_tls(&scope.upstream_tls, host, place));
        let id = self.add_cluster(cluster);
        self.hash_keys.extend(group.key.map(|key| (id, key)));
        self.cluster_keys.insert(key, id);
        Some(id)
    }

    /// Adds a cluster, which counts as used.
    fn add_cluster(&mut self, mut cluster: ClusterConfig) -> ClusterId {
        let NginxOutput { clusters, table, place, .. } = &mut self.output;
        let Some(table) = table else { return clusters.define_numbered(cluster, *place) };
        let name: Shared<str> = format!("{table}/{}", cluster.name).into();
        cluster.name = Shared::clone(&name);
        clusters.define_used(cluster, *place).unwrap_or_else(|DuplicateKey(known)| {
            // The name would lead to that cluster.
            self.report
                .error(*place, format!("the cluster `{name}` already exists"))
                .hint("rename the cluster or the table");
            known
        })
    }

    /// Returns an unnamed group with a single address.
    fn single(
        &mut self,
        host: &str,
        scheme: UpstreamScheme,
        naming: Naming,
        place: SourceSpan,
        scope: &BlockSettings,
    ) -> Option<UpstreamGroup> {
        match EndpointAddressText::parse(&with_port(host, scheme.port())) {
            Ok(EndpointAddressText(address)) => {
                let mut group = UpstreamGroup::new(host);
                if let EndpointAddress::Name { host: name, .. } = &address
                    && naming == Naming::Computed
                    && !self.is_written(host, scheme)
                {
                    let Some(resolver) = scope.name_servers() else {
                        let message = format!("there is no `resolver` for the name `{}`", shown(name));
                        let hint = "write `resolver ADDRESS;`, which NGINX uses for names in variables, or put the name into an `upstream`";
                        self.refuse(place, message, hint);
                        return None;
                    };
                    group.resolver = Some(resolver);
                }
                group.endpoints.push(EndpointConfig::new(address));
                // A single endpoint is used however often it fails.
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

    /// Whether a `proxy_pass` without variables names a host: NGINX asks no resolver for it again.
    fn is_written(&self, host: &str, scheme: UpstreamScheme) -> bool {
        let wanted = with_port(host, scheme.port()).to_ascii_lowercase();
        self.constants.addresses.iter().any(|address| {
            let Some((scheme, rest)) = split_scheme(address) else { return false };
            let written = rest.split(['/', '?']).next().unwrap_or_default();
            with_port(written, scheme.port()) == wanted
        })
    }

    fn action(&mut self, kind: ActionKind, scope: &BlockSettings) -> ActionId {
        let mut retry = scope.retry.clone();
        let mut hash_key = None;
        if let ActionKind::Cluster(id) = kind
            && let Some(cluster) = self.output.clusters.get(id)
        {
            hash_key = self.hash_keys.get(&id).cloned();
            // Each endpoint is tried once; the number of addresses behind a name is not known yet.
            let asked = cluster.endpoints.iter().filter(|endpoint| !endpoint.terms.is_down).count();
            let others = u8::try_from(asked.saturating_sub(1)).unwrap_or(u8::MAX);
            retry.attempts = retry.attempts.min(others.max(u8::from(cluster.has_names())));
        }
        self.spec.hash_keys.push(hash_key);
        self.actions.push(Shared::new(Action {
            response_edits: scope.hidden.clone(),
            retry,
            upgrades: scope.upgrades(),
            ..Action::new(kind)
        }));
        ActionId::at(self.actions.len() - 1)
    }
}

/// Splits an address into the scheme and the rest.
fn split_scheme(text: &str) -> Option<(UpstreamScheme, &str)> {
    [UpstreamScheme::Http, UpstreamScheme::Https].into_iter().find_map(|scheme| {
        let (start, rest) = text.split_at_checked(scheme.start().len())?;
        start.eq_ignore_ascii_case(scheme.start()).then_some((scheme, rest))
    })
}

/// Returns a host without the port that is the default of its scheme.
fn without_port(host: &str, scheme: UpstreamScheme) -> &str {
    let plain = host.strip_suffix(scheme.port()).and_then(|rest| rest.strip_suffix(':'));
    plain.unwrap_or(host)
}

/// Returns the rule of `proxy_redirect default`: in addresses that the upstream sends, the address of `proxy_pass` is
/// replaced by the location.
fn default_redirects(pass: &NginxWord, uri: Option<&str>, location: &str) -> Vec<RedirectRule> {
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
