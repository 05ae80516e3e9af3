package eddytest

import (
	"testing"
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Crossing is a crossing that can be repeated, to measure it.
type Crossing struct {
	exchange *exchange
	memory   *memory
	ended    []raw.Ended
}

// Crossing prepares the crossing of a phase: the request head, the request body (its first piece, as the last one), and
// so on. For response phases, the endpoint is asked first.
func (r *Request) Crossing(phase raw.Phase) *Crossing {
	g := r.gateway
	e := &exchange{
		gateway: g, request: r, id: g.host.next.Add(1), started: time.Now(), forward: r.message, metadata: r.metadata, turn: 1,
		states: make([]uint64, len(g.chain)), entered: make([]bool, len(g.chain)), skipped: make([]bool, len(g.chain)),
	}
	e.reached = len(g.chain)
	e.run = e.newRun(0, &e.forward)
	if phase >= raw.PhaseResponseHead {
		e.response = g.endpoint(&e.forward)
		e.run = e.newRun(direction(phase), e.response)
	}
	body := ""
	if (phase == raw.PhaseRequestBody || phase == raw.PhaseResponseBody) && len(e.run.message.pieces()) != 0 {
		body = e.run.message.pieces()[0]
	}
	m := &memory{}
	for _, filter := range e.run.Filters(phase) {
		l := g.chain[filter]
		m.steps = append(m.steps, raw.Step{Filter: l.handle, Config: l.config, ID: l.id})
	}
	m.lay(e, phase, raw.CallEnd, body)
	return &Crossing{exchange: e, memory: m, ended: make([]raw.Ended, 0, len(m.steps))}
}

// Enter makes the crossing for a new exchange, and reports the end of the previous one.
func (c *Crossing) Enter() raw.Verdict {
	m := c.memory
	c.ended = c.ended[:0]
	for i := range m.steps {
		if m.steps[i].State != 0 {
			c.ended = append(c.ended, raw.Ended{Filter: m.steps[i].Filter, State: m.steps[i].State})
			m.steps[i].State = 0
		}
	}
	m.call.Ended, m.call.EndedLen = unsafe.SliceData(c.ended), uint32(len(c.ended))
	m.call.EditsLen = 0
	c.exchange.enter(m)
	if int(m.call.Stopped) < len(m.steps) {
		return m.steps[m.call.Stopped].Verdict
	}
	return raw.Continue
}

// Edits returns the edits of the last crossing.
func (c *Crossing) Edits() []raw.Record {
	var records []raw.Record
	for r := range c.memory.call.Log().All() {
		records = append(records, r)
	}
	return records
}

// Allocs returns the number of heap allocations per crossing in a steady state: 0 for a good filter. Under the race
// detector and in builds with the tag eddydebug, which allocate themselves, it logs that and returns 0.
func (c *Crossing) Allocs() float64 {
	c.exchange.gateway.t.Helper()
	if instrumented {
		c.exchange.gateway.t.Log("SKIPPED: allocations are not counted in an instrumented build")
		return 0
	}
	return testing.AllocsPerRun(1000, func() { c.Enter() })
}

// Bench measures the crossing without the transition from the gateway to Go.
func (c *Crossing) Bench(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		c.Enter()
	}
}
