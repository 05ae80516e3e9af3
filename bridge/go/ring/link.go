package ring

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Link is a link to another process. It lives until one side closes it or ends.
type Link struct {
	options Options
	agreed  agreed
	socket  *net.UnixConn
	calls   calls
	served  served
	outbox  *outbox
	fault   atomic.Pointer[Fault]
	ended   chan struct{} // closed after fault was set

	reading   sync.Mutex // its holder reads
	consumer  *consumer
	assembler assembler
	bell      *bell
}

func start(socket *net.UnixConn, m *memory, isConnector bool, o Options, a agreed) (*Link, error) {
	b, err := newBell(socket)
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	p, c := split(m, a.ringBytes, isConnector)
	l := &Link{
		options: o, agreed: a, socket: socket, bell: b, ended: make(chan struct{}), consumer: c,
		calls:     calls{limit: min(o.CallsMax, a.callsMax), open: map[uint64]*pending{}},
		served:    served{callsMax: o.CallsMax, bytesMax: o.CallsBytesMax, open: map[uint64]*callContext{}},
		assembler: assembler{messageBytesMax: uint64(o.MessageBytesMax), pieceBytesMax: uint64(pieceBytesMax(a.ringBytes))},
	}
	l.outbox = newOutbox(p, b, a.ringBytes, &l.options, l.ended)
	go l.readAll()
	return l, nil
}

