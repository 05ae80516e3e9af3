//! gRPC state of an exchange.

use eddy_http::{GrpcEnd, GrpcKind};

/// gRPC state of an exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GrpcCall {
    /// gRPC variant of the request; `None` when it is not a gRPC call.
    pub(in crate::exchange) kind: Option<GrpcKind>,
    /// Whether `grpc-timeout` is a deadline of the exchange.
    pub(in crate::exchange) has_deadline: bool,
    /// Final status, as far as the response head contains it.
    pub(in crate::exchange) head_end: GrpcEnd,
}

impl GrpcCall {
    /// Whether the request is a gRPC call of any variant.
    pub(crate) fn is_call(&self) -> bool {
        self.kind.is_some()
    }
}
