package stream

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// filter is a configured filter.
type filter struct {
	id        uint32 // the host's number
	kind      *kind
	own       *bound
	interest  uint32
	exchanges *raw.Slabs[exchange]
}

// bound is a configuration and its factory.
type bound struct {
	config  any
	parts   []any // configuration to destroy with it
	make    maker
	secrets secrets
}

// library creates filters from the registry; it is the only factory in package raw.
type library struct{}

var opened struct {
	sync.Mutex
	names map[string]bool
}

// announce registers a name with package raw, once.
func announce(name string) {
	opened.Lock()
	defer opened.Unlock()
	if opened.names == nil {
		opened.names = map[string]bool{}
		api.SetLogger(libraryLog{})
	}
	if !opened.names[name] {
		opened.names[name] = true
		raw.RegisterShared(name, library{})
	}
}

// New creates a filter from its configuration.
func (library) New(name string, config []byte, id uint32) (raw.Filter, raw.Info, error) {
	k, err := find(name)
	if err != nil {
		return nil, raw.Info{}, err
	}
	s, err := readSettings(string(config))
	if err != nil {
		return nil, raw.Info{}, err
	}
	f := &filter{id: id, kind: k, exchanges: raw.NewSlabs[exchange](raw.Workers())}
	parsed, err := k.parser.parse(s.message, &metrics{id, s.secrets, s.tags})
	if err != nil {
		return nil, raw.Info{}, err
	}
	if f.own, err = f.bind(parsed, s.secrets); err != nil {
		return nil, raw.Info{}, err
	}
	f.own.parts = []any{parsed}
	f.interest = f.probe(f.own)
	if s.everyPhase {
		f.interest = everyPhase
	}
	info := raw.Info{Interest: f.interest}
	if f.interest&(raw.PhaseRequestBody.Bit()|raw.PhaseResponseBody.Bit()) != 0 && !s.ignoresTunnels {
		info.Flags = raw.FilterExpectsTunnels
	}
	return f, info, nil
}

// NewConfig creates the configuration of a rule: its own, merged into the filter's.
func (library) NewConfig(parent raw.Filter, config []byte) (raw.Config, error) {
	f := parent.(*filter)
	s, err := readSettings(string(config))
	if err != nil {
		return nil, err
	}
	child, err := f.kind.parser.parse(s.message, nil)
	if err != nil {
		return nil, err
	}
	if s.secrets == nil {
		s.secrets = f.own.secrets
	}
	merged := f.kind.parser.merge(f.own.config, child)
	b, err := f.bind(merged, s.secrets)
	if err != nil {
		return nil, err
	}
	b.parts = []any{child}
	if !isSame(merged, child) && !isSame(merged, f.own.config) {
		b.parts = append(b.parts, merged)
	}
	if more := f.probe(b) &^ f.interest; more != 0 {
		return nil, fmt.Errorf("with the rule's configuration, filter %q wants phases (%s) that it does not want with its own; "+
			"put \"@phases\": \"all\" into the filter's configuration", f.kind.name, phases(more))
	}
	return b, nil
}

func (f *filter) bind(config any, secrets secrets) (*bound, error) {
	m, err := f.kind.factory(config)
	if err != nil {
		return nil, err
	}
	return &bound{config: config, make: m, secrets: secrets}, nil
}

// Close is called when the filter is no longer used.
func (f *filter) Close() { f.own.Close() }

// Close is called when the configuration is no longer used.
func (b *bound) Close() {
	for _, part := range b.parts {
		if c, ok := part.(api.Config); ok {
			c.Destroy()
		}
	}
}

// isSame returns whether two configurations are identical: the same pointer.
func isSame(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Pointer && y.Kind() == reflect.Pointer && x.Pointer() == y.Pointer()
}

// probe creates a filter to find the hooks of its type, and destroys it.
//
// eddy needs the interest of a filter when it is configured, but Envoy creates filters only for an exchange. If a
// factory cannot create a filter without an exchange, or returns a plain pass-through now and may return another type
// later, the filter is called in all phases.
func (f *filter) probe(b *bound) (interest uint32) {
	interest = everyPhase
	defer func() {
		if r := recover(); r != nil {
			raw.WriteLog(f.id, raw.LevelWarn, "the filter's factory panicked when it was tried without an exchange; "+
				"the filter is entered in every phase: "+raw.PanicText(r))
		}
	}()
	x := &exchange{filter: f, bound: b}
	x.ways[0].x, x.ways[1].x = x, x
	made := b.make(x)
	if made == nil {
		return everyPhase
	}
	s := shapeOf(made)
	if !isPass(reflect.TypeOf(made)) || f.kind.isPass {
		interest = s.interest
	}
	x.mutex.Lock()
	x.over = true
	x.mutex.Unlock()
	if s.hasDestroy {
		made.OnDestroy(api.Normal)
	}
	return interest
}

func phases(interest uint32) string {
	var names []string
	for p := raw.PhaseRequestHead; p <= raw.PhaseLog; p++ {
		if interest&p.Bit() != 0 {
			names = append(names, p.String())
		}
	}
	return strings.Join(names, ", ")
}

// Run runs the filter.
func (f *filter) Run(c *raw.Call, s *raw.Step) raw.Verdict {
	var x *exchange
	if s.State != 0 {
		x = f.exchanges.Get(s.State)
	}
	if x == nil {
		s.State, x = f.exchanges.New(c.Worker)
		if x == nil {
			c.Edit(raw.OpFault, "", "there are too many exchanges", 0)
			return raw.Fault
		}
		x.filter, x.bound, x.id, x.worker = f, f.own, c.Exchange, uint32(c.Worker)
		x.ways[0].x, x.ways[1].x = x, x
		if b, ok := s.RuleConfig().(*bound); ok {
			x.bound = b
		}
	}
	if s.Flags&raw.StepBlocking != 0 {
		x.isBlocking = true
		return x.enterElsewhere(c, s)
	}
	return x.enter(c, s, nil)
}

// Ended handles the end of an exchange.
func (f *filter) Ended(state uint64, reason raw.EndReason) {
	x := f.exchanges.Get(state)
	if x == nil {
		return
	}
	// A goroutine of the filter may keep the exchange as long as it likes: it is never reused.
	f.exchanges.Free(state, false)
	x.end(reason)
}
