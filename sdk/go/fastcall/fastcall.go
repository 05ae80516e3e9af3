package fastcall

import (
	"sync/atomic"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/internal/cgocall"
)

// Func is the address of a native function with the calling convention of C. What its parameters and result have to be
// is said by the function that calls it.
type Func unsafe.Pointer

// FuncAt returns the function at an address that is known as a number only, as from dlsym or a host's table.
func FuncAt(address uintptr) Func {
	return *(*Func)(unsafe.Pointer(&address))
}

// Call calls `uintptr_t fn(void *arg)`. A result narrower than a word is in its lower bits, the others have no meaning;
// that of a void function has none at all. arg may be nil and does not escape.
//
// The package's documentation says what fn may not do.
func Call(fn Func, arg unsafe.Pointer) uintptr {
	return CallWith(fn, arg, 0)
}

// CallBytes calls `uintptr_t fn(uint8_t *data, size_t len)` with the bytes themselves, not a copy: fn may read them and
// write them while it runs. Without bytes, data is no address to be used.
func CallBytes(fn Func, bytes []byte) uintptr {
	return CallWith(fn, unsafe.Pointer(unsafe.SliceData(bytes)), uintptr(len(bytes)))
}

// CallString calls `uintptr_t fn(const uint8_t *data, size_t len)` with the bytes of a string, not a copy. fn may only
// read them; there is no NUL behind them. Without bytes, data is no address to be used.
func CallString(fn Func, text string) uintptr {
	return CallWith(fn, unsafe.Pointer(unsafe.StringData(text)), uintptr(len(text)))
}

// CallCgo calls `uintptr_t fn(void *arg)` by cgo, whatever [Status] says: fn may block, take its time and call back
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

// Disable makes every later call go by cgo, as EDDY_FASTCALL=0 does. Calls under way on other goroutines end as they
// began.
func Disable() {
	disable("fastcall.Disable was called")
}

// Enable takes Disable and EDDY_FASTCALL back: calls go the way that the probe allows.
func Enable() {
	enable()
}

// callOtherwise is every way but the fast one. It must not let arg escape, or Call would on every way.
//
//go:noinline
func callOtherwise(fn, arg unsafe.Pointer, length uintptr) uintptr {
	switch Way(way.Load()) {
	case Checked:
		return callChecked(Func(fn), arg, length)
	case Assembly: // since the caller looked
		return nativeCall(fn, arg, length)
	case Cgo:
		return cgocall.Quiet(uintptr(fn), arg, length)
	case Nothing:
	}
	panic(messageWithoutCgo)
}

// way is the Way that calls go now, apart from the State because every call reads it.
var way atomic.Uint32

const messageWithoutCgo = "fastcall: this program was built without cgo, so it has no native functions to call (CGO_ENABLED=1 needs a C compiler)"
