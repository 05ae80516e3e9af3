//go:build cgo

package fastcall

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/internal/native"
)

// onEveryWay runs a test with assembly, with checked assembly and with cgo.
func onEveryWay(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Cleanup(Enable)
	for _, way := range []Way{Assembly, Checked, Cgo} {
		switch way {
		case Assembly:
			Enable()
		case Checked:
			startChecking("a test")
		case Cgo, Nothing:
			Disable()
		}
		t.Run(way.String(), func(t *testing.T) {
			if now := Status(); now.Way != way {
				t.Skipf("NOT TESTED: %v", now)
			}
			test(t)
		})
	}
}

func TestACallPassesItsArgumentAndResult(t *testing.T) {
	onEveryWay(t, func(t *testing.T) {
		marker := new(int)
		kept.Store(marker) // on the heap, so that it does not move
		if got := Call(Func(native.Identity), unsafe.Pointer(marker)); got != uintptr(unsafe.Pointer(marker)) {
			t.Errorf("the address of the argument came back as %#x", got)
		}
		if got := Call(Func(native.Identity), nil); got != 0 {
			t.Errorf("nil came back as %#x", got)
		}
		addition := native.Addition{Left: 1 << 40, Right: 2}
		if got := Call(Func(native.Add), unsafe.Pointer(&addition)); got != 1<<40+2 || addition.Sum != 1<<40+2 {
			t.Errorf("the sum is %d, returned %d", addition.Sum, got)
		}
		if got := CallCgo(Func(native.Add), unsafe.Pointer(&native.Addition{Left: 3, Right: 4})); got != 7 {
			t.Errorf("by cgo 3 and 4 are %d", got)
		}
	})
}

func TestBytesAreReadAndWrittenInPlace(t *testing.T) {
	onEveryWay(t, func(t *testing.T) {
		if got := CallString(Func(native.Sum), "\x01\x02\x03"); got != 6 {
			t.Errorf("the sum of a string's bytes is %d", got)
		}
		if got := CallString(Func(native.Sum), ""); got != 0 {
			t.Errorf("the sum of no bytes is %d", got)
		}
		if got := CallBytes(Func(native.Sum), nil); got != 0 {
			t.Errorf("the sum of no bytes is %d", got)
		}
		var buffer [28]byte
		if got := CallBytes(Func(native.Fill), buffer[:]); got != 28 || string(buffer[:]) != "abcdefghijklmnopqrstuvwxyzab" {
			t.Errorf("%d bytes filled: %q", got, buffer)
		}
	})
}

func TestAFunctionIsFoundByItsAddress(t *testing.T) {
	onEveryWay(t, func(t *testing.T) {
		if got := CallString(FuncAt(uintptr(native.Sum)), "\x07"); got != 7 {
			t.Errorf("the sum is %d", got)
		}
	})
}

func TestNothingEscapes(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates by itself")
	}
	onEveryWay(t, func(t *testing.T) {
		allocations := testing.AllocsPerRun(100, func() {
			addition := native.Addition{Left: 1, Right: 2}
			Call(Func(native.Add), unsafe.Pointer(&addition))
			var buffer [64]byte
			CallBytes(Func(native.Fill), buffer[:])
			CallString(Func(native.Sum), string(buffer[:20]))
		})
		if allocations != 0 {
			t.Errorf("%v allocations", allocations)
		}
	})
}

// A struct on the heap that points to further memory of Go: cgo's own check would refuse it.
func TestAnArgumentMayPointToFurtherMemoryOfGo(t *testing.T) {
	type nested struct {
		native.Addition
		text *string
	}
	onEveryWay(t, func(t *testing.T) {
		text := strings.Repeat("a", 3)
		arg := &nested{Addition: native.Addition{Left: 2, Right: 2}, text: &text}
		keptArg.Store(arg)
		if got := Call(Func(native.Add), unsafe.Pointer(arg)); got != 4 || *arg.text != "aaa" {
			t.Errorf("the sum is %d, the text %q", got, *arg.text)
		}
	})
}

var kept, keptArg atomic.Value

func TestACallHasTheSystemStack(t *testing.T) {
	onEveryWay(t, func(t *testing.T) {
		done := make(chan uintptr)
		go func() { done <- Call(Func(native.Stack), nil) }() // a new goroutine has about 2 KiB
		if got := <-done; got != 510 {
			t.Errorf("a function with a large frame returned %d", got)
		}
	})
}

// Calls from deep and shallow stacks of many goroutines, while the collector stops the world continuously.
func TestCallsTolerateGarbageCollection(t *testing.T) {
	onEveryWay(t, func(t *testing.T) {
		var stop atomic.Bool
		var collector, callers sync.WaitGroup
		collector.Add(1)
		go func() {
			defer collector.Done()
			for !stop.Load() {
				runtime.GC()
			}
		}()
		for caller := range 8 {
			callers.Add(1)
			go func() {
				defer callers.Done()
				for round := range 2000 {
					if got := descend(caller * round % 60); got != uintptr(caller*round%60)+510 {
						t.Errorf("a sum of %d", got)
						return
					}
				}
			}()
		}
		callers.Wait()
		stop.Store(true)
		collector.Wait()
	})
}

// descend calls native code at every depth.
//
//go:noinline
func descend(depth int) uintptr {
	if depth == 0 {
		return Call(Func(native.Stack), nil)
	}
	addition := native.Addition{Left: 1, Right: uint64(descend(depth - 1))}
	Call(Func(native.Add), unsafe.Pointer(&addition))
	garbage := make([]byte, 100)
	CallBytes(Func(native.Fill), garbage)
	Call(Func(native.Registers), unsafe.Pointer(&garbage[0]))
	return uintptr(addition.Sum)
}

func TestADisabledFastPathStaysDisabled(t *testing.T) {
	t.Cleanup(Enable)
	Disable()
	if now := Status(); now.Way != Cgo || !strings.Contains(now.String(), "fastcall.Disable was called") {
		t.Errorf("after Disable: %v", now)
	}
	Enable()
	for _, wish := range []string{"0", "off", "cgo", "OFF"} {
		begin(probe(), wish)
		if now := Status(); now.Way != Cgo || now.Reason != "EDDY_FASTCALL="+wish {
			t.Errorf("with %q: %v", wish, now)
		}
		Enable()
	}
}

func TestSlowFunctionsAreReported(t *testing.T) {
	if probe().Way != Assembly {
		t.Skipf("NOT TESTED: %v", probe())
	}
	t.Cleanup(Enable)
	begin(probe(), "check")
	nanoseconds := uint64(50_000)
	Call(Func(native.Spin), unsafe.Pointer(&nanoseconds))
	for _, calls := range Report() {
		if calls.Func == Func(native.Spin) {
			if calls.Slow != 1 || calls.Shortest < 50_000 || !strings.Contains(calls.String(), "1 over 1µs") {
				t.Errorf("reported as %v", calls)
			}
			return
		}
	}
	t.Error("the function is not in the report")
}
