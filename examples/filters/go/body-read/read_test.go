package read_test

import (
	"strings"
	"testing"

	_ "github.com/eddy-gateway/eddy/examples/filters/go/body-read"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

func TestBytesAreCounted(t *testing.T) {
	g := eddytest.New(t, "body-read", nil).Endpoint(func(*eddytest.Message) *eddytest.Message {
		return &eddytest.Message{Status: 200, Pieces: []string{"a\nb", "c", "\n\n"}}
	})
	if r := g.Get("/").Do(); r.Body != "a\nbc\n\n" || g.Metric("bytes_found") != 3 {
		t.Error(r, g.Metric("bytes_found"))
	}
}

func TestTheConfigurationMustBeOneByte(t *testing.T) {
	if err := eddytest.Refusal(t, "body-read", map[string]string{"byte": "ab"}); !strings.Contains(err.Error(), `"byte"`) {
		t.Error(err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	if n := eddytest.New(t, "body-read", nil).Get("/").Crossing(raw.PhaseResponseBody).Allocs(); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
