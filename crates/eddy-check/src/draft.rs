//! A configuration under construction, to which other dialects add their parts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use eddy_config::{
    ClusterSlots, FilterSlots, GatewayConfig, GatewaySettings, ListenAddress, ListenerConfig,
    ListenerTlsConfig, Serve, SitesConfig, TableSlots,
};
use eddy_ids::{ClusterId, DuplicateKey, FilterId, Shared, TableId};
use eddy_model::ClusterConfig;
use eddy_route::SourceLocation;
use eddy_route::normalise::Normaliser;
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, origin_of};
use eddy_spec::spec::KubernetesSpec;
use eddy_spec::yaml::YamlNode;
use eddy_spec::{Leniency, ObjectStatus, version_of};

use super::cluster_draft::ClusterDraft;
use super::filter::CheckedFilters;
use super::forward::check_forward_clusters;
use super::listener_registry::ListenerRegistry;
use super::routes::check_routes;
use super::shown::redacted_yaml;
use super::table_draft::TablesDraft;

/// Parts of the configuration before, which the next one keeps.
#[derive(Clone, Copy, Debug)]
pub struct Predecessor<'l> {
    /// Route tables.
    pub tables: &'l TableSlots,
    /// Clusters.
    pub clusters: &'l ClusterSlots,
    /// Filters.
    pub filters: &'l FilterSlots,
}

/// The configuration as collected so far, by whatever language it is written in.
#[derive(Debug)]
pub struct Draft<'s> {
    /// Source texts of the configuration.
    pub sources: &'s [SourceText],
    /// Severity of unsupported settings of other programs.
    pub leniency: Leniency,
    /// Listeners.
    pub listeners: Vec<ListenerConfig>,
    /// Names and addresses of listeners.
    pub taken: ListenerRegistry<'s>,
    /// Route tables.
    pub tables: TablesDraft<'s>,
    /// NGINX configurations.
    pub sites: Vec<Shared<SitesConfig>>,
    /// Clusters.
    pub clusters: ClusterDraft<'s>,
    /// Filters.
    pub filters: CheckedFilters<'s>,
    /// Settings of the gateway as a whole.
    pub settings: GatewaySettings,
    /// Settings for Kubernetes manifests.
    pub kubernetes: Option<KubernetesSpec>,
    /// Files that are included, and directories that may hold more of them.
    pub included: Vec<PathBuf>,
    /// Whether a text is missing, so that names which it defines seem undefined.
    pub is_incomplete: bool,
    /// Status of the objects, as a Kubernetes cluster would show it.
    pub statuses: Vec<ObjectStatus>,
    /// Text of each source as it is shown.
    shown: BTreeMap<usize, String>,
}

impl<'s> Draft<'s> {
    /// Creates a draft without listeners.
    pub fn new(sources: &'s [SourceText], leniency: Leniency, last: Predecessor<'s>) -> Self {
        Self {
            sources,
            leniency,
            listeners: Vec::new(),
            taken: ListenerRegistry::new(sources),
            tables: TablesDraft::new(last.tables),
            sites: Vec::new(),
            clusters: ClusterDraft::new(last.clusters),
            filters: CheckedFilters::new(last.filters),
            settings: GatewaySettings::default(),
            kubernetes: None,
            included: Vec::new(),
            is_incomplete: false,
            statuses: Vec::new(),
            shown: BTreeMap::new(),
        }
    }

    /// Completes the configuration: checks what depends on all its parts. Returns `None` after errors.
    pub fn finish(self, report: &mut ProblemReport) -> Option<GatewayConfig> {
        let Self { sources, listeners, taken, tables, sites, clusters, filters, settings, .. } = self;
        if self.is_incomplete {
            return None;
        }
        let acme = taken.orders.finish(&listeners, report);
        let (tables, places, table_names) = tables.finish();
        check_routes(&listeners, (&tables, &places), report);
        check_forward_clusters(&listeners, &clusters, sources, report);
        if report.has_errors() {
            return None;
        }
        // Filters that are not built in may send requests to any cluster.
        if !filters.may_send() {
            clusters.names().note_unused(report);
        }
        table_names.note_unused(report);
        let has_rules = tables.values().any(|table| !table.routes.rules.is_empty());
        filters.advise(&listeners, has_rules, report);
        let (filters, filter_names) = filters.finish();
        filter_names.note_unused(report);
        Some(GatewayConfig {
            listeners,
            tables,
            sites,
            clusters: clusters.finish(),
            filters,
            acme,
            settings,
            shown: self.shown.into_values().collect::<String>().into(),
            version: version_of(sources),
            included: self.included,
        })
    }

