//! Built-in filters, which use the same interface as filter libraries.
//!
//! [`make`] creates a filter from its [`BuiltinConfig`]. Files and threads come from the program ([`Services`]), so that
//! this crate has no I/O and no clock.

#![forbid(unsafe_code)]

mod address;
mod basic_auth;
mod body_limit;
mod config;
mod context;
mod cors;
mod draw;
mod fault;
mod grpc_json;
mod grpc_web;
mod headers;
mod ip_access;
mod json;
mod library;
mod make;
mod message_fields;
mod protobuf;
mod rate_limit;
mod redact;
mod request_id;
mod scratch;
mod template;

pub use address::{ClientAddress, ClientConfig, IpBlock};
pub use basic_auth::{BasicAuthConfig, FormError, PasswordForm};
pub use body_limit::BodyLimitConfig;
pub use config::BuiltinConfig;
pub use context::{BuiltinContext, Services};
pub use cors::{CorsConfig, Listed, OriginError, OriginPattern};
pub use fault::{Abort, Delay, FaultConfig, FieldCondition, RequestFraction};
pub use grpc_json::{EnumForm, GrpcJsonConfig, JsonFieldNaming, StreamForm, Unknown, UnknownRequests};
pub use grpc_web::GrpcWebConfig;
pub use headers::{FieldRules, HeadersConfig};
pub use ip_access::IpAccessConfig;
pub use library::{Builtin, BuiltinLibrary, PhaseContext};
pub use make::make;
pub use message_fields::{FieldToExtract, MessageFieldsConfig, WhichMessage};
pub use protobuf::{MessagePath, Unreadable};
pub use rate_limit::{RateFields, RateKey, RateLimitConfig};
pub use redact::{AnyValues, Directions, RedactConfig, RedactEdit};
pub use request_id::{IdFormat, RequestIdConfig};
pub use template::{TemplateError, TemplateString};

#[cfg(test)]
mod tests;
