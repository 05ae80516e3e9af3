//! Relays bytes between sockets inside the kernel, through pooled pipes.

mod pool;
mod splice;

pub use pool::{LeasedPipe, PIPE_BYTES, PIPE_BYTES_MIN, PipePool, SharedPipes};
pub use splice::{Splice, SpliceFault, Spliced};
