package bridge

import "fmt"

// Fault is the error of a call without an answer. Errors that the callee returns are of type [SaidError].
type Fault struct {
	// Kind is the kind of failure.
	Kind FaultKind
	// Text is the message of the other side.
	Text string
}

// FaultKind is a kind of failure; the numbers are the status values of a block.
type FaultKind uint32

// Kinds of failures.
const (
	// FaultPanic means that the callee panicked; the text is that of the panic.
	FaultPanic FaultKind = 1
	// FaultMalformed means that a message does not match the declaration.
	FaultMalformed FaultKind = 2
	// FaultUnknown means that no service has this method.
	FaultUnknown FaultKind = 3
	// FaultCancelled means that the call was cancelled.
	FaultCancelled FaultKind = 4
	// FaultCrowded means that too many calls are in progress.
	FaultCrowded FaultKind = 5
	// FaultClosed means that the other side has closed.
	FaultClosed FaultKind = 6
	// FaultDeadline means that the deadline of the call has passed.
	FaultDeadline FaultKind = 7
)

var faultNames = map[FaultKind]string{
	FaultPanic:     "the callee panicked",
	FaultMalformed: "the message is invalid",
	FaultUnknown:   "no service has this method",
	FaultCancelled: "the call was cancelled",
	FaultCrowded:   "too many calls are in progress",
	FaultClosed:    "the other side has closed",
	FaultDeadline:  "the deadline of the call has passed",
}

func (f *Fault) Error() string { return faultNames[f.Kind] + ": " + f.Text }

// SaidError is an error that the callee returned, of the declared type.
type SaidError[E any] struct {
	// Value is the returned error.
	Value E
}

func (e *SaidError[E]) Error() string { return fmt.Sprint(e.Value) }

// settle converts the panic of reading an invalid message to an error.
func settle(recovered any, err *error) {
	if recovered == nil {
		return
	}
	fault, ok := recovered.(*Fault)
	if !ok {
		panic(recovered)
	}
	*err = fault
}

// faultOf converts a recovered panic to a fault.
func faultOf(recovered any) *Fault {
	if fault, ok := recovered.(*Fault); ok {
		return fault
	}
	return &Fault{FaultPanic, fmt.Sprint(recovered)}
}

// malformed panics with a fault, which is recovered by the caller of every message reader.
func malformed(text string) {
	panic(&Fault{FaultMalformed, text})
}
