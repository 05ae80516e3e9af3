// Package api offers the shapes of Envoy's Go filter API, so that a filter written for Envoy builds and runs in eddy
// as it stands. Where Envoy changed a shape between 1.26 and 1.40, the one here accepts all of its forms.
package api

import "google.golang.org/protobuf/types/known/anypb"

// StreamDecoderFilter sees a request.
type StreamDecoderFilter interface {
	// DecodeHeaders is entered with the request's head. The flag tells that nothing follows it.
	DecodeHeaders(RequestHeaderMap, bool) StatusType
	// DecodeData is entered with a piece of the body, or with all of it after StopAndBuffer. The flag marks the last.
	DecodeData(BufferInstance, bool) StatusType
	// DecodeTrailers is entered where the request has trailers.
	DecodeTrailers(RequestTrailerMap) StatusType
}

// StreamEncoderFilter sees a response.
type StreamEncoderFilter interface {
	// EncodeHeaders is entered with the response's head. The flag tells that nothing follows it.
	EncodeHeaders(ResponseHeaderMap, bool) StatusType
	// EncodeData is entered with a piece of the body, or with all of it after StopAndBuffer. The flag marks the last.
	EncodeData(BufferInstance, bool) StatusType
	// EncodeTrailers is entered where the response has trailers.
	EncodeTrailers(ResponseTrailerMap) StatusType
}

// StreamFilter is what a factory makes for each exchange: these methods are what every version of Envoy asks for.
// A filter may have more, in either of the shapes that Envoy gave them:
//
//	OnLog()                        OnLog(RequestHeaderMap, RequestTrailerMap, ResponseHeaderMap, ResponseTrailerMap)
//	OnLogDownstreamStart()         OnLogDownstreamStart(RequestHeaderMap)
//	OnStreamComplete()
type StreamFilter interface {
	StreamDecoderFilter
	StreamEncoderFilter
	// OnDestroy is the last that a filter hears of an exchange.
	OnDestroy(DestroyReason)
}

// PassThroughStreamDecoderFilter lets requests pass; embed it to write only what differs.
type PassThroughStreamDecoderFilter struct{}

// PassThroughStreamEncoderFilter lets responses pass; embed it to write only what differs.
type PassThroughStreamEncoderFilter struct{}

// PassThroughStreamFilter lets everything pass. A method that a filter merely inherits from it costs nothing: eddy
// does not enter the filter for it, except for the two heads.
type PassThroughStreamFilter struct {
	PassThroughStreamDecoderFilter
	PassThroughStreamEncoderFilter
}

// DecodeHeaders goes on.
func (*PassThroughStreamDecoderFilter) DecodeHeaders(RequestHeaderMap, bool) StatusType {
	return Continue
}

// DecodeData goes on.
func (*PassThroughStreamDecoderFilter) DecodeData(BufferInstance, bool) StatusType { return Continue }

// DecodeTrailers goes on.
func (*PassThroughStreamDecoderFilter) DecodeTrailers(RequestTrailerMap) StatusType { return Continue }

// EncodeHeaders goes on.
func (*PassThroughStreamEncoderFilter) EncodeHeaders(ResponseHeaderMap, bool) StatusType {
	return Continue
}

// EncodeData goes on.
func (*PassThroughStreamEncoderFilter) EncodeData(BufferInstance, bool) StatusType { return Continue }

// EncodeTrailers goes on.
func (*PassThroughStreamEncoderFilter) EncodeTrailers(ResponseTrailerMap) StatusType {
	return Continue
}

// OnLog does nothing. It takes what either shape is called with.
func (*PassThroughStreamFilter) OnLog(...any) {}

// OnLogDownstreamStart does nothing. It takes what either shape is called with.
func (*PassThroughStreamFilter) OnLogDownstreamStart(...any) {}

// OnLogDownstreamPeriodic does nothing. It takes what either shape is called with.
func (*PassThroughStreamFilter) OnLogDownstreamPeriodic(...any) {}

// OnDestroy does nothing.
func (*PassThroughStreamFilter) OnDestroy(DestroyReason) {}

// OnStreamComplete does nothing.
func (*PassThroughStreamFilter) OnStreamComplete() {}

// Config may be implemented by what a parser returns: Destroy is called when no exchange uses it any more.
type Config interface {
	Destroy()
}

// StreamFilterConfigParser makes configurations. Besides Merge, which lays a rule's configuration over the filter's, it
// has Parse in one of the shapes that Envoy gave it; any other shape is refused at registration:
//
//	Parse(*anypb.Any) (interface{}, error)
//	Parse(*anypb.Any, ConfigCallbackHandler) (interface{}, error)
type StreamFilterConfigParser interface {
	Merge(parentConfig interface{}, childConfig interface{}) interface{}
}

