//! From the configuration of a built-in filter to the filter.

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

/// What a built-in filter is made with.
#[derive(Clone)]
pub struct BuiltinContext {
    /// The host's number of the filter.
    pub id: u32,
    /// What eddy offers to filters.
    pub host: Arc<dyn HostApi>,
    /// What the program does for filters, as this crate has no I/O.
    pub services: Arc<dyn Services>,
    /// Random numbers, secret and fresh for each filter.
    pub seed: [u64; 4],
}

/// What the program does for built-in filters when they are made.
pub trait Services: Send + Sync {
    /// Reads a whole file.
    ///
    /// # Errors
    /// Why it cannot be read, for a message that names the file already.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String>;

    /// Runs a task on a thread of its own, which ends when the task does.
    ///
    /// # Errors
    /// Why there can be no thread.
    fn spawn(&self, name: &str, task: Box<dyn FnOnce() + Send>) -> Result<(), String>;
}

/// A count that is shown as a metric of a filter; nothing where the host has no room for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricCounter(Option<Metric>);

/// Makes a filter. Its number in the library is 1.
///
/// # Errors
/// [`LoadError::Refused`] when a file that it needs cannot be read or makes no sense, or it has no threads.
///
/// # Cost
/// Reads files and allocates tables; for the control thread.
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
    // One that changes bodies takes the length out of the head.
    let info = FilterInfo { interest: filter.interest(), keeps_length: true };
    Ok((Arc::new(BuiltinLibrary::new(filter)), info))
}

impl BuiltinContext {
    /// Defines a count of this filter.
    pub(super) fn counter(&self, name: &str) -> MetricCounter {
        MetricCounter(self.host.metrics().define(self.id, MetricKind::Counter, name, &[]).ok())
    }
}

impl MetricCounter {
    /// Counts one, in the lane of a worker.
    pub(super) fn count(&self, worker: u16) {
        self.add(worker, 1);
    }

    /// Counts several, in the lane of a worker.
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
