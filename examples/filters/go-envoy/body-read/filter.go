// Filter body-read looks at each piece of the response's body as it streams, and counts how often a byte is in it.
package main

import (
	"bytes"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
	"google.golang.org/protobuf/types/known/anypb"
)

func init() {
	factory := func(config interface{}, _ api.FilterCallbackHandler) api.StreamFilter {
		return &filter{found: config.(api.CounterMetric)}
	}
	http.RegisterHttpFilterFactoryAndConfigParser("body-read", factory, parser{})
}

// parser defines the counter; a rule has no say.
type parser struct{}

// Parse needs no configuration.
func (parser) Parse(_ *anypb.Any, callbacks api.ConfigCallbackHandler) (interface{}, error) {
	if callbacks == nil {
		return nil, nil
	}
	return callbacks.DefineCounterMetric("found"), nil
}

// Merge keeps the filter's own.
func (parser) Merge(parent, _ interface{}) interface{} { return parent }

type filter struct {
	api.PassThroughStreamFilter
	found api.CounterMetric
}

// EncodeData looks at a piece.
func (f *filter) EncodeData(piece api.BufferInstance, _ bool) api.StatusType {
	if n := bytes.Count(piece.Bytes(), []byte{'\n'}); n != 0 {
		f.found.Increment(int64(n))
	}
	return api.Continue
}

func main() {}
