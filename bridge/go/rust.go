package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Rust is what offers services of Rust: the program that has loaded this library, or a library.
type Rust struct {
	bind unsafe.Pointer
}

// Binder finds services: [Rust] does those of this process.
type Binder interface {
	Bind(name string, shape uint64) (*Service, error)
}

// host is the program that has loaded this library.
var host atomic.Pointer[Rust]

// Host is the program of Rust that has loaded this library, or is linked with it.
func Host() (Rust, error) {
	if rust := host.Load(); rust != nil {
		return *rust, nil
	}
	return Rust{}, errors.New("no program of Rust has opened this library yet: bind services in calls, not in init functions")
}

// Linked is a library of Rust that the program is linked with, by the address of its `eddy_bridge_rust_bind`.
func Linked(bind unsafe.Pointer) Rust { return Rust{bind} }

// bind is a question for a service, and its answer.
type bind struct {
	outcome       uint64 // the version of all that crosses, until it is answered
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
	// otherVersion: its number is the version that is there.
	otherVersion = 3
)

// Service is a service of Rust that was found. Generated code uses it.
type Service struct {
	// methods are functions of Rust, which take the words of a call and the context.
	methods []fastcall.Func
	context uintptr
	cancel  unsafe.Pointer

	// transport is another way than by calls of this process; there are no methods then.
	transport Transport
	number    uint32
}

// Transport is a way to services of another process. Any number of goroutines use it at once.
type Transport interface {
	// Call calls a method with a request, and waits for the reply until the context ends; the callee is told of that. An error may
	// be a [Fault].
	Call(ctx context.Context, service, method uint32, request []uint64) (reply []uint64, err error)
}

// Over makes a service of one behind a transport, by the number that it has there.
func Over(transport Transport, number uint32) *Service {
	return &Service{transport: transport, number: number}
}

// Bind finds a service that Rust offers. Generated code calls it.
func (r Rust) Bind(name string, shape uint64) (*Service, error) {
	if r.bind == nil {
		return nil, errors.New("no library of Rust: use Open, Linked or Host")
	}
	question := &bind{outcome: abi, shape: shape, complete: completeAddress(), nameLength: uint64(len(name))}
	if copy(question.name[:], name) != len(name) {
		return nil, fmt.Errorf("the name %q is longer than %d bytes", name, len(question.name))
	}
	fastcall.CallCgo(fastcall.Func(r.bind), unsafe.Pointer(question))
	switch question.outcome {
	case bound:
	case absent:
		return nil, fmt.Errorf("Rust offers no %q: it has to call eddy_bridge::offer, or to name it in eddy_bridge::export!", name)
	case otherVersion:
		return nil, fmt.Errorf("the bridge in Rust is version %d, this program's is %d: build both from the same release", question.number, abi)
	default:
		return nil, fmt.Errorf("%q of Rust was generated from another declaration: run eddy-bridge generate and build again", name)
	}
	return &Service{
		methods: unsafe.Slice((*fastcall.Func)(pointerAt(question.entries)), question.entriesLength),
		context: uintptr(question.context), cancel: pointerAt(question.cancel),
	}, nil
}
