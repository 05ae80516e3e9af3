package eddy

import (
	"fmt"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Merger is a configuration that has its own way to take in what a rule says.
type Merger[C any] interface {
	// Merge gives the configuration for the rule; neither side may be changed.
	Merge(rule C) C
}

// Defaulter is a configuration, by pointer, with other defaults than zero values.
type Defaulter interface {
	// SetDefaults is called before the written keys are filled in.
	SetDefaults()
}

// Register makes a filter available under a name. It is for init functions:
//
//	func init() {
//		eddy.Register("add-header", func(c Config) (eddy.Filter, error) { return &filter{c}, nil })
//	}
//
// C is filled in from the filter's `config` by the rules of encoding/json, but a key that C does not have is refused, and
// a field with the tag `eddy:"required"` must be there.
//
// Where a rule has a configuration of its own for the filter, `make` is called for it as well: with the filter's
// configuration and the rule's keys on top, or what [Merger] makes of them.
func Register[C any](name string, make func(c C) (Filter, error)) {
	raw.Register(name, &family[C]{make})
}

// family makes the filters of one name.
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
		return nil, fmt.Errorf("a rule's configuration for %T, which is not of this kit", parent)
	}
	user, err := base.merge(config)
	if err != nil {
		return nil, err
	}
	return newFilter(base.name, base.id, user, base)
}

// mergeRule decodes the filter's configuration once more, so that rule and filter share no map or slice.
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
