// Filter header-get-set copies a header each way: the request's host to host2, the response's server to server2.
package main

import (
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
)

func init() {
	factory := func(interface{}, api.FilterCallbackHandler) api.StreamFilter { return &filter{} }
	http.RegisterHttpFilterFactoryAndConfigParser("header-get-set", factory, http.NullParser)
}

type filter struct{ api.PassThroughStreamFilter }

// DecodeHeaders sets host2.
func (*filter) DecodeHeaders(header api.RequestHeaderMap, _ bool) api.StatusType {
	header.Set("host2", header.Host())
	return api.Continue
}

// EncodeHeaders sets server2, where there is a server.
func (*filter) EncodeHeaders(header api.ResponseHeaderMap, _ bool) api.StatusType {
	if server, ok := header.Get("server"); ok {
		header.Set("server2", server)
	}
	return api.Continue
}

func main() {}
