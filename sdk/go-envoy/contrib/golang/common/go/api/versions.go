package api

// This file has what differs between versions of Envoy so that no declaration fits all of them. The declarations here
// fit most filters of each version. If all filters of a library are for known versions, eddy builds it with a file in
// the place of this one that has exactly the declarations of these versions: see crates/eddy/src/bundle/envoy.rs.

// StreamFilterFactory creates a filter for an exchange: func(interface{}, FilterCallbackHandler) StreamFilter since
// Envoy 1.31, func(FilterCallbackHandler) StreamFilter before, as the result of a StreamFilterConfigFactory. A type for
// both cannot be called; all other uses of the name in filters work.
type StreamFilterFactory = interface{}

// ReplyHeaders are headers of a local reply that is sent through the handler: nil, map[string]string as up to Envoy
// 1.28, or map[string][]string.
type ReplyHeaders = interface{}

// handlerCallbacks are callbacks that the handler itself has up to Envoy 1.30.
type handlerCallbacks interface {
	Continue(StatusType)
	SendLocalReply(responseCode int, bodyText string, headers ReplyHeaders, grpcStatus int64, details string)
	RecoverPanic()
}

// addDataCallbacks are in Envoy since 1.33.
type addDataCallbacks interface {
	// AddData adds a body, or more of it, after a head or before trailers.
	AddData(data []byte, isStreaming bool)
}

// injectDataCallbacks are in Envoy later than 1.33.
type injectDataCallbacks interface {
	// InjectData sends data while a body piece is Running.
	InjectData(data []byte)
}

// endpointCallbacks are in Envoy later than 1.33.
type endpointCallbacks interface {
	// SetUpstreamOverrideHost selects the endpoint by its address; strict: that one or none.
	SetUpstreamOverrideHost(host string, strict bool) error
}
