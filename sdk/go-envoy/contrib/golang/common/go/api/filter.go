// Package api has the types of Envoy's Go filter API, so that a filter written for Envoy builds and runs in eddy
// unchanged. Where Envoy changed a type between 1.26 and 1.40, this package accepts all its versions.
package api

import "google.golang.org/protobuf/types/known/anypb"

// StreamDecoderFilter handles requests.
type StreamDecoderFilter interface {
	// DecodeHeaders is called with the request head. The flag is set if nothing follows it.
	DecodeHeaders(RequestHeaderMap, bool) StatusType
	// DecodeData is called with a piece of the body, or with all of it after StopAndBuffer. The flag marks the last
	// one.
	DecodeData(BufferInstance, bool) StatusType
	// DecodeTrailers is called if the request has trailers.
	DecodeTrailers(RequestTrailerMap) StatusType
}

// StreamEncoderFilter handles responses.
type StreamEncoderFilter interface {
	// EncodeHeaders is called with the response head. The flag is set if nothing follows it.
	EncodeHeaders(ResponseHeaderMap, bool) StatusType
	// EncodeData is called with a piece of the body, or with all of it after StopAndBuffer. The flag marks the last
	// one.
	EncodeData(BufferInstance, bool) StatusType
	// EncodeTrailers is called if the response has trailers.
	EncodeTrailers(ResponseTrailerMap) StatusType
}

// StreamFilter is a filter for one exchange: these methods are required by every version of Envoy. A filter may have
// further methods, with either of Envoy's signatures:
//
//	OnLog()                        OnLog(RequestHeaderMap, RequestTrailerMap, ResponseHeaderMap, ResponseTrailerMap)
//	OnLogDownstreamStart()         OnLogDownstreamStart(RequestHeaderMap)
//	OnStreamComplete()
type StreamFilter interface {
	StreamDecoderFilter
	StreamEncoderFilter
	// OnDestroy is called last for an exchange.
	OnDestroy(DestroyReason)
}

// PassThroughStreamDecoderFilter forwards requests; embed it to implement only some methods.
type PassThroughStreamDecoderFilter struct{}

// PassThroughStreamEncoderFilter forwards responses; embed it to implement only some methods.
type PassThroughStreamEncoderFilter struct{}

// PassThroughStreamFilter forwards everything. A method that a filter only inherits from it costs nothing: eddy does
// not call the filter for it, except for the two heads.
type PassThroughStreamFilter struct {
	PassThroughStreamDecoderFilter
	PassThroughStreamEncoderFilter
}

// DecodeHeaders continues.
func (*PassThroughStreamDecoderFilter) DecodeHeaders(RequestHeaderMap, bool) StatusType {
	return Continue
}

// DecodeData continues.
func (*PassThroughStreamDecoderFilter) DecodeData(BufferInstance, bool) StatusType { return Continue }

// DecodeTrailers continues.
func (*PassThroughStreamDecoderFilter) DecodeTrailers(RequestTrailerMap) StatusType { return Continue }

// EncodeHeaders continues.
func (*PassThroughStreamEncoderFilter) EncodeHeaders(ResponseHeaderMap, bool) StatusType {
	return Continue
}

// EncodeData continues.
func (*PassThroughStreamEncoderFilter) EncodeData(BufferInstance, bool) StatusType { return Continue }

// EncodeTrailers continues.
func (*PassThroughStreamEncoderFilter) EncodeTrailers(ResponseTrailerMap) StatusType {
	return Continue
}

// OnLog does nothing. It accepts the arguments of both signatures.
func (*PassThroughStreamFilter) OnLog(...any) {}

// OnLogDownstreamStart does nothing. It accepts the arguments of both signatures.
func (*PassThroughStreamFilter) OnLogDownstreamStart(...any) {}

// OnLogDownstreamPeriodic does nothing. It accepts the arguments of both signatures.
func (*PassThroughStreamFilter) OnLogDownstreamPeriodic(...any) {}

// OnDestroy does nothing.
func (*PassThroughStreamFilter) OnDestroy(DestroyReason) {}

