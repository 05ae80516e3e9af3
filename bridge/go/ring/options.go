package ring

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Handler answers a call of the other process, in a separate goroutine. It owns the payload. The context ends at the
// caller's deadline, when the caller cancels, and with the link. An error of type [*Failure] is sent to the caller
// unchanged, any other one as [CodeFailed] with its text, and a panic as [CodePanicked].
type Handler func(ctx context.Context, method uint32, payload []byte) ([]byte, error)

// Options configures a link. Zero fields have the documented defaults.
type Options struct {
	// Handle answers calls of the other process; nil: they fail with [CodeUnknownMethod].
	Handle Handler
	// IsShort returns whether a method takes microseconds and never waits: it is answered on the reading goroutine, and
	// its context does not end. nil: no method is short.
	IsShort func(method uint32) bool
	// RingBytes is the size of each of the two rings: a power of two from 4 KiB to 64 MiB; default 256 KiB. The dialing
	// side chooses it; the other side accepts up to its own value.
	RingBytes int
	// MessageBytesMax is the maximum size of an accepted message, at most 1 GiB; default 16 MiB.
	MessageBytesMax int
	// CallsMax is the maximum number of unanswered calls per direction; default 1024.
	CallsMax int
	// CallsBytesMax is the maximum size of all unanswered calls of the other side; default 64 MiB. A single call may
	// always have MessageBytesMax.
	CallsBytesMax int
	// Spin is how long a goroutine polls the ring before it sleeps; default 20 µs. If it is negative, with a single
	// processor or with GOMAXPROCS=1, there is no polling.
	Spin time.Duration
	// Stall is how long the other side may leave a full ring unread before the link ends; default 5 s.
	Stall time.Duration
	// Handshake is the time limit of the handshake; default 5 s.
	Handshake time.Duration
}

// checked returns the options with defaults filled in.
func (o Options) checked() (Options, error) {
	o.RingBytes = or(o.RingBytes, 256<<10)
	o.MessageBytesMax = or(o.MessageBytesMax, 16<<20)
	o.CallsMax = or(o.CallsMax, 1024)
	o.CallsBytesMax = or(o.CallsBytesMax, 64<<20)
	o.Spin = or(o.Spin, 20*time.Microsecond)
	o.Stall = or(o.Stall, 5*time.Second)
	o.Handshake = or(o.Handshake, 5*time.Second)
	if runtime.GOMAXPROCS(0) == 1 || runtime.NumCPU() == 1 || o.Spin < 0 {
		o.Spin = 0
	}
	switch {
	case !isRingSize(o.RingBytes):
		return o, fmt.Errorf("invalid ring size of %d bytes: use a power of two from %d to %d", o.RingBytes, ringBytesMin, ringBytesMax)
	case o.MessageBytesMax < 0 || o.MessageBytesMax > messageBytesMax:
		return o, fmt.Errorf("invalid message limit of %d bytes: the maximum is %d", o.MessageBytesMax, messageBytesMax)
	case o.CallsMax < 1 || o.CallsMax > callsMax:
		return o, fmt.Errorf("invalid limit of %d concurrent calls: use 1 to %d", o.CallsMax, callsMax)
	}
	return o, nil
}

func or[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

func isRingSize(bytes int) bool {
	return bytes >= ringBytesMin && bytes <= ringBytesMax && bytes&(bytes-1) == 0
}

const (
	ringBytesMin = 4 << 10
	ringBytesMax = 64 << 20
	// More than is reasonable for one message, and far from overflow in sums of lengths.
	messageBytesMax = 1 << 30
	callsMax        = 1 << 20
)