// ConfigParser is the newer shape of a parser. The handler is nil for the configuration of a rule.
type ConfigParser interface {
	StreamFilterConfigParser
	Parse(any *anypb.Any, callbacks ConfigCallbackHandler) (interface{}, error)
}

// ConfigParser126 is the shape of a parser up to Envoy 1.27.
type ConfigParser126 interface {
	StreamFilterConfigParser
	Parse(any *anypb.Any) (interface{}, error)
}

// StreamFilterFactory makes a filter for an exchange: func(interface{}, FilterCallbackHandler) StreamFilter since Envoy
// 1.31, func(FilterCallbackHandler) StreamFilter before, as the result of a StreamFilterConfigFactory. A type that
// holds both can't be called; everything else that filters do with the name works.
type StreamFilterFactory = interface{}

// StreamFilterConfigFactory binds a configuration, up to Envoy 1.30. The result is a StreamFilterFactory.
type StreamFilterConfigFactory func(config interface{}) StreamFilterFactory

// StreamInfo tells facts about an exchange. What is not known (yet) is an empty text, and false where there is a flag.
type StreamInfo interface {
	// GetRouteName is the name of the rule that won.
	GetRouteName() string
	// FilterChainName is the name of the listener.
	FilterChainName() string
	// Protocol is "HTTP/1.1" and the like, of the client's side.
	Protocol() (string, bool)
	// ResponseCode is the status of the response.
	ResponseCode() (uint32, bool)
	// ResponseCodeDetails is why eddy answered by itself, else "via_upstream".
	ResponseCodeDetails() (string, bool)
	// AttemptCount is the number of endpoints tried.
	AttemptCount() uint32
	// DynamicMetadata is what filters of the exchange tell each other.
	DynamicMetadata() DynamicMetadata
	// DownstreamLocalAddress is the address that the client connected to.
	DownstreamLocalAddress() string
	// DownstreamRemoteAddress is the client's address.
	DownstreamRemoteAddress() string
	// UpstreamLocalAddress is not known in eddy.
	UpstreamLocalAddress() (string, bool)
	// UpstreamRemoteAddress is the endpoint's address, once it has answered.
	UpstreamRemoteAddress() (string, bool)
	// UpstreamClusterName is the cluster of the rule.
	UpstreamClusterName() (string, bool)
	// FilterState is what filters of the exchange keep for each other.
	FilterState() FilterState
	// VirtualClusterName is not known in eddy.
	VirtualClusterName() (string, bool)
	// WorkerID is the number of the worker that the exchange belongs to.
	WorkerID() uint32
	// DrainConnectionUponCompletion asks for the client's connection to end after this exchange. eddy ignores it.
	DrainConnectionUponCompletion()
	// DownstreamSslConnection is nil where the client came without TLS.
	DownstreamSslConnection() SslConnection
}

// StreamFilterCallbacks is what a filter may ask at any time.
type StreamFilterCallbacks interface {
	StreamInfo() StreamInfo
	// ClearRouteCache has the rule looked up again before the request goes on.
	ClearRouteCache()
	// RefreshRouteCache is as ClearRouteCache.
	RefreshRouteCache()
	Log(level LogType, msg string)
	LogLevel() LogType
	// GetProperty reads an attribute such as "request.path". ErrValueNotFound: there is no such, or no value.
	GetProperty(key string) (string, error)
	SecretManager() SecretManager
}

// FilterProcessCallbacks steers one direction of an exchange.
type FilterProcessCallbacks interface {
	// Continue ends a Running: once for each. What comes later than a first end, or for an exchange that is over, panics
	// with a text that RecoverPanic knows and drops.
	Continue(StatusType)
	// SendLocalReply answers in the place of the endpoint. A grpcStatus below zero is none. In a hook, return
	// LocalReply afterwards.
	SendLocalReply(responseCode int, bodyText string, headers map[string][]string, grpcStatus int64, details string)
	// RecoverPanic is to be deferred first thing in a goroutine; a panic becomes a 500.
	RecoverPanic()
	// AddData puts a body, or more of it, behind a head or before trailers.
	AddData(data []byte, isStreaming bool)
	// InjectData sends data on while a body piece is Running.
	InjectData(data []byte)
}

// ReplyHeaders are headers of a local reply that is sent through the handler: nil, map[string]string as in Envoy 1.26 and
// 1.27, or map[string][]string.
type ReplyHeaders = interface{}

