package ring

import (
	"context"
	"time"
)

// outbox is the way to the other side.
type outbox struct {
	turn          chan struct{} // who has put something in may write
	room          chan struct{} // there may be room
	producer      *producer
	bell          *bell
	pieceBytesMax int
	stall         time.Duration
	ended         chan struct{} // closed with the link
	late          chan struct{} // what is being sent by goroutines of its own; its room is the limit
}

func newOutbox(p *producer, b *bell, ringBytes int, o *Options, ended chan struct{}) *outbox {
	return &outbox{
		turn: make(chan struct{}, 1), room: make(chan struct{}, 1), producer: p, bell: b,
		pieceBytesMax: pieceBytesMax(ringBytes), stall: o.Stall, ended: ended, late: make(chan struct{}, 2*o.CallsMax),
	}
}

// send sends a message, and waits for room where there is none. An error is a *Fault, with which the link is to be ended, or that
// of the context.
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

// trySend sends a message if nobody has to wait for that.
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
			// Room that was made before it was asked for brings no wake: try once more.
			b.producer.askForRoom()
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

// lookAgain tells who waits for room to look again.
func (b *outbox) lookAgain() {
	select {
	case b.room <- struct{}{}:
	default:
	}
}

func (b *outbox) wake() {
	if b.producer.takesReaderSleep() {
		b.bell.ring()
	}
}

func (m *message) frame(kind kind, piece []byte) frame {
	return frame{
		kind: kind, bytes: uint32(len(piece)), call: m.call, detail: m.detail, timeoutMs: m.timeoutMs, total: uint64(len(m.bytes)),
	}
}
