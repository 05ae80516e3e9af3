// Package header reads a header of each head and sets another one to its value.
package header

import "github.com/eddy-gateway/eddy/sdk/go"

// Config has no keys.
type Config struct{}

type filter struct{}

func init() {
	eddy.Register("header-get-set", func(Config) (eddy.Filter, error) { return filter{}, nil })
}

// RequestHead sets host2 to the host of the request.
func (filter) RequestHead(x *eddy.Exchange) eddy.Verdict {
	request := x.Request()
	host := request.Get(eddy.Host)
	if host == "" {
		host = request.Authority()
	}
	request.SetByName("host2", host)
	return eddy.Continue
}

// ResponseHead sets server2 to the Server header of the response.
func (filter) ResponseHead(x *eddy.Exchange) eddy.Verdict {
	response := x.Response()
	if response.Has(eddy.Server) {
		response.SetByName("server2", response.Get(eddy.Server))
	}
	return eddy.Continue
}
