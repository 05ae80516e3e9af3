//! Sockets, timers, buffers, shared memory.
