package fastcall

import (
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// Calls is what EDDY_FASTCALL=check has seen of one native function.
type Calls struct {
	// Func is the function; addr2line or a debugger turns it into a name.
	Func Func
	// Count is how often it was called.
	Count uint64
	// Slow is how many of those took more than a microsecond. A few in a thousand are the machine's affair (another
	// program had the processor); more are the function's.
	Slow uint64
	// Shortest and Longest are the extremes, the clock's own some 50 ns included.
	Shortest, Longest time.Duration
}

// String is one line for a log.
func (c Calls) String() string {
	return fmt.Sprintf("function %p: %d calls, %d over %v, shortest %v, longest %v",
		unsafe.Pointer(c.Func), c.Count, c.Slow, slow, c.Shortest, c.Longest)
}

// Report tells what has been measured since the program started with EDDY_FASTCALL=check, the function with the longest
// call first. It is empty in other programs.
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

// callChecked is the fast way with a clock around it.
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

// measured has an entry for each function that was called: as many as the program has native functions.
var measured = struct {
	sync.Mutex
	calls map[Func]*Calls
}{calls: map[Func]*Calls{}}

// slow is what the rules for native functions call too long.
const slow = time.Microsecond
