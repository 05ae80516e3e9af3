//! The real Envoy and NGINX beside eddy: started, Envoy asked many requests at once, and its answers kept for where it is
//! not installed.

mod crowd;
mod echo;
mod envoy;
mod nginx;
mod recorded;

pub use crowd::{Crowd, Reply};
pub use echo::EchoUpstream;
pub use envoy::{Envoy, bootstrap};
pub use nginx::Nginx;
pub use recorded::{Questions, envoy_says, recorded_answers};
