//go:build !linux || !gc || !(amd64 || arm64)

package fastcall

import "unsafe"

// isAssembled says that there is no assembly for this system.
const isAssembled = false

func call(fn, arg unsafe.Pointer, length uintptr) uintptr {
	return callOtherwise(fn, arg, length)
}

func nativeCall(_, _ unsafe.Pointer, _ uintptr) uintptr {
	panic("fastcall: no assembly for this system") // Invariant: the way is never Assembly here.
}

func probeRuntime() []Check {
	return []Check{{Name: "assembly", Problem: "there is none for this system"}}
}
