//! What a gateway has to know of gRPC: which messages are of it, how long a call may take, and how it ended.

mod kind;
mod message;
mod status;
mod timeout;

pub use kind::GrpcKind;
pub use message::write_grpc_message;
pub use status::{GRPC_END_LABELS, GrpcEnd, GrpcStatus, GrpcStatuses};
pub use timeout::{BadGrpcTimeout, parse_grpc_timeout};
