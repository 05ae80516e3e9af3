package envoytest_test

import (
	"strings"
	"testing"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/envoytest"
)

// A filter that responds with a stream sends a local reply, whose body it sees like that of a response, and injects data
// while that body is Running.
func TestALocalReplyIsStreamedByAGoroutine(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		r := playBy(t, hooks{
			decodeHeaders: func(s *script, _ api.RequestHeaderMap, _ bool) api.StatusType {
				s.callbacks.DecoderFilterCallbacks().SendLocalReply(200, "placeholder", nil, -1, "")
				return api.LocalReply
			},
			encodeHeaders: func(_ *script, h api.ResponseHeaderMap, _ bool) api.StatusType {
				h.Set("Content-Type", "text/event-stream")
				h.Del("Content-Length")
				return api.Continue
			},
			encodeData: func(s *script, b api.BufferInstance, _ bool) api.StatusType {
				b.Reset()
				c := s.callbacks.EncoderFilterCallbacks()
				c.InjectData([]byte("first "))
				go func() {
					defer c.RecoverPanic()
					for _, event := range []string{"1 ", "2 ", strings.Repeat("3", 100_000)} {
						c.InjectData([]byte(event))
					}
					c.Continue(api.Continue)
				}()
				return api.Running
			},
		}, get, okay, f)
		if r.Upstream != nil || r.Response.Fields.Get("content-type") != "text/event-stream" {
			t.Errorf("%+v", r)
		}
		if text := r.Text(); text != "first 1 2 "+strings.Repeat("3", 100_000) {
			t.Errorf("%.40q, %d bytes", text, len(text))
		}
	})
}
