//! Checks clusters: their endpoints and settings.

use std::collections::HashMap;

use eddy_ids::Shared;
use eddy_model::{
    Balance, BalanceKey, ClusterConfig, DnsConfig, EjectionConfig, EndpointAddress, EndpointConfig,
    EndpointOptions, GrpcProbe, HealthConfig, HealthProbe, HttpProbe, LimitsConfig, LinkProtocol, PoolConfig,
    RetryBudget, UpstreamHttp2Config,
};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};
use eddy_spec::read::{Either, NamedMap, Spanned};
use eddy_spec::spec::{
    BalanceKeySpec, ClusterSpec, DnsSpec, EjectionSpec, EndpointSpec, HealthSpec, HttpProbeSpec, LimitsSpec,
    PoolSpec, RetryBudgetSpec, UpstreamHttp2Spec,
};
use eddy_spec::value::{ConfigName, EndpointAddressText};

use super::cluster_draft::ClusterDraft;
use super::draft::Draft;
use super::setting::{place_of, set};
use super::tls::check_cluster_tls;

/// Checks the clusters and adds them.
pub fn check_clusters(
    specs: Option<Spanned<NamedMap<ConfigName, ClusterSpec>>>,
    zone: Option<Spanned<ConfigName>>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) {
    let Draft { sources, clusters, .. } = draft;
    for entry in specs.into_iter().flat_map(|specs| specs.value.0) {
        match entry.value {
            Some(spec) => {
                let cluster = check_cluster(&entry.name, spec, sources, report);
                // The reader has reported a name that is there twice.
                let _ = clusters.define(cluster, entry.name.place);
            }
            None => {
                clusters.declare(&entry.name);
            }
        }
    }
    set_zone(zone, clusters, report);
}

/// Sets eddy's own zone on clusters whose endpoints have zones.
fn set_zone(zone: Option<Spanned<ConfigName>>, clusters: &mut ClusterDraft<'_>, report: &mut ProblemReport) {
    let Some(Spanned { value: ConfigName(zone), place }) = zone else { return };
    let zones = |cluster: &ClusterConfig| cluster.endpoints.iter().any(|one| one.terms.zone.is_some());
    let is_own = |one: &EndpointConfig| one.terms.zone.as_ref() == Some(&zone);
    if !clusters.iter().flat_map(|(_, cluster)| &cluster.endpoints).any(is_own) {
        report
            .warning(place, format!("no endpoint is in the zone `{zone}`"))
            .hint("add `zone` to endpoints, next to `address`, or leave it out");
    }
    clusters.for_each_mut(|_, cluster| {
        if zones(cluster) {
            cluster.zone = Some(Shared::clone(&zone));
        }
    });
}

