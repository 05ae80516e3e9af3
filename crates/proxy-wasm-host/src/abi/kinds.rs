//! What maps, buffers, streams, metrics, levels and actions there are.

use super::wire_enum;

wire_enum! {
    /// What a module wants done with what it was shown.
    Action {
        /// Go on.
        Continue = 0,
        /// Wait for `proxy_continue_stream`.
        Pause = 1,
    }
}

wire_enum! {
    /// How much a record matters.
    LogLevel {
        /// Every step.
        Trace = 0,
        /// For those who look for a mistake.
        Debug = 1,
        /// What happened.
        Info = 2,
        /// What may become a problem.
        Warn = 3,
        /// What went wrong.
        Error = 4,
        /// What needs a person now.
        Critical = 5,
    }
}

wire_enum! {
    /// A map of fields.
    MapType {
        /// Fields of the request.
        HttpRequestHeaders = 0,
        /// Trailers of the request.
        HttpRequestTrailers = 1,
        /// Fields of the response.
        HttpResponseHeaders = 2,
        /// Trailers of the response.
        HttpResponseTrailers = 3,
        /// Metadata that came before the messages of a gRPC call.
        GrpcCallInitialMetadata = 4,
        /// Metadata that came after the messages of a gRPC call.
        GrpcCallTrailingMetadata = 5,
        /// Fields of the response to a call of the module's.
        HttpCallResponseHeaders = 6,
        /// Trailers of the response to a call of the module's.
        HttpCallResponseTrailers = 7,
    }
}

wire_enum! {
    /// A run of bytes.
    BufferType {
        /// Body of the request.
        HttpRequestBody = 0,
        /// Body of the response.
        HttpResponseBody = 1,
        /// What came from the client of a TCP stream.
        DownstreamData = 2,
        /// What came from the server of a TCP stream.
        UpstreamData = 3,
        /// Body of the response to a call of the module's.
        HttpCallResponseBody = 4,
        /// A message of a gRPC call.
        GrpcCallMessage = 5,
        /// What the machine was configured with; the library answers for it.
        VmConfiguration = 6,
        /// What the plugin was configured with; the library answers for it.
        PluginConfiguration = 7,
        /// Arguments of a function of the module's; the library answers for it.
        ForeignFunctionArguments = 8,
    }
}

wire_enum! {
    /// One direction of an exchange or of a connection.
    StreamType {
        /// From the client on.
        HttpRequest = 0,
        /// Back to the client.
        HttpResponse = 1,
        /// The client's side of a TCP stream.
        Downstream = 2,
        /// The server's side of a TCP stream.
        Upstream = 3,
    }
}

wire_enum! {
    /// Who closed a connection.
    PeerType {
        /// Not known.
        Unknown = 0,
        /// The proxy.
        Local = 1,
        /// The other side.
        Remote = 2,
    }
}

wire_enum! {
    /// What kind of number a metric is.
    MetricType {
        /// Only grows.
        Counter = 0,
        /// Goes up and down.
        Gauge = 1,
        /// Counts values by size.
        Histogram = 2,
    }
}
