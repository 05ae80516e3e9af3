//go:build linux && gc && (amd64 || arm64)

package fastcall

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// The probe checks whether the runtime has the layout that the assembly expects, first only by reading. If all checks
// pass, it calls a native function that inspects its environment. Each check restricts where the next one reads,
// reading a wrong address is recovered, and no call is made before all other checks pass: with another runtime layout,
// the program becomes slower but never crashes.

// offsets are the expected offsets; see offsetM and its neighbours.
type offsets struct {
	m, g0, sp uintptr
}

// testimony is what the probe's native function observed; the assembly fills it.
type testimony struct {
	sp     uintptr
	g      uintptr
	length uintptr
}

// anatomy has the results of the reading part of the probe.
type anatomy struct {
	g, m, g0 uintptr
	sp       uintptr // start of the stack for native code
	low      uintptr // its end
}

// probeRuntime returns all checks up to the first failed one.
func probeRuntime() []Check {
	// The reads are of this thread; the goroutine must not move to another one meanwhile.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	checks, found := probeStructures(offsets{m: offsetM, g0: offsetG0, sp: offsetSP})
	if checks[len(checks)-1].Problem != "" {
		return checks
	}
	return append(checks, Check{Name: "a call sees the system stack and comes back", Problem: problemOf(func() string {
		return tryCall(found)
	})})
}

// probeStructures makes all checks that only read.
func probeStructures(at offsets) ([]Check, anatomy) {
	var found anatomy
	steps := []struct {
		name string
		ask  func() string
	}{
		{"the thread and the register name the same goroutine", func() string { return askG(&found) }},
		{"the stack pointer lies in the goroutine's stack", func() string { return askStack(found) }},
		{"the goroutine has a thread", func() string { return askM(at, &found) }},
		{"the thread has a system stack that points back at it", func() string { return askG0(at, &found) }},
		{"the system stack has 16 KiB to spare", func() string { return askSystemStack(at, &found) }},
		{"the thread knows its goroutine", func() string { return askCurrent(found) }},
	}
	var checks []Check
	for _, step := range steps {
		problem := problemOf(step.ask)
		checks = append(checks, Check{Name: step.name, Problem: problem})
		if problem != "" {
			break
		}
	}
	return checks, found
}

// problemOf runs a check; a read of an invalid address counts as a failure.
func problemOf(ask func() string) (problem string) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if caught := recover(); caught != nil {
			problem = fmt.Sprint("led to an address that can't be read: ", caught)
		}
	}()
	return ask()
}

func askG(found *anatomy) string {
	fromThread, fromRegister := currentG()
	if fromThread != fromRegister {
		return fmt.Sprintf("they name %#x and %#x", fromThread, fromRegister)
	}
	found.g = fromThread
	return problemOfPointer(found.g)
}

func askStack(found anatomy) string {
	low, high, sp := read(found.g), read(found.g+word), currentSP()
	if low < sp && sp < high {
		return ""
	}
	return fmt.Sprintf("%#x is not between %#x and %#x", sp, low, high)
}

func askM(at offsets, found *anatomy) string {
	found.m = read(found.g + at.m)
	return problemOfPointer(found.m)
}

func askG0(at offsets, found *anatomy) string {
	found.g0 = read(found.m + at.g0)
	if problem := problemOfPointer(found.g0); problem != "" {
		return problem
	}
	if found.g0 == found.g {
		return "it is the goroutine itself"
	}
	if back := read(found.g0 + at.m); back != found.m {
		return fmt.Sprintf("it points at %#x instead of %#x", back, found.m)
	}
	return ""
}

func askSystemStack(at offsets, found *anatomy) string {
	low, high, sp := read(found.g0), read(found.g0+word), read(found.g0+at.sp)
	if sp%word != 0 {
		return fmt.Sprintf("%#x is no stack pointer", sp)
	}
	if sp <= low || sp >= high {
		return fmt.Sprintf("%#x is not between %#x and %#x", sp, low, high)
	}
	if sp-low < spare {
		return fmt.Sprintf("only %d bytes are left below %#x", sp-low, sp)
	}
	found.sp, found.low = sp, low
	return ""
}

func askCurrent(found anatomy) string {
	for offset := uintptr(0); offset < currentWithin; offset += word {
		if read(found.m+offset) == found.g {
			return ""
		}
	}
	return fmt.Sprintf("%#x is not among its first %#x bytes", found.g, currentWithin)
}

// tryCall makes two calls, one of them deeper on the goroutine's stack, and compares the observations of the callee
// with the values read.
func tryCall(found anatomy) string {
	for range 2 {
		const length = 0x5eed
		var seen testimony
		result := nativeCall(witnessAddress(), unsafe.Pointer(&seen), length)
		fromThread, fromRegister := currentG()
		switch {
		case result != witnessResult || seen.length != length:
			return fmt.Sprintf("the callee was given %#x and returned %#x", seen.length, result)
		case seen.sp > found.sp || seen.sp < found.sp-spare:
			return fmt.Sprintf("the callee ran at %#x instead of right below %#x", seen.sp, found.sp)
		case seen.sp%16 != alignmentAtEntry:
			return fmt.Sprintf("the callee's stack pointer was %#x, which C does not allow", seen.sp)
		case seen.g != found.g0:
			return fmt.Sprintf("the callee was on goroutine %#x instead of %#x", seen.g, found.g0)
		case fromThread != found.g || fromRegister != found.g:
			return fmt.Sprintf("after the call the goroutine is %#x and %#x instead of %#x", fromThread, fromRegister, found.g)
		}
		if problem := askStack(found); problem != "" {
			return "after the call: " + problem
		}
	}
	return ""
}

func problemOfPointer(address uintptr) string {
	if address < lowestAddress || address%word != 0 {
		return fmt.Sprintf("%#x is no pointer", address)
	}
	return ""
}

// read reads a word of the runtime's structures, which no Go pointer refers to.
//
//go:nocheckptr
//go:noinline
func read(address uintptr) uintptr {
	return **(**uintptr)(unsafe.Pointer(&address))
}

const (
	word = unsafe.Sizeof(uintptr(0))

	// spare is the stack size guaranteed to native functions.
	spare = 16 << 10

	// currentWithin is the part of m that is searched for its current goroutine, whose offset differs between versions.
	currentWithin = 0x180

	// lowestAddress is below every mapping of a program.
	lowestAddress = 4096

	// witnessResult is the result of the assembly's witness.
	witnessResult = 0x7e577e57
)
