//! Settings of the access log, and of its service, under a plan.

use eddy_config::{AccessLogConfig, LogServiceConfig};
use eddy_ids::{ClusterId, Millis};
use eddy_protobuf::FieldWriter;
use jiff::tz::TimeZone;

/// Access log settings under a plan.
#[derive(Debug)]
pub(crate) struct AccessPlan {
    pub(crate) config: AccessLogConfig,
    /// Settings of the access log service, if one is configured.
    pub(crate) service: Option<ServicePlan>,
    pub(crate) zone: TimeZone,
}

impl AccessPlan {
    /// Creates the settings from a configuration. An unknown time zone, which the configuration check rejects, becomes
    /// UTC.
    pub(crate) fn new(config: &AccessLogConfig) -> Self {
        Self {
            service: config.service.as_ref().map(ServicePlan::new),
            zone: TimeZone::get(&config.time_zone).unwrap_or(TimeZone::UTC),
            config: config.clone(),
        }
    }

    /// Whether entries are written as lines.
    pub(crate) fn has_lines(&self) -> bool {
        self.config.target.is_some()
    }
}

/// gRPC method of the service.
pub(crate) const LOG_SERVICE_METHOD: &str = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs";

/// Settings of the access log service under a plan.
#[derive(Debug)]
pub(crate) struct ServicePlan {
    /// Cluster of the service.
    pub(crate) cluster: ClusterId,
    pub(crate) limits: QueueLimits,
    /// Timeout of sending a batch.
    pub(crate) timeout: std::time::Duration,
    /// Encoded `identifier` field, which names the sender of a message's entries.
    identifier: Vec<u8>,
}

/// Limits of the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    /// Bytes after which a batch is sent.
    pub(crate) batch_bytes: usize,
    /// Maximum time that an entry waits for its batch to fill.
    pub(crate) interval: Millis,
    /// Maximum bytes of queued entries.
    pub(crate) held_bytes_max: usize,
}

impl ServicePlan {
    /// Creates the settings from a configuration.
    pub(crate) fn new(config: &LogServiceConfig) -> Self {
        let mut identifier = Vec::new();
        FieldWriter::new(&mut identifier).message(1, |identifier| {
            identifier.message(1, |node| {
                node.bytes(1, config.node.as_bytes());
                node.bytes(6, b"eddy");
                node.bytes(7, env!("CARGO_PKG_VERSION").as_bytes());
            });
            identifier.bytes(2, config.log_name.as_bytes());
        });
        Self {
            cluster: config.cluster,
            limits: QueueLimits {
                batch_bytes: config.batch_bytes as usize,
                interval: Millis::of(config.interval),
                held_bytes_max: config.held_bytes_max as usize,
            },
            timeout: config.timeout,
            identifier,
        }
    }

    /// Returns the request that carries a batch of entries to `authority`, and the length of its head.
    ///
    /// The body is one gRPC message: `StreamAccessLogsMessage`.
    pub(crate) fn request(&self, authority: &str, entries: &[u8]) -> (Vec<u8>, usize) {
        let mut message = Vec::with_capacity(FRAME_BYTES + self.identifier.len() + entries.len() + 16);
        message.extend_from_slice(&[0; FRAME_BYTES]);
        message.extend_from_slice(&self.identifier);
        FieldWriter::new(&mut message).bytes(2, entries);
        let length = u32::try_from(message.len() - FRAME_BYTES).unwrap_or(u32::MAX);
        message[1..FRAME_BYTES].copy_from_slice(&length.to_be_bytes());
        let timeout_ms = self.timeout.as_millis();
        let mut request = format!(
            "POST {LOG_SERVICE_METHOD} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/grpc\r\n\
             Grpc-Timeout: {timeout_ms}m\r\nUser-Agent: eddy\r\nContent-Length: {}\r\nTE: trailers\r\n\
             Connection: TE\r\n\r\n",
            message.len()
        )
        .into_bytes();
        let head_bytes = request.len();
        request.extend_from_slice(&message);
        (request, head_bytes)
    }
}

/// Bytes before a gRPC message: compression flag and length.
const FRAME_BYTES: usize = 5;
