package passing

/*
#include "passing.h"

#cgo noescape passing_name
#cgo nocallback passing_name
#cgo noescape passing_motto
#cgo nocallback passing_motto
*/
import "C"

import (
	"strings"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/cstring"
)

// HasName reads a C text in place: C returns address and length. The view must not be used once C may change or free
// the text, so it does not leave this function.
func HasName(number int, name string) bool {
	var length C.size_t
	data := C.passing_name(C.uint32_t(number), &length)
	return cstring.View(unsafe.Pointer(data), int(length)) == name
}

// Name keeps the text by cloning the view.
func Name(number int) string {
	var length C.size_t
	data := C.passing_name(C.uint32_t(number), &length)
	return strings.Clone(cstring.View(unsafe.Pointer(data), int(length)))
}

// HasMotto reads a text that ends with a NUL.
func HasMotto(motto string) bool {
	return cstring.ViewTerminated(unsafe.Pointer(C.passing_motto())) == motto
}

// NameGoString is the usual way; C.GoStringN is a cgo call as well, but not into C.
func NameGoString(number int) string {
	var length C.size_t
	data := C.passing_name(C.uint32_t(number), &length)
	return C.GoStringN((*C.char)(unsafe.Pointer(data)), C.int(length))
}
