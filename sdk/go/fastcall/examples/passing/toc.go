package passing

/*
#include "passing.h"

// With these two, cgo neither lets the argument escape to the heap nor prepares for calls back. They are promises that
// passing_sum keeps no pointer, and that it never calls into Go. Go ends the program if the second one is broken.
#cgo noescape passing_sum
#cgo nocallback passing_sum
*/
import "C"

import (
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Sum passes the bytes of a string without a copy. C receives an address and a length: there is no NUL at the end, and
// it must not write.
func Sum(text string) uint64 {
	data := (*C.uint8_t)(unsafe.StringData(text))
	return uint64(C.passing_sum(data, C.size_t(len(text))))
}

// SumEscaping is Sum without the two promises: the text escapes to the heap, so a string created for the call costs an
// allocation.
func SumEscaping(text string) uint64 {
	data := (*C.uint8_t)(unsafe.StringData(text))
	return uint64(C.passing_sum_escaping(data, C.size_t(len(text))))
}

// SumBytes passes bytes that may be on the stack.
func SumBytes(bytes []byte) uint64 {
	data := (*C.uint8_t)(unsafe.SliceData(bytes))
	return uint64(C.passing_sum(data, C.size_t(len(bytes))))
}

// SumBytesEscaping is SumBytes without the two promises.
func SumBytesEscaping(bytes []byte) uint64 {
	data := (*C.uint8_t)(unsafe.SliceData(bytes))
	return uint64(C.passing_sum_escaping(data, C.size_t(len(bytes))))
}

// SumFast calls the same function without cgo; passing_sum is short enough.
func SumFast(text string) uint64 {
	return uint64(fastcall.CallString(sum, text))
}

// SumCString is the usual way: a copy on the C heap, with a NUL.
func SumCString(text string) uint64 {
	copied := C.CString(text)
	defer C.free(unsafe.Pointer(copied))
	return uint64(C.passing_sum_terminated(copied))
}

var sum = fastcall.Func(unsafe.Pointer(C.passing_sum))
