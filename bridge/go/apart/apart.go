// Package apart connects services of two processes: services declared for calls in one process are called over a ring.
//
// The caller binds a service with [Bind]. The called process answers with [Handle], from its registered services.
// Either process may be in Rust, with the crate eddy-bridge-apart, which implements the same protocol.
package apart

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	bridge "github.com/eddy-gateway/eddy/bridge/go"
	"github.com/eddy-gateway/eddy/bridge/go/ring"
)

// Protocol of the bridge over a ring:
//
//	method 0   binds a service: its shape (8 bytes) and its name; the answer is its number (8 bytes)
//	method 1   calls: service and method (4 bytes each), then the request; the answer is the reply
//	failures   code 16: unknown service; 17: another declaration; 32 and above: a fault of kind code - 32
const (
	methodBind = 0
	methodCall = 1

	codeAbsent    = ring.FirstOwnCode
	codeDifferent = codeAbsent + 1
	codeFault     = 32
)

// Process is another process, used as a transport to its services.
type Process struct {
	link    *ring.Link
	timeout time.Duration
}

// New returns the process at the other end of a link. Calls take at most the timeout.
func New(link *ring.Link, timeout time.Duration) *Process { return &Process{link, timeout} }

// Bind finds a service by its name and the shape of its declaration, as in generated code.
func (p *Process) Bind(name string, shape uint64) (*bridge.Service, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.timeout)
	defer cancel()
	answer, err := p.link.Call(ctx, methodBind, append(binary.NativeEndian.AppendUint64(nil, shape), name...))
	var failure *ring.Failure
	switch {
	case errors.As(err, &failure) && failure.Code == codeAbsent:
		return nil, fmt.Errorf("the other process has no service %q", name)
	case errors.As(err, &failure) && failure.Code == codeDifferent:
		return nil, fmt.Errorf("%q of the other process was generated from another declaration: generate both sides from the same one and build again", name)
	case err != nil:
		return nil, fmt.Errorf("%q can't be bound: %w", name, err)
	case len(answer) != 8:
		return nil, fmt.Errorf("%q can't be bound: the answer is not a number", name)
	}
	return bridge.Over(p, uint32(binary.NativeEndian.Uint64(answer))), nil
}

// Call calls a method with a request and waits for the reply. A waiting goroutine holds no thread. When the context
// ends, the context in the other process ends as well.
func (p *Process) Call(ctx context.Context, service, method uint32, request []uint64) ([]uint64, error) {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	payload := make([]byte, 0, 8+8*len(request))
	payload = binary.NativeEndian.AppendUint32(payload, service)
	payload = append(binary.NativeEndian.AppendUint32(payload, method), bytesOf(request)...)
	reply, err := p.link.Call(limited, methodCall, payload)
	if err != nil {
		if given := ctx.Err(); given != nil && errors.Is(err, given) {
			return nil, given
		}
		return nil, faultOf(err)
	}
	words, isWhole := wordsOf(reply)
	if !isWhole {
		return nil, &bridge.Fault{Kind: bridge.FaultMalformed, Text: "the reply does not consist of whole words"}
	}
	return words, nil
}

// Handle answers calls of another process with the services registered in this one. It is a handler for a ring.
func Handle(ctx context.Context, method uint32, payload []byte) ([]byte, error) {
	switch method {
	case methodBind:
		return bind(payload)
	case methodCall:
		return answer(ctx, payload)
	}
	return nil, &ring.Failure{Code: ring.CodeUnknownMethod, Text: fmt.Sprint("the bridge has no method ", method)}
}

func bind(question []byte) ([]byte, error) {
	if len(question) < 8 {
		return nil, &ring.Failure{Code: codeAbsent, Text: "the service does not exist"}
	}
	number, shape, isThere := bridge.Registered(string(question[8:]))
	if !isThere {
		return nil, &ring.Failure{Code: codeAbsent, Text: "the service does not exist"}
	}
	if shape != binary.NativeEndian.Uint64(question) {
		return nil, &ring.Failure{Code: codeDifferent, Text: "the service has another declaration"}
	}
	return binary.NativeEndian.AppendUint64(nil, uint64(number)), nil
}

func answer(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) < 8 {
		return nil, &ring.Failure{Code: codeFault + uint32(bridge.FaultMalformed), Text: "the request has no target"}
	}
	service, method := binary.NativeEndian.Uint32(payload), binary.NativeEndian.Uint32(payload[4:])
	request, isWhole := wordsOf(payload[8:])
	if !isWhole {
		return nil, &ring.Failure{Code: codeFault + uint32(bridge.FaultMalformed), Text: "the request does not consist of whole words"}
	}
	status, reply := bridge.Dispatch(ctx, service, method, request)
	if status != 0 {
		return nil, &ring.Failure{Code: codeFault + status, Text: textOf(reply)}
	}
	return bytesOf(reply), nil
}

// textOf encodes the text of a fault: a record of one text with its position and length, then its bytes. The highest
// bit of the length marks a position.
func textOf(reply []uint64) string {
	if len(reply) < 2 {
		return ""
	}
	bytes, at, length := bytesOf(reply), reply[0], reply[1]&^(1<<63)
	if at > uint64(len(bytes)) || length > uint64(len(bytes))-at {
		return ""
	}
	return string(bytes[at:][:length])
}

// faultOf converts the error of a call without an answer to a fault of the bridge.
func faultOf(err error) error {
	var (
		failure *ring.Failure
		busy    *ring.BusyError
		tooLong *ring.TooLongError
	)
	switch {
	case errors.As(err, &failure):
		return &bridge.Fault{Kind: kindOf(failure.Code), Text: failure.Text}
	case errors.As(err, &busy):
		return &bridge.Fault{Kind: bridge.FaultCrowded, Text: err.Error()}
	case errors.As(err, &tooLong):
		return &bridge.Fault{Kind: bridge.FaultMalformed, Text: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &bridge.Fault{Kind: bridge.FaultDeadline, Text: err.Error()}
	}
	return &bridge.Fault{Kind: bridge.FaultClosed, Text: err.Error()}
}

func kindOf(code uint32) bridge.FaultKind {
	switch {
	case code >= codeFault:
		return bridge.FaultKind(code - codeFault)
	case code == ring.CodePanicked || code == ring.CodeUnanswered:
		return bridge.FaultPanic
	case code == ring.CodeBusy:
		return bridge.FaultCrowded
	}
	return bridge.FaultMalformed
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// wordsOf copies the bytes, because words must be aligned to eight bytes.
func wordsOf(bytes []byte) ([]uint64, bool) {
	words := make([]uint64, len(bytes)/8)
	copy(bytesOf(words), bytes)
	return words, len(bytes)%8 == 0
}

var _ bridge.Transport = (*Process)(nil)
