package bridge

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Context is the context of async methods: it ends when the caller cancels the call.
type Context = context.Context

// Method reads the arguments of a method, calls its implementation and writes the answer. For generated code.
type Method struct {
	// Serve runs the method and returns the reply: in the given space, or in its own memory if the space is too small.
	// ctx is nil unless the method is async. All values fit into registers.
	Serve func(ctx Context, in In, room []uint64) []uint64
	// Async means that the answer is sent later, from a separate goroutine.
	Async bool
}

// registry has the registered services. It is replaced and never modified, so calls read it without a lock.
type registry struct {
	services []served
	// methods has the methods of all services, so a call finds its method in one step.
	methods []Method
}

type served struct {
	name  string
	shape uint64
	// first is the index of the service's first method among all methods; the other field is their number.
	first, methods uint64
}

var (
	registering sync.Mutex
	registered  atomic.Pointer[registry]
)

func init() { registered.Store(&registry{}) }

// Register serves a service for Rust. For generated code. It panics if the name is already registered.
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

// Words of the header of a block.
const (
	// target: index of the method among all methods.
	target = iota
	// extent: words of the block, and the index at which the space for the reply starts.
	extent
	// outcome: status and number of words of the reply, set by the callee.
	outcome
	// place: set by the callee if the reply does not fit into the block.
	place
	// ticket: identifies an async call when its result is reported.
	ticket
	// headerWords is the number of header words.
	headerWords
)

type header [headerWords]uint64

// wordsMax is the maximum size of a block in words: 1 GiB.
const wordsMax = 1 << 27

// find returns the method of a call.
func (r *registry) find(target uint64) *Method {
	if target >= uint64(len(r.methods)) {
		noMethod(target)
	}
	return &r.methods[target]
}

// noMethod is separate so that find can be inlined.
//
//go:noinline
func noMethod(number uint64) {
	panic(&Fault{FaultUnknown, fmt.Sprintf("the Go library has no method number %d", number)})
}

// findIn returns a method of a service; the numbers are not trusted.
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

// bindGo handles a request of Rust to bind a service.
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

// enterGo runs a call whose caller blocks.
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

// parts returns the request and the reply space of a block.
func parts(block unsafe.Pointer) (In, []uint64) {
	e := (*header)(block)[extent]
	end, words := int(uint32(e)), int(e>>32)
	in := In{base: unsafe.Add(block, headerWords*8), words: end - headerWords}
	return in, (*[wordsMax]uint64)(unsafe.Add(block, end*8))[: 0 : words-end]
}

// barrier converts a panic to a fault for the caller.
func barrier(block unsafe.Pointer) {
	if r := recover(); r != nil {
		fail(block, faultOf(r))
	}
}

// fail returns a fault instead of a reply.
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

// finish returns the reply: in the space of the block, or in separate memory if it is too large.
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

// Dispatch calls a method with an untrusted request of another process. It returns a status, 0 or a [FaultKind], and
// the reply. Async methods get the context of the call.
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

// Registered returns the number and the shape of a registered service, for transports.
func Registered(name string) (number uint32, shape uint64, ok bool) {
	for i, s := range registered.Load().services {
		if s.name == name {
			return uint32(i), s.shape, true
		}
	}
	return 0, 0, false
}
