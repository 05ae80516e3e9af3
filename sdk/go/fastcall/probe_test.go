//go:build linux && gc && (amd64 || arm64)

package fastcall

import (
	"runtime"
	"testing"
)

func TestTheProbeSucceeds(t *testing.T) {
	if probe().Way == Nothing {
		t.Skip("built without cgo: nothing can be called")
	}
	for _, check := range probeRuntime() {
		if check.Problem != "" {
			t.Errorf("%s: %s", check.Name, check.Problem)
		}
	}
}

// Any wrong offset within the structures is detected by reading alone, before a call is made with it.
func TestNoOtherOffsetsPassTheProbe(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	right := offsets{m: offsetM, g0: offsetG0, sp: offsetSP}
	passed := 0
	for m := uintptr(0); m < 0x100; m += word {
		for g0 := uintptr(0); g0 < 0x100; g0 += word {
			for sp := uintptr(0); sp < 0x100; sp += word {
				at := offsets{m: m, g0: g0, sp: sp}
				checks, _ := probeStructures(at)
				if last := checks[len(checks)-1]; last.Problem != "" {
					if m != right.m || g0 != right.g0 {
						if last.Name == "the system stack has 16 KiB to spare" && sp == 0 {
							t.Logf("%#x got as far as the stack: %s", at, last.Problem)
						}
						break // the third offset was not checked
					}
					continue
				}
				passed++
				if at != right {
					t.Errorf("offsets %#x pass", at)
				}
			}
		}
	}
	if passed == 0 {
		t.Error("the right offsets don't pass")
	}
}

func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		probeRuntime()
	}
}
