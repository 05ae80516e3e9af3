//! What endpoints are asked, and what follows.

use std::sync::Arc;
use std::time::Duration;

/// How the endpoints of a cluster are asked how they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthConfig {
    /// What is asked. Default nothing: an endpoint that can be connected to is well.
    pub probe: HealthProbe,
    /// From one answer to the next question, a tenth more or less. Default 10 s.
    pub interval: Duration,
    /// Longest wait for an answer, all in all. Default 2 s.
    pub timeout: Duration,
    /// Good answers in a row after which requests go there again. Default 2.
    pub healthy_after: u32,
    /// Bad answers in a row after which requests don't. Default 3.
    pub unhealthy_after: u32,
    /// When fewer endpoints than this are well, percent, all of them are used: more likely the checks are wrong.
    /// Default 50.
    pub panic_percent: u8,
}

/// What an endpoint is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HealthProbe {
    /// Whether it can be connected to, with a handshake where its cluster speaks TLS.
    #[default]
    Connect,
    /// This request.
    Http(HttpProbe),
    /// gRPC's own health service, over HTTP/2.
    Grpc(GrpcProbe),
}

/// A question to gRPC's health service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrpcProbe {
    /// The service that is asked for; empty for the server as a whole.
    pub service: Arc<str>,
    /// The host that is asked for; by default the name or address of the endpoint.
    pub host: Option<Arc<str>>,
}

/// A request whose answer tells how an endpoint is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpProbe {
    /// The path, and perhaps a query.
    pub target: Arc<str>,
    /// The host that is asked for; by default the name or address of the endpoint.
    pub host: Option<Arc<str>>,
    /// The statuses of an endpoint that is well. Default 200 alone.
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
    /// A GET for `target`.
    pub fn new(target: &str) -> Self {
        Self { target: target.into(), host: None, statuses: vec![200] }
    }
}
