//! Creation of built-in filters from their configuration.

use std::sync::Arc;

use eddy_filter::{FilterInfo, FilterLibrary, LoadResult};

use super::basic_auth::BasicAuthFilter;
use super::body_limit::BodyLimit;
use super::config::BuiltinConfig;
use super::context::BuiltinContext;
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

/// Creates a filter. Its number in the library is 1.
///
/// # Errors
/// `LoadError::Refused` when a file that the filter needs cannot be read or is invalid, or a thread cannot be
/// created.
///
/// # Cost
/// Reads files and allocates tables; to be called on the control thread.
pub fn make(
    config: &BuiltinConfig,
    context: &BuiltinContext,
) -> LoadResult<(Arc<dyn FilterLibrary>, FilterInfo)> {
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
    let info = FilterInfo { interest: filter.interest(), keeps_length: true, expects_tunnels: false };
    Ok((Arc::new(BuiltinLibrary::new(config.kind(), filter)), info))
}
