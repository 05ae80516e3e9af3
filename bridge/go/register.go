package bridge

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Context is what async methods get: it ends when the caller gives the call up.
type Context = context.Context

// Method reads the arguments of a method, calls its implementation and writes the answer. Generated code makes it.
type Method struct {
	// Serve does it, and gives the reply: in the room, or in memory of its own where that is too small. ctx is nil unless
	// it is async. All of it fits into registers.
	Serve func(ctx Context, in In, room []uint64) []uint64
	// Async tells that the answer comes later, from a goroutine of its own.
	Async bool
}

type served struct {
	name    string
	shape   uint64
	methods []Method
}

var (
	registering sync.Mutex
	// services is replaced, never changed, so that calls read it without a lock.
	services atomic.Pointer[[]served]
)

// Register serves a service for Rust. Generated code calls it. It panics where the name is taken.
func Register(name string, shape uint64, methods []Method) {
	registering.Lock()
	defer registering.Unlock()
	var all []served
	if there := services.Load(); there != nil {
		all = append(all, *there...)
	}
	for _, s := range all {
		if s.name == name {
			panic(fmt.Sprintf("bridge: the service %q is registered twice", name))
		}
	}
	all = append(all, served{name, shape, methods})
	services.Store(&all)
}

// The words of the header of a block.
const (
	// target: number of the service and of the method, the first in the high half.
	target = iota
	// extent: words of the block, and where the room for the reply begins.
	extent
	// outcome: status and words of the reply, set by the callee.
	outcome
	// place: the implementation, for Rust as callee; set by the callee where the reply has no room in the block.
	place
	// ticket: what the end of an async call is told by.
	ticket
	// HeaderWords is how many there are.
	HeaderWords
)

type header [HeaderWords]uint64

// find finds the method of a call.
func find(target uint64) *Method {
	if all := services.Load(); all != nil && target>>32 < uint64(len(*all)) {
		if methods := (*all)[target>>32].methods; target&0xffff_ffff < uint64(len(methods)) {
			return &methods[target&0xffff_ffff]
		}
	}
	panic(unknown(target))
}

// unknown says what there is not.
func unknown(target uint64) *Fault {
	service, method := target>>32, target&0xffff_ffff
	if all := services.Load(); all != nil && service < uint64(len(*all)) {
		return &Fault{FaultUnknown, fmt.Sprintf("%s has no method number %d", (*all)[service].name, method)}
	}
	return &Fault{FaultUnknown, fmt.Sprintf("the Go library has no service number %d", service)}
}

// bindGo answers a question of Rust for a service.
func bindGo(b *bind) {
	b.outcome = absent
	all := services.Load()
	if all == nil || b.nameLength > uint64(len(b.name)) {
		return
	}
	for number, s := range *all {
		if s.name != string(b.name[:b.nameLength]) {
			continue
		}
		b.number = uint64(number)
		if b.outcome = bound; s.shape != b.shape {
			b.outcome = different
		}
		b.shape = s.shape
	}
}

// enterGo runs a call whose caller waits.
func enterGo(block unsafe.Pointer) {
	h := (*header)(block)
	defer barrier(block)
	in, room := parts(block)
	reply := find(h[target]).Serve(nil, in, room)
	if unsafe.SliceData(reply) == unsafe.SliceData(room) {
		h[outcome] = uint64(len(reply))
		return
	}
	finish(block, reply)
}

// parts finds request and room of a block.
func parts(block unsafe.Pointer) (In, []uint64) {
	e := (*header)(block)[extent]
	end, words := int(uint32(e)), int(e>>32)
	in := In{base: unsafe.Add(block, HeaderWords*8), words: end - HeaderWords, hasAddresses: true}
	return in, unsafe.Slice((*uint64)(unsafe.Add(block, end*8)), words-end)[:0]
}

// barrier turns a panic into a fault for the caller.
func barrier(block unsafe.Pointer) {
	if r := recover(); r != nil {
		fail(block, faultOf(r))
	}
}

// fail hands a fault over instead of a reply.
func fail(block unsafe.Pointer, fault *Fault) {
	_, room := parts(block)
	finish(block, faultText(fault, room))
	(*header)(block)[outcome] |= uint64(fault.Kind) << 32
}

func faultText(fault *Fault, room []uint64) []uint64 {
	out := Out{Words: Room(room, 2)}
	out.String(0, fault.Text)
	return out.Words
}

// finish hands the reply over: in the room of the block, or in memory of its own where it has outgrown that.
func finish(block unsafe.Pointer, reply []uint64) {
	h := (*header)(block)
	length := len(reply)
	end, words := int(uint32(h[extent])), int(h[extent]>>32)
	first := unsafe.Pointer(unsafe.SliceData(reply))
	if room := unsafe.Add(block, end*8); length != 0 && first != room {
		to := room
		if length > words-end {
			to = allocate(length * 8)
			h[place] = uint64(uintptr(to))
		}
		copy(unsafe.Slice((*uint64)(to), length), reply)
	}
	h[outcome] = uint64(length)
}

// Dispatch calls a method with a request of another process, which may have anything in it, and gives a status, 0 or a
// [FaultKind], and the reply. The context is that of the call, for async methods.
func Dispatch(ctx context.Context, service, method uint32, request []uint64) (status uint32, reply []uint64) {
	defer func() {
		if r := recover(); r != nil {
			fault := faultOf(r)
			status, reply = uint32(fault.Kind), faultText(fault, nil)
		}
	}()
	in := In{base: unsafe.Pointer(unsafe.SliceData(request)), words: len(request)}
	return 0, find(uint64(service)<<32|uint64(method)).Serve(ctx, in, nil)
}

// Registered tells the number of a registered service and its shape, for transports.
func Registered(name string) (number uint32, shape uint64, ok bool) {
	if all := services.Load(); all != nil {
		for i, s := range *all {
			if s.name == name {
				return uint32(i), s.shape, true
			}
		}
	}
	return 0, 0, false
}
