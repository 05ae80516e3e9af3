package stream

import (
	"testing"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

type bare struct{ api.PassThroughStreamFilter }

type ownData struct{ api.PassThroughStreamFilter }

func (*ownData) DecodeData(api.BufferInstance, bool) api.StatusType { return api.Continue }

// value has its method on the value, so that the pointer's is a wrapper that the compiler made.
type value struct{ api.PassThroughStreamFilter }

func (value) EncodeData(api.BufferInstance, bool) api.StatusType { return api.Continue }

type inherits struct{ ownData }

type inheritsByPointer struct{ *ownData }

type mixin struct{}

func (mixin) EncodeTrailers(api.ResponseTrailerMap) api.StatusType { return api.Continue }

// shadows has a mixin that is shallower than the pass-through's method.
type shadows struct {
	bare
	mixin
}

type byInterface struct{ api.StreamFilter }

type halves struct {
	api.PassThroughStreamDecoderFilter
	api.PassThroughStreamEncoderFilter
}

func (*halves) OnDestroy(api.DestroyReason) {}

type logs133 struct{ api.PassThroughStreamFilter }

func (*logs133) OnLog(api.RequestHeaderMap, api.RequestTrailerMap, api.ResponseHeaderMap, api.ResponseTrailerMap) {
}

type logs128 struct{ api.PassThroughStreamFilter }

func (*logs128) OnLog() {}

type completes struct{ api.PassThroughStreamFilter }

func (*completes) OnStreamComplete() {}

type destroys struct{ api.PassThroughStreamFilter }

func (*destroys) OnDestroy(api.DestroyReason) {}

func TestWhatAFilterInheritsIsNotEntered(t *testing.T) {
	heads := raw.PhaseRequestHead.Bit() | raw.PhaseResponseHead.Bit()
	all := uint32(everyPhase) &^ raw.PhaseLog.Bit()
	tests := []struct {
		filter      api.StreamFilter
		interest    uint32
		hasLog, end bool
	}{
		{&api.PassThroughStreamFilter{}, heads, false, false},
		{&bare{}, heads, false, false},
		{&ownData{}, heads | raw.PhaseRequestBody.Bit(), false, false},
		{&value{}, heads | raw.PhaseResponseBody.Bit(), false, false},
		{&inherits{}, heads | raw.PhaseRequestBody.Bit(), false, false},
		{&inheritsByPointer{&ownData{}}, heads | raw.PhaseRequestBody.Bit(), false, false},
		{&shadows{}, heads | raw.PhaseResponseTrailers.Bit(), false, false},
		{&byInterface{&bare{}}, all, false, true},
		{&halves{}, heads, false, true},
		{&logs133{}, heads | raw.PhaseLog.Bit() | raw.PhaseRequestTrailers.Bit() | raw.PhaseResponseTrailers.Bit(), true, false},
		{&logs128{}, heads | raw.PhaseLog.Bit(), true, false},
		{&completes{}, heads | raw.PhaseLog.Bit(), false, false},
		{&destroys{}, heads, false, true},
	}
	for _, test := range tests {
		s := shapeOf(test.filter)
		if s.interest != test.interest || (s.log != nil) != test.hasLog || s.hasDestroy != test.end {
			t.Errorf("%T: interest %s, log %v, destroy %v", test.filter, phases(s.interest), s.log != nil, s.hasDestroy)
		}
	}
}

// A framework may keep the callbacks in a type of its own, and give its filters that behind an interface of its own.
var (
	_ framework = embedsDecoder{}
	_ framework = embedsEncoder{}
)

type framework interface {
	SendLocalReply(responseCode int, bodyText string, headers map[string][]string, grpcStatus int64, details string)
	RecoverPanic()
	AddData(data []byte, isStreaming bool)
}

type embedsDecoder struct{ api.DecoderFilterCallbacks }

type embedsEncoder struct{ api.EncoderFilterCallbacks }
