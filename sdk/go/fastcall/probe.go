//go:build linux && gc && (amd64 || arm64)

package fastcall

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// The probe asks whether the runtime is built as the assembly believes, reading only. When all answers fit, it makes a
// call to a native function that looks at its surroundings. Each answer restricts where the next one reads, reading a
// wrong address is caught, and no call is made before the rest fits: a runtime that is built otherwise costs the
// program some speed, never its life.

// offsets are where things are believed to be; see offsetM and its neighbours.
type offsets struct {
	m, g0, sp uintptr
}

// testimony is what the probe's native function saw; the assembly fills it in.
type testimony struct {
	sp     uintptr
	g      uintptr
	length uintptr
}

// anatomy is what the reading part of the probe has found so far.
type anatomy struct {
	g, m, g0 uintptr
	sp       uintptr // where native code's stack will begin
	low      uintptr // where it will end
}

// probeRuntime returns all checks up to the first that failed.
func probeRuntime() []Check {
	// What is read belongs to the thread; the goroutine must not change it meanwhile.
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

// probeStructures asks everything that can be asked by reading.
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

// problemOf asks, taking a read from nowhere for an answer.
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

// tryCall makes two calls, one of them deeper on the goroutine's stack, and compares what the callee saw with what was
// read.
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

// read reads a word of the runtime's structures, which no Go pointer leads to.
//
//go:nocheckptr
//go:noinline
func read(address uintptr) uintptr {
	return **(**uintptr)(unsafe.Pointer(&address))
}

const (
	word = unsafe.Sizeof(uintptr(0))

	// spare is the stack that native functions are promised.
	spare = 16 << 10

	// currentWithin is how much of m is searched for its current goroutine; its place moves from version to version.
	currentWithin = 0x180

	// lowestAddress is below every mapping of a program.
	lowestAddress = 4096

	// witnessResult is what the assembly's witness returns.
	witnessResult = 0x7e577e57
)
