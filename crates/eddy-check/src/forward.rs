//! Checks listeners that forward TCP connections or datagrams, and the PROXY protocol.

use std::num::NonZeroU32;

use eddy_config::{
    Forward, Forwarding, ListenAddress, ListenerConfig, ProxyProtocolConfig, Serve, SessionEnds,
};
use eddy_ids::Shared;
use eddy_model::{ClusterConfig, EndpointAddress, EndpointConfig};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, origin_of, place_of};
use eddy_spec::read::{OneOrMany, Spanned};
use eddy_spec::spec::{ForwardSpec, ListenerSpec, ProxyProtocolSpec};
use eddy_spec::value::{Number, TransportName};

use super::cluster_draft::ClusterDraft;

/// Checks the targets of forwarded connections or datagrams; their clusters count as used.
pub(crate) fn check_forward(
    specs: &Spanned<OneOrMany<ForwardSpec>>,
    transport: TransportName,
    clusters: &mut ClusterDraft<'_>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Option<Shared<Forwarding>> {
    let ways = OneOrMany::into_many(specs.clone());
    if ways.is_empty() {
        report
            .error(specs.place, "`forward` needs at least one cluster")
            .hint("for example `{cluster: postgres}`");
    }
    let mut checked = Vec::new();
    let mut is_open = false;
    for way in &ways {
        let names = way.value.server_names.as_ref();
        if let Some(names) = names.filter(|names| names.value.is_empty()) {
            report
                .error(names.place, "the list of server names is empty")
                .hint("leave `server_names` out to match names that no other entry has");
        }
        if names.is_none() && std::mem::replace(&mut is_open, true) {
            report.error(way.place, "another entry without `server_names` already matches these connections");
        }
        check_forward_target(&way.value, transport, report);
        let names: Vec<_> =
            names.into_iter().flat_map(|names| &names.value).map(|name| name.value.clone()).collect();
        let cluster = clusters.resolve(way.value.cluster.as_ref()?, report)?;
        let proxy = way.value.proxy_protocol.as_ref().map(|version| version.value);
        let ends =
            SessionEnds { datagrams_max: count(way.value.datagrams), responses: count(way.value.responses) };
        checked.push(Forward { names, cluster, proxy, ends });
    }
    Some(Shared::new(Forwarding { ways: checked, origin: origin_of(specs.place, sources) }))
}

/// Reports keys of a target that have no effect for its transport protocol.
fn check_forward_target(way: &ForwardSpec, transport: TransportName, report: &mut ProblemReport) {
    let (keys, reason) = match transport {
        TransportName::Tcp => {
            let keys = [
                ("datagrams", way.datagrams.as_ref().map(|at| at.place)),
                ("responses", way.responses.as_ref().map(|at| at.place)),
            ];
            (keys, "connections are forwarded until they end")
        }
        TransportName::Udp => {
            let keys = [
                ("server_names", way.server_names.as_ref().map(|at| at.place)),
                ("proxy_protocol", way.proxy_protocol.as_ref().map(|at| at.place)),
            ];
            (keys, "datagrams are forwarded one by one")
        }
    };
    note_useless_keys(&keys, reason, "leave it out, or change `protocol` of the listener", report);
}

/// Reports those of the keys that are given: for this reason they have no effect.
fn note_useless_keys(
    keys: &[(&str, Option<SourceSpan>)],
    reason: &str,
    hint: &str,
    report: &mut ProblemReport,
) {
    for (key, place) in keys {
        let Some(place) = place else { continue };
        report.error(*place, format!("{reason}, so `{key}` has no effect")).hint(hint);
    }
}

fn count(number: Option<Spanned<Number<1, 1_000_000_000>>>) -> Option<NonZeroU32> {
    NonZeroU32::new(number?.value.to_u32())
}

