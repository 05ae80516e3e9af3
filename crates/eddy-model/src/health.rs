//! Health check configuration: probe, interval and thresholds.

use std::time::Duration;

use eddy_ids::Shared;

/// Active health checks of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthConfig {
    /// Probe. Default: a connection that can be established means healthy.
    pub probe: HealthProbe,
    /// Time from one result to the next check, up to a tenth more or less. Default 10 s.
    pub interval: Duration,
    /// Maximum duration of one check. Default 2 s.
    pub timeout: Duration,
    /// Consecutive successful checks after which an endpoint gets requests again. Default 2.
    pub healthy_after: u32,
    /// Consecutive failed checks after which an endpoint gets no more requests. Default 3.
    pub unhealthy_after: u32,
    /// Panic threshold: when the percentage of healthy endpoints is below it, all are used, because faulty checks are
    /// more likely. Default 50.
    pub panic_percent: u8,
}

/// Probe of a health check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HealthProbe {
    /// Connection, with a TLS handshake where the cluster uses TLS.
    #[default]
    Connect,
    /// HTTP request.
    Http(HttpProbe),
    /// Standard gRPC health service, over HTTP/2.
    Grpc(GrpcProbe),
}

/// Request to the standard gRPC health service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrpcProbe {
    /// Service name; empty for the server as a whole.
    pub service: Shared<str>,
    /// Host header; by default the name or address of the endpoint.
    pub host: Option<Shared<str>>,
}

/// HTTP request whose response status tells whether an endpoint is healthy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpProbe {
    /// Request target: path and optional query.
    pub target: Shared<str>,
    /// Host header; by default the name or address of the endpoint.
    pub host: Option<Shared<str>>,
    /// Statuses of a healthy endpoint. Default 200 only.
    pub statuses: Vec<u16>,
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self {
            probe: HealthProbe::default(),
            interval: Duration::from_secs(10),
            timeout: Duration::from_secs(2),
            healthy_after: 2,
            unhealthy_after: 3,
            panic_percent: 50,
        }
    }
}

impl HttpProbe {
    /// Creates a GET probe for `target`.
    pub fn new(target: &str) -> Self {
        Self { target: target.into(), host: None, statuses: vec![200] }
    }
}
