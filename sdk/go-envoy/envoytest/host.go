// Package envoytest runs filters written for Envoy without a gateway: a chain of filters, a request, an endpoint that
// responds, and the result of both.
package envoytest

import (
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// host is the only host of the test process.
type host struct {
	mutex   sync.Mutex
	waiting map[uint64]*exchange
	last    uint64
	filters uint32
	records []Record
	metrics map[string]*[2]uint64
	grown   [][]byte
}

// Record is a log message.
type Record struct {
	Filter uint32
	Level  raw.Level
	Text   string
}

var theHost = sync.OnceValue(func() *host {
	h := &host{waiting: map[uint64]*exchange{}, metrics: map[string]*[2]uint64{}}
	raw.Open(h)
	return h
})

func (h *host) Workers() int { return 1 }

func (h *host) Level() raw.Level { return raw.LevelDebug }

// resumed is the verdict of a filter in a goroutine.
type resumed struct {
	verdict raw.Verdict
	edits   raw.EditLog
}

func (h *host) Resume(number uint64, turn uint32, verdict raw.Verdict, edits []byte) raw.Result {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	x := h.waiting[number]
	switch {
	case x == nil:
		return raw.Gone
	case x.turn != turn || x.isResumed:
		return raw.Stale
	case len(x.resumed) != 0:
		return raw.Full
	case verdict == raw.Buffer && x.phase != raw.PhaseRequestHead && x.phase != raw.PhaseResponseHead:
		return raw.Invalid
	}
	// A filter that stays paused sends data.
	x.isResumed = verdict != raw.Pause
	x.resumed <- resumed{verdict, append(raw.EditLog(nil), edits...)}
	return raw.OK
}

func (h *host) EditsGrow(c *raw.Call, more uint32) raw.Result {
	if c.EditsLen+more > raw.EditsMax {
		return raw.TooLarge
	}
	grown := make([]byte, max(2*c.EditsCap, c.EditsLen+more))
	copy(grown, c.Log())
	h.mutex.Lock()
	// A filter may have views of the old log until its hook returns.
	h.grown = append(h.grown[:min(len(h.grown), 8)], grown)
	h.mutex.Unlock()
	c.Edits, c.EditsCap = &grown[0], uint32(len(grown))
	return raw.OK
}

func (h *host) Log(filter uint32, level raw.Level, text string) raw.Result {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.records = append(h.records, Record{filter, level, text})
	return raw.OK
}

func (h *host) Metric(filter uint32, kind raw.MetricKind, name string, bounds []uint64) (raw.MetricCells, raw.Result) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	lanes := h.metrics[name]
	if lanes == nil {
		lanes = new([2]uint64)
		h.metrics[name] = lanes
	}
	return raw.MetricCells{Cells: &lanes[0], Stride: 1}, raw.OK
}

func (h *host) Send(uint64, *raw.Outbound) raw.Result { return raw.Unknown }

func (h *host) Cancel(uint32, uint64) raw.Result { return raw.Unknown }
