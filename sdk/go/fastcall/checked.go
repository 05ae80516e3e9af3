package fastcall

import (
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// Calls has the measurements of EDDY_FASTCALL=check for one native function.
type Calls struct {
	// Func is the function; addr2line or a debugger shows its name.
	Func Func
	// Count is the number of calls.
	Count uint64
	// Slow is the number of calls that took more than a microsecond. A few in a thousand are caused by the machine
	// (another program had the processor), more by the function.
	Slow uint64
	// Shortest and Longest are the extremes, including some 50 ns of the clock itself.
	Shortest, Longest time.Duration
}

// String returns one line for a log.
func (c Calls) String() string {
	return fmt.Sprintf("function %p: %d calls, %d over %v, shortest %v, longest %v",
		unsafe.Pointer(c.Func), c.Count, c.Slow, slow, c.Shortest, c.Longest)
}

// Report returns the measurements since the start of the program with EDDY_FASTCALL=check, the function with the
// longest call first. It is empty in other programs.
func Report() []Calls {
	measured.Lock()
	defer measured.Unlock()
	report := make([]Calls, 0, len(measured.calls))
	for _, calls := range measured.calls {
		report = append(report, *calls)
	}
	slices.SortFunc(report, func(a, b Calls) int { return int(b.Longest - a.Longest) })
	return report
}

// callChecked is the fast path with time measurement.
func callChecked(fn Func, arg unsafe.Pointer, length uintptr) uintptr {
	start := time.Now()
	result := nativeCall(unsafe.Pointer(fn), arg, length)
	note(fn, time.Since(start))
	return result
}

func note(fn Func, took time.Duration) {
	measured.Lock()
	defer measured.Unlock()
	calls := measured.calls[fn]
	if calls == nil {
		calls = &Calls{Func: fn, Shortest: took}
		measured.calls[fn] = calls
	}
	calls.Count++
	calls.Shortest = min(calls.Shortest, took)
	calls.Longest = max(calls.Longest, took)
	if took > slow {
		calls.Slow++
	}
}

// measured has an entry for each called function: at most the number of native functions in the program.
var measured = struct {
	sync.Mutex
	calls map[Func]*Calls
}{calls: map[Func]*Calls{}}

// slow is the duration that the rules for native functions call too long.
const slow = time.Microsecond
