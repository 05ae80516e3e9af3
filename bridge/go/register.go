package bridge

import (
	"context"
	"fmt"
	"slices"
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

// registry has what was registered. It is replaced, never changed, so that calls read it without a lock.
type registry struct {
	services []served
	// methods are those of all services, so that a call finds its own in one step.
	methods []Method
}

type served struct {
	name  string
	shape uint64
	// first is the number of its first method among all, of so many.
	first, methods uint64
}

var (
	registering sync.Mutex
	registered  atomic.Pointer[registry]
)

func init() { registered.Store(&registry{}) }

// Register serves a service for Rust. Generated code calls it. It panics where the name is taken.
func Register(name string, shape uint64, methods []Method) {
	registering.Lock()
	defer registering.Unlock()
	there := registered.Load()
	for _, s := range there.services {
		if s.name == name {
			panic(fmt.Sprintf("bridge: the service %q is registered twice", name))
		}
	}
	service := served{name, shape, uint64(len(there.methods)), uint64(len(methods))}
	registered.Store(&registry{
		services: append(slices.Clone(there.services), service),
		methods:  append(slices.Clone(there.methods), methods...),
	})
}

// The words of the header of a block.
const (
	// target: number of the method among all.
	target = iota
	// extent: words of the block, and where the room for the reply begins.
	extent
	// outcome: status and words of the reply, set by the callee.
	outcome
	// place: set by the callee where the reply has no room in the block.
	place
	// ticket: what the end of an async call is told by.
	ticket
	// headerWords is how many there are.
	headerWords
)

type header [headerWords]uint64

// wordsMax is how many words a block may have: 1 GiB.
const wordsMax = 1 << 27

// find finds the method of a call.
func (r *registry) find(target uint64) *Method {
	if target >= uint64(len(r.methods)) {
		noMethod(target)
	}
	return &r.methods[target]
}

// noMethod is apart from find, so that that is inlined.
//
//go:noinline
func noMethod(number uint64) {
	panic(&Fault{FaultUnknown, fmt.Sprintf("the Go library has no method number %d", number)})
}

// findIn finds the method of a service, by numbers that may be anything.
func findIn(service, method uint32) *Method {
	there := registered.Load()
	if uint64(service) >= uint64(len(there.services)) {
		panic(&Fault{FaultUnknown, fmt.Sprintf("the Go library has no service number %d", service)})
	}
	s := there.services[service]
	if uint64(method) >= s.methods {
		panic(&Fault{FaultUnknown, fmt.Sprintf("%s has no method number %d", s.name, method)})
	}
	return &there.methods[s.first+uint64(method)]
}

// bindGo answers a question of Rust for a service.
func bindGo(b *bind) {
	b.outcome = absent
	if b.nameLength > uint64(len(b.name)) {
		return
	}
	for _, s := range registered.Load().services {
		if s.name != string(b.name[:b.nameLength]) {
			continue
		}
		b.number = s.first
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
	in.hasViews = true
	reply := registered.Load().find(h[target]).Serve(nil, in, room)
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
	in := In{base: unsafe.Add(block, headerWords*8), words: end - headerWords}
	return in, (*[wordsMax]uint64)(unsafe.Add(block, end*8))[: 0 : words-end]
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
	return 0, findIn(service, method).Serve(ctx, in, nil)
}

// Registered tells the number of a registered service and its shape, for transports.
func Registered(name string) (number uint32, shape uint64, ok bool) {
	for i, s := range registered.Load().services {
		if s.name == name {
			return uint32(i), s.shape, true
		}
	}
	return 0, 0, false
}
