package fastcall

import (
	"sync/atomic"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/internal/cgocall"
)

// Func is the address of a native function with the C calling convention. The function that calls it documents the
// parameters and the result.
type Func unsafe.Pointer

// FuncAt returns the function at a numeric address, for example from dlsym or a host's table.
func FuncAt(address uintptr) Func {
	return *(*Func)(unsafe.Pointer(&address))
}

// Call calls `uintptr_t fn(void *arg)`. A result narrower than a word is in the lower bits, the others are undefined;
// the result of a void function is undefined. arg may be nil and does not escape.
//
// The package documentation has the rules for fn.
func Call(fn Func, arg unsafe.Pointer) uintptr {
	return CallWith(fn, arg, 0)
}

// CallBytes calls `uintptr_t fn(uint8_t *data, size_t len)` with the bytes themselves, without a copy: fn may read and
// write them while it runs. If there are no bytes, data is not a valid address.
func CallBytes(fn Func, bytes []byte) uintptr {
	return CallWith(fn, unsafe.Pointer(unsafe.SliceData(bytes)), uintptr(len(bytes)))
}

// CallString calls `uintptr_t fn(const uint8_t *data, size_t len)` with the bytes of a string, without a copy. fn may
// only read them; there is no NUL after them. If there are no bytes, data is not a valid address.
func CallString(fn Func, text string) uintptr {
	return CallWith(fn, unsafe.Pointer(unsafe.StringData(text)), uintptr(len(text)))
}

// CallCgo calls `uintptr_t fn(void *arg)` through cgo, regardless of [Status]: fn may block, take long and call back
// into Go. arg escapes.
func CallCgo(fn Func, arg unsafe.Pointer) uintptr {
	return CallCgoWith(fn, arg, 0)
}

// CallCgoWith calls `uintptr_t fn(void *arg, uintptr_t word)`, as [CallCgo] does.
func CallCgoWith(fn Func, arg unsafe.Pointer, word uintptr) uintptr {
	if !cgocall.Linked {
		panic(messageWithoutCgo)
	}
	return cgocall.Any(uintptr(fn), arg, word)
}

// Disable makes all later calls use cgo, like EDDY_FASTCALL=0. Calls in progress on other goroutines are not affected.
func Disable() {
	disable("fastcall.Disable was called")
}

// Enable reverts Disable and EDDY_FASTCALL: calls use the fastest path that the probe allows.
func Enable() {
	enable()
}

// callOtherwise handles all paths except the fast one. It must not let arg escape, or it would escape in Call on every
// path.
//
//go:noinline
func callOtherwise(fn, arg unsafe.Pointer, length uintptr) uintptr {
	switch Way(way.Load()) {
	case Checked:
		return callChecked(Func(fn), arg, length)
	case Assembly: // since the caller checked
		return nativeCall(fn, arg, length)
	case Cgo:
		return cgocall.Quiet(uintptr(fn), arg, length)
	case Nothing:
	}
	panic(messageWithoutCgo)
}

// way is the current Way of calls, separate from the State because every call reads it.
var way atomic.Uint32

const messageWithoutCgo = "fastcall: this program was built without cgo, so it has no native functions to call (CGO_ENABLED=1 needs a C compiler)"
