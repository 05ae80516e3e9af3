//! Converts clusters to eddy.yaml.

use std::time::Duration;

use eddy_model::{
    Balance, BalanceKey, ClusterConfig, DnsConfig, EjectionConfig, EndpointAddress, EndpointConfig,
    HealthConfig, HealthProbe, LimitKind, LimitsConfig, LinkProtocol, PoolConfig, RetryBudget,
    UpstreamHttp2Config,
};
use serde_json::{Value, json};

use super::tls::{cluster_tls_value, unsupported_cluster_tls};
use super::yaml::{put, time};

/// Returns a cluster in the form of eddy.yaml; defaults are left out.
pub(super) fn cluster_value(cluster: &ClusterConfig) -> Value {
    let usual = ClusterConfig::new("", Vec::new());
    let endpoints = cluster.endpoints.iter().filter(|endpoint| !endpoint.terms.is_down);
    let mut own = json!({"endpoints": endpoints.map(endpoint_value).collect::<Vec<_>>()});
    if let Some(balance) = balance_word(cluster) {
        own["balance"] = balance.into();
    }
    if let Some(key) = &cluster.key {
        own["key"] = match key {
            BalanceKey::Header(name) => json!({"header": &**name}),
            BalanceKey::Cookie(name) => json!({"cookie": &**name}),
            BalanceKey::Address => json!({"address": true}),
            BalanceKey::Path => json!({"path": true}),
        };
    }
    if cluster.endpoints.iter().any(|endpoint| endpoint.terms.tier > 0 || endpoint.terms.zone.is_some()) {
        let percent = cluster.overprovision_percent.min(OVERPROVISION_MAX);
        put(&mut own, "overprovision_percent", percent, usual.overprovision_percent, Value::from);
    }
    put(&mut own, "slow_start", cluster.slow_start, None, |window| window.map(time).into());
    put(&mut own, "connect_timeout", cluster.connect_timeout, usual.connect_timeout, time);
    put(&mut own, "first_byte_timeout", cluster.first_byte_timeout, usual.first_byte_timeout, time);
    put(&mut own, "read_idle_timeout", cluster.read_idle_timeout, usual.read_idle_timeout, time);
    put(&mut own, "connections_per_endpoint", cluster.links_max, usual.links_max, |links| links.into());
    for (key, part) in [
        ("pool", pool_value(&cluster.pool)),
        ("http2", http2_value(&cluster.http2)),
        ("ejection", ejection_value(&cluster.ejection)),
        ("retry_budget", retry_budget_value(&cluster.retry_budget)),
        ("limits", limits_value(&cluster.limits)),
        ("dns", dns_value(&cluster.dns)),
    ] {
        put(&mut own, key, part, json!({}), |part| part);
    }
    if let Some(health) = &cluster.health {
        own["health"] = health_value(health);
    }
    if let Some(tls) = cluster.tls.as_ref().filter(|tls| unsupported_cluster_tls(tls).is_none()) {
        own["tls"] = cluster_tls_value(tls);
    }
    match cluster.protocol {
        LinkProtocol::Http1 => {}
        LinkProtocol::Http2 => own["protocol"] = "http2".into(),
        // Without TLS nothing can be negotiated.
        LinkProtocol::Auto if own.get("tls").is_none() => {}
        LinkProtocol::Auto => own["protocol"] = "auto".into(),
    }
    own
}

/// Returns the settings of a cluster that eddy.yaml cannot express.
pub(super) fn unsupported_settings(cluster: &ClusterConfig) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    if cluster.balance.has_key() && cluster.key.is_none() {
        reasons.push("the balancing key cannot be expressed; endpoints are selected in turn");
    }
    if cluster.endpoints.iter().any(|endpoint| endpoint.terms.active_max.is_some()) {
        reasons.push("connection limits of endpoints cannot be expressed");
    }
    reasons.extend(cluster.tls.as_ref().and_then(unsupported_cluster_tls));
    reasons
}

fn endpoint_value(endpoint: &EndpointConfig) -> Value {
    let address = match &endpoint.address {
        EndpointAddress::Socket(address) => address.to_string(),
        EndpointAddress::Name { host, port } => format!("{host}:{port}"),
        EndpointAddress::Unix(path) => format!("unix:{}", path.display()),
    };
    let mut own = json!({});
    put(&mut own, "weight", endpoint.weight, 1, Value::from);
    put(&mut own, "priority", endpoint.terms.tier, 0, Value::from);
    put(&mut own, "zone", endpoint.terms.zone.as_deref(), None, Value::from);
    if own == json!({}) {
        return address.into();
    }
    own["address"] = address.into();
    own
}

