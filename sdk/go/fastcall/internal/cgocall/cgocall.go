// Package cgocall is the portable path of fastcall: cgo. It is a separate package because cgo and assembly cannot be in
// one.
package cgocall

/*
#include <stdint.h>

#cgo noescape fastcall_quiet
#cgo nocallback fastcall_quiet

typedef uintptr_t (*function)(const char *, uintptr_t);

static uintptr_t fastcall_quiet(uintptr_t function_at, const char *arg, uintptr_t length) {
  return ((function)function_at)(arg, length);
}

static uintptr_t fastcall_any(uintptr_t function_at, const char *arg, uintptr_t word) {
  return ((function)function_at)(arg, word);
}
*/
import "C"

import "unsafe"

// Linked is whether the program was built with cgo.
const Linked = true

// Quiet calls a native function that does not call back into Go, and does not let arg escape.
//
// arg is passed as a pointer to bytes: for other pointer types cgo would search the target for further pointers, which
// the fast path does not do and fastcall allows.
func Quiet(fn uintptr, arg unsafe.Pointer, length uintptr) uintptr {
	return uintptr(C.fastcall_quiet(C.uintptr_t(fn), (*C.char)(arg), C.uintptr_t(length)))
}

// Any calls any native function.
func Any(fn uintptr, arg unsafe.Pointer, word uintptr) uintptr {
	return uintptr(C.fastcall_any(C.uintptr_t(fn), (*C.char)(arg), C.uintptr_t(word)))
}
