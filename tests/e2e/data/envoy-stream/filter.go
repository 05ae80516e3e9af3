// A filter for Envoy that responds with a stream of its own, in the way of filters that serve MCP: a local reply is
// Running, and goroutines inject the data.
package main

import (
	"fmt"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
)

func init() {
	http.RegisterHttpFilterFactoryAndConfigParser("stream", factory, http.NullParser)
}

func main() {}

type filter struct {
	api.PassThroughStreamFilter
	callbacks api.FilterCallbackHandler
	streams   bool
}

func factory(_ interface{}, callbacks api.FilterCallbackHandler) api.StreamFilter {
	return &filter{callbacks: callbacks}
}

func (f *filter) DecodeHeaders(header api.RequestHeaderMap, _ bool) api.StatusType {
	if header.Path() != "/events" {
		return api.Continue
	}
	f.streams = true
	f.callbacks.DecoderFilterCallbacks().SendLocalReply(200, "the stream begins", nil, 0, "")
	return api.LocalReply
}

func (f *filter) EncodeHeaders(header api.ResponseHeaderMap, _ bool) api.StatusType {
	if f.streams {
		header.Set("Content-Type", "text/event-stream")
		header.Del("Content-Length")
	}
	return api.Continue
}

func (f *filter) EncodeData(buffer api.BufferInstance, _ bool) api.StatusType {
	if !f.streams {
		return api.Continue
	}
	buffer.Reset()
	callbacks := f.callbacks.EncoderFilterCallbacks()
	go func() {
		defer callbacks.RecoverPanic()
		for n := range 10 {
			callbacks.InjectData(fmt.Appendf(nil, "data: %d\n\n", n))
		}
		callbacks.Continue(api.Continue)
	}()
	return api.Running
}
