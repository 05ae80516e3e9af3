package api

import "errors"

// StatusType is what a hook answers.
type StatusType int

// The answers that fit every hook.
const (
	// Running: a goroutine goes on with it and calls Continue or SendLocalReply.
	Running StatusType = 0
	// LocalReply: SendLocalReply was called.
	LocalReply StatusType = 1
	// Continue: go on.
	Continue StatusType = 2
	// StopAndBuffer: enter the filter again with the whole body.
	StopAndBuffer StatusType = 3
	// StopAndBufferWatermark: keep this and enter the filter with more of the body.
	StopAndBufferWatermark StatusType = 4
	// StopNoBuffer: drop this piece of a body.
	StopNoBuffer StatusType = 5
)

// Answers for heads.
const (
	HeaderContinue                     StatusType = 100
	HeaderStopIteration                StatusType = 101
	HeaderContinueAndDontEndStream     StatusType = 102
	HeaderStopAllIterationAndBuffer    StatusType = 103
	HeaderStopAllIterationAndWatermark StatusType = 104
)

// Answers for bodies.
const (
	DataContinue                  StatusType = 200
	DataStopIterationAndBuffer    StatusType = 201
	DataStopIterationAndWatermark StatusType = 202
	DataStopIterationNoBuffer     StatusType = 203
)

// Answers for trailers.
const (
	TrailerContinue      StatusType = 300
	TrailerStopIteration StatusType = 301
)

// HeaderMap is a head or trailer section. Names are matched without case and told in lower case.
//
// The fields are copied when a method first needs them, so that a map that nobody asks costs nothing and one that was
// asked can be used from goroutines; one that is first asked after its exchange went on is empty.
type HeaderMap interface {
	// GetRaw is the value of a field, or empty.
	GetRaw(name string) string
	// Get is the value of the first field of the name.
	Get(key string) (string, bool)
	// Values are the values of all of its fields.
	Values(key string) []string
	// Set puts one field in the place of all of the name.
	Set(key, value string)
	// Add adds one field.
	Add(key, value string)
	// Del removes all fields of the name.
	Del(key string)
	// Range calls f with each field until it returns false. f must not use the map.
	Range(f func(key, value string) bool)
	// RangeWithCopy is Range with an f that may use the map.
	RangeWithCopy(f func(key, value string) bool)
	// GetAllHeaders is a copy of all fields, the pseudo headers included.
	GetAllHeaders() map[string][]string
	// ByteSize is the number of bytes of all names and values. Up to Envoy 1.27.
	ByteSize() uint64
}

// RequestHeaderMap is a request's head.
type RequestHeaderMap interface {
	HeaderMap
	// Protocol is "HTTP/1.1" and the like. Up to Envoy 1.27.
	Protocol() string
	Scheme() string
	Method() string
	Host() string
	// Path is path and query.
	Path() string
	SetMethod(method string)
	SetHost(host string)
	SetPath(path string)
}

// RequestTrailerMap is a request's trailer section.
type RequestTrailerMap interface {
	HeaderMap
}

// ResponseHeaderMap is a response's head.
type ResponseHeaderMap interface {
	HeaderMap
	Status() (int, bool)
}

// ResponseTrailerMap is a response's trailer section.
type ResponseTrailerMap interface {
	HeaderMap
}

// MetadataMap is a name that Envoy reserves.
type MetadataMap interface{}

// BufferAction tells where bytes go in a buffer.
type BufferAction int

// The places.
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
	// WriteUint16 appends the number's digits.
	WriteUint16(p uint16) error
	// WriteUint32 appends the number's digits.
	WriteUint32(p uint32) error
	// WriteUint64 appends the number's digits.
	WriteUint64(p uint64) error
	// Peek is the first n bytes, nil where there are fewer. Up to Envoy 1.27.
	Peek(n int) []byte
	// Bytes is the content. A change to the slice changes nothing.
	Bytes() []byte
	// Drain removes bytes from the front.
	Drain(offset int)
	Len() int
	// Reset removes all.
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

// DestroyReason tells how an exchange ended.
type DestroyReason int

// The ends of an exchange.
const (
	// Normal: the response went out whole.
	Normal DestroyReason = 0
	// Terminate: it did not.
	Terminate DestroyReason = 1
)

// AccessLogType tells when an access record is written.
type AccessLogType int

// The occasions.
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

// Ways in which Envoy gives an exchange up.
const (
	NormalFinalize int = 0
	GCFinalize     int = 1
)

// EnvoyRequestPhase is where an exchange stands.
type EnvoyRequestPhase int

// The phases.
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

// String names the phase.
func (e EnvoyRequestPhase) String() string {
	if e < DecodeHeaderPhase || e > EncodeTrailerPhase {
		return "unknown phase"
	}
	return phaseNames[e]
}

// What GetProperty and SetUpstreamOverrideHost may say.
var (
	ErrInternalFailure      = errors.New("internal failure")
	ErrValueNotFound        = errors.New("value not found")
	ErrSerializationFailure = errors.New("serialization failure")
	ErrInvalidIPAddress     = errors.New("invalid IP address")
)
