package bridge

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Call is a call of Rust whose request is laid out in memory that later calls use again: one that is answered later, or
// has arguments that don't fit into a frame. Generated code uses it.
type Call struct {
	// Out is the request.
	Out     Out
	service *Service
	method  int
	pins    runtime.Pinner
	kept    Kept
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

// Begin begins a call whose caller waits.
func (s *Service) Begin(method int) *Call {
	c := s.BeginAsync(method)
	if s.transport == nil {
		c.Out.pins = &c.pins
	}
	return c
}

// BeginAsync begins a call that is answered later.
func (s *Service) BeginAsync(method int) *Call {
	c := calls.Get().(*Call)
	if c.Out.Words == nil {
		c.Out.Words = make([]uint64, headerWords, callWords)
		c.Out.base = headerWords
	}
	c.service, c.method = s, method
	c.Out.Words = c.Out.Words[:headerWords]
	c.Out.pins = nil
	return c
}

// block lays out room for a reply, and gives the whole of the memory.
func (c *Call) block() (block []uint64, end int) {
	end = len(c.Out.Words)
	if cap(c.Out.Words)-end < replyWords {
		c.Out.grow(replyWords)
	}
	return c.Out.Words[:cap(c.Out.Words)], end
}

// flat is a copy of the request for a transport, which may keep it for longer than a call that is given up.
func (c *Call) flat() []uint64 { return slices.Clone(c.Out.Words[headerWords:]) }

// Do makes the call by cgo. answer is how many words the answer has at least.
func (c *Call) Do(answer int) (In, error) { return c.do(answer, fastcall.CallCgoWith) }

// DoShort makes the call by assembly, where that is possible.
func (c *Call) DoShort(answer int) (In, error) { return c.do(answer, fastcall.CallWith) }

func (c *Call) do(answer int, by func(fastcall.Func, unsafe.Pointer, uintptr) uintptr) (In, error) {
	if c.service.transport != nil {
		return c.service.callOver(context.Background(), c.method, c.flat(), answer)
	}
	block, end := c.block()
	extent := &block[headerWords-1]
	*extent = Extent(end-headerWords, len(block)-end)
	outcome := by(c.service.methods[c.method], unsafe.Pointer(extent), c.service.context)
	if outcome != 0 {
		return c.kept.read(outcome, answer)
	}
	return whole(In{base: unsafe.Pointer(unsafe.SliceData(block[end:])), words: int(*extent)}, answer)
}

// End gives the memory of the call back, and turns a message that is wrong into an error. Generated code defers it.
func (c *Call) End(err *error) {
	if c.Out.hasPins {
		c.pins.Unpin()
		c.Out.hasPins = false
	}
	c.kept.free()
	c.service = nil
	if cap(c.Out.Words) > keptWords {
		c.Out.Words = nil
	}
	calls.Put(c)
	settle(recover(), err)
}
