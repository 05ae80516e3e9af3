// Package stream runs filters that are written for Envoy's Go API on eddy's filter ABI.
package stream

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"google.golang.org/protobuf/types/known/anypb"
)

// kind is a registered filter: its parser and its factory.
type kind struct {
	name    string
	where   string // import path of the package that registered it, see raw.Registrant
	caller  string // import path of the package whose code registered it, which may be a framework
	factory factory
	isPass  bool   // the factory is that of pass-through filters
	parser  parser // nil: the parser that its package registered for all of its filters, as in Envoy 1.26
}

// A factory binds a configuration and returns a maker of filters.
type factory func(config any) (maker, error)

// A maker creates a filter for an exchange.
type maker func(api.FilterCallbackHandler) api.StreamFilter

// parser unifies both types of parsers.
type parser struct {
	parse func(*anypb.Any, api.ConfigCallbackHandler) (any, error)
	merge func(parent, child any) any
}

var registry struct {
	sync.Mutex
	kinds   map[string][]*kind // by name
	parsers map[string]parser  // by package, from Envoy 1.26
}

// Register registers a filter. It panics if the types are not those of any Envoy version, because the filter could
// never work.
//
// Names need to be unique only in a package, because a library may have filters of many authors, and several of them
// may register through one framework.
func Register(name string, makes, parses any) {
	_, isPass := makes.(factoryLenient)
	k := &kind{name: name, where: raw.Registrant(kits...), caller: caller(), factory: factoryOf(makes), isPass: isPass}
	if parses != nil {
		k.parser = parserOf(parses)
	}
	announce(name)
	announce(k.where + ":" + name)
	announce(k.caller + ":" + name)
	registry.Lock()
	defer registry.Unlock()
	if registry.kinds == nil {
		registry.kinds = map[string][]*kind{}
	}
	same := func(other *kind) bool { return other.where == k.where && other.caller == k.caller }
	// The later one wins, as in Envoy.
	others := slices.DeleteFunc(registry.kinds[name], same)
	registry.kinds[name] = append(others, k)
}

// RegisterParser registers the parser of all filters of a package without their own.
func RegisterParser(parses any) {
	p, where, caller := parserOf(parses), raw.Registrant(kits...), caller()
	registry.Lock()
	defer registry.Unlock()
	if registry.parsers == nil {
		registry.parsers = map[string]parser{}
	}
	registry.parsers[where] = p
	registry.parsers[caller] = p
}

// find returns the filter of a name.
func find(name string) (*kind, error) {
	registry.Lock()
	defer registry.Unlock()
	where, plain := "", name
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		where, plain = name[:at], name[at+1:]
	}
	kinds := registry.kinds[plain]
	if where != "" {
		all := kinds
		kinds = slices.DeleteFunc(slices.Clone(all), func(k *kind) bool { return k.where != where })
		if len(kinds) == 0 {
			kinds = slices.DeleteFunc(slices.Clone(all), func(k *kind) bool { return k.caller != where })
		}
	}
	switch len(kinds) {
	case 1:
	case 0:
		return nil, fmt.Errorf("no filter %q is registered; there are %q", name, slices.Sorted(maps.Keys(registry.kinds)))
	default:
		var full []string
		for _, k := range kinds {
			full = append(full, k.where+":"+k.name)
		}
		return nil, fmt.Errorf("filter %q is registered by more than one package: say one of %q", name, full)
	}
	k := *kinds[0]
	if k.parser.parse == nil {
		if p, ok := registry.parsers[k.where]; ok {
			k.parser = p
		} else if p, ok := registry.parsers[k.caller]; ok {
			k.parser = p
		} else {
			k.parser = parserOf(NullParser{})
		}
	}
	return &k, nil
}

// NullParser is for filters without configuration, or with a factory that parses it.
type NullParser struct{}

// Parse returns the configuration as it is, as in Envoy.
func (NullParser) Parse(config *anypb.Any, _ api.ConfigCallbackHandler) (any, error) {
	return config, nil
}

