package native

/*
#include "native.h"

#cgo noescape quiet
#cgo nocallback quiet
static void quiet(void) {}
static void plain(void) {}
*/
import "C"

import "unsafe"

// Addresses of the functions, for calls through fastcall.
var (
	Empty     = unsafe.Pointer(C.fastcall_test_empty)
	Identity  = unsafe.Pointer(C.fastcall_test_identity)  // returns its argument
	Add       = unsafe.Pointer(C.fastcall_test_add)       // takes an Addition
	Sum       = unsafe.Pointer(C.fastcall_test_sum)       // (data, length): returns the sum of the bytes
	Fill      = unsafe.Pointer(C.fastcall_test_fill)      // (data, length): writes the alphabet, returns length
	Stack     = unsafe.Pointer(C.fastcall_test_stack)     // uses 12 KiB of stack, returns 510
	Registers = unsafe.Pointer(C.fastcall_test_registers) // calculates with floating point
	Spin      = unsafe.Pointer(C.fastcall_test_spin)      // takes the number of nanoseconds in the uint64 at arg
)

// Addition is the argument of Add.
type Addition struct {
	Left, Right, Sum uint64
}

// CgoEmpty is an empty cgo call.
func CgoEmpty() { C.plain() }

// CgoQuiet is an empty cgo call with noescape and nocallback.
func CgoQuiet() { C.quiet() }
