package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Rust offers Rust services: the program that has loaded this library, or a Rust library.
type Rust struct {
	bind unsafe.Pointer
}

// Binder binds services: [Rust] binds those of this process.
type Binder interface {
	Bind(name string, shape uint64) (*Service, error)
}

// host is the program that has loaded this library.
var host atomic.Pointer[Rust]

// Host returns the Rust program that has loaded this library or is linked with it.
func Host() (Rust, error) {
	if rust := host.Load(); rust != nil {
		return *rust, nil
	}
	return Rust{}, errors.New("no Rust program has opened this library yet: bind services in calls, not in init functions")
}

// Linked returns a Rust library that the program is linked with, by the address of its `eddy_bridge_rust_bind`.
func Linked(bind unsafe.Pointer) Rust { return Rust{bind} }

// bind is a request to bind a service, and its answer.
type bind struct {
	outcome       uint64 // version of the interface; overwritten by the answer
	shape         uint64
	number        uint64
	entries       uint64
	entriesLength uint64
	context       uint64
	cancel        uint64
	complete      uint64
	nameLength    uint64
	name          [128]byte
}

const (
	bound     = 0
	absent    = 1
	different = 2
	// otherVersion means that the number is the version of the other side.
	otherVersion = 3
)

// Service is a bound Rust service. For generated code.
type Service struct {
	// methods are Rust functions, whose arguments are the words of a call and the context.
	methods []fastcall.Func
	context uintptr
	cancel  unsafe.Pointer

	// transport is used instead of calls in this process; methods is empty then.
	transport Transport
	number    uint32
}

// Transport calls services of another process. It is safe for concurrent use.
type Transport interface {
	// Call calls a method with a request and waits for the reply until the context ends; the callee is notified of
	// that. An error may be a [Fault].
	Call(ctx context.Context, service, method uint32, request []uint64) (reply []uint64, err error)
}

// Over returns a service behind a transport, by its number there.
func Over(transport Transport, number uint32) *Service {
	return &Service{transport: transport, number: number}
}

// Bind binds a service that Rust offers. For generated code.
func (r Rust) Bind(name string, shape uint64) (*Service, error) {
	if r.bind == nil {
		return nil, errors.New("no Rust library: use Open, Linked or Host")
	}
	question := &bind{outcome: abi, shape: shape, complete: completeAddress(), nameLength: uint64(len(name))}
	if copy(question.name[:], name) != len(name) {
		return nil, fmt.Errorf("the name %q is longer than %d bytes", name, len(question.name))
	}
	fastcall.CallCgo(fastcall.Func(r.bind), unsafe.Pointer(question))
	switch question.outcome {
	case bound:
	case absent:
		return nil, fmt.Errorf("Rust offers no %q: call eddy_bridge::offer, or name it in eddy_bridge::export!", name)
	case otherVersion:
		return nil, fmt.Errorf("the Rust bridge has version %d, this program has %d: build both from the same release", question.number, abi)
	default:
		return nil, fmt.Errorf("%q in Rust was generated from another declaration: run eddy-bridge generate and build again", name)
	}
	return &Service{
		methods: unsafe.Slice((*fastcall.Func)(pointerAt(question.entries)), question.entriesLength),
		context: uintptr(question.context), cancel: pointerAt(question.cancel),
	}, nil
}
