package auth_test

import (
	"strings"
	"testing"

	_ "github.com/eddy-gateway/eddy/examples/filters/go/external-auth"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
)

func gateway(t *testing.T) *eddytest.Gateway {
	config := map[string]any{"cluster": "auth", "path": "/check", "timeout": "500ms"}
	return eddytest.New(t, "external-auth", config).Cluster("auth", func(r *eddytest.Message) *eddytest.Message {
		if r.Target != "/check/a?b" || r.Method != "GET" || r.Get("x-original-method") != "POST" {
			t.Errorf("the service was asked %+v", r)
		}
		switch r.Get("authorization") {
		case "good":
			return &eddytest.Message{Status: 200, Fields: eddytest.Fields("X-User", "ada")}
		case "down":
			return nil
		default:
			return &eddytest.Message{Status: 403, Fields: eddytest.Fields("Content-Type", "text/plain", "Server", "x"), Body: "no\n"}
		}
	})
}

func TestTheAuthServiceDecides(t *testing.T) {
	g := gateway(t)
	r := g.Post("/a?b", "body").Header("authorization", "good").Header("x-user", "root").Do()
	if r.Forwarded == nil || len(r.Forwarded.Values("x-user")) != 1 || r.Forwarded.Get("x-user") != "ada" || r.Forwarded.Body != "body" {
		t.Error(r)
	}
	r = g.Post("/a?b").Header("authorization", "bad").Do()
	if r.Forwarded != nil || r.Status != 403 || r.Body != "no\n" || r.Get("content-type") != "text/plain" || r.Has("server") {
		t.Error(r)
	}
	if g.Metric("refused") != 1 || r.Details != "refused_by_service" {
		t.Error(g.Metric("refused"), r.Details)
	}
}

func TestWithoutTheAuthServiceRequestsAreRefused(t *testing.T) {
	g := gateway(t)
	r := g.Post("/a?b").Header("authorization", "down").Do()
	if r.Forwarded != nil || r.Status != 503 {
		t.Error(r)
	}
	if logs := g.Logs(); len(logs) != 1 || !strings.Contains(logs[0], "WARN the service could not be asked") {
		t.Errorf("%q", logs)
	}
}

func TestConfigurationsAreChecked(t *testing.T) {
	for says, config := range map[string]any{
		`"cluster": missing`: nil,
		`"timeout"`:          map[string]string{"cluster": "a", "timeout": "-1s"},
		"duration":           map[string]string{"cluster": "a", "timeout": "soon"},
	} {
		if err := eddytest.Refusal(t, "external-auth", config); !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
	}
}
