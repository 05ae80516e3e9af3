//! Callbacks that the host calls in a module: their names and permitted signatures.

use super::wire_enum;

/// Number of parameters and results of a function; all of them are `i32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Number of parameters.
    pub(crate) params: usize,
    /// Number of results.
    pub(crate) results: usize,
}

/// Declares the callbacks with number, export name and signatures; more than one signature where ABI versions differ.
macro_rules! callbacks {
    ($($variant:ident = $number:literal, $name:literal, [$($params:literal -> $results:literal),+];)*) => {
        wire_enum! {
            /// Callback exported by a module and called by the host; all of them are optional.
            Callback { $(#[doc = concat!("`", $name, "`")] $variant = $number,)* }
        }

        impl Callback {
            /// Returns the name under which a module exports the callback.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the permitted signatures.
            pub(crate) const fn signatures(self) -> &'static [Signature] {
                match self {
                    $(Self::$variant => &[$(Signature { params: $params, results: $results }),+],)*
                }
            }
        }
    };
}

callbacks! {
    ContextCreate = 0, "proxy_on_context_create", [2 -> 0];
    Done = 1, "proxy_on_done", [1 -> 1];
    Log = 2, "proxy_on_log", [1 -> 0];
    Delete = 3, "proxy_on_delete", [1 -> 0];
    VmStart = 4, "proxy_on_vm_start", [2 -> 1];
    Configure = 5, "proxy_on_configure", [2 -> 1];
    Tick = 6, "proxy_on_tick", [1 -> 0];
    NewConnection = 7, "proxy_on_new_connection", [1 -> 1];
    DownstreamData = 8, "proxy_on_downstream_data", [3 -> 1];
    DownstreamConnectionClose = 9, "proxy_on_downstream_connection_close", [2 -> 0];
    UpstreamData = 10, "proxy_on_upstream_data", [3 -> 1];
    UpstreamConnectionClose = 11, "proxy_on_upstream_connection_close", [2 -> 0];
    RequestHeaders = 12, "proxy_on_request_headers", [3 -> 1, 2 -> 1];
    RequestBody = 13, "proxy_on_request_body", [3 -> 1];
    RequestTrailers = 14, "proxy_on_request_trailers", [2 -> 1];
    ResponseHeaders = 15, "proxy_on_response_headers", [3 -> 1, 2 -> 1];
    ResponseBody = 16, "proxy_on_response_body", [3 -> 1];
    ResponseTrailers = 17, "proxy_on_response_trailers", [2 -> 1];
    HttpCallResponse = 18, "proxy_on_http_call_response", [5 -> 0];
    GrpcReceiveInitialMetadata = 19, "proxy_on_grpc_receive_initial_metadata", [3 -> 0];
    GrpcReceive = 20, "proxy_on_grpc_receive", [3 -> 0];
    GrpcReceiveTrailingMetadata = 21, "proxy_on_grpc_receive_trailing_metadata", [3 -> 0];
    GrpcClose = 22, "proxy_on_grpc_close", [3 -> 0];
    QueueReady = 23, "proxy_on_queue_ready", [2 -> 0];
    ForeignFunction = 24, "proxy_on_foreign_function", [3 -> 0];
}
