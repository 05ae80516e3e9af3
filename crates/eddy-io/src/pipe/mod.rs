//! Bytes that nobody looks at: from one socket to another inside of the kernel, by way of pipes that are kept.

mod pool;
mod splice;

pub use pool::{LeasedPipe, PIPE_BYTES, PIPE_BYTES_LEAST, PipePool, SharedPipes};
pub use splice::{Splice, SpliceFault, Spliced};
