//! gRPC support of a gateway: detection of gRPC messages, call deadlines and call status.

mod kind;
mod message;
mod status;
mod timeout;

pub use kind::GrpcKind;
pub use message::write_grpc_message;
pub use status::{GRPC_END_LABELS, GrpcEnd, GrpcStatus, GrpcStatuses};
pub use timeout::{BadGrpcTimeout, parse_grpc_timeout};
