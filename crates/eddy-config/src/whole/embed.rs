//! Route tables from files of other programs: read with the semantics of their dialect and added to the other tables.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use eddy_ids::Shared;
use eddy_model::ClusterConfig;
use eddy_route::nginx::{NameForm, Sites};
use eddy_route::{Dialect, HostPattern, RouteTable, Rule, SourceLocation};

use crate::check::{CheckedTables, ConditionPlaces, NameRegistry, RulePlaces};
use crate::config::{Action, ActionKind, GatewayConfig, ListenAddress, ListenerConfig, Serve, SitesAt};
use crate::dialect::nginx::{check_nginx, included, is_nginx};
use crate::leniency::Leniency;
use crate::problem::{ProblemReport, SourceSpan, SourceText, shown};
use crate::read::Spanned;
use crate::value::{ConfigName, DialectName, FilePath};

/// Collects everything that tables from other files add to the configuration.
pub(super) struct Embedder<'s> {
    pub(super) sources: &'s [SourceText],
    leniency: Leniency,
    /// All clusters, those of eddy's own configuration first.
    pub(super) clusters: Vec<ClusterConfig>,
    pub(super) sites: Vec<Shared<Sites>>,
    /// The files, and directories that may hold more of them.
    pub(super) included: Vec<PathBuf>,
}

/// A table from a file, as written.
pub(super) struct EmbeddedTableSpec<'w> {
    pub(super) name: &'w Shared<str>,
    pub(super) dialect: Option<Spanned<DialectName>>,
    pub(super) file: &'w Spanned<FilePath>,
    pub(super) address: Option<&'w Spanned<ListenAddress>>,
}

/// Returns the path of a table's file, relative to eddy's working directory.
pub(super) fn embedded_path(file: &Spanned<FilePath>, sources: &[SourceText]) -> String {
    let named_in = sources.get(file.place.source as usize).map_or("", |source| &source.path);
    let folder = Path::new(named_in).parent().unwrap_or_else(|| Path::new(""));
    folder.join(&file.value.0).to_string_lossy().into_owned()
}

impl<'s> Embedder<'s> {
    /// Creates the collection with the clusters of eddy's own configuration.
    pub(super) fn new(sources: &'s [SourceText], leniency: Leniency, clusters: Vec<ClusterConfig>) -> Self {
        Self { sources, leniency, clusters, sites: Vec::new(), included: Vec::new() }
    }

    /// Adds the tables of a file; `name` is the common name of these tables.
    pub(super) fn embed(
        &mut self,
        wanted: &EmbeddedTableSpec<'_>,
        tables: &mut CheckedTables,
        cluster_names: &mut NameRegistry,
        report: &mut ProblemReport,
    ) {
        let EmbeddedTableSpec { name, dialect, file, address } = *wanted;
        let path = embedded_path(file, self.sources);
        let Some(root) = self.sources.iter().position(|source| *source.path == *path) else {
            report
                .error(file.place, format!("there is no file `{}`", shown(&path)))
                .hint("relative paths are resolved against the directory of this file");
            return;
        };
        let is_meant = match dialect.map(|dialect| dialect.value) {
            Some(DialectName::Nginx) => true,
            Some(DialectName::Eddy) => false,
            None => is_nginx(&path),
        };
        if !is_meant {
            report
                .error(file.place, "a table from a file needs the dialect of another program")
                .hint("add `dialect: nginx`, or write the rules under `rules`");
            return;
        }
        let read = check_nginx(self.sources, root, tables.actions.len(), self.leniency, report);
        self.included.push(PathBuf::from(path));
        self.included.extend(included(self.sources, root));
        let Some(read) = read else { return };
        let Some(listener) = choose(&read.listeners, address, file.place, report) else { return };
        if listener.tls.is_some() {
            report
                .warning(file.place, "certificates of the file are not used: eddy.yaml defines the listeners")
                .hint("configure them there: `tls: {certificates: [{chain: site.crt, key: site.key}]}`");
        }
        let GatewayConfig { actions, clusters, sites, .. } = &read;
        let (clusters_before, sites_before) = (self.clusters.len(), self.sites.len());
        for cluster in clusters {
            let own_name: Shared<str> = format!("{name}/{}", cluster.name).into();
            let name = Spanned { value: ConfigName(Shared::clone(&own_name)), place: file.place };
            cluster_names.define(&name);
            // A name that eddy's own configuration already uses would lead to that cluster.
            if cluster_names.find(&own_name) != Some(self.clusters.len()) {
                let message = format!("the cluster `{own_name}` already exists");
                report.error(file.place, message).hint("rename the cluster or the table");
            }
            self.clusters.push(ClusterConfig { name: own_name, ..cluster.clone() });
        }
        tables.actions.extend(actions.iter().cloned().map(|action| moved(action, clusters_before)));
        if let Serve::Sites(at) = listener.serve
            && let Some(all) = sites.get(at.sites)
        {
            let at = SitesAt { sites: sites_before, address: at.address };
            self.add_servers(name, all, at, tables);
        }
        self.sites.extend(sites.iter().cloned());
    }

