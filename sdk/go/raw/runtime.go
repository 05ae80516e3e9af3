package raw

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// WatchPeriod is how often the runtime is sampled, which is the maximum age of its figures.
const WatchPeriod = time.Second

var (
	watching sync.Once
	// crowded is whether the last sample had more goroutines than [Options] allow.
	crowded atomic.Bool
)

// Crowded returns whether there are more goroutines than [Options.GoroutinesSoftMax]. It costs one load.
func Crowded() bool { return crowded.Load() }

// WatchRuntime updates the metrics of the Go runtime, which belong to the library instead of a filter. For the bridge;
// only the first call has an effect.
func WatchRuntime() {
	watching.Do(func() {
		w, err := newRuntimeWatch()
		if err != nil {
			WriteLog(0, LevelWarn, "Go's runtime has no metrics: "+err.Error())
			return
		}
		w.look()
		go func() {
			for range time.Tick(WatchPeriod) {
				w.look()
			}
		}()
	})
}

// runtimeWatch has the metrics of the runtime and their last values.
type runtimeWatch struct {
	samples []metrics.Sample
	shown   []*Metric
	last    []uint64
}

const (
	watchGoroutines = iota
	watchHeap
	watchMemory
	watchCycles
	watchPauses
	watchLimit
	watchCount
)

func newRuntimeWatch() (*runtimeWatch, error) {
	w := &runtimeWatch{
		samples: []metrics.Sample{
			{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"},
			{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
			{Name: "/gc/gomemlimit:bytes"},
		},
		shown: make([]*Metric, watchCount), last: make([]uint64, watchCount),
	}
	for i, of := range [watchCount]struct {
		name string
		kind MetricKind
	}{
		watchGoroutines: {"go_goroutines", GaugeKind},
		watchHeap:       {"go_heap_bytes", GaugeKind},
		watchMemory:     {"go_memory_bytes", GaugeKind},
		watchCycles:     {"go_collections_total", CounterKind},
		watchPauses:     {"go_pause_nanoseconds_total", CounterKind},
		watchLimit:      {"go_memory_limit_bytes", GaugeKind},
	} {
		m, err := NewMetric(0, of.kind, of.name, nil)
		if err != nil {
			return nil, err
		}
		w.shown[i] = m
	}
	return w, nil
}

func (w *runtimeWatch) look() {
	metrics.Read(w.samples)
	var collections debug.GCStats
	debug.ReadGCStats(&collections)
	goroutines := w.samples[0].Value.Uint64()
	for i, now := range [watchCount]uint64{
		watchGoroutines: goroutines,
		watchHeap:       w.samples[1].Value.Uint64(),
		watchMemory:     w.samples[2].Value.Uint64() - w.samples[3].Value.Uint64(),
		watchCycles:     uint64(collections.NumGC),
		watchPauses:     uint64(collections.PauseTotal),
		watchLimit:      w.samples[4].Value.Uint64(),
	} {
		// A gauge is the sum of the values added to it, which may be negative.
		w.shown[i].Add(OutsideLane, now-w.last[i])
		w.last[i] = now
	}
	limit := uint64(Configured().GoroutinesSoftMax)
	if is := goroutines > limit; is != crowded.Swap(is) && is {
		WriteLog(0, LevelWarn, fmt.Sprintf(
			"there are %d goroutines, more than %d: a filter leaks them; the SDK starts no more of them", goroutines, limit))
	}
}
