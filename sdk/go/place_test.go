package eddy_test

import (
	"fmt"
	"slices"
	"testing"

	eddy "github.com/eddy-gateway/eddy/sdk/go"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// fieldsOf runs a filter that buffers the body, and returns what it finds of a field.
func fieldsOf(t *testing.T, body, places string) (all []eddy.Place, value string, found bool) {
	t.Helper()
	h := &hooks{
		head: func(x *eddy.Exchange) eddy.Verdict { return x.Buffer() },
		body: func(x *eddy.Exchange) eddy.Verdict {
			all = slices.Collect(x.Places("tenant"))
			bytes, ok := x.Body().Field("tenant")
			value, found = string(bytes), ok
			return eddy.Continue
		},
	}
	serve(t, h).Post("/", body).Metadata("message_fields", "tenant_at", places).Do()
	return all, value, found
}

func TestAFieldIsRemovedFromTheBody(t *testing.T) {
	all, value, found := fieldsOf(t, "0123456789", "[[2,3],[7,2]]")
	if want := []eddy.Place{{Offset: 2, Len: 3}, {Offset: 7, Len: 2}}; !slices.Equal(all, want) {
		t.Errorf("%v", all)
	}
	// The last value is the one in force.
	if !found || value != "78" {
		t.Errorf("%q %v", value, found)
	}
	if all, _, found := fieldsOf(t, "0123456789", ""); len(all) != 0 || found {
		t.Errorf("%v %v", all, found)
	}
}

func TestOffsetsBeyondTheBodyAreNotRead(t *testing.T) {
	for _, places := range []string{
		"[[9,2]]", "[[10,1]]", "[[11,1]]", "[[99999999999999999999999,1]]", "[[1,99999999999999999999999]]", "[[4,0]]",
		"[[4", "[[4,", "[[4,]]", "[", "{}", "[[-1,2]",
	} {
		if all, value, found := fieldsOf(t, "0123456789", places); found && places != "[[-1,2]" {
			t.Errorf("%s: %v %q", places, all, value)
		}
	}
}

func TestFieldsAllocateNothing(t *testing.T) {
	sum := 0
	h := &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		for p := range x.Places("tenant") {
			sum += p.Len
		}
		return eddy.Continue
	}}
	crossing := serve(t, h).Get("/").Metadata("message_fields", "tenant_at", "[[2,3],[7,2]]").Crossing(raw.PhaseRequestHead)
	if crossing.Enter(); sum != 5 {
		t.Errorf("%d bytes, not 5", sum)
	}
	if n := crossing.Allocs(); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func ExampleBody_Field() {
	_ = func(x *eddy.Exchange) eddy.Verdict {
		if tenant, ok := x.Body().Field("tenant"); ok {
			fmt.Printf("%d bytes of a name\n", len(tenant))
		}
		return eddy.Continue
	}
}
