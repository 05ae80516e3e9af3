// Package field adds a header with a field of the request message, the tenant of an order.
package field

import "github.com/eddy-gateway/eddy/sdk/go"

type filter struct{}

func init() {
	eddy.Register("field", func(struct{}) (eddy.Filter, error) { return filter{}, nil })
}

// ReadsOnly implements eddy.BodyReader: bodies keep their framing.
func (filter) ReadsOnly() bool { return true }

// RequestHead requests the whole body, in which fields are located.
func (filter) RequestHead(x *eddy.Exchange) eddy.Verdict {
	if x.IsLast() {
		return eddy.Continue
	}
	return x.Buffer()
}

// RequestBody reads the field in the message without decoding it: the configuration has its path under fields, with the
// key tenant.
func (filter) RequestBody(x *eddy.Exchange) eddy.Verdict {
	if tenant, ok := x.Body().Field("tenant"); ok {
		x.Request().SetByName("x-tenant-go", string(tenant))
	}
	return eddy.Continue
}
