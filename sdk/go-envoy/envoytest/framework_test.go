package envoytest

import (
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
)

// RegisterByFramework registers a filter that marks requests, like a framework that registers filters for other
// packages.
func RegisterByFramework(name, mark string) {
	http.RegisterHttpFilterFactoryAndConfigParser(name, func(interface{}, api.FilterCallbackHandler) api.StreamFilter {
		return &marker{mark: mark}
	}, http.NullParser)
}

type marker struct {
	api.PassThroughStreamFilter
	mark string
}

func (m *marker) DecodeHeaders(h api.RequestHeaderMap, _ bool) api.StatusType {
	h.Set("x-mark", m.mark)
	return api.Continue
}

func init() { RegisterByFramework("shared", "inner") }
