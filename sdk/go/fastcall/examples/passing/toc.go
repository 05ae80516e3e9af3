package passing

/*
#include "passing.h"

// With these two, cgo neither lets the argument escape to the heap nor prepares for calls back. They are promises: that
// passing_sum keeps no pointer, and that nothing below it calls into Go. Go ends the program if the second is broken.
#cgo noescape passing_sum
#cgo nocallback passing_sum
*/
import "C"

import (
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Sum passes the bytes of a string as they are. C gets an address and a length: there is no NUL at the end, and it must
// not write.
func Sum(text string) uint64 {
	data := (*C.uint8_t)(unsafe.StringData(text))
	return uint64(C.passing_sum(data, C.size_t(len(text))))
}

// SumEscaping does the same without the two promises: what text is made of escapes to the heap, so a string made for
// the call costs an allocation.
func SumEscaping(text string) uint64 {
	data := (*C.uint8_t)(unsafe.StringData(text))
	return uint64(C.passing_sum_escaping(data, C.size_t(len(text))))
}

// SumBytes and SumBytesEscaping are the same with bytes that may lie on the stack.
func SumBytes(bytes []byte) uint64 {
	data := (*C.uint8_t)(unsafe.SliceData(bytes))
	return uint64(C.passing_sum(data, C.size_t(len(bytes))))
}

// SumBytesEscaping is SumBytes without the two promises.
func SumBytesEscaping(bytes []byte) uint64 {
	data := (*C.uint8_t)(unsafe.SliceData(bytes))
	return uint64(C.passing_sum_escaping(data, C.size_t(len(bytes))))
}

// SumFast calls the same function without cgo, which passing_sum is short enough for.
func SumFast(text string) uint64 {
	return uint64(fastcall.CallString(sum, text))
}

// SumCString is how it is usually written: a copy on C's heap, with a NUL.
func SumCString(text string) uint64 {
	copied := C.CString(text)
	defer C.free(unsafe.Pointer(copied))
	return uint64(C.passing_sum_terminated(copied))
}

var sum = fastcall.Func(unsafe.Pointer(C.passing_sum))
