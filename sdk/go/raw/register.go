package raw

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Factory creates the filters of one name.
type Factory interface {
	// New creates a filter from its configuration, a JSON text. `id` is the host's number of it, for host functions.
	New(name string, config []byte, id uint32) (Filter, Info, error)
	// NewConfig creates the configuration of a rule for a filter of this factory.
	NewConfig(parent Filter, config []byte) (Config, error)
}

// Filter is a configured filter. Several threads run it concurrently, each for another exchange.
//
// If a Filter or Config has a method Close(), it is called when nothing uses it any more.
type Filter interface {
	// Run handles a phase. A panic is a fault of the filter.
	Run(c *Call, s *Step) Verdict
	// Ended reports the end of an exchange for which the filter left a nonzero state, on the thread that ran it.
	Ended(state uint64, reason EndReason)
}

// Config is the configuration of a rule for a filter, see [Step.RuleConfig].
type Config any

// Info has the properties of a filter.
type Info struct {
	// Interest has a bit for each phase in which the filter is called, see [Phase.Bit].
	Interest uint32
	// Flags may have FilterReadsBody and FilterExpectsTunnels.
	Flags uint32
}

type instance struct {
	handle  uint64
	name    string
	id      uint32
	factory Factory
	filter  Filter
}

type config struct {
	handle uint64
	config Config
}

var (
	registry struct {
		sync.Mutex
		// kinds has the registrations of each name, one per package.
		kinds map[string][]registration
	}
	filters table[instance]
	configs table[config]
	stops   []func()
)

// registration is a name that a package registered.
type registration struct {
	where   string // its import path; empty for a name without a package
	factory Factory
}

// Register makes filters of a name available. Call it in init. A name must be unique in its package, see [Registrant];
// registering it twice in a package panics. Filters of several packages with the same name are distinguished as
// "IMPORT/PATH:NAME".
func Register(name string, f Factory) {
	register(name, Registrant(kitPath), f)
}

// RegisterShared makes filters of exactly this name available. For SDKs that distinguish packages themselves.
func RegisterShared(name string, f Factory) { register(name, "", f) }

func register(name, where string, f Factory) {
	registry.Lock()
	defer registry.Unlock()
	if registry.kinds == nil {
		registry.kinds = map[string][]registration{}
	}
	if name == "" || f == nil {
		panic("eddy: a filter needs a name and a factory")
	}
	for _, other := range registry.kinds[name] {
		if other.where == where {
			panic(fmt.Sprintf("eddy: package %q registers two filters that are called %q", where, name))
		}
	}
	registry.kinds[name] = append(registry.kinds[name], registration{where, f})
}

// Names returns the names of all filters, sorted: each as registered, and with its package.
func Names() []string {
	registry.Lock()
	defer registry.Unlock()
	names := plainNames()
	for name, kinds := range registry.kinds {
		for _, k := range kinds {
			if full := k.where + ":" + name; k.where != "" && len(full) <= nameBytes {
				names = append(names, full)
			}
		}
	}
	sort.Strings(names)
	return names
}

