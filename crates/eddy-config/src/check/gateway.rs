//! What concerns the gateway as a whole: admin, logs, limits.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::cluster::{set_number, set_time};
use super::listener::Taken;
use crate::config::{
    AccessLogConfig, AdminConfig, GatewayLimits, ListenAddress, LogConfig, QuarantineConfig, RecordedMetadata,
};
use crate::problem::Report;
use crate::read::{At, Named, NamedEntry};
use crate::spec::{AccessLogSpec, AdminSpec, GatewayLimitsSpec, LogSpec, QuarantineSpec};
use crate::value::{MetadataName, RecordKey};

/// Checks the admin listener: reachable from this machine only, unless the configuration says otherwise.
pub(super) fn check_admin(
    spec: &At<AdminSpec>,
    taken: &mut Taken<'_>,
    report: &mut Report,
) -> Option<AdminConfig> {
    let address = spec.value.address?;
    let socket = address.value.0;
    let is_remote_allowed = spec.value.allow_remote.is_some_and(|allow| allow.value);
    if !is_loopback(socket.ip()) {
        if is_remote_allowed {
            report
                .warning(address.place, "other machines can reach the admin listener, which has no password")
                .hint("guard it with a firewall");
        } else {
            report
                .error(
                    address.place,
                    "the admin listener has no password, so only a loopback address is taken",
                )
                .hint(format!(
                    "write `127.0.0.1:{}`, or add `allow_remote: true` if something else guards it",
                    socket.port()
                ));
        }
    }
    taken.take_address(&ListenAddress::Tcp(socket), address.place, report);
    Some(AdminConfig { address: socket })
}

/// Checks the access log.
pub(super) fn check_access_log(spec: AccessLogSpec, report: &mut Report) -> Option<AccessLogConfig> {
    let metadata = check_metadata(spec.metadata, report);
    Some(AccessLogConfig {
        target: spec.file?.value,
        format: spec.format.map(|format| format.value).unwrap_or_default(),
        time_zone: spec.time_zone.map_or_else(|| "UTC".into(), |zone| zone.value.0),
        has_step: spec.step.is_some_and(|step| step.value),
        metadata,
    })
}

/// Checks what of the metadata records have.
fn check_metadata(
    spec: Option<At<Named<RecordKey, MetadataName>>>,
    report: &mut Report,
) -> Vec<RecordedMetadata> {
    let Some(At { value: Named(entries), place }) = spec else { return Vec::new() };
    if entries.len() > RECORDED_METADATA_MAX {
        report.error(place, format!("records have at most {RECORDED_METADATA_MAX} values of metadata"));
    }
    let mut metadata = Vec::with_capacity(entries.len());
    for NamedEntry { name, value } in entries {
        let (key, place) = (name.value.0, name.place);
        if RECORD_KEYS.contains(&&*key) {
            report.error(place, format!("records have a `{key}` of their own")).hint("take another key");
        }
        let Some(At { value: noted, .. }) = value else { continue };
        metadata.push(RecordedMetadata {
            name: key.into(),
            space: noted.space.into(),
            key: noted.key.into(),
        });
    }
    metadata
}

/// Checks what eddy itself says.
pub(super) fn check_log(spec: Option<LogSpec>) -> LogConfig {
    let spec = spec.unwrap_or_default();
    LogConfig {
        level: spec.level.map_or("info", |level| level.value.0).into(),
        format: spec.format.map(|format| format.value).unwrap_or_default(),
    }
}

/// Checks the limits of the gateway.
pub(super) fn check_limits(spec: Option<GatewayLimitsSpec>, report: &mut Report) -> GatewayLimits {
    let mut limits = GatewayLimits::default();
    let Some(spec) = spec else { return limits };
    set_number(&mut limits.connections_max, spec.connections);
    set_number(&mut limits.exchanges_max, spec.exchanges);
    if let Some(percent) = spec.memory_percent {
        limits.memory_percent_max = percent.value.to_u8();
    }
    if let Some(percent) = spec.go_memory_percent {
        limits.go_memory_percent = percent.value.to_u8();
    }
    if let Some(delay) = spec.queue_delay.filter(|delay| delay.value.0.is_zero()) {
        report
            .warning(delay.place, "without `queue_delay` an overloaded gateway answers late instead of 503");
    }
    set_time(&mut limits.queue_delay_max, spec.queue_delay);
    limits
}

/// Checks when filters are quarantined.
pub(super) fn check_quarantine(spec: Option<QuarantineSpec>) -> QuarantineConfig {
    let mut quarantine = QuarantineConfig::default();
    let Some(spec) = spec else { return quarantine };
    set_number(&mut quarantine.deaths, spec.deaths);
    set_time(&mut quarantine.within, spec.within);
    set_time(&mut quarantine.time, spec.time);
    quarantine
}

/// Whether an address is reached from this machine only.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Addr::is_loopback(&address),
        IpAddr::V6(address) => Ipv6Addr::is_loopback(&address),
    }
}

/// Longest time a drain waits, unless the configuration says otherwise.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// What records have anyhow, as JSON or as text.
const RECORD_KEYS: [&str; 34] = [
    "time",
    "client",
    "method",
    "host",
    "target",
    "version",
    "reason",
    "status",
    "bytes_in",
    "bytes_out",
    "duration_us",
    "attempts",
    "listener",
    "rule",
    "cluster",
    "request_id",
    "referer",
    "user_agent",
    "config",
    "tls",
    "tls_suite",
    "tls_server_name",
    "tls_subject",
    "step",
    "endpoint",
    "endpoint_version",
    "by",
    "in",
    "out",
    "us",
    "id",
    "agent",
    "subject",
    "grpc_status",
];

const RECORDED_METADATA_MAX: usize = 64;
