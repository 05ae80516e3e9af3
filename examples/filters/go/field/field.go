// Package field tells the endpoint in a header whose an order is, as its message says.
package field

import "github.com/eddy-gateway/eddy/sdk/go"

type filter struct{}

func init() {
	eddy.Register("field", func(struct{}) (eddy.Filter, error) { return filter{}, nil })
}

// ReadsOnly implements eddy.BodyReader: bodies keep their framing.
func (filter) ReadsOnly() bool { return true }

// RequestHead asks for the whole body, in which a field can be found.
func (filter) RequestHead(x *eddy.Exchange) eddy.Verdict {
	if x.IsLast() {
		return eddy.Continue
	}
	return x.Buffer()
}

// RequestBody takes the field out of the message, which is not decoded: the configuration has its path under fields, by the key
// tenant.
func (filter) RequestBody(x *eddy.Exchange) eddy.Verdict {
	if tenant, ok := x.Body().Field("tenant"); ok {
		x.Request().SetByName("x-tenant-go", string(tenant))
	}
	return eddy.Continue
}
