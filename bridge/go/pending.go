package bridge

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// callsMax is the maximum number of async calls in progress per direction.
const callsMax = 65536

// table has the waiting calls by ticket. It is sharded to reduce lock contention.
type table[T any] struct {
	count atomic.Int64
	parts [64]struct {
		sync.Mutex
		entries map[uint64]T
		_       [40]byte
	}
}

func (t *table[T]) put(ticket uint64, value T) bool {
	if t.count.Add(1) > callsMax {
		t.count.Add(-1)
		return false
	}
	part := &t.parts[ticket*0x9e3779b97f4a7c15>>58]
	part.Lock()
	defer part.Unlock()
	if part.entries == nil {
		part.entries = map[uint64]T{}
	}
	part.entries[ticket] = value
	return true
}

func (t *table[T]) get(ticket uint64) (T, bool) {
	part := &t.parts[ticket*0x9e3779b97f4a7c15>>58]
	part.Lock()
	defer part.Unlock()
	value, ok := part.entries[ticket]
	return value, ok
}

func (t *table[T]) take(ticket uint64) (T, bool) {
	part := &t.parts[ticket*0x9e3779b97f4a7c15>>58]
	part.Lock()
	defer part.Unlock()
	value, ok := part.entries[ticket]
	if ok {
		delete(part.entries, ticket)
		t.count.Add(-1)
	}
	return value, ok
}

// Calls of Rust that goroutines answer.

var (
	// answering has the cancel functions for the contexts of calls of Rust.
	answering table[context.CancelFunc]
	// rustComplete is the address of Rust's function that receives the results of calls.
	rustComplete atomic.Uint64
)

// startGo starts a goroutine for a call of Rust. The block is valid until rustComplete is called.
func startGo(block unsafe.Pointer) {
	ctx, cancel := context.WithCancel(context.Background())
	id := (*header)(block)[ticket]
	if !answering.put(id, cancel) {
		cancel()
		fail(block, &Fault{FaultCrowded, fmt.Sprintf("%d async calls are under way", callsMax)})
		tell(block)
		return
	}
	go func() {
		returned := false
		defer func() {
			if !returned {
				fail(block, &Fault{FaultPanic, "the method ended its goroutine by runtime.Goexit"})
			}
			answering.take(id)
			cancel()
			tell(block)
		}()
		answer(ctx, block)
		returned = true
	}()
}

func answer(ctx context.Context, block unsafe.Pointer) {
	defer barrier(block)
	in, room := parts(block)
	finish(block, registered.Load().find((*header)(block)[target]).Serve(ctx, in, room))
}

func tell(block unsafe.Pointer) {
	fastcall.CallCgo(fastcall.FuncAt(uintptr(rustComplete.Load())), block)
}

func cancelGo(ticket uint64) {
	if cancel, ok := answering.get(ticket); ok {
		cancel()
	}
}

// Calls from Go to Rust that wait for the result of a future.

var (
	// waiting has the goroutines that wait for Rust.
	waiting table[chan ending]
	// tickets counts the calls of Rust.
	tickets atomic.Uint64
)

// ending is the result of a call.
type ending struct {
	status FaultKind
	reply  []uint64
}

// Wait makes the call and waits for its answer without holding a thread. answer is the minimum size of the answer in
// words.
func (c *Call) Wait(ctx context.Context, answer int) (In, error) {
	if c.service.transport != nil {
		return c.service.callOver(ctx, c.method, c.flat(), answer)
	}
	if err := ctx.Err(); err != nil {
		return In{}, err
	}
	id := tickets.Add(1)
	end := make(chan ending, 1)
	if !waiting.put(id, end) {
		return In{}, &Fault{FaultCrowded, fmt.Sprintf("%d async calls are under way", callsMax)}
	}
	block, requestEnd := c.block()
	*(*header)(block) = header{extent: uint64(len(block))<<32 | uint64(requestEnd), ticket: id}
	fastcall.CallCgoWith(c.service.methods[c.method], unsafe.Pointer(unsafe.SliceData(block)), c.service.context)
	select {
	case t := <-end:
		if t.status != 0 {
			return In{}, told(t.status, InReply(t.reply))
		}
		return whole(InReply(t.reply), answer)
	case <-ctx.Done():
		waiting.take(id)
		// Rust drops the future later; this does not wait for it.
		fastcall.CallCgo(fastcall.Func(c.service.cancel), unsafe.Pointer(unsafe.SliceData(block)))
		return In{}, ctx.Err()
	}
}

// completeGo wakes the goroutine that waits for a call.
func completeGo(block unsafe.Pointer) {
	h := (*header)(block)
	end, ok := waiting.take(h[ticket])
	if !ok {
		return // the call was cancelled
	}
	_, room := parts(block)
	length := int(uint32(h[outcome]))
	end <- ending{FaultKind(h[outcome] >> 32), append([]uint64(nil), room[:length]...)}
}