    /// Shows the documents of a source, with secrets hidden.
    pub fn show<'n>(&mut self, number: usize, roots: impl IntoIterator<Item = &'n YamlNode<'n>>) {
        self.show_text(number, redacted_yaml(&self.sources[number], roots));
    }

    /// Shows this text for a source.
    pub fn show_text(&mut self, number: usize, text: String) {
        self.shown.insert(number, text);
    }

    /// Adds a cluster, or returns the existing one of its name: a cluster of eddy's own configuration takes precedence.
    /// It counts as used.
    pub fn cluster(&mut self, cluster: ClusterConfig, place: SourceSpan) -> ClusterId {
        self.clusters.define_used(cluster, place).unwrap_or_else(|DuplicateKey(known)| known)
    }

    /// Adds the NGINX configuration that was read with the next index of `sites` and its listeners.
    pub fn put_sites(
        &mut self,
        sites: SitesConfig,
        listeners: Vec<ListenerConfig>,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) {
        self.sites.push(Shared::new(sites));
        for mut listener in listeners {
            listener.is_required = false;
            self.taken.take_address(&listener.address, place, report);
            self.listeners.push(listener);
        }
    }

    /// Returns the location of a position, as messages about rules name it.
    pub fn origin(&self, place: SourceSpan) -> SourceLocation {
        origin_of(place, self.sources)
    }

    /// Sets the path normalisation of an address, if `table` is the only one that serves it.
    pub fn normalise(&mut self, address: &ListenAddress, table: TableId, normaliser: Normaliser) {
        let is_alone = |serve: &Serve| matches!(serve, Serve::Routes(tables) if *tables == [table]);
        for listener in self.listeners.iter_mut().filter(|listener| listener.address == *address) {
            if is_alone(&listener.serve) {
                listener.normaliser = normaliser;
            }
        }
    }

    /// Adds a filter to the chain of an address.
    pub fn use_filter(&mut self, address: &ListenAddress, filter: FilterId) {
        for listener in self.listeners.iter_mut().filter(|listener| listener.address == *address) {
            if !listener.filters.contains(&filter) {
                listener.filters.push(filter);
            }
        }
    }

    /// Serves a table at an address, after the tables that are served there already.
    pub fn serve(
        &mut self,
        name: Shared<str>,
        address: &ListenAddress,
        table: TableId,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) {
        self.serve_by(name, address, table, None, place, report);
    }

    /// Serves a table over TLS at an address; certificates are appended to those of the listener there.
    pub fn serve_tls(
        &mut self,
        name: Shared<str>,
        address: &ListenAddress,
        table: TableId,
        tls: ListenerTlsConfig,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) {
        self.serve_by(name, address, table, Some(tls), place, report);
    }

    fn serve_by(
        &mut self,
        name: Shared<str>,
        address: &ListenAddress,
        table: TableId,
        tls: Option<ListenerTlsConfig>,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) {
        let is_same = |listener: &ListenerConfig| {
            // Each listener at port 0 gets a free port of its own.
            let is_free = matches!(address, ListenAddress::Tcp(address) if address.port() == 0);
            listener.address == *address && (!is_free || listener.name == name)
        };
        if let Some(listener) = self.listeners.iter_mut().find(|listener| is_same(listener)) {
            match (&mut listener.serve, &mut listener.tls, tls) {
                (Serve::Routes(tables), None, None) => tables.push(table),
                (Serve::Routes(tables), Some(known), Some(tls)) => {
                    tables.push(table);
                    known.certificates.extend(tls.certificates);
                    known.is_strict &= tls.is_strict;
                }
                (Serve::Routes(_), known, _) => {
                    let spoken = if known.is_some() { "over TLS" } else { "without TLS" };
                    report.error(place, format!("another listener already uses `{address}` {spoken}"));
                }
                (Serve::Sites(_) | Serve::Demo | Serve::Forward(_), ..) => {
                    report.error(place, format!("a listener without routes already uses `{address}`"));
                }
            }
            return;
        }
        self.taken.take_address(address, place, report);
        let serve = Serve::Routes(vec![table]);
        self.listeners.push(ListenerConfig {
            is_required: false,
            name,
            tls,
            ..ListenerConfig::new(address.clone(), serve)
        });
    }
}
