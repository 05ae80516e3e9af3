//! The real Envoy and NGINX as reference: starting them, sending many requests to Envoy, and recording its answers for
//! machines without it.

mod crowd;
mod echo;
mod envoy;
mod nginx;
mod questions;

pub use crowd::{Crowd, Reply};
pub use echo::EchoUpstream;
pub use envoy::{Envoy, bootstrap};
pub use nginx::Nginx;
pub use questions::{ENVOY_ANSWERS, Questions, envoy_says, recorded_answers};
