// Package auth lets an external service authorize requests.
package auth

import (
	"errors"
	"strings"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// Config configures the service.
type Config struct {
	// Cluster is the cluster of the service.
	Cluster string `json:"cluster" eddy:"required"`
	// Path is the prefix of the request's target.
	Path    string        `json:"path,omitempty"`
	Timeout eddy.Duration `json:"timeout,omitempty"`
	// Ask are the request headers that are sent to the service.
	Ask []string `json:"ask,omitempty"`
	// Keep are the headers of the service's response that are added to the request. Headers of these names from the
	// client are always removed.
	Keep []string `json:"keep,omitempty"`
}

// SetDefaults implements eddy.Defaulter.
func (c *Config) SetDefaults() {
	c.Timeout = eddy.Duration(time.Second)
	c.Ask = []string{"authorization", "cookie"}
	c.Keep = []string{"x-user"}
}

type filter struct {
	config  Config
	client  *eddy.Client
	refused *eddy.Counter
}

func init() {
	eddy.Register("external-auth", func(c Config) (eddy.Filter, error) {
		if c.Timeout <= 0 {
			return nil, errors.New(`key "timeout": must be longer than 0`)
		}
		return &filter{config: c}, nil
	})
}

// Start implements eddy.Starter.
func (f *filter) Start(env *eddy.Env) (err error) {
	f.client = env.Client(f.config.Cluster)
	f.refused, err = env.Counter("refused")
	return err
}

// RequestHead asks the service on a goroutine; meanwhile, the worker handles other requests.
func (f *filter) RequestHead(x *eddy.Exchange) eddy.Verdict { return eddy.Go(x, f.ask) }

func (f *filter) ask(x *eddy.Exchange) eddy.Verdict {
	request := x.Request()
	question := &eddy.OutRequest{Target: f.config.Path + request.Target(), Timeout: time.Duration(f.config.Timeout)}
	question.Fields = append(question.Fields, eddy.Named("x-original-method", request.Method()))
	for _, name := range f.config.Ask {
		for value := range request.ValuesByName(name) {
			question.Fields = append(question.Fields, eddy.Named(name, value))
		}
	}
	for _, name := range f.config.Keep {
		request.RemoveByName(name)
	}
	answer, err := f.client.Do(x.Context(), question)
	if err != nil {
		x.Logger().Warn("the service could not be asked", "error", err)
		return x.Reply(503, "authorization is not available\n")
	}
	if answer.Status < 200 || answer.Status > 299 {
		f.refused.Inc(x)
		return refuse(x, answer)
	}
	for _, name := range f.config.Keep {
		if value := answer.Get(name); value != "" {
			request.SetByName(name, value)
		}
	}
	return eddy.Continue
}

// refuse replies with the response of the service and the headers that clients need.
func refuse(x *eddy.Exchange, answer *eddy.OutResponse) eddy.Verdict {
	reply := eddy.Answer{Status: answer.Status, Body: answer.Body, Details: "refused_by_service"}
	for _, f := range answer.Fields {
		switch strings.ToLower(f.Name) {
		case "www-authenticate", "location", "set-cookie", "content-type", "retry-after":
			reply.Fields = append(reply.Fields, f)
		}
	}
	return x.ReplyWith(reply)
}
