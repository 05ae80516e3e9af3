package ring

import (
	"fmt"
	"strings"
	"time"
)

// Fault is the reason for the end of a link. Calls in progress and later ones return it.
type Fault struct {
	kind   FaultKind
	reason string
}

// FaultKind is the kind of a fault.
type FaultKind uint8

// Kinds of faults.
const (
	// Gone means that the other process ended or closed the link.
	Gone FaultKind = iota + 1
	// Stalled means that the other process lives but did not read a full ring: it hangs or is stopped.
	Stalled
	// Misconduct means that the other process violated the protocol.
	Misconduct
	// Closed means that the link was closed on this side.
	Closed
	// Socket means that the socket of the link failed.
	Socket
)

// Kind returns the kind of the fault.
func (f *Fault) Kind() FaultKind { return f.kind }

func (f *Fault) Error() string {
	switch f.kind {
	case Gone:
		return "the link has ended: the other process ended or closed the link"
	case Stalled:
		return "the link has ended: the other process has not read a full ring for " + f.reason + ": it hangs or is stopped"
	case Misconduct:
		return "the link has ended: the other process violated the ring protocol: " + f.reason
	case Closed:
		if f.reason != "" {
			return "the link has ended: it was closed on this side: " + f.reason
		}
		return "the link has ended: it was closed on this side"
	default:
		return "the link has ended: the socket of the link failed: " + f.reason
	}
}

func stalled(limit time.Duration) *Fault { return &Fault{Stalled, limit.String()} }

// misconduct returns a fault that describes a protocol violation of the other process.
func misconduct(format string, values ...any) *Fault {
	return &Fault{Misconduct, fmt.Sprintf(format, values...)}
}

// Failure is the error of the called side, instead of an answer.
type Failure struct {
	// Code is the kind of failure: below [FirstOwnCode] one of the constants here, otherwise defined by the called
	// side.
	Code uint32
	// Text is a human-readable message; at most 4 KiB of it are sent.
	Text string
}

// Predefined failure codes.
const (
	// CodePanicked means that the handler panicked.
	CodePanicked uint32 = 1
	// CodeUnknownMethod means that the method does not exist.
	CodeUnknownMethod uint32 = 2
	// CodeBusy means that the called side has its maximum number of concurrent calls.
	CodeBusy uint32 = 3
	// CodeUnanswered means that the handler ended without an answer.
	CodeUnanswered uint32 = 4
	// CodeAnswerTooLong means that the answer is longer than the caller accepts.
	CodeAnswerTooLong uint32 = 5
	// CodeFailed means that the handler reported a failure without a code.
	CodeFailed uint32 = 6
	// FirstOwnCode is the first code that the called side may define itself.
	FirstOwnCode uint32 = 16
)

func (f *Failure) Error() string {
	return fmt.Sprintf("the call failed in the other process: %s (code %d)", f.Text, f.Code)
}

// text returns the part of the text that is sent.
func (f *Failure) text() []byte {
	if len(f.Text) <= textBytesMax {
		return []byte(f.Text)
	}
	return []byte(strings.ToValidUTF8(f.Text[:textBytesMax], ""))
}

// TooLongError is the error of a message that is longer than the other side accepts.
type TooLongError struct{ Bytes, Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a message has %d bytes; the other process accepts at most %d", e.Bytes, e.Limit)
}

// BusyError means that the maximum number of unanswered calls of both sides is reached.
type BusyError struct{ Limit int }

func (e *BusyError) Error() string {
	return fmt.Sprintf("the limit of %d concurrent calls is reached", e.Limit)
}

const textBytesMax = 4096

var (
	_ error = (*Fault)(nil)
	_ error = (*Failure)(nil)
	_ error = (*TooLongError)(nil)
	_ error = (*BusyError)(nil)
)