// Merge returns the child.
func (NullParser) Merge(_, child any) any { return child }

func parserOf(parses any) parser {
	merger, ok := parses.(api.StreamFilterConfigParser)
	if !ok {
		panic(fmt.Sprintf("the config parser %T has no Merge", parses))
	}
	switch p := parses.(type) {
	case api.ConfigParser:
		return parser{p.Parse, merger.Merge}
	case api.ConfigParser126:
		parse := func(any *anypb.Any, _ api.ConfigCallbackHandler) (any, error) { return p.Parse(any) }
		return parser{parse, merger.Merge}
	case api.ConfigParser125:
		parse := func(any *anypb.Any, _ api.ConfigCallbackHandler) (any, error) { return p.Parse(any), nil }
		return parser{parse, merger.Merge}
	default:
		panic(fmt.Sprintf("the config parser %T has no Parse(*anypb.Any) or Parse(*anypb.Any, api.ConfigCallbackHandler)", parses))
	}
}

// Factory functions, by version of Envoy.
type (
	factory131     = func(any, api.FilterCallbackHandler) api.StreamFilter
	factoryLenient = func(any, ...api.FilterCallbackHandler) api.StreamFilter
	maker126       = func(api.FilterCallbackHandler) api.StreamFilter
)

var anyType = reflect.TypeFor[any]()

func factoryOf(makes any) factory {
	if makes == nil {
		panic("a filter needs a factory")
	}
	if f, ok := as[factory131](makes); ok {
		return func(config any) (maker, error) {
			return func(callbacks api.FilterCallbackHandler) api.StreamFilter { return f(config, callbacks) }, nil
		}
	}
	if f, ok := as[factoryLenient](makes); ok {
		return func(config any) (maker, error) {
			return func(callbacks api.FilterCallbackHandler) api.StreamFilter { return f(config, callbacks) }, nil
		}
	}
	if f := reflect.ValueOf(makes); f.Kind() == reflect.Func && f.Type().NumIn() == 1 && f.Type().NumOut() == 1 && f.Type().In(0) == anyType {
		// The type of the result is a function, or any.
		return func(config any) (maker, error) {
			made := f.Call([]reflect.Value{reflect.ValueOf(&config).Elem()})
			return makerOf(made[0].Interface())
		}
	}
	panic(fmt.Sprintf("%T is no factory that Envoy's Go API had", makes))
}

// makerOf supports the factories up to Envoy 1.30, which have two steps.
func makerOf(made any) (maker, error) {
	if m, ok := as[maker126](made); ok {
		return m, nil
	}
	if f, ok := made.(api.StreamFilter); ok {
		// http.PassThroughFactory returns this for both generations.
		return func(api.FilterCallbackHandler) api.StreamFilter { return f }, nil
	}
	return nil, fmt.Errorf("the filter's factory made %T, which makes no filters", made)
}

// as converts a function to a function type, whether its own type is named or not.
func as[F any](function any) (F, bool) {
	if f, ok := function.(F); ok {
		return f, true
	}
	var f F
	value, want := reflect.ValueOf(function), reflect.TypeOf(f)
	if !value.IsValid() || value.Kind() != reflect.Func || value.IsNil() || !value.CanConvert(want) {
		return f, false
	}
	return value.Convert(want).Interface().(F), true
}

// caller returns the import path of the package that calls the registration.
func caller() string {
	// Skips this function, its caller in this package, and that of package http.
	pc, _, _, ok := runtime.Caller(3)
	if !ok {
		return ""
	}
	name := runtime.FuncForPC(pc).Name()
	slash := strings.LastIndexByte(name, '/') + 1
	path, _, _ := strings.Cut(name[slash:], ".")
	// A dot in the last element of a path is encoded as %2e.
	return strings.ReplaceAll(name[:slash]+path, "%2e", ".")
}

// kits are the packages of this module between a filter and its registration.
var kits = []string{
	"github.com/envoyproxy/envoy/internal/stream",
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http",
}
