// Package api is the Go filter API at its path in Envoy 1.26: the same types under the older path.
package api

import "github.com/envoyproxy/envoy/contrib/golang/common/go/api"

// Types of Envoy 1.26, identical to those of the newer path.
type (
	StreamDecoderFilter       = api.StreamDecoderFilter
	StreamEncoderFilter       = api.StreamEncoderFilter
	StreamFilter              = api.StreamFilter
	StreamFilterConfigParser  = api.StreamFilterConfigParser
	StreamFilterConfigFactory = api.StreamFilterConfigFactory
	StreamFilterFactory       = api.StreamFilterFactory
	StreamInfo                = api.StreamInfo
	StreamFilterCallbacks     = api.StreamFilterCallbacks
	FilterCallbacks           = api.FilterCallbacks
	FilterCallbackHandler     = api.FilterCallbackHandler
	DynamicMetadata           = api.DynamicMetadata
	StatusType                = api.StatusType
	LogType                   = api.LogType
	HeaderMap                 = api.HeaderMap
	RequestHeaderMap          = api.RequestHeaderMap
	RequestTrailerMap         = api.RequestTrailerMap
	ResponseHeaderMap         = api.ResponseHeaderMap
	ResponseTrailerMap        = api.ResponseTrailerMap
	MetadataMap               = api.MetadataMap
	BufferAction              = api.BufferAction
	DataBufferBase            = api.DataBufferBase
	BufferInstance            = api.BufferInstance
	DestroyReason             = api.DestroyReason
	EnvoyRequestPhase         = api.EnvoyRequestPhase
)

// Values of Envoy 1.26, identical to those of the newer path.
const (
	Running                = api.Running
	LocalReply             = api.LocalReply
	Continue               = api.Continue
	StopAndBuffer          = api.StopAndBuffer
	StopAndBufferWatermark = api.StopAndBufferWatermark
	StopNoBuffer           = api.StopNoBuffer

	HeaderContinue                     = api.HeaderContinue
	HeaderStopIteration                = api.HeaderStopIteration
	HeaderContinueAndDontEndStream     = api.HeaderContinueAndDontEndStream
	HeaderStopAllIterationAndBuffer    = api.HeaderStopAllIterationAndBuffer
	HeaderStopAllIterationAndWatermark = api.HeaderStopAllIterationAndWatermark

	DataContinue                  = api.DataContinue
	DataStopIterationAndBuffer    = api.DataStopIterationAndBuffer
	DataStopIterationAndWatermark = api.DataStopIterationAndWatermark
	DataStopIterationNoBuffer     = api.DataStopIterationNoBuffer

	TrailerContinue      = api.TrailerContinue
	TrailerStopIteration = api.TrailerStopIteration

	Trace    = api.Trace
	Debug    = api.Debug
	Info     = api.Info
	Warn     = api.Warn
	Error    = api.Error
	Critical = api.Critical

	SetBuffer     = api.SetBuffer
	AppendBuffer  = api.AppendBuffer
	PrependBuffer = api.PrependBuffer

	Normal    = api.Normal
	Terminate = api.Terminate

	NormalFinalize = api.NormalFinalize
	GCFinalize     = api.GCFinalize

	DecodeHeaderPhase  = api.DecodeHeaderPhase
	DecodeDataPhase    = api.DecodeDataPhase
	DecodeTrailerPhase = api.DecodeTrailerPhase
	EncodeHeaderPhase  = api.EncodeHeaderPhase
	EncodeDataPhase    = api.EncodeDataPhase
	EncodeTrailerPhase = api.EncodeTrailerPhase
)
