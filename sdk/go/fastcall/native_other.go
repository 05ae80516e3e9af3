//go:build !linux || !gc || !(amd64 || arm64)

package fastcall

import "unsafe"

// isAssembled is whether there is assembly for this system.
const isAssembled = false

// CallWith calls `uintptr_t fn(void *arg, uintptr_t word)`, as [Call] does.
func CallWith(fn Func, arg unsafe.Pointer, word uintptr) uintptr {
	return callOtherwise(unsafe.Pointer(fn), arg, word)
}

func nativeCall(_, _ unsafe.Pointer, _ uintptr) uintptr {
	panic("fastcall: no assembly for this system") // Invariant: the way is never Assembly here.
}

func probeRuntime() []Check {
	return []Check{{Name: "assembly", Problem: "there is none for this system"}}
}
