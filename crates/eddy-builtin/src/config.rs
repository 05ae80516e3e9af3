//! Configuration of a built-in filter of any kind.

use std::path::Path;

use super::basic_auth::BasicAuthConfig;
use super::body_limit::BodyLimitConfig;
use super::cors::CorsConfig;
use super::fault::FaultConfig;
use super::grpc_json::GrpcJsonConfig;
use super::grpc_web::GrpcWebConfig;
use super::headers::HeadersConfig;
use super::ip_access::IpAccessConfig;
use super::message_fields::MessageFieldsConfig;
use super::rate_limit::RateLimitConfig;
use super::redact::RedactConfig;
use super::request_id::RequestIdConfig;

/// Checked configuration of a built-in filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltinConfig {
    /// HTTP basic authentication.
    BasicAuth(BasicAuthConfig),
    /// Changes to headers.
    Headers(HeadersConfig),
    /// Cross-origin resource sharing.
    Cors(CorsConfig),
    /// Allowlist and denylist of client addresses.
    IpAccess(IpAccessConfig),
    /// Request IDs.
    RequestId(RequestIdConfig),
    /// Rate limits.
    RateLimit(RateLimitConfig),
    /// Body size limits.
    BodyLimit(BodyLimitConfig),
    /// Fault injection: delays and aborts, for tests.
    Fault(FaultConfig),
    /// Transcoding of JSON requests to gRPC calls.
    GrpcJson(GrpcJsonConfig),
    /// Conversion of gRPC-Web calls to gRPC calls.
    GrpcWeb(GrpcWebConfig),
    /// Extraction of message fields for logs and routing.
    MessageFields(MessageFieldsConfig),
    /// Redaction: removes or masks private message fields.
    Redact(RedactConfig),
}

impl BuiltinConfig {
    /// Returns the name of the guest filter whose configuration requests this one, if any.
    pub fn reader(&self) -> Option<&str> {
        if let Self::MessageFields(config) = self { config.reader.as_deref() } else { None }
    }

    /// Returns the file that is read when the filter is created, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::BasicAuth(config) => config.file.as_deref(),
            Self::GrpcJson(config) => Some(&config.descriptors),
            Self::MessageFields(config) => Some(&config.descriptors),
            Self::Redact(config) => Some(&config.descriptors),
            Self::Headers(_)
            | Self::Cors(_)
            | Self::IpAccess(_)
            | Self::RequestId(_)
            | Self::RateLimit(_)
            | Self::BodyLimit(_)
            | Self::Fault(_)
            | Self::GrpcWeb(_) => None,
        }
    }

    /// Returns the name of the filter kind, as in the configuration.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BasicAuth(_) => "basic_auth",
            Self::Headers(_) => "headers",
            Self::Cors(_) => "cors",
            Self::IpAccess(_) => "ip_access",
            Self::RequestId(_) => "request_id",
            Self::RateLimit(_) => "rate_limit",
            Self::BodyLimit(_) => "body_limit",
            Self::Fault(_) => "fault",
            Self::GrpcJson(_) => "grpc_json",
            Self::GrpcWeb(_) => "grpc_web",
            Self::MessageFields(_) => "message_fields",
            Self::Redact(_) => "redact",
        }
    }
}
