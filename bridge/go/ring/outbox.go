package ring

import (
	"context"
	"time"
)

// outbox sends messages to the other side.
type outbox struct {
	turn          chan struct{} // held while writing to the ring
	room          chan struct{} // signals that there may be space
	producer      *producer
	bell          *bell
	pieceBytesMax int
	stall         time.Duration
	ended         chan struct{} // closed with the link
	late          chan struct{} // messages that separate goroutines are sending; its capacity is the limit
}

func newOutbox(p *producer, b *bell, ringBytes int, o *Options, ended chan struct{}) *outbox {
	return &outbox{
		turn: make(chan struct{}, 1), room: make(chan struct{}, 1), producer: p, bell: b,
		pieceBytesMax: pieceBytesMax(ringBytes), stall: o.Stall, ended: ended, late: make(chan struct{}, 2*o.CallsMax),
	}
}

// send sends a message and waits for space if necessary. An error is a *Fault, with which the caller must end the link,
// or that of the context.
func (b *outbox) send(ctx context.Context, m *message) error {
	select {
	case b.turn <- struct{}{}:
	default:
		select {
		case b.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-b.ended:
			return errEnded
		}
	}
	defer func() { <-b.turn }()
	rest := m.bytes
	for kind := m.kind; ; kind = kindMore {
		piece := rest[:min(len(rest), b.pieceBytesMax)]
		if err := b.sendPiece(ctx, m.frame(kind, piece), piece); err != nil {
			return err
		}
		if rest = rest[len(piece):]; len(rest) == 0 {
			return nil
		}
	}
}

// trySend sends a message if that does not require waiting.
func (b *outbox) trySend(m *message) (bool, *Fault) {
	if len(m.bytes) > b.pieceBytesMax {
		return false, nil
	}
	select {
	case b.turn <- struct{}{}:
	default:
		return false, nil
	}
	f := m.frame(m.kind, m.bytes)
	isSent, fault := b.producer.tryPush(&f, m.bytes)
	<-b.turn
	if isSent {
		b.wake()
	}
	return isSent, fault
}

func (b *outbox) sendPiece(ctx context.Context, f frame, piece []byte) error {
	position, since := b.producer.readerPosition(), time.Time{}
	for hasAsked := false; ; {
		isSent, fault := b.producer.tryPush(&f, piece)
		if fault != nil {
			return fault
		}
		if isSent {
			b.wake()
			return nil
		}
		if !hasAsked {
			// Space that was freed before the request for a wake causes no wake: try once more.
			b.producer.requestWriterWake()
			hasAsked = true
			continue
		}
		hasAsked = false
		now := time.Now()
		if moved := b.producer.readerPosition(); moved != position || since.IsZero() {
			position, since = moved, now
		}
		left := b.stall - now.Sub(since)
		if left <= 0 {
			return stalled(b.stall)
		}
		if err := b.waitForRoom(ctx, left); err != nil {
			return err
		}
	}
}

func (b *outbox) waitForRoom(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-b.room:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ended:
		return errEnded
	}
	return nil
}

// wakeBlockedWriters makes waiting senders check for space again.
func (b *outbox) wakeBlockedWriters() {
	select {
	case b.room <- struct{}{}:
	default:
	}
}

func (b *outbox) wake() {
	if b.producer.mustWakeReader() {
		b.bell.ring()
	}
}

func (m *message) frame(kind kind, piece []byte) frame {
	return frame{
		kind: kind, bytes: uint32(len(piece)), call: m.call, detail: m.detail, timeoutMs: m.timeoutMs, total: uint64(len(m.bytes)),
	}
}