/// Reports clusters that connections or datagrams cannot be forwarded to: TLS of the cluster would be added on top of
/// the forwarded bytes, and a Unix socket accepts no UDP datagrams.
pub(crate) fn check_forward_clusters(
    listeners: &[ListenerConfig],
    clusters: &ClusterDraft<'_>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) {
    for listener in listeners {
        let Serve::Forward(forwarding) = &listener.serve else { continue };
        let is_udp = matches!(listener.address, ListenAddress::Udp(_));
        let mut ends = forwarding.ways.iter().filter_map(|way| clusters.get(way.cluster));
        let Some((message, hint)) = ends.find_map(|cluster| misfit(cluster, is_udp)) else { continue };
        report.error(place_of(&forwarding.origin, sources), message).hint(hint);
    }
}

/// Returns why nothing can be forwarded to a cluster, with a hint; `None` if it can.
fn misfit(cluster: &ClusterConfig, is_udp: bool) -> Option<(String, &'static str)> {
    let name = &cluster.name;
    if cluster.tls.is_some() {
        let what = if is_udp { "datagrams" } else { "connections" };
        return Some((
            format!("{what} are forwarded unchanged, but the cluster `{name}` has `tls`"),
            "use a cluster without `tls`; TLS of clients is forwarded unchanged",
        ));
    }
    let is_unix = |endpoint: &EndpointConfig| matches!(endpoint.address, EndpointAddress::Unix(_));
    if is_udp && cluster.endpoints.iter().any(is_unix) {
        return Some((
            format!("datagrams need UDP ports, but the cluster `{name}` has a Unix socket"),
            "use a cluster whose endpoints are `host:port`",
        ));
    }
    None
}

/// Reports keys that have no effect on a listener that forwards connections, as it sees no requests.
pub(crate) fn check_unused(spec: &ListenerSpec, report: &mut ProblemReport) {
    let keys = [
        ("forwarded", spec.forwarded.as_ref().map(|at| at.place)),
        ("via", spec.via.as_ref().map(|at| at.place)),
        ("request_id", spec.request_id.as_ref().map(|at| at.place)),
        ("filters", spec.filters.as_ref().map(|at| at.place)),
    ];
    let reason = "a listener with `forward` sees no requests";
    note_useless_keys(&keys, reason, "leave it out, or use `routes`", report);
}

/// Returns the transport protocol of a listener, and reports keys that have no effect with UDP.
pub(crate) fn check_transport(spec: &ListenerSpec, report: &mut ProblemReport) -> TransportName {
    let Some(Spanned { value: TransportName::Udp, place, .. }) = &spec.protocol else {
        return TransportName::Tcp;
    };
    if spec.forward.is_none() {
        report
            .error(*place, "`protocol: udp` needs `forward`")
            .hint("leave `protocol` out, or forward datagrams: `forward: {cluster: dns}`");
    }
    if let Some(Spanned { value: ListenAddress::Unix(_), place, .. }) = &spec.address {
        report.error(*place, "datagrams need a UDP port, not a Unix socket").hint("for example `0.0.0.0:53`");
    }
    let keys = [
        ("tls", spec.tls.as_ref().map(|at| at.place)),
        ("proxy_protocol", spec.proxy_protocol.as_ref().map(|at| at.place)),
        ("http2", spec.http2.as_ref().map(|at| at.place)),
    ];
    note_useless_keys(&keys, "there are no connections with `protocol: udp`", "leave it out", report);
    TransportName::Udp
}

/// Checks which connections begin with a PROXY protocol header.
pub(crate) fn check_proxy_protocol(
    spec: &Spanned<ProxyProtocolSpec>,
    report: &mut ProblemReport,
) -> ProxyProtocolConfig {
    let from = spec.value.from.as_ref().map(|from| {
        if from.value.is_empty() {
            report
                .error(from.place, "the list of addresses is empty")
                .hint("leave `from` out for all addresses");
        }
        from.value.iter().map(|block| block.value).collect()
    });
    if from.is_none() {
        report.warning(spec.place, "every peer is trusted: it can claim any client address").hint(
            "list the proxies in front of eddy under `from`, unless no other peer can reach this address",
        );
    }
    ProxyProtocolConfig { from }
}
