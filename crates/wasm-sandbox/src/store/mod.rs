//! Store of an instance, with its resource limits.

mod confinement;
mod limiter;
mod memory;
mod meter;
mod printed;

pub use confinement::{Bounds, Confined, Confinement, begin, confine};
pub use limiter::Refused;
pub use memory::{memory_of, put};
pub use printed::{Output, OutputLine, Printed};
