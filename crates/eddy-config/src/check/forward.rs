//! Listeners that pass connections on, and the PROXY protocol.

use std::sync::Arc;

use eddy_route::Origin;
use eddy_upstream::ClusterConfig;

use super::names::Names;
use crate::config::{ListenerConfig, Serve};
use crate::forward::{Forward, Forwarding, ProxyProtocolConfig};
use crate::problem::{Place, Report, SourceText};
use crate::read::{At, OneOrMany};
use crate::spec::{ForwardSpec, ListenerSpec, ProxyProtocolSpec};

/// Checks the ways of a listener's connections; the clusters that they name count as used.
pub(super) fn check_forward(
    specs: &At<OneOrMany<ForwardSpec>>,
    clusters: &mut Names,
    sources: &[SourceText],
    report: &mut Report,
) -> Option<Arc<Forwarding>> {
    let ways = OneOrMany::into_many(specs.clone());
    if ways.is_empty() {
        report
            .error(specs.place, "connections need a cluster to go to")
            .hint("for example `{cluster: postgres}`");
    }
    let mut checked = Vec::new();
    let mut is_open = false;
    for way in &ways {
        let names = way.value.server_names.as_ref();
        if let Some(names) = names.filter(|names| names.value.is_empty()) {
            report
                .error(names.place, "no name is named")
                .hint("leave `server_names` out for connections that no other way names");
        }
        if names.is_none() && std::mem::replace(&mut is_open, true) {
            report.error(way.place, "another way takes whatever no way names already");
        }
        let names: Vec<_> =
            names.into_iter().flat_map(|names| &names.value).map(|name| name.value.clone()).collect();
        let cluster = clusters.resolve(way.value.cluster.as_ref()?, report)?;
        let proxy = way.value.proxy_protocol.as_ref().map(|version| version.value.0);
        checked.push(Forward { names, cluster, proxy });
    }
    let file = sources.get(specs.place.source as usize).map(|source| source.path.clone());
    let origin = Origin { file: file.unwrap_or_else(|| "".into()), line: specs.place.line };
    Some(Arc::new(Forwarding { ways: checked, origin }))
}

/// Notes clusters that connections cannot be passed on to: TLS of eddy's would come on top of whatever is passed on.
pub(super) fn check_ends(
    listeners: &[ListenerConfig],
    clusters: &[ClusterConfig],
    sources: &[SourceText],
    report: &mut Report,
) {
    for listener in listeners {
        let Serve::Forward(forwarding) = &listener.serve else { continue };
        let mut ends = forwarding.ways.iter().filter_map(|way| clusters.get(way.cluster));
        let Some(cluster) = ends.find(|cluster| cluster.tls.is_some()) else { continue };
        let Origin { file, line } = &forwarding.origin;
        let source = sources.iter().position(|source| source.path == *file).unwrap_or_default();
        let place =
            Place { source: u32::try_from(source).unwrap_or_default(), line: *line, column: 1, length: 1 };
        let message =
            format!("connections are passed on as they are, and the cluster `{}` has `tls`", cluster.name);
        report
            .error(place, message)
            .hint("name a cluster without `tls`; what clients say over TLS goes on as it is");
    }
}

/// Notes what a listener that passes connections on can't do, as it sees no requests.
pub(super) fn check_unused(spec: &ListenerSpec, report: &mut Report) {
    let keys = [
        ("forwarded", spec.forwarded.as_ref().map(|at| at.place)),
        ("via", spec.via.as_ref().map(|at| at.place)),
        ("request_id", spec.request_id.as_ref().map(|at| at.place)),
        ("filters", spec.filters.as_ref().map(|at| at.place)),
        ("access_log", spec.access_log.as_ref().map(|at| at.place)),
    ];
    for (key, place) in keys {
        let Some(place) = place else { continue };
        report
            .error(place, format!("a listener with `forward` sees no requests, so `{key}` has no meaning"))
            .hint("leave it out, or use `routes`");
    }
}

/// Checks which connections begin with a header.
pub(super) fn check_proxy_protocol(spec: &At<ProxyProtocolSpec>, report: &mut Report) -> ProxyProtocolConfig {
    let from = spec.value.from.as_ref().map(|from| {
        if from.value.is_empty() {
            report.error(from.place, "no connection can come from nowhere").hint("leave `from` out for all");
        }
        from.value.iter().map(|block| block.value).collect()
    });
    if from.is_none() {
        report
            .warning(spec.place, "whoever connects can claim to be any client")
            .hint("name the proxies in front in `from`, unless nobody else can reach this address");
    }
    ProxyProtocolConfig { from }
}
