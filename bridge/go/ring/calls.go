package ring

import (
	"sync"
	"sync/atomic"
)

// pending is a call that is not answered yet.
type pending struct {
	isDone atomic.Bool
	done   chan outcome // has room for the one that comes
}

// outcome is what comes of a call.
type outcome struct {
	bytes []byte
	err   error
}

// finish is called once: by who took the call out of the table. After what it sends the place may be another call's.
func (p *pending) finish(o outcome) {
	p.isDone.Store(true)
	p.done <- o
}

var pendings = sync.Pool{New: func() any { return &pending{done: make(chan outcome, 1)} }}

// release gives the place of an answer back, after the answer was taken or given up.
func (p *pending) release() {
	select {
	case <-p.done:
	default:
	}
	p.isDone.Store(false)
	pendings.Put(p)
}

// calls are those that this side made and that are not answered yet, by their numbers, which are never used again.
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

// finish gives an answer to who waits for it. Nobody may: then it came too late.
func (c *calls) finish(call uint64, o outcome) *Fault {
	c.mutex.Lock()
	if call >= c.next {
		c.mutex.Unlock()
		return misconduct("call %d was answered, which was never made", call)
	}
	p := c.open[call]
	delete(c.open, call)
	// Invariant: who forgets a call holds the mutex, so that nobody releases what is being finished.
	if p != nil {
		p.finish(o)
	}
	c.mutex.Unlock()
	return nil
}

// forget gives a call up, and says whether it was still unanswered.
func (c *calls) forget(call uint64) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	_, isOpen := c.open[call]
	delete(c.open, call)
	return isOpen
}

// end ends all calls, those of the future too.
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
