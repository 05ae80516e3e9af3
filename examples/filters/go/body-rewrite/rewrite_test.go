package rewrite_test

import (
	"testing"

	rewrite "github.com/eddy-gateway/eddy/examples/filters/go/body-rewrite"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
)

func gateway(t *testing.T, response eddytest.Message) *eddytest.Gateway {
	g := eddytest.New(t, "body-rewrite", rewrite.Config{Find: "cat", Replace: "lion"})
	return g.Endpoint(func(*eddytest.Message) *eddytest.Message { return &response })
}

func TestTextAcrossChunksIsReplaced(t *testing.T) {
	r := gateway(t, eddytest.Message{
		Status: 200, Fields: eddytest.Fields("Content-Type", "text/plain", "ETag", `"a"`), Pieces: []string{"a c", "at and a c", "at"},
	}).Get("/").Do()
	if r.Body != "a lion and a lion" || r.Has("etag") {
		t.Error(r)
	}
}

func TestOtherBodiesStream(t *testing.T) {
	for _, fields := range [][]eddytest.Field{
		nil,
		eddytest.Fields("Content-Type", "image/png"),
		eddytest.Fields("Content-Type", "text/plain", "Content-Encoding", "gzip"),
	} {
		r := gateway(t, eddytest.Message{Status: 200, Fields: fields, Pieces: []string{"cat", "cat"}}).Get("/").Do()
		if r.Body != "catcat" || len(r.Pieces) != 2 {
			t.Error(r)
		}
	}
}

func TestAResponseWithoutABodyPasses(t *testing.T) {
	r := gateway(t, eddytest.Message{Status: 204, Fields: eddytest.Fields("Content-Type", "text/plain")}).Get("/").Do()
	if r.Status != 204 || r.Body != "" {
		t.Error(r)
	}
}

func TestAnEmptySearchTextIsRefused(t *testing.T) {
	eddytest.Refusal(t, "body-rewrite", nil)
	eddytest.Refusal(t, "body-rewrite", rewrite.Config{})
}
