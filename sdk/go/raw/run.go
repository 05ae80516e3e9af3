package raw

import (
	"fmt"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// Run enters the filters of a call: first it tells them of exchanges that are over, then it runs the steps until one
// does not say [Continue]. It is for the bridge and for hosts of tests.
//
// A panic of a filter becomes its fault, with the panic's value and the filter's stack for the log.
func Run(c *Call) {
	defer barrier(c)
	c.Stopped = c.StepsLen
	if c.EndedLen != 0 {
		runEnded(c)
	}
	if c.Phase == PhaseNone {
		return
	}
	steps := unsafe.Slice(c.Steps, int(c.StepsLen))
	for i := range steps {
		s := &steps[i]
		c.Stopped = uint32(i)
		entry := filters.get(s.Filter)
		if entry == nil || entry.handle != s.Filter {
			fail(c, s, c.EditsLen, "the gateway entered a filter that this library does not have (any more)")
			return
		}
		before := c.EditsLen
		*c.Current = s.ID
		var v Verdict
		if c.Flags&CallSampled == 0 {
			v = entry.filter.Run(c, s)
		} else {
			v = timed(entry.filter, c, s)
		}
		*c.Current = 0
		if v != Continue {
			if v > Reset {
				fail(c, s, before, fmt.Sprintf("the filter gave the verdict %d, which there is not", v))
				return
			}
			s.Verdict = v
			return
		}
		s.Verdict = Continue
	}
	c.Stopped = c.StepsLen
}

func timed(f Filter, c *Call, s *Step) Verdict {
	start := time.Now()
	v := f.Run(c, s)
	s.Nanos = uint32(min(time.Since(start), 1<<32-1))
	return v
}

// barrier ends a panic, or a call of runtime.Goexit, of the step that is running.
func barrier(c *Call) {
	r := recover()
	if r == nil && *c.Current == 0 {
		return
	}
	if c.Stopped >= c.StepsLen {
		if r == nil {
			// Goexit at the end of an exchange, which tellEnded has told of.
			return
		}
		*c.Current = 0
		WriteLog(0, LevelError, "the kit panicked outside of all filters: "+PanicText(r))
		return
	}
	steps := unsafe.Slice(c.Steps, int(c.StepsLen))
	s := &steps[c.Stopped]
	if r == nil {
		// Goexit can't be taken back: on a thread of the gateway it ends the process when this function returns.
		WriteLog(s.ID, LevelError, "the filter called runtime.Goexit in a hook, which ends the process: "+stack())
		// `current` stays: it tells the gateway's parent who it was.
		return
	}
	*c.Current = 0
	fail(c, s, stepStart(c), PanicText(r))
}

// fail takes the edits of a step back, and says why it failed.
func fail(c *Call, s *Step, before uint32, why string) {
	c.EditsLen = before
	s.Verdict = Fault
	if c.Edit(OpFault, "", why, 0) != nil {
		// The verdict alone must do.
		return
	}
}

// FailStep takes the edits of the running step back, and says why it failed. A filter returns its verdict.
func (c *Call) FailStep(s *Step, why string) Verdict {
	fail(c, s, stepStart(c), why[:min(len(why), FaultBytes)])
	return Fault
}

// stepStart finds where the edits of the running step begin.
func stepStart(c *Call) uint32 {
	log := c.Log()
	for at := uint32(0); ; {
		r, next, more := log.at(at)
		if !more || uint32(r.Step) >= c.Stopped {
			return at
		}
		at = next
	}
}

func runEnded(c *Call) {
	ended := unsafe.Slice(c.Ended, int(c.EndedLen))
	entered := *c.Current
	for i := range ended {
		tellEnded(c, &ended[i])
	}
	*c.Current = entered
}

// tellEnded tells a filter of the end of an exchange. Meanwhile `current` names this filter, not the one whose step
// comes first.
func tellEnded(c *Call, e *Ended) {
	entry := filters.get(e.Filter)
	if entry == nil || entry.handle != e.Filter {
		return
	}
	*c.Current = entry.id
	finished := false
	defer func() {
		if r := recover(); r != nil {
			WriteLog(entry.id, LevelError, "the filter panicked at the end of an exchange: "+PanicText(r))
		} else if !finished {
			WriteLog(entry.id, LevelError, "the filter called runtime.Goexit at the end of an exchange, which ends the process: "+stack())
		}
	}()
	entry.filter.Ended(e.State, e.Reason)
	finished = true
}

// FaultBytes is the most that is said of a panic, stack included.
const FaultBytes = 4096

// PanicText describes a panic: the value's type and text, and the stack below the panic. It is for deferred functions
// that have just recovered.
func PanicText(r any) string {
	var text string
	func() {
		defer func() {
			if recover() != nil {
				text = fmt.Sprintf("panic (%T), whose text can't be made", r)
			}
		}()
		text = fmt.Sprintf("panic (%T): %v", r, r)
	}()
	if len(text) > FaultBytes/2 {
		text = text[:FaultBytes/2] + "..."
	}
	text += "\n" + stack()
	if len(text) > FaultBytes {
		text = text[:FaultBytes]
	}
	return strings.ToValidUTF8(text, "?")
}

// GoexitText describes a call of runtime.Goexit, with the stack below it. It is for deferred functions that run because of
// one.
func GoexitText() string {
	text := "the filter called runtime.Goexit\n" + stack()
	return strings.ToValidUTF8(text[:min(len(text), FaultBytes)], "?")
}

// stack gives the frames below the panic or Goexit that is under way.
func stack() string {
	buffer := make([]byte, 4*FaultBytes)
	text := string(buffer[:runtime.Stack(buffer, false)])
	for _, mark := range []string{"\npanic(", "\nruntime.Goexit("} {
		if at := strings.LastIndex(text, mark); at >= 0 {
			rest := text[at+1:]
			// Two lines a frame: the function and its place.
			for range 2 {
				if end := strings.IndexByte(rest, '\n'); end >= 0 {
					rest = rest[end+1:]
				}
			}
			// What is below belongs to the kit or the gateway.
			rest, _, _ = strings.Cut(rest, "\n"+runName+"(")
			return rest
		}
	}
	return text
}

const runName = "github.com/eddy-gateway/eddy/sdk/go/raw.Run"

func unsafeBytes(data *byte, n uint32) []byte { return unsafe.Slice(data, int(n)) }
