// Package passthrough does nothing in either direction. It measures the cost of calling a filter.
package passthrough

import "github.com/eddy-gateway/eddy/sdk/go"

// Config has no keys.
type Config struct{}

type filter struct{}

func init() {
	eddy.Register("passthrough", func(Config) (eddy.Filter, error) { return filter{}, nil })
}

// RequestHead continues every request.
func (filter) RequestHead(*eddy.Exchange) eddy.Verdict { return eddy.Continue }

// ResponseHead continues every response.
func (filter) ResponseHead(*eddy.Exchange) eddy.Verdict { return eddy.Continue }