// DecoderFilterCallbacks steers the request.
type DecoderFilterCallbacks interface {
	FilterProcessCallbacks
	// SetUpstreamOverrideHost chooses the endpoint by its address; strict: that one or none.
	SetUpstreamOverrideHost(host string, strict bool) error
}

// EncoderFilterCallbacks steers the response.
type EncoderFilterCallbacks interface {
	FilterProcessCallbacks
}

// FilterCallbacks is what filters up to Envoy 1.30 steered an exchange with: the direction is the one that is Running.
type FilterCallbacks interface {
	StreamFilterCallbacks
	Continue(StatusType)
	SendLocalReply(responseCode int, bodyText string, headers ReplyHeaders, grpcStatus int64, details string)
	RecoverPanic()
}

// FilterCallbackHandler is a filter's side of its exchange.
type FilterCallbackHandler interface {
	FilterCallbacks
	DecoderFilterCallbacks() DecoderFilterCallbacks
	EncoderFilterCallbacks() EncoderFilterCallbacks
}

// DynamicMetadata is shared by the filters of an exchange, by namespace and key.
type DynamicMetadata interface {
	// Get is the namespace, empty where nothing was set.
	Get(filterName string) map[string]interface{}
	// Set takes what JSON can say.
	Set(filterName string, key string, value interface{})
}

// StateType tells whether an entry of the filter state may be set again.
type StateType int

// The kinds of entries.
const (
	StateTypeReadOnly StateType = 0
	StateTypeMutable  StateType = 1
)

// LifeSpan tells how long an entry of the filter state lives; in eddy as long as the exchange.
type LifeSpan int

// The spans of life.
const (
	LifeSpanFilterChain LifeSpan = 0
	LifeSpanRequest     LifeSpan = 1
	LifeSpanConnection  LifeSpan = 2
	LifeSpanTopSpan     LifeSpan = 3
)

// StreamSharing tells who else sees an entry of the filter state; in eddy, nobody beyond the exchange.
type StreamSharing int

// The kinds of sharing.
const (
	None                             StreamSharing = 0
	SharedWithUpstreamConnection     StreamSharing = 1
	SharedWithUpstreamConnectionOnce StreamSharing = 2
)

// FilterState keeps texts for the filters of an exchange.
type FilterState interface {
	SetString(key, value string, stateType StateType, lifeSpan LifeSpan, streamSharing StreamSharing)
	GetString(key string) string
}

// SslConnection tells of the client's TLS. eddy tells the version of HTTP only, so that all of it is empty.
type SslConnection interface {
	PeerCertificatePresented() bool
	PeerCertificateValidated() bool
	Sha256PeerCertificateDigest() string
	SerialNumberPeerCertificate() string
	SubjectPeerCertificate() string
	IssuerPeerCertificate() string
	SubjectLocalCertificate() string
	UriSanPeerCertificate() []string
	UriSanLocalCertificate() []string
	DnsSansPeerCertificate() []string
	DnsSansLocalCertificate() []string
	ValidFromPeerCertificate() (uint64, bool)
	ExpirationPeerCertificate() (uint64, bool)
	TlsVersion() string
	CiphersuiteString() string
	CiphersuiteId() (uint16, bool)
	SessionId() (string, bool)
	UrlEncodedPemEncodedPeerCertificate() string
	UrlEncodedPemEncodedPeerCertificateChain() string
}

// SecretManager hands out secrets: those of the key "@secrets" of the filter's configuration.
type SecretManager interface {
	GetGenericSecret(name string) (string, bool)
}

// MetricType is the kind of a metric.
type MetricType uint32

// The kinds of metrics.
const (
	Counter   MetricType = 0
	Gauge     MetricType = 1
	Histogram MetricType = 2
)

// ConfigCallbacks is what a parser may ask of the host.
type ConfigCallbacks interface {
	DefineCounterMetric(name string) CounterMetric
	DefineGaugeMetric(name string) GaugeMetric
	// SecretManager hands out secrets. Later than Envoy 1.39.
	SecretManager() SecretManager
}

// ConfigCallbackHandler is a parser's side of the host.
type ConfigCallbackHandler interface {
	ConfigCallbacks
}

// CounterMetric only grows.
type CounterMetric interface {
	Increment(offset int64)
	Get() uint64
	// Record sets it, which a counter of eddy can't undo: it grows to the value.
	Record(value uint64)
}

// GaugeMetric goes up and down.
type GaugeMetric interface {
	Increment(offset int64)
	Get() uint64
	Record(value uint64)
}

// HistogramMetric has no methods yet in Envoy.
type HistogramMetric interface{}
