//! A configuration under construction, to which other dialects add their parts.

use eddy_builtin::{BuiltinConfig, CorsConfig};
use eddy_ids::Shared;
use eddy_model::ClusterConfig;
use eddy_route::RouteTable;
use eddy_route::nginx::Sites;
use eddy_route::normalise::Normaliser;

use super::filter::CheckedFilters;
use super::listener::ListenerRegistry;
use super::names::NameRegistry;
use super::table::{CheckedTables, RulePlaces};
use crate::config::{
    Action, ForwardedConfig, Http2Config, HttpLimits, HttpTimeouts, ListenAddress, ListenerConfig, Serve,
};
use crate::problem::{ProblemReport, SourceSpan, SourceText};
use crate::read::Spanned;
use crate::status::ObjectStatus;
use crate::tls::ListenerTlsConfig;
use crate::value::ConfigName;

/// Listeners, tables, actions and clusters collected so far.
#[derive(Debug)]
pub(crate) struct Draft<'d, 's> {
    /// Listeners.
    pub(crate) listeners: Vec<ListenerConfig>,
    /// Route tables, and the actions of their rules.
    pub(crate) tables: CheckedTables,
    /// Clusters.
    pub(crate) clusters: Vec<ClusterConfig>,
    /// Servers of NGINX configurations.
    pub(crate) sites: Vec<Shared<Sites>>,
    pub(crate) names: &'d mut NameRegistry,
    pub(crate) taken: &'d mut ListenerRegistry<'s>,
    /// Filters.
    pub(crate) filters: &'d mut CheckedFilters,
    /// Status of the objects, as a Kubernetes cluster would show it.
    pub(crate) statuses: Vec<ObjectStatus>,
    /// Source texts of the configuration.
    pub(crate) sources: &'s [SourceText],
}

impl Draft<'_, '_> {
    /// Whether a cluster of this name exists.
    pub(crate) fn has_cluster(&self, name: &str) -> bool {
        self.names.has(name)
    }

    /// Adds a cluster, or returns the existing one of its name: a cluster of eddy's own configuration takes precedence.
    pub(crate) fn cluster(&mut self, cluster: ClusterConfig, place: SourceSpan) -> usize {
        if let Some(index) = self.names.find(&cluster.name) {
            return index;
        }
        let name = Spanned { value: ConfigName(Shared::clone(&cluster.name)), place };
        self.names.define(&name);
        self.names.find(&cluster.name);
        self.clusters.push(cluster);
        self.clusters.len() - 1
    }

    /// Adds an action and returns its index, by which rules refer to it.
    pub(crate) fn action(&mut self, action: Action) -> u32 {
        self.tables.actions.push(action);
        u32::try_from(self.tables.actions.len() - 1).unwrap_or(u32::MAX)
    }

    /// Moves actions and clusters out, for a caller that adds to both; [`Draft::put_sites`] moves them back.
    pub(crate) fn take_parts(&mut self) -> (Vec<Action>, Vec<ClusterConfig>) {
        (std::mem::take(&mut self.tables.actions), std::mem::take(&mut self.clusters))
    }

    /// Adds NGINX servers with their listeners, and puts back actions and clusters, to which the caller has added.
    pub(crate) fn put_sites(
        &mut self,
        sites: Sites,
        listeners: Vec<ListenerConfig>,
        (actions, clusters): (Vec<Action>, Vec<ClusterConfig>),
        place: SourceSpan,
        report: &mut ProblemReport,
    ) {
        let number = self.sites.len();
        self.sites.push(Shared::new(sites));
        let known = self.names.count();
        for cluster in clusters.iter().skip(known) {
            self.names.define(&Spanned { value: ConfigName(Shared::clone(&cluster.name)), place });
            self.names.find(&cluster.name);
        }
        (self.tables.actions, self.clusters) = (actions, clusters);
        for mut listener in listeners {
            listener.is_required = false;
            if let Serve::Sites(at) = &mut listener.serve {
                at.sites = number;
            }
            self.taken.take_address(&listener.address, place, report);
            self.listeners.push(listener);
        }
    }

    /// Adds a table; `places` has the positions of its rules.
    pub(crate) fn table(&mut self, table: RouteTable, places: Vec<RulePlaces>) -> usize {
        debug_assert_eq!(table.rules.len(), places.len(), "every rule has its places");
        self.tables.tables.push(table);
        self.tables.places.push(places);
        self.tables.tables.len() - 1
    }

    /// Adds a CORS filter that is disabled except under rules that enable it.
    pub(crate) fn cors_filter(&mut self) -> usize {
        self.rule_filter(CORS_FILTER, BuiltinConfig::Cors(CorsConfig::default()))
    }

    /// Adds a built-in filter that is disabled except under rules that enable it, each with its own configuration.
    /// Returns the filter's index.
    pub(crate) fn rule_filter(&mut self, name: &str, builtin: BuiltinConfig) -> usize {
        self.filters.add_dormant(name, builtin)
    }

    /// Sets the path normalisation of an address, if `table` is the only one that serves it.
    pub(crate) fn normalise(&mut self, address: &ListenAddress, table: usize, normaliser: Normaliser) {
        let is_alone = |serve: &Serve| matches!(serve, Serve::Routes(tables) if *tables == [table]);
        for listener in self.listeners.iter_mut().filter(|listener| listener.address == *address) {
            if is_alone(&listener.serve) {
                listener.normaliser = normaliser;
            }
        }
    }

    /// Adds a filter to the chain of an address.
    pub(crate) fn use_filter(&mut self, address: &ListenAddress, filter: usize) {
        for listener in self.listeners.iter_mut().filter(|listener| listener.address == *address) {
            if !listener.filters.contains(&filter) {
                listener.filters.push(filter);
            }
        }
    }

    /// Serves a table at an address, after the tables that are served there already.
    pub(crate) fn serve(
        &mut self,
        name: Shared<str>,
        address: &ListenAddress,
        table: usize,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) {
        self.serve_by(name, address, table, None, place, report);
    }

    /// Serves a table over TLS at an address; certificates are appended to those of the listener there.
    pub(crate) fn serve_tls(
        &mut self,
        name: Shared<str>,
        address: &ListenAddress,
        table: usize,
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
        table: usize,
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
        self.listeners.push(ListenerConfig {
            is_required: false,
            http2: Http2Config::default(),
            normaliser: Normaliser::Eddy,
            strips_port: false,
            name,
            address: address.clone(),
            serve: Serve::Routes(vec![table]),
            tls,
            proxy_protocol: None,
            limits: HttpLimits::default(),
            timeouts: HttpTimeouts::default(),
            forwarded: ForwardedConfig::default(),
            via: None,
            request_id: None,
            has_access_log: true,
            filters: Vec::new(),
        });
    }
}

/// Name of the CORS filter that Gateway API rules enable.
const CORS_FILTER: &str = "gateway-api-cors";
