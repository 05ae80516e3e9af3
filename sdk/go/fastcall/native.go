//go:build linux && gc && (amd64 || arm64)

package fastcall

import (
	"unsafe"
)

// isAssembled is whether there is assembly for this system.
const isAssembled = true

// CallWith calls `uintptr_t fn(void *arg, uintptr_t word)`, as [Call] does.
//
//go:noescape
func CallWith(fn Func, arg unsafe.Pointer, word uintptr) uintptr

// nativeCall calls fn(arg, length) on the system stack of the goroutine's thread.
//
//go:noescape
func nativeCall(fn, arg unsafe.Pointer, length uintptr) uintptr

// currentG returns the goroutine from the thread's variables, where signal handlers look, and from the register, where
// Go code looks.
func currentG() (fromThread, fromRegister uintptr)

// currentSP returns the stack pointer of the caller.
func currentSP() uintptr

// witnessAddress returns the native function that the probe calls; it fills a testimony.
func witnessAddress() unsafe.Pointer
