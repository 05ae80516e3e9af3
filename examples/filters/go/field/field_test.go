package field_test

import (
	"testing"

	_ "github.com/eddy-gateway/eddy/examples/filters/go/field"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
)

func TestTheTenantIsForwardedAsAHeader(t *testing.T) {
	g := eddytest.New(t, "field", nil)
	r := g.Post("/", "\x00\x00\x00\x00\x08\n\x06\n\x04acme").Metadata("message_fields", "tenant_at", "[[9,4]]").Do()
	if got := r.Forwarded.Get("x-tenant-go"); got != "acme" {
		t.Errorf("%q", got)
	}
	if r := g.Post("/", "\x00\x00\x00\x00\x00").Do(); r.Forwarded.Has("x-tenant-go") {
		t.Error(r)
	}
}
