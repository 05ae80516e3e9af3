//! Callbacks that the host calls in a module.

use super::wire_enum;

wire_enum! {
    /// Callback exported by a module and called by the host; all of them are optional.
    Callback {
        /// `proxy_on_context_create`
        ContextCreate = 0,
        /// `proxy_on_done`
        Done = 1,
        /// `proxy_on_log`
        Log = 2,
        /// `proxy_on_delete`
        Delete = 3,
        /// `proxy_on_vm_start`
        VmStart = 4,
        /// `proxy_on_configure`
        Configure = 5,
        /// `proxy_on_tick`
        Tick = 6,
        /// `proxy_on_new_connection`
        NewConnection = 7,
        /// `proxy_on_downstream_data`
        DownstreamData = 8,
        /// `proxy_on_downstream_connection_close`
        DownstreamConnectionClose = 9,
        /// `proxy_on_upstream_data`
        UpstreamData = 10,
        /// `proxy_on_upstream_connection_close`
        UpstreamConnectionClose = 11,
        /// `proxy_on_request_headers`
        RequestHeaders = 12,
        /// `proxy_on_request_body`
        RequestBody = 13,
        /// `proxy_on_request_trailers`
        RequestTrailers = 14,
        /// `proxy_on_response_headers`
        ResponseHeaders = 15,
        /// `proxy_on_response_body`
        ResponseBody = 16,
        /// `proxy_on_response_trailers`
        ResponseTrailers = 17,
        /// `proxy_on_http_call_response`
        HttpCallResponse = 18,
        /// `proxy_on_grpc_receive_initial_metadata`
        GrpcReceiveInitialMetadata = 19,
        /// `proxy_on_grpc_receive`
        GrpcReceive = 20,
        /// `proxy_on_grpc_receive_trailing_metadata`
        GrpcReceiveTrailingMetadata = 21,
        /// `proxy_on_grpc_close`
        GrpcClose = 22,
        /// `proxy_on_queue_ready`
        QueueReady = 23,
        /// `proxy_on_foreign_function`
        ForeignFunction = 24,
    }
}

impl Callback {
    /// Returns the name under which a module exports the callback.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContextCreate => "proxy_on_context_create",
            Self::Done => "proxy_on_done",
            Self::Log => "proxy_on_log",
            Self::Delete => "proxy_on_delete",
            Self::VmStart => "proxy_on_vm_start",
            Self::Configure => "proxy_on_configure",
            Self::Tick => "proxy_on_tick",
            Self::NewConnection => "proxy_on_new_connection",
            Self::DownstreamData => "proxy_on_downstream_data",
            Self::DownstreamConnectionClose => "proxy_on_downstream_connection_close",
            Self::UpstreamData => "proxy_on_upstream_data",
            Self::UpstreamConnectionClose => "proxy_on_upstream_connection_close",
            Self::RequestHeaders => "proxy_on_request_headers",
            Self::RequestBody => "proxy_on_request_body",
            Self::RequestTrailers => "proxy_on_request_trailers",
            Self::ResponseHeaders => "proxy_on_response_headers",
            Self::ResponseBody => "proxy_on_response_body",
            Self::ResponseTrailers => "proxy_on_response_trailers",
            Self::HttpCallResponse => "proxy_on_http_call_response",
            Self::GrpcReceiveInitialMetadata => "proxy_on_grpc_receive_initial_metadata",
            Self::GrpcReceive => "proxy_on_grpc_receive",
            Self::GrpcReceiveTrailingMetadata => "proxy_on_grpc_receive_trailing_metadata",
            Self::GrpcClose => "proxy_on_grpc_close",
            Self::QueueReady => "proxy_on_queue_ready",
            Self::ForeignFunction => "proxy_on_foreign_function",
        }
    }
}
