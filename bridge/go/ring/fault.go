package ring

import (
	"fmt"
	"strings"
	"time"
)

// Fault is why a link ended. Calls that were under way, and later ones, return it.
type Fault struct {
	kind   FaultKind
	reason string
}

// FaultKind tells faults apart.
type FaultKind uint8

// The kinds of faults.
const (
	// Gone: the other process died or closed the link.
	Gone FaultKind = iota + 1
	// Stalled: the other process lives, but left a full ring untouched: it hangs, or is stopped.
	Stalled
	// Misconduct: the other process wrote what the protocol doesn't allow.
	Misconduct
	// Closed: the link was closed on this side.
	Closed
	// Socket: the link's socket failed.
	Socket
)

// Kind is what kind of fault it is.
func (f *Fault) Kind() FaultKind { return f.kind }

func (f *Fault) Error() string {
	switch f.kind {
	case Gone:
		return "the link has ended: the other process is gone: it died or closed the link"
	case Stalled:
		return "the link has ended: the other process took nothing out of a full ring for " + f.reason + ": it hangs or is stopped"
	case Misconduct:
		return "the link has ended: the other process broke the ring's protocol: " + f.reason
	case Closed:
		if f.reason != "" {
			return "the link has ended: it was closed on this side: " + f.reason
		}
		return "the link has ended: it was closed on this side"
	default:
		return "the link has ended: its socket failed: " + f.reason
	}
}

func stalled(limit time.Duration) *Fault { return &Fault{Stalled, limit.String()} }

// misconduct is a fault with what the other process wrote.
func misconduct(format string, values ...any) *Fault {
	return &Fault{Misconduct, fmt.Sprintf(format, values...)}
}

// Failure is what the one who was called says instead of an answer.
type Failure struct {
	// Code is what kind of failure it is: below [FirstOwnCode] one of the constants here, above it the called side's own.
	Code uint32
	// Text is for people; at most 4 KiB of it are sent.
	Text string
}

// The codes of failures that have a meaning for all.
const (
	// CodePanicked: the handler panicked.
	CodePanicked uint32 = 1
	// CodeUnknownMethod: there is no such method.
	CodeUnknownMethod uint32 = 2
	// CodeBusy: the called side has as many calls as it takes at a time.
	CodeBusy uint32 = 3
	// CodeUnanswered: the handler let the call go without an answer.
	CodeUnanswered uint32 = 4
	// CodeAnswerTooLong: the answer is longer than the caller accepts.
	CodeAnswerTooLong uint32 = 5
	// CodeFailed: the handler said that it failed, and no more.
	CodeFailed uint32 = 6
	// FirstOwnCode is the first one that the called side may give a meaning of its own.
	FirstOwnCode uint32 = 16
)

func (f *Failure) Error() string {
	return fmt.Sprintf("the call failed in the other process: %s (code %d)", f.Text, f.Code)
}

// text is what is sent of the failure's text.
func (f *Failure) text() []byte {
	if len(f.Text) <= textBytesMax {
		return []byte(f.Text)
	}
	return []byte(strings.ToValidUTF8(f.Text[:textBytesMax], ""))
}

// TooLongError is a message that is longer than the other side accepts.
type TooLongError struct{ Bytes, Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a message of %d bytes is more than the %d that the other process accepts", e.Bytes, e.Limit)
}

// BusyError says that as many calls are unanswered as the two sides allow.
type BusyError struct{ Limit int }

func (e *BusyError) Error() string {
	return fmt.Sprintf("%d calls are unanswered already, more are not allowed at a time", e.Limit)
}

const textBytesMax = 4096

var (
	_ error = (*Fault)(nil)
	_ error = (*Failure)(nil)
	_ error = (*TooLongError)(nil)
	_ error = (*BusyError)(nil)
)
