package eddy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
)

// asking returns a gateway whose filter sends a request in each exchange and passes the outcome to `then`.
func asking(t *testing.T, cluster string, ask func(context.Context, *eddy.Client, *eddy.Exchange) eddy.Verdict) *eddytest.Gateway {
	var client *eddy.Client
	return serve(t, &hooks{
		start: func(env *eddy.Env) error { client = env.Client(cluster); return nil },
		head: func(x *eddy.Exchange) eddy.Verdict {
			return eddy.Go(x, func(x *eddy.Exchange) eddy.Verdict { return ask(x.Context(), client, x) })
		},
	})
}

func TestAClientCallsACluster(t *testing.T) {
	g := asking(t, "users", func(ctx context.Context, c *eddy.Client, x *eddy.Exchange) eddy.Verdict {
		r, err := c.Do(ctx, &eddy.OutRequest{Method: "PUT", Target: "/u?1", Fields: []eddy.Field{eddy.Named("x", "y")}, Body: []byte("body")})
		if err != nil || r.Get("X-ANSWER") != "yes" {
			return x.Fault(err)
		}
		return x.Reply(r.Status, string(r.Body))
	}).Cluster("users", func(m *eddytest.Message) *eddytest.Message {
		if m.Method != "PUT" || m.Target != "/u?1" || m.Authority != "users" || m.Get("x") != "y" || m.Body != "body" {
			t.Errorf("%+v", m)
		}
		return &eddytest.Message{Status: 201, Fields: eddytest.Fields("x-answer", "yes"), Body: "made"}
	})
	if r := g.Get("/").Do(); r.Status != 201 || r.Body != "made" {
		t.Error(r)
	}
}

func TestAClientReportsWhyThereIsNoResponse(t *testing.T) {
	slow := make(chan struct{})
	defer close(slow)
	answers := func(m *eddytest.Message) *eddytest.Message {
		if m.Target == "/slow" {
			<-slow
		}
		return nil
	}
	for target, want := range map[string]string{"/": "connect", "/slow": "timeout"} {
		g := asking(t, "c", func(ctx context.Context, c *eddy.Client, x *eddy.Exchange) eddy.Verdict {
			_, err := c.Do(ctx, &eddy.OutRequest{Target: target, Timeout: 20 * time.Millisecond})
			var failed *eddy.FailedError
			if !errors.As(err, &failed) || failed.Reason != want || failed.Cluster != "c" {
				t.Errorf("%s: %v", target, err)
			}
			return eddy.Continue
		}).Cluster("c", answers)
		if r := g.Get("/").Do(); r.Status != 200 {
			t.Error(r)
		}
	}
	g := asking(t, "none", func(ctx context.Context, c *eddy.Client, x *eddy.Exchange) eddy.Verdict {
		if _, err := c.Do(ctx, &eddy.OutRequest{}); !errors.Is(err, eddy.ErrUnknown) {
			t.Error(err)
		}
		return eddy.Continue
	})
	if r := g.Get("/").Do(); r.Status != 200 {
		t.Error(r)
	}
}

func TestARequestEndsWithItsExchange(t *testing.T) {
	ended := make(chan error, 1)
	block := make(chan struct{})
	defer close(block)
	g := asking(t, "c", func(ctx context.Context, c *eddy.Client, x *eddy.Exchange) eddy.Verdict {
		_, err := c.Do(ctx, &eddy.OutRequest{})
		ended <- err
		return eddy.Continue
	}).Cluster("c", func(*eddytest.Message) *eddytest.Message { <-block; return nil })
	if r := g.Patience(20 * time.Millisecond).Get("/").Do(); r.Status != 504 {
		t.Error(r)
	}
	select {
	case err := <-ended:
		var failed *eddy.FailedError
		if !errors.As(err, &failed) && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(4 * time.Second):
		t.Error("the request outlives its exchange")
	}
}

func TestAContextCancels(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	g := asking(t, "c", func(ctx context.Context, c *eddy.Client, x *eddy.Exchange) eddy.Verdict {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(5*time.Millisecond, cancel)
		if _, err := c.Do(ctx, &eddy.OutRequest{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := c.Do(ctx, &eddy.OutRequest{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return eddy.Continue
	}).Cluster("c", func(*eddytest.Message) *eddytest.Message { <-block; return nil })
	if r := g.Get("/").Do(); r.Status != 200 {
		t.Error(r)
	}
}

func TestNetHTTPUsesAClient(t *testing.T) {
	g := asking(t, "c", func(ctx context.Context, c *eddy.Client, x *eddy.Exchange) eddy.Verdict {
		client := &http.Client{Transport: c.RoundTripper()}
		request, err := http.NewRequestWithContext(ctx, "POST", "http://api.example/a?b", strings.NewReader("q"))
		if err != nil {
			return x.Fault(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return x.Fault(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.Header.Get("X-A") != "1" {
			return x.Fault(err)
		}
		return x.Reply(response.StatusCode, string(body))
	}).Cluster("c", func(m *eddytest.Message) *eddytest.Message {
		if m.Authority != "api.example" || m.Target != "/a?b" || m.Body != "q" || m.Method != "POST" {
			t.Errorf("%+v", m)
		}
		return &eddytest.Message{Status: 202, Fields: eddytest.Fields("x-a", "1"), Body: "answer"}
	})
	if r := g.Get("/").Do(); r.Status != 202 || r.Body != "answer" {
		t.Error(r)
	}
}
