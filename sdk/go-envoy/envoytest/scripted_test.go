package envoytest_test

import (
	"sync/atomic"
	"testing"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
	"github.com/envoyproxy/envoy/envoytest"
	"google.golang.org/protobuf/types/known/anypb"
)

// script is a filter whose hooks are functions of a test. A missing hook continues.
type script struct {
	api.PassThroughStreamFilter
	callbacks api.FilterCallbackHandler
	on        *hooks
}

type hooks struct {
	decodeHeaders  func(s *script, h api.RequestHeaderMap, end bool) api.StatusType
	decodeData     func(s *script, b api.BufferInstance, end bool) api.StatusType
	decodeTrailers func(s *script, h api.RequestTrailerMap) api.StatusType
	encodeHeaders  func(s *script, h api.ResponseHeaderMap, end bool) api.StatusType
	encodeData     func(s *script, b api.BufferInstance, end bool) api.StatusType
	encodeTrailers func(s *script, h api.ResponseTrailerMap) api.StatusType
	onLog          func(s *script, a api.RequestHeaderMap, b api.RequestTrailerMap, c api.ResponseHeaderMap, d api.ResponseTrailerMap)
	onComplete     func(s *script)
	onDestroy      func(s *script, reason api.DestroyReason)
}

func (s *script) DecodeHeaders(h api.RequestHeaderMap, end bool) api.StatusType {
	if s.on.decodeHeaders == nil {
		return api.Continue
	}
	return s.on.decodeHeaders(s, h, end)
}

func (s *script) DecodeData(b api.BufferInstance, end bool) api.StatusType {
	if s.on.decodeData == nil {
		return api.Continue
	}
	return s.on.decodeData(s, b, end)
}

func (s *script) DecodeTrailers(h api.RequestTrailerMap) api.StatusType {
	if s.on.decodeTrailers == nil {
		return api.Continue
	}
	return s.on.decodeTrailers(s, h)
}

func (s *script) EncodeHeaders(h api.ResponseHeaderMap, end bool) api.StatusType {
	if s.on.encodeHeaders == nil {
		return api.Continue
	}
	return s.on.encodeHeaders(s, h, end)
}

func (s *script) EncodeData(b api.BufferInstance, end bool) api.StatusType {
	if s.on.encodeData == nil {
		return api.Continue
	}
	return s.on.encodeData(s, b, end)
}

func (s *script) EncodeTrailers(h api.ResponseTrailerMap) api.StatusType {
	if s.on.encodeTrailers == nil {
		return api.Continue
	}
	return s.on.encodeTrailers(s, h)
}

func (s *script) OnLog(a api.RequestHeaderMap, b api.RequestTrailerMap, c api.ResponseHeaderMap, d api.ResponseTrailerMap) {
	if s.on.onLog != nil {
		s.on.onLog(s, a, b, c, d)
	}
}

func (s *script) OnStreamComplete() {
	if s.on.onComplete != nil {
		s.on.onComplete(s)
	}
}

func (s *script) OnDestroy(reason api.DestroyReason) {
	if s.on.onDestroy != nil {
		s.on.onDestroy(s, reason)
	}
}

// nothing is the behaviour of filters that are only probed.
var nothing = &hooks{}

// current is the behaviour of the next filters with the name "script".
var current atomic.Pointer[hooks]

func init() {
	current.Store(nothing)
	http.RegisterHttpFilterFactoryAndConfigParser("script", func(_ interface{}, callbacks api.FilterCallbackHandler) api.StreamFilter {
		return &script{callbacks: callbacks, on: current.Load()}
	}, http.NullParser)
}

// play runs one exchange through one filter.
func play(t *testing.T, on hooks, request envoytest.Request, answer envoytest.Response) *envoytest.Result {
	t.Helper()
	return playBy(t, on, request, answer, envoytest.Filter{Name: "script"})
}

func playBy(t *testing.T, on hooks, request envoytest.Request, answer envoytest.Response, f envoytest.Filter) *envoytest.Result {
	t.Helper()
	g := envoytest.New(t, f)
	current.Store(&on)
	defer current.Store(nothing)
	return g.Do(request, answer)
}

// bothWays runs a test with hooks on the thread of the call and on goroutines.
func bothWays(t *testing.T, test func(t *testing.T, f envoytest.Filter)) {
	t.Run("on the worker", func(t *testing.T) { test(t, envoytest.Filter{Name: "script"}) })
	t.Run("elsewhere", func(t *testing.T) { test(t, envoytest.Filter{Name: "script", Blocking: true}) })
}

var (
	get   = envoytest.Request{Host: "example.com", Path: "/a?b=c", Fields: envoytest.Fields{{"X-One", "1"}, {"x-two", "2"}, {"X-Two", "3"}, {"Authorization", "Basic eDp5"}}}
	post  = envoytest.Request{Method: "POST", Host: "example.com", Body: []string{"one ", "two ", "three"}}
	ended = envoytest.Request{Method: "POST", Host: "example.com", Body: []string{"one ", "two"}, Trailers: envoytest.Fields{{"X-Sum", "7"}}}
	okay  = envoytest.Response{Status: 200, Fields: envoytest.Fields{{"Server", "origin"}, {"Content-Length", "11"}}, Body: []string{"hello ", "world"}}
	empty = envoytest.Response{Status: 204}
)

type parserFunc func(any *anypb.Any, callbacks api.ConfigCallbackHandler) (interface{}, error)

func (f parserFunc) Parse(any *anypb.Any, callbacks api.ConfigCallbackHandler) (interface{}, error) {
	return f(any, callbacks)
}

func (f parserFunc) Merge(parent, child interface{}) interface{} { return child }
