//! Route tables from files of other programs: read with the semantics of their dialect and added to the other tables.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use eddy_check::{Draft, RulePositions, TableDraft};
use eddy_config::{Action, ActionKind, ListenAddress, ListenerConfig, Serve, SitesAt};
use eddy_ids::Shared;
use eddy_route::nginx::{NameForm, Sites};
use eddy_route::{Dialect, HostPattern, Rule};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, place_of, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::{DialectName, FilePath};

use crate::nginx::{NginxOutput, included, is_nginx, read_nginx};

/// Returns the path of a table's file, relative to eddy's working directory.
pub(super) fn embedded_path(file: &Spanned<FilePath>, sources: &[SourceText]) -> String {
    let named_in = sources.get(file.place.source as usize).map_or("", |source| &source.path);
    let folder = Path::new(named_in).parent().unwrap_or_else(|| Path::new(""));
    folder.join(&file.value.0).to_string_lossy().into_owned()
}

/// Reads the table of a file, its clusters and NGINX configuration; returns `None` after errors.
pub(super) fn embed(
    name: &Shared<str>,
    dialect: Option<Spanned<DialectName>>,
    file: &Spanned<FilePath>,
    address: Option<&Spanned<ListenAddress>>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) -> Option<TableDraft> {
    let path = embedded_path(file, draft.sources);
    let Some(root) = draft.sources.iter().position(|source| *source.path == *path) else {
        report
            .error(file.place, format!("there is no file `{}`", shown(&path)))
            .hint("relative paths are resolved against the directory of this file");
        return None;
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
        return None;
    }
    draft.included.push(PathBuf::from(path));
    draft.included.extend(included(draft.sources, root));
    let (sources, sites) = (draft.sources, draft.sites.len());
    let output = NginxOutput { clusters: &mut draft.clusters, sites, table: Some(name), place: file.place };
    let read = report.with(draft.leniency, |report| read_nginx(sources, root, output, report))?;
    let listener = choose(&read.listeners, address, file.place, report)?;
    if listener.tls.is_some() {
        report
            .warning(file.place, "certificates of the file are not used: eddy.yaml defines the listeners")
            .hint("configure them there: `tls: {certificates: [{chain: site.crt, key: site.key}]}`");
    }
    let Serve::Sites(at) = listener.serve else { return None };
    let table = table_of_servers(name, &read.sites.program, at, draft.sources);
    draft.sites.push(Shared::new(read.sites));
    Some(table)
}

/// Returns the table whose rules lead to the NGINX servers: one rule for each server, with the hosts of those of its
/// names that eddy's host precedence covers, and one rule for all other hosts.
fn table_of_servers(name: &Shared<str>, program: &Sites, at: SitesAt, sources: &[SourceText]) -> TableDraft {
    let mut table = TableDraft::new(name, Dialect::Eddy);
    let action = table.action(Action::new(ActionKind::Sites(at)));
    let Some(listening) = program.addresses().get(at.address) else { return table };
    let mut taken: HashSet<HostPattern> = HashSet::new();
    let named = listening.servers.iter().map(|server| (*server, false));
    for (server, is_rest) in named.chain([(listening.default, true)]) {
        let Some(spec) = program.servers().get(server as usize) else { continue };
        let hosts: Vec<HostPattern> = if is_rest {
            Vec::new()
        } else {
            let hosts = spec.names.iter().flat_map(|name| hosts_of(&name.form));
            hosts.filter(|host| taken.insert(host.clone())).collect()
        };
        if hosts.is_empty() && !is_rest {
            continue;
        }
        let Some(place) = program.places().get(spec.place as usize) else { continue };
        let rule = if is_rest { format!("{name} (other hosts)") } else { place.name.to_string() };
        // Every file has the rule for all other hosts: without a position it causes no warnings.
        let written = if is_rest { SourceSpan::default() } else { place_of(&place.origin, sources) };
        table.push(
            Rule { hosts, action, ..Rule::new(&rule, place.origin.clone()) },
            RulePositions::of(written),
        );
    }
    table
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
