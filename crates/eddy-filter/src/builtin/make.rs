//! Creation of built-in filters from their configuration.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::basic_auth::BasicAuthFilter;
use super::body_limit::BodyLimit;
use super::config::BuiltinConfig;
use super::cors::Cors;
use super::fault::FaultFilter;
use super::grpc_json::GrpcJson;
use super::grpc_web::GrpcWeb;
use super::headers::HeadersFilter;
use super::ip_access::IpAccess;
use super::library::{Builtin, BuiltinLibrary};
use super::message_fields::MessageFields;
use super::rate_limit::RateLimit;
use super::redact::Redact;
use super::request_id::RequestIdFilter;
use crate::filter::{FilterInfo, FilterLibrary, LoadError};
use crate::host::HostApi;
use crate::metric::{Metric, MetricKind};

/// Environment in which a built-in filter is created.
#[derive(Clone)]
pub struct BuiltinContext {
    /// The host's number of the filter.
    pub id: u32,
    /// Host interface for filters.
    pub host: Arc<dyn HostApi>,
    /// I/O and threads provided by the program, as this crate has no I/O.
    pub services: Arc<dyn Services>,
    /// Random numbers, secret and fresh for each filter.
    pub seed: [u64; 4],
}

/// Services of the program for creating built-in filters.
pub trait Services: Send + Sync {
    /// Reads a whole file.
    ///
    /// # Errors
    /// The reason why the file cannot be read, for a message that already names the file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String>;

    /// Runs a task on a thread of its own, which ends when the task does.
    ///
    /// # Errors
    /// The reason why the thread cannot be created.
    fn spawn(&self, name: &str, task: Box<dyn FnOnce() + Send>) -> Result<(), String>;
}

/// Counter shown as a metric of a filter; does nothing if the host has no room for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricCounter(Option<Metric>);

/// Creates a filter. Its number in the library is 1.
///
/// # Errors
/// [`LoadError::Refused`] when a file that the filter needs cannot be read or is invalid, or a thread cannot be
/// created.
///
/// # Cost
/// Reads files and allocates tables; to be called on the control thread.
pub fn make(
    config: &BuiltinConfig,
    context: &BuiltinContext,
) -> Result<(Arc<dyn FilterLibrary>, FilterInfo), LoadError> {
    let filter: Box<dyn Builtin> = match config {
        BuiltinConfig::BasicAuth(config) => Box::new(BasicAuthFilter::new(config, context)?),
        BuiltinConfig::Headers(config) => Box::new(HeadersFilter::new(config)),
        BuiltinConfig::Cors(config) => Box::new(Cors::new(config)?),
        BuiltinConfig::IpAccess(config) => Box::new(IpAccess::new(config, context)),
        BuiltinConfig::RequestId(config) => Box::new(RequestIdFilter::new(config, context)),
        BuiltinConfig::RateLimit(config) => Box::new(RateLimit::new(config, context)),
        BuiltinConfig::BodyLimit(config) => Box::new(BodyLimit::new(config, context)),
        BuiltinConfig::Fault(config) => Box::new(FaultFilter::new(config, context)),
        BuiltinConfig::GrpcJson(config) => Box::new(GrpcJson::new(config, context)?),
        BuiltinConfig::GrpcWeb(config) => Box::new(GrpcWeb::new(*config, context)),
        BuiltinConfig::MessageFields(config) => Box::new(MessageFields::new(config, context)?),
        BuiltinConfig::Redact(config) => Box::new(Redact::new(config, context)?),
    };
    // A filter that changes bodies removes `Content-Length` from the head.
    let info = FilterInfo { interest: filter.interest(), keeps_length: true };
    Ok((Arc::new(BuiltinLibrary::new(filter)), info))
}

impl BuiltinContext {
    /// Defines a counter of this filter.
    pub(super) fn counter(&self, name: &str) -> MetricCounter {
        MetricCounter(self.host.metrics().define(self.id, MetricKind::Counter, name, &[]).ok())
    }
}

impl MetricCounter {
    /// Adds one, in the lane of a worker.
    pub(super) fn count(&self, worker: u16) {
        self.add(worker, 1);
    }

    /// Adds `count`, in the lane of a worker.
    pub(super) fn add(&self, worker: u16, count: u64) {
        if let Some(metric) = self.0.as_ref().filter(|_| count > 0) {
            metric.add(usize::from(worker), count);
        }
    }
}

impl fmt::Debug for BuiltinContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltinContext").field("id", &self.id).finish_non_exhaustive()
    }
}