// Call calls the other process and waits for the answer, which the caller owns. It returns when the context ends; the
// called side is notified. Errors: a [*Fault] if the link has ended, a [*Failure] of the called side, [*TooLongError],
// [*BusyError], or that of the context.
func (l *Link) Call(ctx context.Context, method uint32, payload []byte) ([]byte, error) {
	if len(payload) > l.agreed.messageBytesMax {
		return nil, &TooLongError{len(payload), l.agreed.messageBytesMax}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	call, place, err := l.calls.begin()
	if err != nil {
		return nil, err
	}
	m := message{kind: kindCall, call: call, detail: method, timeoutMs: timeoutMs(ctx), bytes: payload}
	if err := l.outbox.send(ctx, &m); err != nil {
		return l.giveUp(call, place, l.explained(err))
	}
	l.watch(place)
	select {
	case o := <-place.done:
		place.release()
		return o.bytes, o.err
	default:
	}
	select {
	case o := <-place.done:
		place.release()
		return o.bytes, o.err
	case <-ctx.Done():
		return l.giveUp(call, place, ctx.Err())
	}
}

// Fault returns the reason for the end of the link; nil if it has not ended.
func (l *Link) Fault() *Fault { return l.fault.Load() }

// Ended returns a channel that is closed when the link has ended.
func (l *Link) Ended() <-chan struct{} { return l.ended }

// Close ends the link: current and later calls on both sides get an error.
func (l *Link) Close() { l.end(&Fault{kind: Closed}) }

// giveUp cancels a call, unless its answer has just arrived.
func (l *Link) giveUp(call uint64, place *pending, err error) ([]byte, error) {
	defer place.release()
	if l.calls.forget(call) {
		l.sendNowait(&message{kind: kindCancel, call: call})
		return nil, err
	}
	o := <-place.done
	return o.bytes, o.err
}

// end ends the link and all waiting calls. Only the first reason counts.
func (l *Link) end(fault *Fault) {
	if !l.fault.CompareAndSwap(nil, fault) {
		return
	}
	close(l.ended)
	l.calls.end(fault)
	l.served.cancelAll()
	_ = l.socket.Close()
}

// explained returns the error for the caller when sending failed; a fault ends the link.
func (l *Link) explained(err error) error {
	var fault *Fault
	if errors.As(err, &fault) {
		l.end(fault)
	}
	if ended := l.fault.Load(); ended != nil {
		return ended
	}
	return err
}

// errEnded is replaced with the fault of the link.
var errEnded = errors.New("the link has ended")

// sendNowait sends a message without waiting for space.
func (l *Link) sendNowait(m *message) {
	isSent, fault := l.outbox.trySend(m)
	if fault != nil {
		l.end(fault)
	}
	if isSent || fault != nil {
		return
	}
	select {
	case l.outbox.late <- struct{}{}:
		go func() {
			defer func() { <-l.outbox.late }()
			_ = l.explained(l.outbox.send(context.Background(), m))
		}()
	default:
		// A call that is not cancelled ends at its deadline. A conforming peer does not make that many calls without
		// reading an answer.
		if m.kind != kindCancel {
			l.end(misconduct("it keeps calling without reading answers"))
		}
	}
}

// watch polls the ring for an answer, which is faster than a wake. It also reads messages for other goroutines.
func (l *Link) watch(place *pending) {
	if l.options.Spin == 0 {
		return
	}
	until := time.Now().Add(l.options.Spin)
	for !place.isDone.Load() {
		if l.reading.TryLock() {
			l.lead(place, until)
		}
		for range pollsPerSpin {
			if place.isDone.Load() {
				return
			}
		}
		if time.Now().After(until) {
			return
		}
	}
}

// lead reads until the answer has arrived or the time has passed.
func (l *Link) lead(place *pending, until time.Time) {
	l.consumer.watch()
	for !place.isDone.Load() {
		m, isWhole, fault := l.next()
		switch {
		case fault != nil:
			l.reading.Unlock()
			l.end(fault)
			return
		case isWhole:
			fault = l.handle(&m, false)
			if fault != nil {
				l.reading.Unlock()
				l.end(fault)
				return
			}
			continue
		}
		for range pollsPerSpin {
			if l.consumer.hasMore() {
				break
			}
		}
		if !l.consumer.hasMore() && time.Now().After(until) {
			break
		}
	}
	isAll := l.consumer.rest()
	if !isAll {
		l.consumer.watch()
	}
	l.reading.Unlock()
	if !isAll {
		// The rest is for other goroutines.
		go l.readRest()
	}
}

// readAll is the main loop of the link's goroutine: it accepts calls and notices when the other process ends.
func (l *Link) readAll() {
	var wakes [64]byte
	for {
		l.readRest()
		_, err := l.socket.Read(wakes[:])
		l.outbox.wakeBlockedWriters()
		if err == nil {
			continue
		}
		// Data written before is still read, at most one ring.
		for round := 0; round < roundsAfterEndMax && !l.read(); round++ {
		}
		if errors.Is(err, io.EOF) || isReset(err) {
			l.end(&Fault{kind: Gone})
		} else {
			l.end(&Fault{Socket, err.Error()})
		}
		return
	}
}

// readRest reads until the ring is empty and the other side will wake this one for more.
func (l *Link) readRest() {
	for l.fault.Load() == nil && !l.read() {
		l.outbox.wakeBlockedWriters()
	}
}

// read reads all available messages, and those that arrive while it polls. It returns whether the ring is empty.
func (l *Link) read() bool {
	l.reading.Lock()
	hasReturned := false
	defer func() {
		l.reading.Unlock()
		if !hasReturned {
			l.end(&Fault{Closed, "a short handler ended the goroutine that reads, by runtime.Goexit"})
		}
	}()
	isAll := l.readLocked()
	hasReturned = true
	return isAll
}

func (l *Link) readLocked() bool {
	l.consumer.watch()
	var until time.Time
	for range messagesMax {
		m, isWhole, fault := l.next()
		if fault == nil && isWhole {
			fault = l.handle(&m, true)
			if m.kind == kindCall && l.options.Spin > 0 {
				// A peer that calls once is likely to call again soon.
				until = time.Now().Add(l.options.Spin)
			}
		}
		if fault != nil {
			l.end(fault)
			return true
		}
		if isWhole {
			continue
		}
		if !until.IsZero() && l.comes(until) {
			continue
		}
		if until = (time.Time{}); l.consumer.rest() {
			return true
		}
		l.consumer.watch()
	}
	return false
}

// comes polls the ring until data arrives or the time has passed. Handlers run first.
func (l *Link) comes(until time.Time) bool {
	for {
		runtime.Gosched()
		for range pollsPerSpin {
			if l.consumer.hasMore() {
				return true
			}
		}
		if time.Now().After(until) {
			return false
		}
	}
}

// next returns the next complete message.
func (l *Link) next() (message, bool, *Fault) {
	for {
		f, isThere, fault := l.consumer.peek()
		if fault != nil || !isThere {
			return message{}, false, fault
		}
		bytes, fault := l.assembler.accept(&f)
		if fault != nil {
			return message{}, false, fault
		}
		l.consumer.take(&f, bytes)
		if l.consumer.mustWakeWriter() {
			l.bell.ring()
		}
		if m, isWhole := l.assembler.takeWhole(); isWhole {
			return m, true, nil
		}
	}
}

// handle dispatches a message. Only the link's own goroutine may run a handler directly.
func (l *Link) handle(m *message, isReader bool) *Fault {
	switch m.kind {
	case kindAnswer:
		return l.calls.finish(m.call, outcome{bytes: m.bytes})
	case kindFailure:
		return l.calls.finish(m.call, outcome{err: &Failure{m.detail, string(m.bytes)}})
	case kindCancel:
		l.served.cancel(m.call)
	case kindCall:
		return l.begin(*m, isReader)
	case kindMore:
	}
	return nil
}

// timeoutMs returns the timeout of a call as sent to the other side: rounded up, so it does not cancel first; at most a
// day.
func timeoutMs(ctx context.Context) uint32 {
	const day = 24 * time.Hour
	left := day
	if deadline, hasDeadline := ctx.Deadline(); hasDeadline {
		left = min(max(time.Until(deadline), 0), day)
	}
	return uint32((left + time.Millisecond - 1) / time.Millisecond)
}

const (
	// Number of messages that are read before other goroutines get the lock.
	messagesMax = 256
	// Polls of the ring between two reads of the clock.
	pollsPerSpin = 32
	// Rounds of that many messages after the other side has disconnected: the largest ring with the shortest messages.
	roundsAfterEndMax = ringBytesMax / (frameWords * wordBytes) / messagesMax
)