    /// Adds the table whose rules lead to the NGINX servers: one rule for each server, with the hosts of those of its
    /// names that eddy's host precedence covers, and one rule for all other hosts.
    fn add_servers(&self, name: &Shared<str>, sites: &Sites, at: SitesAt, tables: &mut CheckedTables) {
        let Some(listening) = sites.addresses().get(at.address) else { return };
        let action = u32::try_from(tables.actions.len()).unwrap_or(u32::MAX);
        tables.actions.push(Action::new(ActionKind::Sites(at)));
        let mut table = RouteTable::new(name, Dialect::Eddy);
        let mut places = Vec::new();
        let mut taken: HashSet<HostPattern> = HashSet::new();
        let named = listening.servers.iter().map(|server| (*server, false));
        for (server, is_rest) in named.chain([(listening.default, true)]) {
            let Some(spec) = sites.servers().get(server as usize) else { continue };
            let hosts: Vec<HostPattern> = if is_rest {
                Vec::new()
            } else {
                let hosts = spec.names.iter().flat_map(|name| hosts_of(&name.form));
                hosts.filter(|host| taken.insert(host.clone())).collect()
            };
            if hosts.is_empty() && !is_rest {
                continue;
            }
            let Some(place) = sites.places().get(spec.place as usize) else { continue };
            let rule = if is_rest { format!("{name} (other hosts)") } else { place.name.to_string() };
            places.push(RulePlaces {
                rule: self.place_of(&place.origin, is_rest),
                conditions: ConditionPlaces::default(),
                rewrite: None,
            });
            table.rules.push(Rule { hosts, action, ..Rule::new(&rule, place.origin.clone()) });
        }
        tables.tables.push(table);
        tables.places.push(places);
    }

    /// Returns the position of a rule; no position for the rule for all other hosts, which every file has, so that it
    /// causes no warnings.
    fn place_of(&self, origin: &SourceLocation, is_rest: bool) -> SourceSpan {
        let source = self.sources.iter().position(|source| source.path == origin.file).unwrap_or_default();
        let source = u32::try_from(source).unwrap_or_default();
        if is_rest {
            SourceSpan::default()
        } else {
            SourceSpan { source, line: origin.line, column: 1, length: 1 }
        }
    }
}

/// Returns the hosts of a server name; none for forms that eddy's host precedence does not cover.
fn hosts_of(form: &NameForm) -> Vec<HostPattern> {
    match form {
        NameForm::Exact(name) if !name.is_empty() => vec![HostPattern::Exact(name.to_string())],
        NameForm::Leading(end) => vec![HostPattern::Suffix(end.trim_start_matches('.').to_owned())],
        NameForm::Domain(name) => {
            vec![HostPattern::Exact(name.to_string()), HostPattern::Suffix(name.to_string())]
        }
        NameForm::Exact(_) | NameForm::Trailing(_) | NameForm::Pattern(_) => Vec::new(),
    }
}

/// Returns an action with cluster indexes that are shifted past the clusters before.
fn moved(mut action: Action, clusters_before: usize) -> Action {
    match &mut action.kind {
        ActionKind::Cluster(cluster) => *cluster += clusters_before,
        ActionKind::Weighted(clusters) => {
            clusters.iter_mut().for_each(|share| share.cluster += clusters_before);
        }
        // Indexes of actions are final from the beginning.
        ActionKind::Split(_) | ActionKind::Respond(_) | ActionKind::Redirect(_) | ActionKind::Sites(_) => {}
    }
    action
}

/// Returns the listener of a file whose servers are used.
fn choose<'l>(
    listeners: &'l [ListenerConfig],
    address: Option<&Spanned<ListenAddress>>,
    place: SourceSpan,
    report: &mut ProblemReport,
) -> Option<&'l ListenerConfig> {
    let texts: Vec<String> = listeners.iter().map(|listener| format!("`{}`", listener.address)).collect();
    let known = texts.join(", ");
    match (listeners, address) {
        ([only], None) => Some(only),
        (_, Some(address)) => {
            let meant = listeners.iter().find(|listener| listener.address == address.value);
            if meant.is_none() {
                let message = format!("no server of the file listens on `{}`", address.value);
                report.error(address.place, message).hint(format!("the servers listen on {known}"));
            }
            meant
        }
        (_, None) => {
            report
                .error(place, "the servers of this file listen on several addresses")
                .hint(format!("select one with `address`: {known}"));
            None
        }
    }
}
