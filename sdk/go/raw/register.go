package raw

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Factory makes the filters of one name.
type Factory interface {
	// New makes a filter from its configuration, a JSON text. `id` is the host's number of it, for host functions.
	New(name string, config []byte, id uint32) (Filter, Info, error)
	// NewConfig makes the configuration of a rule for a filter of this factory.
	NewConfig(parent Filter, config []byte) (Config, error)
}

// Filter is a configured filter. Several threads run it at once, each for another exchange.
//
// A Filter or Config that has a method Close() is told when nothing uses it any more.
type Filter interface {
	// Run handles a phase. A panic becomes a fault of the filter.
	Run(c *Call, s *Step) Verdict
	// Ended tells that an exchange is over for which the filter left a state that is not 0, on the thread that ran it.
	Ended(state uint64, reason EndReason)
}

// Config is what a rule says for a filter, see [Step.RuleConfig].
type Config any

// Info is what a factory says of a filter.
type Info struct {
	// Interest has a bit for each phase in which the filter is entered, see [Phase.Bit].
	Interest uint32
	// Flags may have FilterReadsBody.
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
		factories map[string]Factory
	}
	filters table[instance]
	configs table[config]
	stops   []func()
)

// Register makes filters of a name available. Filters do it in init; a name that is taken is a panic then.
func Register(name string, f Factory) {
	registry.Lock()
	defer registry.Unlock()
	if registry.factories == nil {
		registry.factories = map[string]Factory{}
	}
	if name == "" || f == nil {
		panic("eddy: a filter needs a name and a factory")
	}
	if _, taken := registry.factories[name]; taken {
		panic(fmt.Sprintf("eddy: two filters are called %q", name))
	}
	registry.factories[name] = f
}

// Names gives the names of all filters, sorted.
func Names() []string {
	registry.Lock()
	defer registry.Unlock()
	names := make([]string, 0, len(registry.factories))
	for name := range registry.factories {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// OnStop adds what is to be done when the process is about to end.
func OnStop(stop func()) {
	registry.Lock()
	defer registry.Unlock()
	stops = append(stops, stop)
}

// NewFilter makes a filter. It is for the bridge and for hosts of tests; a panic of the factory becomes an error, and
// so does [runtime.Goexit].
func NewFilter(name string, text []byte, id uint32) (handle uint64, info Info, err error) {
	apart("filter "+name, &err, func() { handle, info, err = newFilter(name, text, id) })
	return handle, info, err
}

func newFilter(name string, text []byte, id uint32) (handle uint64, info Info, err error) {
	registry.Lock()
	factory := registry.factories[name]
	registry.Unlock()
	if factory == nil {
		return 0, Info{}, fmt.Errorf("there is no filter %q in this library, only %q", name, Names())
	}
	filter, info, err := factory.New(name, slices.Clone(text), id)
	if err != nil {
		return 0, Info{}, err
	}
	if filter == nil {
		return 0, Info{}, fmt.Errorf("the factory of filter %q gave neither a filter nor an error", name)
	}
	entry := &instance{name: name, id: id, factory: factory, filter: filter}
	// The handle is written before the entry can be seen, and never again.
	return filters.add(entry, func(handle uint64) { entry.handle = handle }), info, nil
}

// NewConfig makes the configuration of a rule. It is for the bridge and for hosts of tests.
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

// FreeFilter forgets a filter. It is for the bridge and for hosts of tests.
func FreeFilter(handle uint64) {
	if entry := filters.get(handle); entry != nil && entry.handle == handle {
		filters.remove(handle)
		closeIt(entry.name, entry.filter)
	}
}

// FreeConfig forgets the configuration of a rule. It is for the bridge and for hosts of tests.
func FreeConfig(handle uint64) {
	if entry := configs.get(handle); entry != nil && entry.handle == handle {
		configs.remove(handle)
		closeIt("configuration of a rule", entry.config)
	}
}

func closeIt(what string, it any) {
	c, ok := it.(interface{ Close() })
	if !ok {
		return
	}
	var err error
	if apart(what, &err, c.Close); err != nil {
		WriteLog(0, LevelError, "closing: "+err.Error())
	}
}

// Stop does what [OnStop] was told. It is for the bridge and for hosts of tests.
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

// apart runs what is not on the way of a request on a goroutine of its own and waits for it: there a panic is an error,
// and so is runtime.Goexit, which nothing could take back on a thread of the gateway.
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

// RuleConfig gives what the exchange's rule says for the filter; nil where it says nothing.
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

// add gives the entry a handle, and stores it there before anybody can see the entry.
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
