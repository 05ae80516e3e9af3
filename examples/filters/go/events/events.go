// Package events responds with server-sent events that a goroutine makes: a streamed response of the filter's own, sent
// as fast as the client takes it.
package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// Config configures the events.
type Config struct {
	// Path is the path that responds with events; other requests are forwarded.
	Path string `json:"path,omitempty"`
	// Events is the number of events in a response.
	Events int `json:"events,omitempty"`
	// Every is the time between two events. It must be shorter than the `timeout` of the filter.
	Every eddy.Duration `json:"every,omitempty"`
	// Pad is the size of each event in bytes, at least.
	Pad int `json:"pad,omitempty"`
}

// SetDefaults implements eddy.Defaulter.
func (c *Config) SetDefaults() {
	c.Path, c.Events, c.Every = "/events", 10, eddy.Duration(time.Second)
}

type filter struct {
	config Config
	sent   *eddy.Counter
}

func init() {
	eddy.Register("events", func(c Config) (eddy.Filter, error) {
		if c.Events < 0 || c.Every < 0 || c.Pad < 0 {
			return nil, errors.New(`keys "events", "every" and "pad": must not be negative`)
		}
		return &filter{config: c}, nil
	})
}

// Start implements eddy.Starter.
func (f *filter) Start(env *eddy.Env) (err error) {
	f.sent, err = env.Counter("sent")
	return err
}

// RequestHead replies. The body of the reply is what comes after all events.
func (f *filter) RequestHead(x *eddy.Exchange) eddy.Verdict {
	if x.Request().Path() != f.config.Path {
		return eddy.Continue
	}
	return x.Reply(200, "event: end\ndata:\n\n",
		eddy.Named("content-type", "text/event-stream"), eddy.Named("cache-control", "no-store"))
}

// ResponseBody sends the events from a goroutine, before the body of the reply.
func (f *filter) ResponseBody(x *eddy.Exchange) eddy.Verdict {
	if !x.IsLocal() || x.Request().Path() != f.config.Path {
		return eddy.Continue
	}
	return eddy.Go(x, f.send)
}

func (f *filter) send(x *eddy.Exchange) eddy.Verdict {
	for n := range f.config.Events {
		event := fmt.Appendf(nil, "id: %d\ndata: %0*d\n\n", n, f.config.Pad, n)
		// Send waits until the client has taken the event before this one.
		if err := x.Send(event); err != nil {
			return eddy.Continue // the client has left
		}
		f.sent.Inc(x)
		if !sleep(x.Context(), time.Duration(f.config.Every)) {
			return eddy.Continue
		}
	}
	return eddy.Continue
}

// sleep waits, and returns false if the exchange ends meanwhile.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
