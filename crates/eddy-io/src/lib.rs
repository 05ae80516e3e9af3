//! Sockets, timers, buffers and shared memory: everything that touches the kernel, without HTTP.
//!
//! The only crate below the guests that may contain `unsafe`; each use is behind a safe wrapper.

mod buffer;
mod clock;
mod datagram;
mod first_read;
mod lines;
mod page;
mod peer;
mod pipe;
mod pool;
mod processor;
mod proxy_header;
mod socket;
mod stream;
mod timer;
mod tls;
mod transport;

pub use buffer::{BUFFER_BYTES_LARGE, BUFFER_BYTES_SMALL, Buffer, BufferPool, Fill};
pub use clock::{monotonic_ms, monotonic_time, unix_micros, unix_seconds};
pub use datagram::{DATAGRAM_BYTES_MAX, DatagramLink, DatagramListener, Flow};
pub use first_read::FirstRead;
pub use lines::{LineOutput, LinesLost};
pub use page::{SharedPage, WORKERS_MAX, WorkerSlot};
pub use peer::{SocketPeer, socket_peer};
pub use pipe::{LeasedPipe, PIPE_BYTES, PIPE_BYTES_MIN, PipePool, SharedPipes, Splice, SpliceFault, Spliced};
pub use pool::{Pool, Reusable, Reuse};
pub use processor::ProcessorWait;
pub use proxy_header::{
    PROXY_HEADER_BYTES_MAX, ProxyHeader, ProxyHeaderFault, ProxyHeaderVersion, read_proxy_header,
    write_proxy_header, write_proxy_header_local,
};
pub use socket::{BACKLOG, PortSharing, descriptors_max, duplicate, listen_tcp, listen_udp, listen_unix};
pub use stream::{PeerAddress, StreamListener};
pub use timer::{Timer, Timers};
pub use tls::{HandshakeFault, HandshakeFaultKind, PeerAlert, peer_alert};
pub use transport::{Stream, TlsFacts, TlsStream};
