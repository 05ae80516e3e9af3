package passing

/*
#include "passing.h"

#cgo noescape passing_hex
#cgo nocallback passing_hex
*/
import "C"

import (
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall/cstring"
)

// Hex lets C write 16 digits into memory allocated by Go: one allocation, no copy.
func Hex(number uint64) string {
	return cstring.Filled(16, func(buffer []byte) int {
		return int(C.passing_hex(C.uint64_t(number), (*C.uint8_t)(unsafe.SliceData(buffer)), C.size_t(len(buffer))))
	})
}

// AppendLetters lets C append letters to a buffer: no allocation if there is space. The function is short, so it is
// called without cgo.
func AppendLetters(buffer []byte, count int) []byte {
	start := len(buffer)
	for cap(buffer) < start+count {
		buffer = append(buffer[:cap(buffer)], 0)
	}
	buffer = buffer[:start+count]
	return buffer[:start+int(fastcall.CallBytes(letters, buffer[start:]))]
}

// HexMalloc is the usual way: C allocates, Go copies and frees.
func HexMalloc(number uint64) string {
	text := C.passing_hex_malloc(C.uint64_t(number))
	defer C.free(unsafe.Pointer(text))
	return C.GoString(text)
}

var letters = fastcall.Func(unsafe.Pointer(C.passing_letters))
