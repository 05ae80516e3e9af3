//! Filters of listeners, connection managers and routes: which ones eddy has, and which ones may be ignored.
//!
//! eddy does not know what most filters do, and one that it ignores may be the one that rejects requests. Only filters of
//! the lists below, which decide about no request, can be ignored with `--lenient`; any other one is an error.

use eddy_config::RuleFilterConfig;
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::module_filter::{FILTER_CONFIG, HttpFilter, MODULE_FILTER, ModuleInChain, PER_ROUTE};
use super::reader::{EnvoyReader, elements, entry, text};
use super::shape::type_of;

impl EnvoyReader<'_> {
    /// Reads the HTTP filters of a connection manager; returns those that eddy runs, in order.
    pub(super) fn http_filters(&mut self, node: &YamlNode<'_>) -> Vec<HttpFilter> {
        let mut filters = Vec::new();
        for filter in self.list(node, "http_filters") {
            match self.filter(filter, &[ROUTER, GRPC_WEB, MODULE_FILTER], HARMLESS_HTTP) {
                Some((_, 1)) => filters.push(HttpFilter::GrpcWeb),
                Some((module, 2)) => {
                    let name = entry(filter, "name").and_then(|entry| text(&entry.value)).unwrap_or_default();
                    filters.extend(self.module_filter(module, name).map(HttpFilter::Module));
                }
                Some((router, _)) => {
                    // eddy sends none of the headers that this option suppresses.
                    self.pass(router, &["dynamic_stats", "suppress_envoy_headers", "start_child_span"]);
                    self.upstream_filters(router, "upstream_http_filters");
                }
                None => {}
            }
        }
        filters
    }

    /// Reads the filter of a filter chain that has one filter only: the connection manager.
    pub(super) fn network_filter<'n, 't>(&mut self, filter: &'n YamlNode<'t>) -> Option<&'n YamlNode<'t>> {
        self.filter(filter, &[MANAGER], HARMLESS_NETWORK).map(|(manager, _)| manager)
    }

    /// Reads HTTP filters of upstream connections, which follow the routing.
    pub(super) fn upstream_filters(&mut self, node: &YamlNode<'_>, name: &str) {
        for filter in self.list(node, name) {
            let _ = self.filter(filter, &[CODEC], HARMLESS_HTTP);
        }
    }

    /// Reads the settings for dynamic modules under a route or around it, which override those of `outer`. Reports other
    /// filters with settings of their own for some requests, unless they can be ignored.
    pub(super) fn route_filters(
        &mut self,
        node: &YamlNode<'_>,
        modules: &[ModuleInChain],
        outer: &[RuleFilterConfig],
    ) -> Vec<RuleFilterConfig> {
        let own = self.module_settings(node, modules);
        self.report_route_filters(node, modules);
        let mut settings = own;
        for inherited in outer {
            if !settings.iter().any(|setting| setting.filter == inherited.filter) {
                settings.push(inherited.clone());
            }
        }
        settings
    }

    fn report_route_filters(&mut self, node: &YamlNode<'_>, modules: &[ModuleInChain]) {
        let Some(found) = entry(node, PER_ROUTE) else { return };
        let YamlNodeKind::Mapping { entries, .. } = &found.value.form else { return };
        let is_module = |name: &str| modules.iter().any(|module| module.entry == name);
        if entries.iter().any(|entry| is_module(&entry.key.text)) {
            self.pass(node, &[PER_ROUTE]);
        }
        let refused: Vec<_> = entries
            .iter()
            .filter(|entry| !is_module(&entry.key.text) && !is_harmless_setting(&entry.value))
            .map(|entry| &entry.key)
            .collect();
        for key in &refused {
            self.refuse_filter(key.place, &key.text);
        }
        // Without such a filter, the field is reported like any other one that is not read.
        if !refused.is_empty() {
            self.pass(node, &[PER_ROUTE]);
        }
    }

    /// Returns the message of a filter and the index of its type in `known`. Another type is reported: an objection if
    /// it is `harmless`, otherwise an error.
    fn filter<'n, 't>(
        &mut self,
        filter: &'n YamlNode<'t>,
        known: &[&str],
        harmless: &[&str],
    ) -> Option<(&'n YamlNode<'t>, usize)> {
        self.pass(filter, &["name"]);
        let config = self.get(filter, "typed_config");
        match config.and_then(type_of) {
            Some(kind) if known.contains(&kind) || is_one_of(kind, harmless) => self.typed(config?, known),
            kind => {
                let name = entry(filter, "name").and_then(|entry| text(&entry.value));
                let place = config.and_then(|config| config.entry("@type"));
                self.refuse_filter(
                    place.map_or(filter.place, |entry| entry.value.place),
                    kind.or(name).unwrap_or("the filter"),
                );
                self.mark_all_read(filter);
                None
            }
        }
    }

    fn refuse_filter(&mut self, place: SourceSpan, name: &str) {
        self.report
            .error(place, format!("`{}` can reject requests, and eddy does not support it", shown(name)))
            .hint(
                "eddy.yaml has built-in filters such as `basic_auth`, `ip_access` and `rate_limit`; `--lenient` does \
                 not ignore access control",
            );
    }

    /// Reports conditions of a filter chain on where a connection comes from: without them, it is open to everybody.
    pub(super) fn chain_match(&mut self, chain: &YamlNode<'_>) {
        let Some(found) = entry(chain, "filter_chain_match") else { return };
        let sources = ["source_prefix_ranges", "direct_source_prefix_ranges", "source_ports", "source_type"];
        for condition in sources.iter().filter_map(|name| entry(&found.value, name)) {
            if elements(&condition.value).is_empty()
                && text(&condition.value).is_none_or(|text| text == "ANY")
            {
                continue;
            }
            self.report
                .error(
                    condition.key.place,
                    format!(
                        "`{}` restricts access, and eddy does not support it",
                        shown(&condition.key.text)
                    ),
                )
                .hint("use the filter `ip_access` in eddy.yaml");
            self.pass(chain, &["filter_chain_match"]);
        }
    }
}

