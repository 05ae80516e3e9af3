//! The real Envoy beside eddy: started, asked many requests at once, and its answers kept for where it is not installed.

mod crowd;
mod echo;
mod envoy;
mod recorded;

pub use crowd::{Crowd, Reply};
pub use echo::Echo;
pub use envoy::{Envoy, bootstrap};
pub use recorded::{Questions, envoy_says, recorded_answers};
