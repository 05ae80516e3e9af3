// Package passthrough is the filter that does nothing, in both directions: what entering a filter costs.
package passthrough

import "github.com/eddy-gateway/eddy/sdk/go"

// Config has no keys.
type Config struct{}

type filter struct{}

func init() {
	eddy.Register("passthrough", func(Config) (eddy.Filter, error) { return filter{}, nil })
}

// RequestHead lets every request go on.
func (filter) RequestHead(*eddy.Exchange) eddy.Verdict { return eddy.Continue }

// ResponseHead lets every response go on.
func (filter) ResponseHead(*eddy.Exchange) eddy.Verdict { return eddy.Continue }
