package bridge

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Call is a call of Rust whose request is in a reusable buffer: an async call, or one with arguments that do not fit
// into a frame. For generated code.
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
	// callWords is the initial capacity of a new call in words.
	callWords = 256
	// replyWords is the minimum space for a reply in words.
	replyWords = 64
	// keptWords is the maximum capacity of a call that is kept for reuse: 64 KiB.
	keptWords = 8192
)

// Begin starts a call whose caller blocks.
func (s *Service) Begin(method int) *Call {
	c := s.BeginAsync(method)
	if s.transport == nil {
		c.Out.pins = &c.pins
	}
	return c
}

// BeginAsync starts an async call.
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

// block reserves space for a reply and returns the whole buffer.
func (c *Call) block() (block []uint64, end int) {
	end = len(c.Out.Words)
	if cap(c.Out.Words)-end < replyWords {
		c.Out.grow(replyWords)
	}
	return c.Out.Words[:cap(c.Out.Words)], end
}

// flat copies the request for a transport, which may use it longer than a cancelled call.
func (c *Call) flat() []uint64 { return slices.Clone(c.Out.Words[headerWords:]) }

// Do makes the call through cgo. answer is the minimum size of the answer in words.
func (c *Call) Do(answer int) (In, error) { return c.do(answer, fastcall.CallCgoWith) }

// DoShort makes the call through assembly where possible.
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

// End releases the buffer of the call and converts the panic of an invalid message to an error. Generated code defers
// it.
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
