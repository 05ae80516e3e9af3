//! Checked configuration as plain data: clusters with balancing, health checks, limits and TLS.

#![forbid(unsafe_code)]

mod cluster;
mod cluster_tls;
mod health;
mod limits;
mod tls_text;

pub use cluster::*;
pub use cluster_tls::{ClusterTlsConfig, IdentityFiles};
pub use health::{GrpcProbe, HealthConfig, HealthProbe, HttpProbe};
pub use limits::{LimitKind, LimitsConfig};
pub use tls_text::{InlineText, ServerCheck, SourcePosition, TlsVersion, WrittenPath};
