package bridge

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Call is a call of Rust by cgo, with memory that later calls use again. Generated code uses it.
type Call struct {
	// Out is the request.
	Out     Out
	service *Service
	pins    runtime.Pinner
	// overflow is memory of C with a reply that had no room.
	overflow unsafe.Pointer
	// reply is a reply in memory of Go.
	reply []uint64
}

var calls = sync.Pool{New: func() any { return new(Call) }}

const (
	// callWords is how many words a new call has.
	callWords = 256
	// replyWords is the least room for a reply.
	replyWords = 64
	// keptWords is how many a call may have that is kept for the next: 64 KiB.
	keptWords = 8192
)

// Begin begins a call whose caller waits in Rust.
func (s *Service) Begin(method int) *Call {
	c := s.begin(method)
	if s.transport == nil {
		c.Out.Lists, c.Out.pins = pinLong, &c.pins
	}
	return c
}

func (s *Service) begin(method int) *Call {
	c := calls.Get().(*Call)
	if c.Out.Words == nil {
		c.Out.Words = make([]uint64, HeaderWords, callWords)
		c.Out.Base = HeaderWords
	}
	c.service = s
	c.Out.Words = c.Out.Words[:HeaderWords]
	c.Out.Words[target] = uint64(method)
	c.Out.Lists = copyAll
	return c
}

// block lays out room for a reply, and gives the whole of the memory.
func (c *Call) block() (block []uint64, end int) {
	end = len(c.Out.Words)
	if cap(c.Out.Words)-end < replyWords {
		c.Out.grow(replyWords)
	}
	block = c.Out.Words[:cap(c.Out.Words)]
	block[extent] = uint64(len(block))<<32 | uint64(end)
	block[outcome] = 0
	block[place] = c.service.context
	return block, end
}

// Do makes the call. answer is how many words the answer has at least.
func (c *Call) Do(answer int) (In, error) {
	if c.service.transport != nil {
		return c.service.callOver(context.Background(), &c.Out, answer)
	}
	block, end := c.block()
	fastcall.CallCgo(c.service.at(block[target]), unsafe.Pointer(unsafe.SliceData(block)))
	status, length := FaultKind(block[outcome]>>32), int(uint32(block[outcome]))
	in := In{words: length}
	if length > len(block)-end {
		c.overflow = pointerAt(block[place])
		in.base = c.overflow
	} else if length != 0 {
		in.base = unsafe.Pointer(&block[end])
	}
	if status != 0 {
		return In{}, told(status, in)
	}
	if length < answer {
		return In{}, &Fault{FaultMalformed, "the reply is shorter than its record"}
	}
	return in, nil
}

// End gives the memory of the call back, and turns a message that is wrong into an error. Generated code defers it.
func (c *Call) End(err *error) {
	if c.Out.hasPins {
		c.pins.Unpin()
		c.Out.hasPins = false
	}
	if c.overflow != nil {
		free(c.overflow)
	}
	c.overflow, c.reply, c.service = nil, nil, nil
	if cap(c.Out.Words) > keptWords {
		c.Out.Words = nil
	}
	calls.Put(c)
	if r := recover(); r != nil {
		fault, ok := r.(*Fault)
		if !ok {
			panic(r)
		}
		*err = fault
	}
}
