package raw

import (
	"fmt"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// Run runs the filters of a call: first it reports ended exchanges to them, then it runs the steps until one does not
// return [Continue]. For the bridge and for test hosts.
//
// A panic of a filter becomes its fault, with the panic value and the filter's stack for the log.
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
				fail(c, s, before, fmt.Sprintf("the filter returned verdict %d, which does not exist", v))
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

// barrier recovers a panic, or handles runtime.Goexit, of the running step.
func barrier(c *Call) {
	r := recover()
	if r == nil && *c.Current == 0 {
		return
	}
	if c.Stopped >= c.StepsLen {
		if r == nil {
			// Goexit at the end of an exchange, which reportEnded has reported.
			return
		}
		*c.Current = 0
		WriteLog(0, LevelError, "the SDK panicked outside of all filters:  "+PanicText(r))
		return
	}
	steps := unsafe.Slice(c.Steps, int(c.StepsLen))
	s := &steps[c.Stopped]
	if r == nil {
		// Goexit cannot be undone: on a thread of the gateway it ends the process when this function returns.
		WriteLog(s.ID, LevelError, "the filter called runtime.Goexit in a hook, which ends the process: "+stack())
		// `current` is kept: it names the filter for the parent process of the gateway.
		return
	}
	*c.Current = 0
	fail(c, s, stepStart(c), PanicText(r))
}

// fail drops the edits of a step and records the reason of its failure.
func fail(c *Call, s *Step, before uint32, why string) {
	c.EditsLen = before
	s.Verdict = Fault
	if c.Edit(OpFault, "", why, 0) != nil {
		// Without space for the reason, the verdict is enough.
		return
	}
}

// FailStep drops the edits of the running step and records the reason of its failure. It returns the verdict for the
// filter.
func (c *Call) FailStep(s *Step, why string) Verdict {
	fail(c, s, stepStart(c), why[:min(len(why), FaultBytes)])
	return Fault
}

// stepStart returns the offset at which the edits of the running step start.
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
		reportEnded(c, &ended[i])
	}
	*c.Current = entered
}

// reportEnded reports the end of an exchange to a filter. Meanwhile `current` names this filter, not that of the first
// step.
func reportEnded(c *Call, e *Ended) {
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

// FaultBytes is the maximum size of the description of a panic, including the stack.
const FaultBytes = 4096

// PanicText describes a panic: type and text of the value, and the stack below the panic. For deferred functions that
// have just recovered.
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

// GoexitText describes a call of runtime.Goexit, with the stack below it. For deferred functions that run because of
// it.
func GoexitText() string {
	text := "the filter called runtime.Goexit\n" + stack()
	return strings.ToValidUTF8(text[:min(len(text), FaultBytes)], "?")
}

// stack returns the frames below the current panic or Goexit.
func stack() string {
	buffer := make([]byte, 4*FaultBytes)
	text := string(buffer[:runtime.Stack(buffer, false)])
	for _, mark := range []string{"\npanic(", "\nruntime.Goexit("} {
		if at := strings.LastIndex(text, mark); at >= 0 {
			rest := text[at+1:]
			// A frame has two lines: the function and its source position.
			for range 2 {
				if end := strings.IndexByte(rest, '\n'); end >= 0 {
					rest = rest[end+1:]
				}
			}
			// The frames below belong to the SDK or the gateway.
			rest, _, _ = strings.Cut(rest, "\n"+runName+"(")
			return rest
		}
	}
	return text
}

const runName = "github.com/eddy-gateway/eddy/sdk/go/raw.Run"

func unsafeBytes(data *byte, n uint32) []byte { return unsafe.Slice(data, int(n)) }