fn balance_word(cluster: &ClusterConfig) -> Option<&'static str> {
    match cluster.balance {
        Balance::Hash if cluster.key.is_some() => Some("hash"),
        Balance::Ring if cluster.key.is_some() => Some("ring"),
        Balance::Maglev if cluster.key.is_some() => Some("maglev"),
        Balance::RoundRobin | Balance::Hash | Balance::Ring | Balance::Maglev => None,
        Balance::LeastRequest => Some("least_request"),
        Balance::Random => Some("random"),
        Balance::ClientAddress => Some("client_address"),
    }
}

fn pool_value(pool: &PoolConfig) -> Value {
    let (mut own, usual) = (json!({}), PoolConfig::default());
    put(&mut own, "idle", pool.idle_max, usual.idle_max, Value::from);
    put(&mut own, "idle_timeout", pool.idle_timeout, usual.idle_timeout, time);
    put(&mut own, "requests", pool.requests_max, usual.requests_max, Value::from);
    own
}

fn http2_value(http2: &UpstreamHttp2Config) -> Value {
    let (mut own, usual) = (json!({}), UpstreamHttp2Config::default());
    put(&mut own, "streams", http2.streams_max, usual.streams_max, Value::from);
    put(&mut own, "stream_window", http2.stream_window, usual.stream_window, Value::from);
    put(&mut own, "stream_window_max", http2.stream_window_max, usual.stream_window_max, Value::from);
    own
}

fn ejection_value(ejection: &EjectionConfig) -> Value {
    let (mut own, usual) = (json!({}), EjectionConfig::default());
    put(&mut own, "failures", ejection.failures.min(FAILURES_MAX), usual.failures, Value::from);
    put(&mut own, "base_time", ejection.base_time.min(BASE_TIME_MAX), usual.base_time, time);
    put(&mut own, "time_max", ejection.time_max.min(DAY), usual.time_max, time);
    put(&mut own, "percent_max", ejection.percent_max.min(100), usual.percent_max, Value::from);
    own
}

fn retry_budget_value(budget: &RetryBudget) -> Value {
    let (mut own, usual) = (json!({}), RetryBudget::default());
    put(&mut own, "percent", budget.percent, usual.percent, Value::from);
    put(&mut own, "floor", budget.floor_per_second, usual.floor_per_second, Value::from);
    own
}

fn limits_value(limits: &LimitsConfig) -> Value {
    let mut own = json!({});
    for kind in LimitKind::ALL {
        put(&mut own, kind.name(), limits.of(kind), None, Value::from);
    }
    own
}

fn dns_value(dns: &DnsConfig) -> Value {
    let (mut own, usual) = (json!({}), DnsConfig::default());
    put(&mut own, "refresh_min", dns.refresh_min, usual.refresh_min, time);
    put(&mut own, "refresh_max", dns.refresh_max, usual.refresh_max, time);
    put(&mut own, "timeout", dns.timeout, usual.timeout, time);
    put(&mut own, "stale_max", dns.stale_max, usual.stale_max, time);
    own
}

fn health_value(health: &HealthConfig) -> Value {
    let (mut own, usual) = (json!({}), HealthConfig::default());
    match &health.probe {
        HealthProbe::Connect => {}
        HealthProbe::Http(http) => {
            own["http"] = json!({"path": &*http.target, "statuses": http.statuses});
            if let Some(host) = &http.host {
                own["http"]["host"] = host.to_string().into();
            }
        }
        HealthProbe::Grpc(grpc) => {
            own["grpc"] = json!({});
            put(&mut own["grpc"], "service", &*grpc.service, "", Value::from);
            if let Some(host) = &grpc.host {
                own["grpc"]["host"] = host.to_string().into();
            }
        }
    }
    put(&mut own, "interval", health.interval, usual.interval, time);
    put(&mut own, "timeout", health.timeout, usual.timeout, time);
    put(&mut own, "healthy", health.healthy_after, usual.healthy_after, Value::from);
    put(&mut own, "unhealthy", health.unhealthy_after, usual.unhealthy_after, Value::from);
    put(&mut own, "panic_percent", health.panic_percent, usual.panic_percent, Value::from);
    own
}

/// Maximum values in eddy.yaml.
const FAILURES_MAX: u32 = 1000;
const OVERPROVISION_MAX: u32 = 100_000;
const BASE_TIME_MAX: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