// OnStreamComplete does nothing.
func (*PassThroughStreamFilter) OnStreamComplete() {}

// Config may be implemented by the result of a parser: Destroy is called when no exchange uses it any more.
type Config interface {
	Destroy()
}

// StreamFilterConfigParser creates configurations. Besides Merge, which merges a rule's configuration into the
// filter's, it has Parse with one of Envoy's signatures; any other signature is refused at registration:
//
//	Parse(*anypb.Any) interface{}
//	Parse(*anypb.Any) (interface{}, error)
//	Parse(*anypb.Any, ConfigCallbackHandler) (interface{}, error)
type StreamFilterConfigParser interface {
	Merge(parentConfig interface{}, childConfig interface{}) interface{}
}

// ConfigParser is the newer type of parsers. The handler is nil for the configuration of a rule.
type ConfigParser interface {
	StreamFilterConfigParser
	Parse(any *anypb.Any, callbacks ConfigCallbackHandler) (interface{}, error)
}

// ConfigParser126 is the type of parsers up to Envoy 1.27.
type ConfigParser126 interface {
	StreamFilterConfigParser
	Parse(any *anypb.Any) (interface{}, error)
}

// ConfigParser125 is the type of parsers in snapshots of Envoy before 1.26. They report an error by a panic.
type ConfigParser125 interface {
	StreamFilterConfigParser
	Parse(any *anypb.Any) interface{}
}

// StreamFilterConfigFactory binds a configuration, up to Envoy 1.30. The result is a StreamFilterFactory.
type StreamFilterConfigFactory func(config interface{}) StreamFilterFactory

// StreamInfo has facts about an exchange. An unknown fact, or one not known yet, is an empty text, and false if there
// is a flag.
type StreamInfo interface {
	// GetRouteName returns the name of the selected rule.
	GetRouteName() string
	// FilterChainName returns the name of the listener.
	FilterChainName() string
	// Protocol returns the protocol of the client, such as "HTTP/1.1".
	Protocol() (string, bool)
	// ResponseCode returns the status of the response.
	ResponseCode() (uint32, bool)
	// ResponseCodeDetails returns the reason of a local reply, otherwise "via_upstream".
	ResponseCodeDetails() (string, bool)
	// AttemptCount returns the number of endpoints tried.
	AttemptCount() uint32
	// DynamicMetadata returns the metadata that filters of the exchange share.
	DynamicMetadata() DynamicMetadata
	// DownstreamLocalAddress returns the local address of the client connection.
	DownstreamLocalAddress() string
	// DownstreamRemoteAddress returns the client address.
	DownstreamRemoteAddress() string
	// UpstreamLocalAddress is not known in eddy.
	UpstreamLocalAddress() (string, bool)
	// UpstreamRemoteAddress returns the endpoint address, once it has responded.
	UpstreamRemoteAddress() (string, bool)
	// UpstreamClusterName returns the cluster of the rule.
	UpstreamClusterName() (string, bool)
	// FilterState returns the state that filters of the exchange share.
	FilterState() FilterState
	// VirtualClusterName is not known in eddy.
	VirtualClusterName() (string, bool)
	// WorkerID returns the number of the worker of the exchange.
	WorkerID() uint32
	// DrainConnectionUponCompletion requests the end of the client connection after this exchange. eddy ignores it.
	DrainConnectionUponCompletion()
	// DownstreamSslConnection returns nil if the client does not use TLS.
	DownstreamSslConnection() SslConnection
}

// StreamFilterCallbacks are callbacks that a filter may use at any time.
type StreamFilterCallbacks interface {
	StreamInfo() StreamInfo
	// ClearRouteCache requests a new selection of the rule before the request is forwarded.
	ClearRouteCache()
	// RefreshRouteCache does the same as ClearRouteCache.
	RefreshRouteCache()
	Log(level LogType, msg string)
	LogLevel() LogType
	// GetProperty reads an attribute such as "request.path". ErrValueNotFound: the attribute does not exist, or has no
	// value.
	GetProperty(key string) (string, error)
	SecretManager() SecretManager
}

