package ring

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Handler answers a call of the other process, in a goroutine of its own. The payload is the handler's to keep. The context ends
// with the caller's deadline, when the caller gives up, and with the link. An error that is a [*Failure] goes to the caller as it
// is, any other one as [CodeFailed] with its text; so does a panic, as [CodePanicked].
type Handler func(ctx context.Context, method uint32, payload []byte) ([]byte, error)

// Options say what a link does and may use. A field that is zero has the value that is named.
type Options struct {
	// Handle answers calls of the other process; nil: it gets [CodeUnknownMethod].
	Handle Handler
	// IsShort says that a method takes microseconds and never waits: it is answered without a goroutine of its own, by
	// the one that reads, and its context does not end. nil: no method is short.
	IsShort func(method uint32) bool
	// RingBytes of each of the two rings: a power of two from 4 KiB to 64 MiB; 256 KiB. The side that dials says how many;
	// the other accepts up to its own figure.
	RingBytes int
	// MessageBytesMax of one message that are accepted, at most 1 GiB; 16 MiB.
	MessageBytesMax int
	// CallsMax that may be unanswered at a time, in each direction; 1024.
	CallsMax int
	// CallsBytesMax of the other side's calls that may be unanswered at a time; 64 MiB. A single call may always have
	// MessageBytesMax.
	CallsBytesMax int
	// Spin is how long a goroutine watches the ring before it sleeps; 20 µs. A negative one, a single processor or
	// GOMAXPROCS=1: nobody watches.
	Spin time.Duration
	// Stall is how long the other side may leave a full ring untouched before the link ends; 5 s.
	Stall time.Duration
	// Handshake is how long the two sides may take to agree on a link; 5 s.
	Handshake time.Duration
}

// checked are the options with what they don't say filled in.
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
		return o, fmt.Errorf("a ring of %d bytes can't be made: take a power of two from %d to %d", o.RingBytes, ringBytesMin, ringBytesMax)
	case o.MessageBytesMax < 0 || o.MessageBytesMax > messageBytesMax:
		return o, fmt.Errorf("messages of %d bytes can't be allowed: %d is the most", o.MessageBytesMax, messageBytesMax)
	case o.CallsMax < 1 || o.CallsMax > callsMax:
		return o, fmt.Errorf("%d calls at a time can't be allowed: take 1 to %d", o.CallsMax, callsMax)
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
	// More than anybody should send in one piece of memory, and it keeps sums of lengths far from overflow.
	messageBytesMax = 1 << 30
	callsMax        = 1 << 20
)
