package eddy

import (
	"fmt"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Merger is a configuration with its own way of merging the configuration of a rule.
type Merger[C any] interface {
	// Merge returns the configuration for the rule; neither argument may be changed.
	Merge(rule C) C
}

// Defaulter is a configuration, by pointer, with defaults other than zero values.
type Defaulter interface {
	// SetDefaults is called before the configured keys are decoded.
	SetDefaults()
}

// Register makes a filter available under a name. Call it in an init function:
//
//	func init() {
//		eddy.Register("add-header", func(c Config) (eddy.Filter, error) { return &filter{c}, nil })
//	}
//
// C is decoded from the filter's `config` by the rules of encoding/json, but keys that C does not have are refused, and
// fields with the tag `eddy:"required"` are mandatory.
//
// If a rule has its own configuration for the filter, `make` is called for it as well: with the filter's configuration
// overridden by the rule's keys, or with the result of [Merger].
func Register[C any](name string, make func(c C) (Filter, error)) {
	raw.Register(name, &family[C]{make})
}

// family creates the filters of one name.
type family[C any] struct {
	make func(C) (Filter, error)
}

// New implements raw.Factory.
func (m *family[C]) New(name string, config []byte, id uint32) (raw.Filter, raw.Info, error) {
	parent, err := decode[C](true, config)
	if err != nil {
		return nil, raw.Info{}, err
	}
	user, err := m.make(parent)
	if err != nil {
		return nil, raw.Info{}, err
	}
	f, err := newFilter(name, id, user, nil)
	if err != nil {
		return nil, raw.Info{}, err
	}
	f.merge = func(rule []byte) (Filter, error) {
		merged, err := mergeRule[C](config, rule)
		if err != nil {
			return nil, err
		}
		return m.make(merged)
	}
	return f, f.info(), nil
}

// NewConfig implements raw.Factory.
func (m *family[C]) NewConfig(parent raw.Filter, config []byte) (raw.Config, error) {
	base, ok := parent.(*filter)
	if !ok {
		return nil, fmt.Errorf("a rule's configuration for %T, which was not created by this SDK", parent)
	}
	user, err := base.merge(config)
	if err != nil {
		return nil, err
	}
	return newFilter(base.name, base.id, user, base)
}

// mergeRule decodes the filter's configuration again, so that rule and filter share no map or slice.
func mergeRule[C any](config, rule []byte) (merged C, err error) {
	var zero C
	if _, ok := any(zero).(Merger[C]); !ok {
		return decode[C](true, config, rule)
	}
	base, err := decode[C](true, config)
	if err != nil {
		return merged, err
	}
	own, err := decode[C](false, rule)
	if err != nil {
		return merged, err
	}
	return any(base).(Merger[C]).Merge(own), nil
}
