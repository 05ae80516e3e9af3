//! The configuration of a built-in filter, whatever its kind.

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

/// The configuration of a built-in filter, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltinConfig {
    /// Asks for a user name and a password.
    BasicAuth(BasicAuthConfig),
    /// Changes fields.
    Headers(HeadersConfig),
    /// Tells browsers which other sites may read what is answered.
    Cors(CorsConfig),
    /// Lets addresses in or keeps them out.
    IpAccess(IpAccessConfig),
    /// Gives requests an id.
    RequestId(RequestIdConfig),
    /// Refuses requests that come too often.
    RateLimit(RateLimitConfig),
    /// Refuses bodies that are too large.
    BodyLimit(BodyLimitConfig),
    /// Delays and refuses requests, for tests.
    Fault(FaultConfig),
    /// Makes calls of gRPC of requests with JSON.
    GrpcJson(GrpcJsonConfig),
    /// Makes calls of gRPC of those of gRPC-Web.
    GrpcWeb(GrpcWebConfig),
    /// Takes fields out of messages for logs and routes.
    MessageFields(MessageFieldsConfig),
    /// Takes out of messages, or masks in them, what must not go on.
    Redact(RedactConfig),
}

impl BuiltinConfig {
    /// The name of the filter in another language whose configuration says this, if one does.
    pub fn reader(&self) -> Option<&str> {
        if let Self::MessageFields(config) = self { config.reader.as_deref() } else { None }
    }

    /// The file that is read when the filter is made, if any.
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

    /// The kind's name, as in the configuration.
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
