package header_test

import (
	"testing"

	_ "github.com/eddy-gateway/eddy/examples/filters/go/header-get-set"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

func TestFieldsAreCopied(t *testing.T) {
	g := eddytest.New(t, "header-get-set", nil)
	r := g.Get("/").Authority("a.example:81").Header("Host2", "forged").Do()
	if host := r.Forwarded.Values("host2"); len(host) != 1 || host[0] != "a.example:81" || r.Get("server2") != "endpoint" {
		t.Error(r)
	}
	if r := g.Get("/").NoFields().Version(20).Do(); r.Forwarded.Get("host2") != "example.com" {
		t.Error(r)
	}
	g.Endpoint(func(*eddytest.Message) *eddytest.Message { return &eddytest.Message{Status: 204} })
	if r := g.Get("/").Do(); r.Has("server2") {
		t.Error(r)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	request := eddytest.New(t, "header-get-set", nil).Get("/")
	for _, phase := range []raw.Phase{raw.PhaseRequestHead, raw.PhaseResponseHead} {
		crossing := request.Crossing(phase)
		crossing.Enter()
		if n := crossing.Allocs(); n != 0 || len(crossing.Edits()) != 1 {
			t.Errorf("%v allocations in %v for %v", n, phase, crossing.Edits())
		}
	}
}

func BenchmarkRequestHead(b *testing.B) {
	eddytest.New(b, "header-get-set", nil).Get("/").Crossing(raw.PhaseRequestHead).Bench(b)
}

func BenchmarkResponseHead(b *testing.B) {
	eddytest.New(b, "header-get-set", nil).Get("/").Crossing(raw.PhaseResponseHead).Bench(b)
}