/// Whether the settings of a filter for a route decide about no request.
fn is_harmless_setting(setting: &YamlNode<'_>) -> bool {
    match type_of(setting) {
        Some(FILTER_CONFIG) => {
            entry(setting, "disabled").and_then(|entry| text(&entry.value)) == Some("true")
                || entry(setting, "config").is_some_and(|config| {
                    type_of(&config.value).is_some_and(|kind| is_one_of(kind, HARMLESS_HTTP))
                })
        }
        Some(kind) => is_one_of(kind, HARMLESS_HTTP),
        None => false,
    }
}

/// Whether a message belongs to one of these extensions, given by the beginnings of their message names.
fn is_one_of(kind: &str, extensions: &[&str]) -> bool {
    extensions.iter().any(|extension| kind.starts_with(extension))
}

/// HTTP filters that neither reject requests nor change who the client is.
const HARMLESS_HTTP: &[&str] = &[
    "envoy.extensions.filters.http.alternate_protocols_cache.",
    "envoy.extensions.filters.http.bandwidth_limit.",
    "envoy.extensions.filters.http.buffer.",
    "envoy.extensions.filters.http.cache.",
    "envoy.extensions.filters.http.compressor.",
    "envoy.extensions.filters.http.cors.",
    "envoy.extensions.filters.http.decompressor.",
    "envoy.extensions.filters.http.fault.",
    "envoy.extensions.filters.http.file_system_buffer.",
    "envoy.extensions.filters.http.grpc_http1_bridge.",
    "envoy.extensions.filters.http.grpc_http1_reverse_bridge.",
    "envoy.extensions.filters.http.grpc_json_transcoder.",
    "envoy.extensions.filters.http.grpc_stats.",
    "envoy.extensions.filters.http.grpc_web.",
    "envoy.extensions.filters.http.header_to_metadata.",
    "envoy.extensions.filters.http.health_check.",
    "envoy.extensions.filters.http.json_to_metadata.",
    "envoy.extensions.filters.http.stateful_session.",
    "envoy.extensions.filters.http.tap.",
];

/// Network filters that forward connections; a listener that has one is not served.
const HARMLESS_NETWORK: &[&str] = &[
    "envoy.extensions.filters.network.direct_response.",
    "envoy.extensions.filters.network.echo.",
    "envoy.extensions.filters.network.mongo_proxy.",
    "envoy.extensions.filters.network.redis_proxy.",
    "envoy.extensions.filters.network.tcp_proxy.",
    "envoy.extensions.filters.network.thrift_proxy.",
];

const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER: &str = "envoy.extensions.filters.http.router.v3.Router";
const GRPC_WEB: &str = "envoy.extensions.filters.http.grpc_web.v3.GrpcWeb";
/// Last filter of upstream connections, which sends the request.
const CODEC: &str = "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec";
