package raw

import (
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// metricsHost records the cells of metrics and log messages.
type metricsHost struct {
	Host
	mutex  sync.Mutex
	cells  map[string]*[1]uint64
	logged []string
}

func (h *metricsHost) Workers() int { return 0 }

func (h *metricsHost) Log(filter uint32, _ Level, text string) Result {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if filter == 0 {
		h.logged = append(h.logged, text)
	}
	return OK
}

func (h *metricsHost) Metric(filter uint32, _ MetricKind, name string, _ []uint64) (MetricCells, Result) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if filter != 0 {
		return MetricCells{}, Invalid
	}
	if h.cells[name] == nil {
		h.cells[name] = new([1]uint64)
	}
	return MetricCells{Cells: &h.cells[name][0], Stride: 1}, OK
}

func TestTheRuntimeStatisticsAreCurrent(t *testing.T) {
	h := &metricsHost{cells: map[string]*[1]uint64{}}
	before := theHost()
	Open(h)
	defer func() {
		host.Store(nil)
		if before != nil {
			Open(before)
		}
	}()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(12345 << 20))
	w, err := newRuntimeWatch()
	if err != nil {
		t.Fatal(err)
	}
	w.look()
	few := h.cells["go_goroutines"][0]
	release := make(chan struct{})
	for range 100 {
		go func() { <-release }()
	}
	w.look()
	if many := h.cells["go_goroutines"][0]; many < 100 || many < few+90 {
		t.Errorf("%d goroutines, then %d", few, many)
	}
	if limit := h.cells["go_memory_limit_bytes"][0]; limit != 12345<<20 {
		t.Error("limit", limit)
	}
	if heap, all := h.cells["go_heap_bytes"][0], h.cells["go_memory_bytes"][0]; heap == 0 || all <= heap || all > 1<<40 {
		t.Error("memory", heap, all)
	}
	Configure(Options{GoroutinesSoftMax: 100})
	defer Configure(Options{})
	for range 2 {
		if w.look(); !Crowded() {
			t.Error("more than a hundred are no crowd")
		}
	}
	if len(h.logged) != 1 || !strings.Contains(h.logged[0], "more than 100: a filter leaks them") {
		t.Errorf("%q", h.logged)
	}
	close(release)
	Configure(Options{GoroutinesSoftMax: 1 << 20})
	if w.look(); Crowded() {
		t.Error("it is still crowded")
	}
}
