//! The real Envoy and NGINX as reference: starting them, sending many requests to Envoy, and recording its answers for
//! machines without it.

mod echo;
mod envoy;
mod envoy_queries;
mod nginx;
mod parallel_client;

pub use echo::EchoUpstream;
pub use envoy::{Envoy, bootstrap};
pub use envoy_queries::{ENVOY_ANSWERS, EnvoyQueries, envoy_responses, recorded_answers};
pub use nginx::Nginx;
pub use parallel_client::{ParallelClient, Reply};
