//! Checked configuration of the access log.

use std::path::PathBuf;
use std::time::Duration;

use eddy_ids::{ClusterId, Shared};

/// Access log configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLogConfig {
    /// Target of entries written as lines; `None` when they are not written as lines.
    pub target: Option<LogTarget>,
    /// gRPC service that receives the entries, if any.
    pub service: Option<LogServiceConfig>,
    /// Format of a line.
    pub format: LogFormat,
    /// Time zone of the entries, an IANA name. Default `UTC`.
    pub time_zone: Shared<str>,
    /// Whether entries name the step by which the rule won. Default no.
    pub has_step: bool,
    /// Filter metadata that is added to entries.
    pub metadata: Vec<RecordedMetadata>,
}

/// A gRPC access log service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogServiceConfig {
    /// Cluster of the service.
    pub cluster: ClusterId,
    /// Name of the log. Default `eddy`.
    pub log_name: Shared<str>,
    /// Node ID; empty for none.
    pub node: Shared<str>,
    /// Size of the entries, in bytes, at which a batch is sent. Default 16 KiB.
    pub batch_bytes: u32,
    /// Maximum time that an entry waits for its batch. Default 1 s.
    pub interval: Duration,
    /// Maximum wait for the response to a batch. Default 5 s.
    pub timeout: Duration,
    /// Maximum size of the entries that a worker buffers, in bytes. Default 1 MiB.
    pub held_bytes_max: u32,
}

/// A filter metadata value in access log entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMetadata {
    /// Key in the entry.
    pub name: Shared<str>,
    /// Metadata namespace.
    pub space: Shared<str>,
    /// Key within the namespace.
    pub key: Shared<str>,
}

/// Where access log entries are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file, opened in append mode and reopened on SIGUSR1.
    File(PathBuf),
}

/// Format of an access log entry or log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// One line of text for human readers.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}
