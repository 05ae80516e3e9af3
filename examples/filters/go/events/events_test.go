package events_test

import (
	"strings"
	"testing"

	_ "github.com/eddy-gateway/eddy/examples/filters/go/events"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
)

func TestEventsComeBeforeTheBodyOfTheReply(t *testing.T) {
	g := eddytest.New(t, "events", map[string]any{"events": 3, "every": "1ms"})
	got := g.Get("/events").Do()
	want := "id: 0\ndata: 0\n\nid: 1\ndata: 1\n\nid: 2\ndata: 2\n\nevent: end\ndata:\n\n"
	if got.Status != 200 || got.Get("content-type") != "text/event-stream" || got.Body != want {
		t.Errorf("%+v", got)
	}
	if sent := g.Metric("sent"); sent != 3 {
		t.Errorf("%d events were counted", sent)
	}
	if got := g.Get("/other").Do(); got.Forwarded == nil || strings.Contains(got.Body, "data") {
		t.Errorf("%+v", got)
	}
}
