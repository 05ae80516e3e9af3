package passthrough_test

import (
	"slices"
	"testing"

	_ "github.com/eddy-gateway/eddy/examples/filters/go/passthrough"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

func TestNothingChanges(t *testing.T) {
	r := eddytest.New(t, "passthrough", nil).Post("/a?b", "body").Header("x", "y").Do()
	if r.Status != 200 || r.Body != "ok\n" || r.Forwarded.Target != "/a?b" || r.Forwarded.Body != "body" || r.Forwarded.Get("x") != "y" {
		t.Error(r)
	}
	if want := []raw.Phase{raw.PhaseRequestHead, raw.PhaseResponseHead}; !slices.Equal(r.Crossings, want) {
		t.Errorf("it was entered in %v", r.Crossings)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	request := eddytest.New(t, "passthrough", nil).Get("/")
	for _, phase := range []raw.Phase{raw.PhaseRequestHead, raw.PhaseResponseHead} {
		if n := request.Crossing(phase).Allocs(); n != 0 {
			t.Errorf("%v allocations in %v", n, phase)
		}
	}
}

func BenchmarkCrossing(b *testing.B) {
	eddytest.New(b, "passthrough", nil).Get("/").Crossing(raw.PhaseRequestHead).Bench(b)
}
