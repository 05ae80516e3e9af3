//go:build linux && gc && (amd64 || arm64)

// Package tick shows Go's monitor that a worker's thread makes progress.
//
// The runtime's monitor (sysmon) takes the processor away from a thread that has been in native code while the
// schedtick of the processor did not change for 10 ms. The goroutine of a thread that native code owns is never
// scheduled, so its processor's schedtick never changes, however often native code calls Go: the monitor checks every
// 20 µs, takes the processor each time, and the next call has to find another one. On a busy gateway that costs more
// than the calls.
//
// Bump increments schedtick, like the scheduler. It writes one word of the runtime's memory, and only if [Probe] has
// located the word by its context; otherwise nothing is written, and calls keep the extra cost.
package tick

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// Offsets: g.m as for fast calls, the others as in all versions from 1.24 to 1.27.
const (
	offsetM         = 0x30 // g.m
	offsetStatus    = 4    // p.status
	offsetSchedtick = 16   // p.schedtick
	offsetPM        = 48   // p.m, which refers back
	running         = 1    // _Prunning
	searched        = 0x180
)

// offsetP is the offset of a thread's processor (m.p); 0 while Bump is off.
var offsetP uintptr

// Bump records progress. Call it on the thread of a worker, in each call from native code.
//
//go:noescape
func Bump()

// currentG returns the goroutine, as known to the runtime.
//
//go:noescape
func currentG() uintptr

// Probe locates the word and turns Bump on; it returns the reason if Bump stays off. EDDY_GO_TICK=0 keeps it off.
func Probe() (reason string) {
	if os.Getenv("EDDY_GO_TICK") == "0" {
		return "EDDY_GO_TICK=0"
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if r := recover(); r != nil {
			offsetP, reason = 0, fmt.Sprint("reading the runtime's memory failed: ", r)
		}
	}()
	at, reason := find()
	if reason == "" {
		reason = confirm(at)
	}
	if reason == "" {
		offsetP = at
	}
	return reason
}

// Reset turns Bump off.
func Reset() { offsetP = 0 }

// find searches the thread's structure for the only word that points to a processor which refers back.
func find() (at uintptr, reason string) {
	m := load(currentG() + offsetM)
	if m == 0 || m%8 != 0 {
		return 0, "the goroutine has no thread where it should have one"
	}
	for offset := uintptr(0); offset < searched; offset += 8 {
		p := load(m + offset)
		if !isProcessor(p, m) {
			continue
		}
		if at != 0 {
			return 0, "two words of the thread look like its processor"
		}
		at = offset
	}
	if at == 0 {
		return 0, "no word of the thread looks like its processor"
	}
	return at, ""
}

func isProcessor(p, m uintptr) (is bool) {
	// Other words are not addresses, or addresses of pages that cannot be read.
	if p < 1<<16 || p%8 != 0 || p>>47 != 0 {
		return false
	}
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	id := int32(load32(p))
	return id >= 0 && int(id) < runtime.GOMAXPROCS(0) && load32(p+offsetStatus) == running && load(p+offsetPM) == m
}

// confirm runs the scheduler and checks whether the word changes like schedtick.
func confirm(at uintptr) string {
	for range 1000 {
		p := load(load(currentG()+offsetM) + at)
		before := load32(p + offsetSchedtick)
		runtime.Gosched()
		if load(load(currentG()+offsetM)+at) != p {
			continue
		}
		switch moved := load32(p+offsetSchedtick) - before; {
		case moved == 0:
			return "the processor's tick stands still when it should move"
		case moved > 1_000_000:
			return "the processor's tick moves as no tick does"
		default:
			return ""
		}
	}
	return "the goroutine never came back to its processor"
}

//go:nocheckptr
func load(address uintptr) uintptr { return *(*uintptr)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) }

//go:nocheckptr
func load32(address uintptr) uint32 { return *(*uint32)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) }
