// Package http registers filters written for Envoy, in each of the ways of Envoy 1.26 to 1.40.
package http

import (
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/internal/stream"
)

// RegisterHttpFilterFactoryAndConfigParser registers a filter, since Envoy 1.31. The factory is func(interface{},
// api.FilterCallbackHandler) api.StreamFilter.
func RegisterHttpFilterFactoryAndConfigParser(name string, factory any, parser api.StreamFilterConfigParser) {
	if parser == nil {
		panic("a filter needs a config parser; NullParser is one")
	}
	stream.Register(name, factory, parser)
}

// RegisterHttpFilterConfigFactoryAndParser registers a filter, from Envoy 1.27 to 1.30. The factory is
// func(interface{}) api.StreamFilterFactory.
func RegisterHttpFilterConfigFactoryAndParser(name string, factory any, parser api.StreamFilterConfigParser) {
	if parser == nil {
		parser = NullParser
	}
	stream.Register(name, factory, parser)
}

// RegisterHttpFilterConfigFactory registers a filter, in Envoy 1.26. Its configuration is created by the parser that
// the same package registers.
func RegisterHttpFilterConfigFactory(name string, factory any) {
	stream.Register(name, factory, nil)
}

// RegisterStreamingHttpFilterConfigFactory does the same as RegisterHttpFilterConfigFactory.
func RegisterStreamingHttpFilterConfigFactory(name string, factory any) {
	stream.Register(name, factory, nil)
}

// RegisterHttpFilterConfigParser registers the parser of all filters of the calling package without their own parser,
// in Envoy 1.26.
func RegisterHttpFilterConfigParser(parser api.StreamFilterConfigParser) {
	stream.RegisterParser(parser)
}

// NullParser is a parser for filters without configuration. The factory receives the *anypb.Any itself.
var NullParser api.StreamFilterConfigParser = stream.NullParser{}

// PassThroughFactory creates filters that do nothing. It can replace a factory of either generation.
func PassThroughFactory(config interface{}, callbacks ...api.FilterCallbackHandler) api.StreamFilter {
	return &api.PassThroughStreamFilter{}
}
