//! The access log, checked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The access log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLogConfig {
    /// Where records go as lines, if they do.
    pub target: Option<LogTarget>,
    /// The service that they go to, if they do.
    pub service: Option<LogServiceConfig>,
    /// How a line is written.
    pub format: LogFormat,
    /// Time zone of the records, an IANA name. Default `UTC`.
    pub time_zone: Arc<str>,
    /// Whether records name the step by which the rule won. Default no.
    pub has_step: bool,
    /// What filters have noted and records have.
    pub metadata: Vec<RecordedMetadata>,
}

/// A service of gRPC that access records go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogServiceConfig {
    /// Its cluster, by index.
    pub cluster: usize,
    /// The name of the log. Default `eddy`.
    pub log_name: Arc<str>,
    /// The id of the node; empty for none.
    pub node: Arc<str>,
    /// Bytes of records after which a batch is sent. Default 16 KiB.
    pub batch_bytes: u32,
    /// Longest time that a record waits for its batch. Default 1 s.
    pub interval: Duration,
    /// Longest wait for the answer to a batch. Default 5 s.
    pub timeout: Duration,
    /// Most bytes of records that a worker holds. Default 1 MiB.
    pub held_bytes_max: u32,
}

/// A value that filters have noted, in records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMetadata {
    /// Its key in records.
    pub name: Arc<str>,
    /// Whose it is in the metadata.
    pub space: Arc<str>,
    /// Its key there.
    pub key: Arc<str>,
}

/// Where access records go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file, opened for appending and again on SIGUSR1.
    File(PathBuf),
}

/// How a record or message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}
