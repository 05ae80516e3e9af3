package api

import "errors"

// StatusType is the result of a hook.
type StatusType int

// Results for all hooks.
const (
	// Running means that a goroutine continues and calls Continue or SendLocalReply.
	Running StatusType = 0
	// LocalReply means that SendLocalReply was called.
	LocalReply StatusType = 1
	// Continue continues.
	Continue StatusType = 2
	// StopAndBuffer requests another call of the filter with the whole body.
	StopAndBuffer StatusType = 3
	// StopAndBufferWatermark keeps this piece and requests another call with more of the body.
	StopAndBufferWatermark StatusType = 4
	// StopNoBuffer drops this piece of the body.
	StopNoBuffer StatusType = 5
)

// Results for heads.
const (
	HeaderContinue                     StatusType = 100
	HeaderStopIteration                StatusType = 101
	HeaderContinueAndDontEndStream     StatusType = 102
	HeaderStopAllIterationAndBuffer    StatusType = 103
	HeaderStopAllIterationAndWatermark StatusType = 104
)

// Results for bodies.
const (
	DataContinue                  StatusType = 200
	DataStopIterationAndBuffer    StatusType = 201
	DataStopIterationAndWatermark StatusType = 202
	DataStopIterationNoBuffer     StatusType = 203
)

// Results for trailers.
const (
	TrailerContinue      StatusType = 300
	TrailerStopIteration StatusType = 301
)

// HeaderMap is a head or trailer section. Names are matched ignoring case and returned in lower case.
//
// The fields are copied when a method first needs them, so an unused map costs nothing, and a used one is available in
// goroutines; one that is first used after its exchange has continued is empty.
type HeaderMap interface {
	// GetRaw returns the value of a field, or empty.
	GetRaw(name string) string
	// Get returns the value of the first field of the name.
	Get(key string) (string, bool)
	// Values returns the values of all fields of the name.
	Values(key string) []string
	// Set replaces all fields of the name with one.
	Set(key, value string)
	// Add adds a field.
	Add(key, value string)
	// Del removes all fields of the name.
	Del(key string)
	// Range calls f with each field until it returns false. f must not use the map.
	Range(f func(key, value string) bool)
	// RangeWithCopy is Range with an f that may use the map.
	RangeWithCopy(f func(key, value string) bool)
	// GetAllHeaders returns a copy of all fields, including pseudo-headers.
	GetAllHeaders() map[string][]string
	// ByteSize returns the number of bytes of all names and values. Up to Envoy 1.27.
	ByteSize() uint64
}

// RequestHeaderMap is a request head.
type RequestHeaderMap interface {
	HeaderMap
	// Protocol returns the protocol, such as "HTTP/1.1". Up to Envoy 1.27.
	Protocol() string
	Scheme() string
	Method() string
	Host() string
	// Path returns path and query.
	Path() string
	SetMethod(method string)
	SetHost(host string)
	SetPath(path string)
}

// RequestTrailerMap is the trailer section of a request.
type RequestTrailerMap interface {
	HeaderMap
}

// ResponseHeaderMap is a response head.
type ResponseHeaderMap interface {
	HeaderMap
	Status() (int, bool)
}

// ResponseTrailerMap is the trailer section of a response.
type ResponseTrailerMap interface {
	HeaderMap
}

// MetadataMap is reserved by Envoy.
type MetadataMap interface{}

// BufferAction is where bytes are placed in a buffer.
type BufferAction int

// Buffer actions.
const (
	SetBuffer     BufferAction = 0
	AppendBuffer  BufferAction = 1
	PrependBuffer BufferAction = 2
)

// DataBufferBase is a body or a piece of it.
type DataBufferBase interface {
	Write(p []byte) (n int, err error)
	WriteString(s string) (n int, err error)
	WriteByte(p byte) error
	// WriteUint16 appends the number as decimal digits.
	WriteUint16(p uint16) error
	// WriteUint32 appends the number as decimal digits.
	WriteUint32(p uint32) error
	// WriteUint64 appends the number as decimal digits.
	WriteUint64(p uint64) error
	// Peek returns the first n bytes, nil if there are fewer. Up to Envoy 1.27.
	Peek(n int) []byte
	// Bytes returns the content. Changes to the slice have no effect.
	Bytes() []byte
	// Drain removes bytes from the front.
	Drain(offset int)
	Len() int
	// Reset removes all bytes.
	Reset()
	String() string
	Append(data []byte) error
}

// BufferInstance is a body or a piece of it.
type BufferInstance interface {
	DataBufferBase
	Set([]byte) error
	SetString(string) error
	Prepend(data []byte) error
	PrependString(s string) error
	AppendString(s string) error
}

// DestroyReason is how an exchange ended.
type DestroyReason int

// Destroy reasons.
const (
	// Normal means that the response was sent completely.
	Normal DestroyReason = 0
	// Terminate means that it was not.
	Terminate DestroyReason = 1
)

// AccessLogType is when an access log entry is written.
type AccessLogType int

// Access log types.
const (
	AccessLogNotSet                                  AccessLogType = 0
	AccessLogTcpUpstreamConnected                    AccessLogType = 1
	AccessLogTcpPeriodic                             AccessLogType = 2
	AccessLogTcpConnectionEnd                        AccessLogType = 3
	AccessLogDownstreamStart                         AccessLogType = 4
	AccessLogDownstreamPeriodic                      AccessLogType = 5
	AccessLogDownstreamEnd                           AccessLogType = 6
	AccessLogUpstreamPoolReady                       AccessLogType = 7
	AccessLogUpstreamPeriodic                        AccessLogType = 8
	AccessLogUpstreamEnd                             AccessLogType = 9
	AccessLogDownstreamTunnelSuccessfullyEstablished AccessLogType = 10
)

// Reasons for which Envoy aborts an exchange.
const (
	NormalFinalize int = 0
	GCFinalize     int = 1
)

// EnvoyRequestPhase is the phase of an exchange.
type EnvoyRequestPhase int

// Phases.
const (
	DecodeHeaderPhase EnvoyRequestPhase = iota + 1
	DecodeDataPhase
	DecodeTrailerPhase
	EncodeHeaderPhase
	EncodeDataPhase
	EncodeTrailerPhase
)

var phaseNames = [...]string{
	DecodeHeaderPhase:  "DecodeHeader",
	DecodeDataPhase:    "DecodeData",
	DecodeTrailerPhase: "DecodeTrailer",
	EncodeHeaderPhase:  "EncodeHeader",
	EncodeDataPhase:    "EncodeData",
	EncodeTrailerPhase: "EncodeTrailer",
}

// String returns the name of the phase.
func (e EnvoyRequestPhase) String() string {
	if e < DecodeHeaderPhase || e > EncodeTrailerPhase {
		return "unknown phase"
	}
	return phaseNames[e]
}

// Errors of GetProperty and SetUpstreamOverrideHost.
var (
	ErrInternalFailure      = errors.New("internal failure")
	ErrValueNotFound        = errors.New("value not found")
	ErrSerializationFailure = errors.New("serialization failure")
	ErrInvalidIPAddress     = errors.New("invalid IP address")
)
