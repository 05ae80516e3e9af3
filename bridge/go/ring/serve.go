package ring

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// served has the unanswered calls of the other side.
type served struct {
	callsMax int
	bytesMax int
	mutex    sync.Mutex
	open     map[uint64]*callContext
	bytes    int
}

// enter registers a call; nil if there are already too many.
func (s *served) enter(m *message) (*callContext, *Fault) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.open[m.call] != nil {
		return nil, misconduct("call %d was made twice", m.call)
	}
	if len(s.open) >= s.callsMax || (len(s.open) > 0 && s.bytes+len(m.bytes) > s.bytesMax) {
		return nil, nil
	}
	c := &callContext{deadline: time.Now().Add(time.Duration(m.timeoutMs) * time.Millisecond)}
	s.open[m.call] = c
	s.bytes += len(m.bytes)
	return c, nil
}

func (s *served) leave(m *message) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.open, m.call)
	s.bytes -= len(m.bytes)
}

// cancel records that the caller no longer waits. An answer may have been sent before the message arrived.
func (s *served) cancel(call uint64) {
	s.mutex.Lock()
	c := s.open[call]
	s.mutex.Unlock()
	if c != nil {
		c.cancel(context.Canceled)
	}
}

func (s *served) cancelAll() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, c := range s.open {
		c.cancel(context.Canceled)
	}
}

// begin starts serving a call.
func (l *Link) begin(m message, isReader bool) *Fault {
	c, fault := l.served.enter(&m)
	switch {
	case fault != nil:
		return fault
	case c == nil:
		l.sendNowait(failed(m.call, &Failure{CodeBusy, "the limit of concurrent calls, or of their bytes, is reached"}))
	case isReader && l.options.IsShort != nil && l.options.IsShort(m.detail):
		l.answer(c, &m, l.sendNowait)
	default:
		go l.serve(c, &m)
	}
	return nil
}

// serve answers a call in a separate goroutine, which may wait for space.
func (l *Link) serve(c *callContext, m *message) {
	defer c.cancel(context.Canceled)
	l.answer(c, m, func(answer *message) {
		// The caller's deadline is not later than this one.
		if c.Err() == nil {
			_ = l.explained(l.outbox.send(context.Background(), answer))
		}
	})
}

// answer sends the result of the handler, or the failure if it ended without one.
func (l *Link) answer(c *callContext, m *message, send func(*message)) {
	answer := failed(m.call, &Failure{CodePanicked, "the handler ended its goroutine by runtime.Goexit"})
	defer func() {
		if panicked := recover(); panicked != nil {
			answer = failed(m.call, &Failure{CodePanicked, fmt.Sprint("the handler panicked: ", panicked)})
		}
		l.served.leave(m)
		send(answer)
	}()
	answer = l.said(c, m)
}

// said converts the result of the handler to a message.
func (l *Link) said(c *callContext, m *message) *message {
	if l.options.Handle == nil {
		return failed(m.call, &Failure{CodeUnknownMethod, "this process does not accept calls"})
	}
	bytes, err := l.options.Handle(c, m.detail, m.bytes)
	if err != nil {
		failure := &Failure{CodeFailed, err.Error()}
		_ = errors.As(err, &failure)
		return failed(m.call, failure)
	}
	if limit := l.agreed.messageBytesMax; len(bytes) > limit {
		text := fmt.Sprintf("the answer has %d bytes; the caller accepts at most %d", len(bytes), limit)
		return failed(m.call, &Failure{CodeAnswerTooLong, text})
	}
	return &message{kind: kindAnswer, call: m.call, bytes: bytes}
}

func failed(call uint64, f *Failure) *message {
	return &message{kind: kindFailure, call: call, detail: f.Code, bytes: f.text()}
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// callContext is the context of a call that is being served. It allocates a timer and a channel only if the handler
// waits for its end.
type callContext struct {
	deadline time.Time
	mutex    sync.Mutex
	done     chan struct{}
	timer    *time.Timer
	err      error
}

// Deadline returns the time at which the caller stops waiting.
func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done returns a channel that is closed when the caller no longer waits.
func (c *callContext) Done() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		} else {
			c.timer = time.AfterFunc(time.Until(c.deadline), func() { c.cancel(context.DeadlineExceeded) })
		}
	}
	return c.done
}

// Err returns why the caller no longer waits; nil if it still does.
func (c *callContext) Err() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.err == nil && !time.Now().Before(c.deadline) {
		c.endLocked(context.DeadlineExceeded)
	}
	return c.err
}

// Value returns nil: calls have no values.
func (c *callContext) Value(any) any { return nil }

func (c *callContext) cancel(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.endLocked(err)
}

func (c *callContext) endLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.done != nil {
		close(c.done)
	}
}

var _ context.Context = (*callContext)(nil)
