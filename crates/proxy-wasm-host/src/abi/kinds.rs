//! proxy-wasm enumerations: maps, buffers, streams, metrics, log levels and actions.

use super::wire_enum;

wire_enum! {
    /// Action that a module requests after a callback.
    Action {
        /// Continue processing.
        Continue = 0,
        /// Pause until `proxy_continue_stream`; after headers, the body is still passed to the module.
        Pause = 1,
        /// As [`Self::Pause`], and the module gets nothing more of the message meanwhile.
        PauseAll = 3,
    }
}

wire_enum! {
    /// Log level.
    LogLevel {
        /// Trace.
        Trace = 0,
        /// Debug.
        Debug = 1,
        /// Information.
        Info = 2,
        /// Warning.
        Warn = 3,
        /// Error.
        Error = 4,
        /// Critical: needs attention immediately.
        Critical = 5,
    }
}

wire_enum! {
    /// Header map.
    MapType {
        /// Request headers.
        HttpRequestHeaders = 0,
        /// Request trailers.
        HttpRequestTrailers = 1,
        /// Response headers.
        HttpResponseHeaders = 2,
        /// Response trailers.
        HttpResponseTrailers = 3,
        /// Initial metadata of a gRPC call.
        GrpcCallInitialMetadata = 4,
        /// Trailing metadata of a gRPC call.
        GrpcCallTrailingMetadata = 5,
        /// Response headers of an HTTP call made by the module.
        HttpCallResponseHeaders = 6,
        /// Response trailers of an HTTP call made by the module.
        HttpCallResponseTrailers = 7,
    }
}

wire_enum! {
    /// Buffer.
    BufferType {
        /// Request body.
        HttpRequestBody = 0,
        /// Response body.
        HttpResponseBody = 1,
        /// Data from the client of a TCP stream.
        DownstreamData = 2,
        /// Data from the server of a TCP stream.
        UpstreamData = 3,
        /// Response body of an HTTP call made by the module.
        HttpCallResponseBody = 4,
        /// Message of a gRPC call.
        GrpcCallMessage = 5,
        /// VM configuration; provided by this crate.
        VmConfiguration = 6,
        /// Plugin configuration; provided by this crate.
        PluginConfiguration = 7,
        /// Arguments of a call to the module's foreign-function callback; provided by this crate.
        ForeignFunctionArguments = 8,
    }
}

wire_enum! {
    /// Direction of an HTTP exchange or of a TCP connection.
    StreamType {
        /// HTTP request.
        HttpRequest = 0,
        /// HTTP response.
        HttpResponse = 1,
        /// Client side of a TCP stream.
        Downstream = 2,
        /// Server side of a TCP stream.
        Upstream = 3,
    }
}

wire_enum! {
    /// Peer that closed a connection.
    PeerType {
        /// Unknown.
        Unknown = 0,
        /// The proxy.
        Local = 1,
        /// The remote peer.
        Remote = 2,
    }
}

wire_enum! {
    /// Metric type.
    MetricType {
        /// Counter: only grows.
        Counter = 0,
        /// Gauge: goes up and down.
        Gauge = 1,
        /// Histogram: counts values by size.
        Histogram = 2,
    }
}