fn check_cluster(
    name: &Spanned<ConfigName>,
    spec: Spanned<ClusterSpec>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> ClusterConfig {
    let Spanned { value: spec, place } = spec;
    let endpoints = spec.endpoints.map_or_else(Vec::new, |endpoints| {
        if endpoints.value.is_empty() {
            let message = format!("the cluster `{}` has no endpoints", name.value.0);
            report.error(endpoints.place, message).hint("for example `endpoints: [127.0.0.1:9000]`");
        }
        check_endpoints(endpoints.value, report)
    });
    let mut cluster = ClusterConfig::new(&name.value.0, endpoints);
    set(&mut cluster.balance, spec.balance);
    if let Some(percent) = spec.overprovision_percent {
        cluster.overprovision_percent = percent.value.to_u32();
        let has_levels = cluster.endpoints.iter().any(|one| one.terms.tier > 0 || one.terms.zone.is_some());
        if !has_levels {
            report
                .warning(
                    percent.place,
                    "`overprovision_percent` has no effect: no endpoint has a `priority` or `zone`",
                )
                .hint("add `priority` or `zone` to endpoints, next to `address`");
        }
    }
    if let Some(window) = spec.slow_start {
        cluster.slow_start = Some(window.value.0);
        if cluster.balance.balances_by_key() {
            report
                .warning(window.place, "slow start has no effect with balancing by a key: it would move keys")
                .hint("leave `slow_start` out, or use another `balance`");
        }
    }
    cluster.key = check_key(spec.key, cluster.balance, place, report);
    set(&mut cluster.connect_timeout, spec.connect_timeout);
    set(&mut cluster.first_byte_timeout, spec.first_byte_timeout);
    set(&mut cluster.read_idle_timeout, spec.read_idle_timeout);
    set(&mut cluster.links_max, spec.connections_per_endpoint);
    cluster.pool = check_pool(spec.pool);
    cluster.http2 = check_http2(spec.http2, report);
    cluster.ejection = check_ejection(spec.ejection, report);
    cluster.retry_budget = check_retry_budget(spec.retry_budget);
    cluster.limits = check_limits(spec.limits, report);
    cluster.dns = check_dns(spec.dns, report);
    cluster.tls = spec.tls.map(|tls| check_cluster_tls(tls, &cluster.endpoints, sources, report));
    if let Some(protocol) = spec.protocol {
        cluster.protocol = protocol.value;
        if protocol.value == LinkProtocol::Auto && cluster.tls.is_none() {
            report
                .warning(
                    protocol.place,
                    "the cluster has no `tls` to negotiate the protocol: HTTP/1.1 is used",
                )
                .hint("write `protocol: http2` if the endpoints support it in cleartext, or leave it out");
        }
    }
    cluster.health = spec.health.map(|health| check_health(health, cluster.protocol, report));
    if cluster.pool.idle_max > cluster.links_max {
        let message = format!(
            "the pool keeps {} idle connections, but there are at most {} connections",
            cluster.pool.idle_max, cluster.links_max
        );
        report.warning(place, message).hint("reduce `pool.idle` or increase `connections_per_endpoint`");
    }
    cluster
}

fn check_endpoints(
    specs: Vec<Spanned<Either<EndpointAddressText, EndpointSpec>>>,
    report: &mut ProblemReport,
) -> Vec<EndpointConfig> {
    let mut endpoints = Vec::with_capacity(specs.len());
    let mut places: HashMap<EndpointAddress, SourceSpan> = HashMap::new();
    for Spanned { value, place } in specs {
        let endpoint = match value {
            Either::One(EndpointAddressText(address)) => EndpointConfig::new(address),
            Either::Other(EndpointSpec { address: Some(address), weight, priority, zone }) => {
                EndpointConfig {
                    weight: weight.map_or(1, |weight| weight.value.to_u32()),
                    terms: EndpointOptions {
                        tier: priority.map_or(0, |priority| priority.value.to_u8()),
                        zone: zone.map(|zone| zone.value.0),
                        ..EndpointOptions::default()
                    },
                    ..EndpointConfig::new(address.value.0)
                }
            }
            // The reader has reported that the address is missing or wrong.
            Either::Other(EndpointSpec { address: None, .. }) => continue,
        };
        if let Some(first) = places.insert(endpoint.address.clone(), place) {
            report
                .warning(place, format!("this endpoint is already in line {}", first.line))
                .hint("give it a `weight` if it should get more requests");
        }
        endpoints.push(endpoint);
    }
    endpoints
}

fn check_http2(spec: Option<Spanned<UpstreamHttp2Spec>>, report: &mut ProblemReport) -> UpstreamHttp2Config {
    let mut http2 = UpstreamHttp2Config::default();
    let Some(Spanned { value: spec, .. }) = spec else { return http2 };
    set(&mut http2.streams_max, spec.streams);
    set(&mut http2.stream_window, spec.stream_window);
    match spec.stream_window_max {
        Some(bytes) if bytes.value.to_u32() < http2.stream_window => {
            let message = "`stream_window_max` is smaller than `stream_window`";
            report
                .error(bytes.place, message)
                .hint("make it at least as large; with equal values the window does not grow");
        }
        Some(bytes) => http2.stream_window_max = bytes.value.to_u32(),
        None => {}
    }
    http2
}

fn check_pool(spec: Option<Spanned<PoolSpec>>) -> PoolConfig {
    let mut pool = PoolConfig::default();
    if let Some(Spanned { value: spec, .. }) = spec {
        set(&mut pool.idle_max, spec.idle);
        set(&mut pool.idle_timeout, spec.idle_timeout);
        set(&mut pool.requests_max, spec.requests);
    }
    pool
}

fn check_ejection(spec: Option<Spanned<EjectionSpec>>, report: &mut ProblemReport) -> EjectionConfig {
    let mut ejection = EjectionConfig::default();
    let Some(Spanned { value: spec, place }) = spec else { return ejection };
    let is_time_max_written = spec.time_max.is_some();
    let place =
        place_of(spec.base_time.as_ref()).or_else(|| place_of(spec.time_max.as_ref())).unwrap_or(place);
    set(&mut ejection.failures, spec.failures);
    set(&mut ejection.base_time, spec.base_time);
    set(&mut ejection.time_max, spec.time_max);
    set(&mut ejection.percent_max, spec.percent_max);
    if ejection.base_time > ejection.time_max {
        if is_time_max_written {
            report.error(place, "`base_time` is longer than `time_max`");
        }
        ejection.time_max = ejection.base_time;
    }
    ejection
}

fn check_key(
    spec: Option<Spanned<BalanceKeySpec>>,
    balance: Balance,
    cluster: SourceSpan,
    report: &mut ProblemReport,
) -> Option<BalanceKey> {
    let Some(Spanned { value: spec, place }) = spec else {
        if balance.has_key() {
            report
                .error(cluster, "`hash`, `ring` and `maglev` need a `key`")
                .hint("for example `key: {header: x-user}`, or `balance: client_address`");
        }
        return None;
    };
    if !balance.has_key() {
        report
            .warning(place, "this `balance` does not use a key")
            .hint("write `balance: ring`, or leave `key` out");
    }
    let refused = [&spec.address, &spec.path].into_iter().flatten().find(|said| !said.value);
    if let Some(refused) = refused {
        report.error(refused.place, "this must be `true` or left out");
    }
    match (spec.header, spec.cookie, spec.address) {
        (Some(header), _, _) => Some(BalanceKey::Header(header.value.0.as_str().into())),
        (_, Some(cookie), _) => Some(BalanceKey::Cookie(cookie.value.0.as_str().into())),
        (_, _, Some(_)) => Some(BalanceKey::Address),
        (None, None, None) => spec.path.map(|_| BalanceKey::Path),
    }
}

fn check_health(
    spec: Spanned<HealthSpec>,
    protocol: LinkProtocol,
    report: &mut ProblemReport,
) -> HealthConfig {
    let Spanned { value: spec, place } = spec;
    let mut health = HealthConfig::default();
    if let Some(Spanned { value: http, .. }) = spec.http {
        health.probe = check_probe(http);
    }
    if let Some(Spanned { value: grpc, place }) = spec.grpc {
        if protocol == LinkProtocol::Http1 {
            report
                .error(place, "gRPC needs HTTP/2, but the cluster uses HTTP/1.1")
                .hint("add `protocol: http2` to the cluster");
        }
        health.probe = HealthProbe::Grpc(GrpcProbe {
            service: grpc.service.map_or_else(|| "".into(), |service| service.value.0.as_str().into()),
            host: grpc.host.map(|host| host.value.0),
        });
    }
    // One of them is given, because the defaults fit.
    let place = place_of(spec.timeout.as_ref()).or_else(|| place_of(spec.interval.as_ref())).unwrap_or(place);
    set(&mut health.interval, spec.interval);
    set(&mut health.timeout, spec.timeout);
    set(&mut health.healthy_after, spec.healthy);
    set(&mut health.unhealthy_after, spec.unhealthy);
    set(&mut health.panic_percent, spec.panic_percent);
    if health.timeout > health.interval {
        report
            .warning(place, "`timeout` is longer than `interval`")
            .hint(format!("reduce `timeout`, which is {:?} here, or increase `interval`", health.timeout));
    }
    health
}

fn check_probe(spec: HttpProbeSpec) -> HealthProbe {
    // The reader has reported missing keys.
    let mut http = HttpProbe::new(spec.path.as_ref().map_or("/", |path| &path.value.0));
    http.host = spec.host.map(|host| host.value.0);
    if let Some(statuses) = spec.statuses {
        http.statuses = statuses.value.iter().map(|status| status.value.to_u16()).collect();
    }
    HealthProbe::Http(http)
}

fn check_retry_budget(spec: Option<Spanned<RetryBudgetSpec>>) -> RetryBudget {
    let mut budget = RetryBudget::default();
    if let Some(Spanned { value: spec, .. }) = spec {
        set(&mut budget.percent, spec.percent);
        set(&mut budget.floor_per_second, spec.floor);
    }
    budget
}

fn check_limits(spec: Option<Spanned<LimitsSpec>>, report: &mut ProblemReport) -> LimitsConfig {
    let Some(Spanned { value: spec, .. }) = spec else { return LimitsConfig::default() };
    let limits = LimitsConfig {
        connections: spec.connections.map(|connections| connections.value.to_u32()),
        requests: spec.requests.map(|requests| requests.value.to_u32()),
        pending: spec.pending.map(|pending| pending.value.to_u32()),
        retries: spec.retries.map(|retries| retries.value.to_u32()),
    };
    let inner = [
        ("pending", spec.pending.map(|at| at.place), limits.pending),
        ("retries", spec.retries.map(|at| at.place), limits.retries),
    ];
    for (key, place, limit) in inner {
        if let (Some(place), Some(limit), Some(requests)) = (place, limit, limits.requests)
            && limit > requests
        {
            let message = format!("`{key}` is never reached: `requests` has the lower limit {requests}");
            report.warning(place, message).hint(format!("make it less than {requests}, or leave it out"));
        }
    }
    limits
}

fn check_dns(spec: Option<Spanned<DnsSpec>>, report: &mut ProblemReport) -> DnsConfig {
    let mut dns = DnsConfig::default();
    let Some(Spanned { value: spec, place }) = spec else { return dns };
    let place =
        place_of(spec.refresh_min.as_ref()).or_else(|| place_of(spec.refresh_max.as_ref())).unwrap_or(place);
    set(&mut dns.refresh_min, spec.refresh_min);
    set(&mut dns.refresh_max, spec.refresh_max);
    set(&mut dns.timeout, spec.timeout);
    set(&mut dns.stale_max, spec.stale_max);
    if dns.refresh_min > dns.refresh_max {
        report
            .error(place, "`refresh_min` is longer than `refresh_max`")
            .hint(format!("`refresh_max` is {:?} here", dns.refresh_max));
    }
    dns
}
