// Filter passthrough does nothing on the way there and back: what it costs is what any filter costs.
package main

import (
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
)

func init() {
	factory := func(interface{}, api.FilterCallbackHandler) api.StreamFilter { return &filter{} }
	http.RegisterHttpFilterFactoryAndConfigParser("passthrough", factory, http.NullParser)
}

type filter struct{ api.PassThroughStreamFilter }

// DecodeHeaders goes on.
func (*filter) DecodeHeaders(api.RequestHeaderMap, bool) api.StatusType { return api.Continue }

// EncodeHeaders goes on.
func (*filter) EncodeHeaders(api.ResponseHeaderMap, bool) api.StatusType { return api.Continue }

func main() {}
