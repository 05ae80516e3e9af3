package bridge

import "fmt"

// Fault is why a call has no answer: not what the callee says, but that it said nothing.
type Fault struct {
	// Kind tells what kind of failure.
	Kind FaultKind
	// Text is what the other side says of it.
	Text string
}

// FaultKind is a kind of failure; the numbers are those of the status in a block.
type FaultKind uint32

// The kinds.
const (
	// FaultPanic: the callee panicked; the text is the panic's.
	FaultPanic FaultKind = 1
	// FaultMalformed: a message is not what the declaration says.
	FaultMalformed FaultKind = 2
	// FaultUnknown: nobody serves the call.
	FaultUnknown FaultKind = 3
	// FaultCancelled: the call was given up.
	FaultCancelled FaultKind = 4
	// FaultCrowded: more calls are under way than may be.
	FaultCrowded FaultKind = 5
	// FaultClosed: the other side is gone.
	FaultClosed FaultKind = 6
	// FaultDeadline: the time for the call is over.
	FaultDeadline FaultKind = 7
)

var faultNames = map[FaultKind]string{
	FaultPanic:     "the callee panicked",
	FaultMalformed: "the message is wrong",
	FaultUnknown:   "nobody serves the call",
	FaultCancelled: "the call was given up",
	FaultCrowded:   "too many calls are under way",
	FaultClosed:    "the other side is gone",
	FaultDeadline:  "the time for the call is over",
}

func (f *Fault) Error() string { return faultNames[f.Kind] + ": " + f.Text }

// SaidError is an error that the callee returned, as the declaration has it.
type SaidError[E any] struct {
	// Value is what it returned.
	Value E
}

func (e *SaidError[E]) Error() string { return fmt.Sprint(e.Value) }

// settle turns what reading a message that is wrong panics with into an error.
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

// faultOf makes the fault of a recovered panic.
func faultOf(recovered any) *Fault {
	if fault, ok := recovered.(*Fault); ok {
		return fault
	}
	return &Fault{FaultPanic, fmt.Sprint(recovered)}
}

// malformed panics with a fault, for the barrier that every reader of messages has above it.
func malformed(text string) {
	panic(&Fault{FaultMalformed, text})
}
