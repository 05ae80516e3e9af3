package eddy

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Holder is an exchange or its end, to which [State] belongs.
type Holder interface {
	state() *entry
}

// State returns the filter's own value for this exchange: initially zero, the same in all of its hooks, and reused for
// another exchange afterwards. A filter may have one of each type.
//
// Hooks of an exchange never run concurrently on a worker. Goroutines of [Go] and hooks with `blocking: true` may run
// concurrently with those of the other direction, and must synchronize shared data.
//
//	type seen struct{ bytes int }
//
//	func (f *filter) ResponseBody(x *eddy.Exchange) eddy.Verdict {
//		eddy.State[seen](x).bytes += x.Body().Len()
//		return eddy.Continue
//	}
func State[T any](h Holder) *T {
	e := h.state()
	if e.holds.Load() != 0 {
		e.mutex.Lock()
		defer e.mutex.Unlock()
	}
	for _, value := range e.values {
		if v, ok := value.(*T); ok {
			return v
		}
	}
	v := new(T)
	e.values = append(e.values, v)
	e.resets = append(e.resets, reset[T])
	return v
}

func reset[T any](value any) {
	var zero T
	*value.(*T) = zero
}

// Ending is the end of an exchange.
type Ending struct {
	entry  *entry
	reason raw.EndReason
}

// IsComplete returns whether the response was sent completely; otherwise either side disconnected, or there was a
// timeout or fault.
func (e *Ending) IsComplete() bool { return e.reason == raw.EndComplete }

func (e *Ending) state() *entry { return e.entry }

// entry is the data of a filter for an exchange.
type entry struct {
	owner    *filter
	exchange uint64
	values   []any
	resets   []func(any)
	ending   Ending
	// holds counts the users of the entry besides the worker. Only the worker adds the first.
	holds atomic.Int32
	// mutex guards the following fields, and the values while there are holds.
	mutex sync.Mutex
	over  bool
	// work counts the hooks that run on goroutines; only the worker, or one of them, adds more. The last one reports
	// the end, if that was postponed for them.
	work   int
	putOff bool
	ctx    context.Context
	cancel context.CancelFunc
}

// state returns the entry of the exchange, and creates it on first use.
func (x *Exchange) state() *entry {
	if x.entry == nil {
		x.findEntry()
	}
	return x.entry
}

func (x *Exchange) findEntry() {
	c := x.live()
	states := x.filter.base.states
	if x.step.State != 0 {
		if e := states.Get(x.step.State); e != nil && e.exchange == c.Exchange {
			x.entry = e
			return
		}
		panic("eddy: the gateway gave a state that is not this exchange's")
	}
	if x.copy != nil && x.lane == raw.OutsideLane {
		panic("eddy: a copy of an exchange lacks its state")
	}
	handle, e := states.New(c.Worker)
	if e == nil {
		panic("eddy: the worker has too many exchanges")
	}
	e.owner, e.exchange, e.over = x.filter, c.Exchange, false
	x.step.State, x.entry = handle, e
}

type exchangeKey struct{}

func (e *entry) context() context.Context {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.ctx == nil {
		e.ctx, e.cancel = context.WithCancel(context.WithValue(context.Background(), exchangeKey{}, e.exchange))
		if e.over {
			e.cancel()
		}
	}
	return e.ctx
}

// finish notifies waiting code that the exchange has ended. The report of the end is postponed while hooks run on
// goroutines.
func (e *entry) finish(reason raw.EndReason) (putOff bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.over = true
	e.ending = Ending{entry: e, reason: reason}
	e.putOff = e.work > 0
	if e.cancel != nil {
		e.cancel()
	}
	return e.putOff
}

// begin counts a hook that will run on a goroutine.
func (e *entry) begin() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.work++
}

// leave is called when such a hook has returned, while the entry is held. A panic of the filter's End is recovered
// here.
func (e *entry) leave() {
	e.mutex.Lock()
	e.work--
	isDue := e.putOff && e.work == 0
	e.putOff = e.putOff && !isDue
	e.mutex.Unlock()
	if !isDue || e.owner.end == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			e.owner.logger.Error("End: " + raw.PanicText(r))
		}
	}()
	e.owner.end.End(&e.ending)
}

// clear prepares the entry for another exchange.
func (e *entry) clear() {
	for i := range e.values {
		e.resets[i](e.values[i])
	}
	e.owner, e.exchange, e.ctx, e.cancel = nil, 0, nil, nil
}
