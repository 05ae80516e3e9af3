package eddytest

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// workers is the number of workers of the test gateway.
const workers = 4

// host is the gateway as seen by filters: one for the whole test binary, because there is one library.
type host struct {
	// threads represent the threads of the workers: running filters on a worker requires its lock.
	threads [workers]sync.Mutex
	ids     atomic.Uint32
	next    atomic.Uint64

	mutex     sync.Mutex
	exchanges map[uint64]*waits
	gateways  map[uint32]*Gateway
	sends     map[uint64]*send
}

// waits is the data for resuming an exchange.
type waits struct {
	// turns has the waiting turns by number.
	turns map[uint32]chan resumption
}

type resumption struct {
	verdict raw.Verdict
	edits   []byte
}

type send struct {
	filter   uint32
	exchange uint64
	done     chan struct{}
}

var theHost = sync.OnceValue(func() *host {
	h := &host{exchanges: map[uint64]*waits{}, gateways: map[uint32]*Gateway{}, sends: map[uint64]*send{}}
	raw.Open(h)
	return h
})

// Workers implements raw.Host.
func (h *host) Workers() int { return workers }

// Level implements raw.Host: all messages are logged.
func (h *host) Level() raw.Level { return raw.LevelTrace }

// Resume implements raw.Host: the first of several calls counts, except those that send data.
func (h *host) Resume(exchange uint64, turn uint32, verdict raw.Verdict, edits []byte) raw.Result {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	w := h.exchanges[exchange]
	if w == nil {
		return raw.Gone
	}
	resume := w.turns[turn]
	if resume == nil {
		return raw.Stale
	}
	if len(resume) != 0 {
		return raw.Full
	}
	if verdict != raw.Pause {
		delete(w.turns, turn)
	}
	resume <- resumption{verdict, append([]byte(nil), edits...)}
	return raw.OK
}

// announce makes a turn resumable; the channel has capacity for one resume.
func (h *host) announce(exchange uint64, turn uint32) chan resumption {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	w := h.exchanges[exchange]
	if w == nil {
		w = &waits{turns: map[uint32]chan resumption{}}
		h.exchanges[exchange] = w
	}
	resume := make(chan resumption, 1)
	w.turns[turn] = resume
	return resume
}

func (h *host) withdraw(exchange uint64, turn uint32) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if w := h.exchanges[exchange]; w != nil {
		delete(w.turns, turn)
	}
}

// close ends an exchange and the requests made for it.
func (h *host) close(exchange uint64) {
	h.mutex.Lock()
	delete(h.exchanges, exchange)
	var over []uint64
	for token, s := range h.sends {
		if s.exchange == exchange {
			over = append(over, token)
		}
	}
	h.mutex.Unlock()
	for _, token := range over {
		h.fail(token, "cancelled")
	}
}

// EditsGrow implements raw.Host.
func (h *host) EditsGrow(c *raw.Call, more uint32) raw.Result {
	want := uint64(c.EditsLen) + uint64(more)
	if want > raw.EditsMax {
		return raw.TooLarge
	}
	grown := make([]uint64, (max(2*uint64(c.EditsCap), want)+7)/8)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&grown[0])), len(grown)*8)
	copy(bytes, c.Log())
	c.Edits, c.EditsCap = &bytes[0], uint32(len(bytes))
	return raw.OK
}

// Log implements raw.Host.
func (h *host) Log(filter uint32, level raw.Level, text string) raw.Result {
	h.mutex.Lock()
	g := h.gateways[filter]
	h.mutex.Unlock()
	if g != nil {
		g.note(level, text)
	}
	return raw.OK
}

// Metric implements raw.Host.
func (h *host) Metric(filter uint32, kind raw.MetricKind, name string, bounds []uint64) (raw.MetricCells, raw.Result) {
	h.mutex.Lock()
	g := h.gateways[filter]
	h.mutex.Unlock()
	if g == nil {
		return raw.MetricCells{}, raw.Unknown
	}
	return g.metric(kind, name, bounds)
}

// Send implements raw.Host.
func (h *host) Send(token uint64, out *raw.Outbound) raw.Result {
	h.mutex.Lock()
	g := h.gateways[out.Filter]
	known := out.Exchange == 0 || h.exchanges[out.Exchange] != nil
	h.mutex.Unlock()
	if g == nil {
		return raw.Unknown
	}
	handler := g.clusterOf(out.Cluster)
	if handler == nil {
		return raw.Unknown
	}
	if !known {
		return raw.Gone
	}
	s := &send{filter: out.Filter, exchange: out.Exchange, done: make(chan struct{})}
	h.mutex.Lock()
	h.sends[token] = s
	h.mutex.Unlock()
	request := &Message{Method: out.Method, Target: out.Target, Authority: out.Authority, Body: string(out.Body)}
	if request.Authority == "" {
		request.Authority = out.Cluster
	}
	for _, f := range out.Fields {
		request.Fields = append(request.Fields, Field{f[0], f[1]})
	}
	go h.answer(token, s, handler, request, out.Timeout)
	return raw.OK
}

// Cancel implements raw.Host.
func (h *host) Cancel(_ uint32, token uint64) raw.Result {
	if h.takeSend(token) == nil {
		return raw.Unknown
	}
	return raw.OK
}

// takeSend claims the right to report the result of a request.
func (h *host) takeSend(token uint64) *send {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	s := h.sends[token]
	if s != nil {
		delete(h.sends, token)
		close(s.done)
	}
	return s
}

func (h *host) fail(token uint64, word string) {
	if s := h.takeSend(token); s != nil {
		raw.HandleEvent(&raw.Event{Kind: raw.EventFailed, Token: token, Filter: s.filter, Body: raw.TextOf(word)})
	}
}