// FilterProcessCallbacks controls one direction of an exchange.
type FilterProcessCallbacks interface {
	// Continue ends a Running status: once for each. A later call, or one for an ended exchange, panics with a text
	// that RecoverPanic recognises and ignores.
	Continue(StatusType)
	// SendLocalReply replies instead of the endpoint. A negative grpcStatus means none. In a hook, return LocalReply
	// afterwards.
	SendLocalReply(responseCode int, bodyText string, headers map[string][]string, grpcStatus int64, details string)
	// RecoverPanic must be the first deferred call in a goroutine; a panic becomes a 500 response.
	RecoverPanic()
	addDataCallbacks
	injectDataCallbacks
}

// DecoderFilterCallbacks controls the request.
type DecoderFilterCallbacks interface {
	FilterProcessCallbacks
	endpointCallbacks
}

// EncoderFilterCallbacks controls the response.
type EncoderFilterCallbacks interface {
	FilterProcessCallbacks
}

// FilterCallbacks are the callbacks of filters up to Envoy 1.30; they apply to the direction that is Running.
type FilterCallbacks interface {
	StreamFilterCallbacks
	handlerCallbacks
}

// FilterCallbackHandler is the interface of a filter to its exchange.
type FilterCallbackHandler interface {
	FilterCallbacks
	DecoderFilterCallbacks() DecoderFilterCallbacks
	EncoderFilterCallbacks() EncoderFilterCallbacks
}

// DynamicMetadata is metadata shared by the filters of an exchange, by namespace and key.
type DynamicMetadata interface {
	// Get returns the namespace, empty if nothing was set.
	Get(filterName string) map[string]interface{}
	// Set sets a value that JSON can represent.
	Set(filterName string, key string, value interface{})
}

// StateType is whether an entry of the filter state may be set again.
type StateType int

// Types of entries.
const (
	StateTypeReadOnly StateType = 0
	StateTypeMutable  StateType = 1
)

// LifeSpan is the lifetime of an entry of the filter state; in eddy always the exchange.
type LifeSpan int

// Lifetimes.
const (
	LifeSpanFilterChain LifeSpan = 0
	LifeSpanRequest     LifeSpan = 1
	LifeSpanConnection  LifeSpan = 2
	LifeSpanTopSpan     LifeSpan = 3
)

// StreamSharing is which other streams see an entry of the filter state; in eddy, none beyond the exchange.
type StreamSharing int

// Kinds of sharing.
const (
	None                             StreamSharing = 0
	SharedWithUpstreamConnection     StreamSharing = 1
	SharedWithUpstreamConnectionOnce StreamSharing = 2
)

// FilterState stores texts for the filters of an exchange.
type FilterState interface {
	SetString(key, value string, stateType StateType, lifeSpan LifeSpan, streamSharing StreamSharing)
	GetString(key string) string
}

// SslConnection has facts about the client's TLS. eddy provides only the HTTP version, so all of it is empty.
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

// SecretManager returns secrets: those of the key "@secrets" of the filter's configuration.
type SecretManager interface {
	GetGenericSecret(name string) (string, bool)
}

// MetricType is the kind of a metric.
type MetricType uint32

// Kinds of metrics.
const (
	Counter   MetricType = 0
	Gauge     MetricType = 1
	Histogram MetricType = 2
)

// ConfigCallbacks are callbacks that a parser may use.
type ConfigCallbacks interface {
	DefineCounterMetric(name string) CounterMetric
	DefineGaugeMetric(name string) GaugeMetric
	// SecretManager returns the secret manager. Since Envoy 1.40.
	SecretManager() SecretManager
}

// ConfigCallbackHandler is the interface of a parser to the host.
type ConfigCallbackHandler interface {
	ConfigCallbacks
}

// CounterMetric only increases.
type CounterMetric interface {
	Increment(offset int64)
	Get() uint64
	// Record sets the value; a counter of eddy cannot decrease, so it increases to the value.
	Record(value uint64)
}

// GaugeMetric increases and decreases.
type GaugeMetric interface {
	Increment(offset int64)
	Get() uint64
	Record(value uint64)
}

// HistogramMetric has no methods in Envoy yet.
type HistogramMetric interface{}