// plainNames returns the names as registered. The caller holds the lock.
func plainNames() []string {
	names := make([]string, 0, 2*len(registry.kinds))
	for name := range registry.kinds {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// find returns the factory of a name, with or without its package.
func find(name string) (Factory, error) {
	registry.Lock()
	defer registry.Unlock()
	kinds := registry.kinds[name]
	if at := strings.LastIndexByte(name, ':'); at >= 0 && len(kinds) == 0 {
		for _, k := range registry.kinds[name[at+1:]] {
			if k.where == name[:at] {
				kinds = append(kinds, k)
			}
		}
	}
	switch len(kinds) {
	case 0:
		return nil, fmt.Errorf("there is no filter %q in this library, only %q", name, plainNames())
	case 1:
		return kinds[0].factory, nil
	}
	full := make([]string, len(kinds))
	for i, k := range kinds {
		full[i] = k.where + ":" + name
	}
	return nil, fmt.Errorf("filter %q is registered by more than one package: say one of %q", name, full)
}

// OnStop adds a function that is called when the process ends.
func OnStop(stop func()) {
	registry.Lock()
	defer registry.Unlock()
	stops = append(stops, stop)
}

// NewFilter creates a filter. For the bridge and for test hosts; a panic of the factory becomes an error, and so does
// [runtime.Goexit].
func NewFilter(name string, text []byte, id uint32) (handle uint64, info Info, err error) {
	apart("filter "+name, &err, func() { handle, info, err = newFilter(name, text, id) })
	return handle, info, err
}

func newFilter(name string, text []byte, id uint32) (handle uint64, info Info, err error) {
	factory, err := find(name)
	if err != nil {
		return 0, Info{}, err
	}
	filter, info, err := factory.New(name, slices.Clone(text), id)
	if err != nil {
		return 0, Info{}, err
	}
	if filter == nil {
		return 0, Info{}, fmt.Errorf("the factory of filter %q gave neither a filter nor an error", name)
	}
	entry := &instance{name: name, id: id, factory: factory, filter: filter}
	// The handle is written once, before the entry becomes visible.
	return filters.add(entry, func(handle uint64) { entry.handle = handle }), info, nil
}

// NewConfig creates the configuration of a rule. For the bridge and for test hosts.
func NewConfig(filter uint64, text []byte) (handle uint64, err error) {
	apart("configuration of a rule", &err, func() { handle, err = newConfig(filter, text) })
	return handle, err
}

func newConfig(filter uint64, text []byte) (handle uint64, err error) {
	parent := filters.get(filter)
	if parent == nil || parent.handle != filter {
		return 0, Unknown
	}
	made, err := parent.factory.NewConfig(parent.filter, slices.Clone(text))
	if err != nil {
		return 0, err
	}
	entry := &config{config: made}
	return configs.add(entry, func(handle uint64) { entry.handle = handle }), nil
}

// FreeFilter releases a filter. For the bridge and for test hosts.
func FreeFilter(handle uint64) {
	if entry := filters.get(handle); entry != nil && entry.handle == handle {
		filters.remove(handle)
		closeIfCloser(entry.name, entry.filter)
	}
}

// FreeConfig releases the configuration of a rule. For the bridge and for test hosts.
func FreeConfig(handle uint64) {
	if entry := configs.get(handle); entry != nil && entry.handle == handle {
		configs.remove(handle)
		closeIfCloser("configuration of a rule", entry.config)
	}
}

func closeIfCloser(what string, it any) {
	c, ok := it.(interface{ Close() })
	if !ok {
		return
	}
	var err error
	if apart(what, &err, c.Close); err != nil {
		WriteLog(0, LevelError, "closing: "+err.Error())
	}
}

// Stop calls the functions of [OnStop]. For the bridge and for test hosts.
func Stop() {
	registry.Lock()
	all := slices.Clone(stops)
	registry.Unlock()
	for _, stop := range all {
		var err error
		if apart("stop", &err, stop); err != nil {
			WriteLog(0, LevelError, err.Error())
		}
	}
}

// apart runs code outside of requests on a separate goroutine and waits for it: there a panic becomes an error, and so
// does runtime.Goexit, which cannot be recovered on a thread of the gateway.
func apart(what string, err *error, work func()) {
	over := make(chan struct{})
	go func() {
		finished := false
		defer close(over)
		defer func() {
			if r := recover(); r != nil {
				*err = fmt.Errorf("%s panicked: %s", what, PanicText(r))
			} else if !finished {
				*err = fmt.Errorf("%s called runtime.Goexit: %s", what, stack())
			}
		}()
		work()
		finished = true
	}()
	<-over
}

// RuleConfig returns the configuration of the exchange's rule for the filter; nil if there is none.
func (s *Step) RuleConfig() Config {
	if s.Config == 0 {
		return nil
	}
	if entry := configs.get(s.Config); entry != nil && entry.handle == s.Config {
		return entry.config
	}
	return nil
}

// table finds entries by handle: 32 bits of generation and 32 of index + 1. Reading takes no lock.
type table[T any] struct {
	mutex      sync.Mutex
	slots      atomic.Pointer[[]*atomic.Pointer[T]]
	free       []uint32
	generation uint32
}

func (t *table[T]) get(handle uint64) *T {
	slots := t.slots.Load()
	index := uint32(handle) - 1
	if slots == nil || uint64(index) >= uint64(len(*slots)) {
		return nil
	}
	return (*slots)[index].Load()
}

// add assigns a handle to the entry, and stores it there before the entry becomes visible.
func (t *table[T]) add(entry *T, store func(uint64)) uint64 {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var slots []*atomic.Pointer[T]
	if old := t.slots.Load(); old != nil {
		slots = *old
	}
	var index uint32
	if n := len(t.free); n != 0 {
		index = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		index = uint32(len(slots))
		grown := append(slices.Clone(slots), new(atomic.Pointer[T]))
		t.slots.Store(&grown)
		slots = grown
	}
	t.generation++
	handle := uint64(t.generation)<<32 | uint64(index+1)
	store(handle)
	slots[index].Store(entry)
	return handle
}

func (t *table[T]) remove(handle uint64) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	index := uint32(handle) - 1
	(*t.slots.Load())[index].Store(nil)
	t.free = append(t.free, index)
}

const (
	// kitPath is the import path of the SDK on top of this package.
	kitPath = "github.com/eddy-gateway/eddy/sdk/go"
	// nameBytes is the maximum length of a name for the gateway.
	nameBytes = 256
)
