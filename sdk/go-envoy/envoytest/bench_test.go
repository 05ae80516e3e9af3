package envoytest_test

import (
	"testing"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
	"github.com/envoyproxy/envoy/envoytest"
)

type getSet struct {
	api.PassThroughStreamFilter
}

func (*getSet) DecodeHeaders(h api.RequestHeaderMap, _ bool) api.StatusType {
	host, _ := h.Get("Host")
	h.Set("host2", host)
	return api.Continue
}

func (*getSet) EncodeHeaders(h api.ResponseHeaderMap, _ bool) api.StatusType {
	server, _ := h.Get("Server")
	h.Set("server2", server)
	return api.Continue
}

func init() {
	http.RegisterHttpFilterFactoryAndConfigParser("get-set", func(interface{}, api.FilterCallbackHandler) api.StreamFilter {
		return &getSet{}
	}, http.NullParser)
}

// Cost of both directions of an exchange, including its end, without the two crossings (43 ns each on Go 1.26).
func BenchmarkExchange(b *testing.B) {
	for _, name := range []string{"pass131", "get-set"} {
		b.Run(name, func(b *testing.B) {
			g := envoytest.New(b, envoytest.Filter{Name: name})
			crossing := g.Crossing(get, okay)
			b.ReportAllocs()
			for b.Loop() {
				crossing()
			}
		})
	}
}
