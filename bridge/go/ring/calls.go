package ring

import (
	"sync"
	"sync/atomic"
)

// pending is an unanswered call.
type pending struct {
	isDone atomic.Bool
	done   chan outcome // capacity of one
}

// outcome is the result of a call.
type outcome struct {
	bytes []byte
	err   error
}

// finish is called once, by the goroutine that removed the call from the table. After it has sent the outcome, the
// entry may belong to another call.
func (p *pending) finish(o outcome) {
	p.isDone.Store(true)
	p.done <- o
}

var pendings = sync.Pool{New: func() any { return &pending{done: make(chan outcome, 1)} }}

// release returns the entry of an answer for reuse, after the answer was read or the call was cancelled.
func (p *pending) release() {
	select {
	case <-p.done:
	default:
	}
	p.isDone.Store(false)
	pendings.Put(p)
}

// calls has the unanswered calls of this side by number; numbers are never reused.
type calls struct {
	limit int
	mutex sync.Mutex
	open  map[uint64]*pending
	next  uint64
	ended *Fault
}

func (c *calls) begin() (uint64, *pending, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ended != nil {
		return 0, nil, c.ended
	}
	if len(c.open) >= c.limit {
		return 0, nil, &BusyError{c.limit}
	}
	call, p := c.next, pendings.Get().(*pending)
	c.next++
	c.open[call] = p
	return call, p, nil
}

// finish passes an answer to the waiting goroutine. If none waits, the answer came too late.
func (c *calls) finish(call uint64, o outcome) *Fault {
	c.mutex.Lock()
	if call >= c.next {
		c.mutex.Unlock()
		return misconduct("it answered call %d, which was never made", call)
	}
	p := c.open[call]
	delete(c.open, call)
	// Invariant: a goroutine that removes a call holds the mutex, so an entry is not released while it is being
	// finished.
	if p != nil {
		p.finish(o)
	}
	c.mutex.Unlock()
	return nil
}

// forget cancels a call and returns whether it was still unanswered.
func (c *calls) forget(call uint64) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	_, isOpen := c.open[call]
	delete(c.open, call)
	return isOpen
}

// end ends all calls, including future ones.
func (c *calls) end(fault *Fault) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ended == nil {
		c.ended = fault
	}
	for call, p := range c.open {
		delete(c.open, call)
		p.finish(outcome{err: fault})
	}
}
