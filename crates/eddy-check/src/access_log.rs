//! Checks the access log: its targets and the metadata in its entries.

use std::time::Duration;

use eddy_config::{AccessLogConfig, LogServiceConfig, RecordedMetadata};
use eddy_model::{ClusterConfig, LinkProtocol};
use eddy_spec::problem::ProblemReport;
use eddy_spec::read::{NamedEntry, NamedMap, Spanned};
use eddy_spec::spec::{AccessLogSpec, LogServiceSpec};
use eddy_spec::value::{MetadataName, RecordKey};

use super::cluster_draft::ClusterDraft;
use super::setting::set;

/// Checks the access log; its cluster counts as used.
pub fn check_access_log(
    spec: AccessLogSpec,
    clusters: &mut ClusterDraft<'_>,
    report: &mut ProblemReport,
) -> Option<AccessLogConfig> {
    let metadata = check_metadata(spec.metadata, report);
    let target = spec.file.map(|file| file.value);
    let service = spec.grpc.and_then(|service| check_service(service.value, clusters, report));
    if target.is_none() {
        for (key, place) in [
            ("format", spec.format.as_ref().map(|format| format.place)),
            ("time_zone", spec.time_zone.as_ref().map(|zone| zone.place)),
        ] {
            let Some(place) = place.filter(|_| service.is_some()) else { continue };
            report
                .warning(place, format!("`{key}` has no effect without `file`"))
                .hint("the gRPC service receives entries in its own format");
        }
    }
    Some(AccessLogConfig {
        target,
        service,
        format: spec.format.map(|format| format.value).unwrap_or_default(),
        time_zone: spec.time_zone.map_or_else(|| "UTC".into(), |zone| zone.value.0),
        has_step: spec.step.is_some_and(|step| step.value),
        metadata,
    })
}

/// Checks the gRPC access log service.
fn check_service(
    spec: LogServiceSpec,
    clusters: &mut ClusterDraft<'_>,
    report: &mut ProblemReport,
) -> Option<LogServiceConfig> {
    let name = spec.cluster?;
    let cluster = clusters.resolve(&name, report)?;
    let (mut interval, mut timeout) = (Duration::from_secs(1), Duration::from_secs(5));
    set(&mut interval, spec.interval);
    set(&mut timeout, spec.timeout);
    if let Some(config) = clusters.get(cluster).filter(|config| !supports_http2(config)) {
        report
            .error(name.place, format!("gRPC needs HTTP/2, but the cluster `{}` uses HTTP/1.1", config.name))
            .hint("add `protocol: http2` to the cluster");
    }
    Some(LogServiceConfig {
        cluster,
        log_name: spec.log_name.map_or_else(|| "eddy".into(), |name| name.value.0.into()),
        node: spec.node.map_or_else(|| "".into(), |node| node.value.0.into()),
        batch_bytes: spec.batch_bytes.map_or(16 * 1024, |bytes| bytes.value.to_u32()),
        interval,
        timeout,
        held_bytes_max: spec.held_bytes.map_or(1024 * 1024, |bytes| bytes.value.to_u32()),
    })
}

/// Whether the endpoints can be reached over HTTP/2.
fn supports_http2(cluster: &ClusterConfig) -> bool {
    match cluster.protocol {
        LinkProtocol::Http1 => false,
        LinkProtocol::Http2 => true,
        LinkProtocol::Auto => cluster.tls.is_some(),
    }
}

/// Checks the metadata that is added to entries.
fn check_metadata(
    spec: Option<Spanned<NamedMap<RecordKey, MetadataName>>>,
    report: &mut ProblemReport,
) -> Vec<RecordedMetadata> {
    let Some(Spanned { value: NamedMap(entries), place }) = spec else { return Vec::new() };
    if entries.len() > RECORDED_METADATA_MAX {
        report.error(place, format!("an entry has at most {RECORDED_METADATA_MAX} metadata values"));
    }
    let mut metadata = Vec::with_capacity(entries.len());
    for NamedEntry { name, value } in entries {
        let (key, place) = (name.value.0, name.place);
        if RECORD_KEYS.contains(&&*key) {
            report.error(place, format!("entries already have a key `{key}`")).hint("use another key");
        }
        let Some(Spanned { value: noted, .. }) = value else { continue };
        metadata.push(RecordedMetadata {
            name: key.into(),
            space: noted.space.into(),
            key: noted.key.into(),
        });
    }
    metadata
}

/// Keys that every entry has, as JSON or as text.
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
