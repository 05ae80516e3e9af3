//go:build linux && gc && (amd64 || arm64)

package tick

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

func TestTheProcessorCounterAdvances(t *testing.T) {
	if reason := Probe(); reason != "" {
		t.Fatalf("%s: %s", runtime.Version(), reason)
	}
	defer Reset()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 1000 {
		p := load(load(currentG()+offsetM) + offsetP)
		before := load32(p + offsetSchedtick)
		Bump()
		after := load32(p + offsetSchedtick)
		if load(load(currentG()+offsetM)+offsetP) != p {
			continue // the scheduler ran in between
		}
		if after == before {
			t.Fatal("the tick stands still")
		}
		return
	}
	t.Fatal("the goroutine never kept its processor")
}

func TestNothingIsWrittenWhereItIsOff(t *testing.T) {
	Reset()
	Bump()
	t.Setenv("EDDY_GO_TICK", "0")
	if reason := Probe(); reason == "" || offsetP != 0 {
		t.Fatalf("it is on: %q", reason)
	}
}

func TestInvalidAddressesAreRefused(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	m := load(currentG() + offsetM)
	for _, wrong := range []uintptr{0, 1, 8, m, currentG(), 1 << 46, ^uintptr(7)} {
		if isProcessor(wrong, m) {
			t.Errorf("%#x passes for a processor", wrong)
		}
	}
	if confirm(0) == "" {
		t.Error("the first word of the thread passes for its processor")
	}
}

func TestManyThreadsAndTheCollector(t *testing.T) {
	if reason := Probe(); reason != "" {
		t.Fatal(reason)
	}
	defer Reset()
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			for i := range 20000 {
				Bump()
				if i%1000 == 0 {
					runtime.GC()
				}
			}
		}()
	}
	all.Wait()
}
