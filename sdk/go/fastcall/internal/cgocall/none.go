//go:build !cgo

package cgocall

import "unsafe"

// Linked is whether the program was built with cgo.
const Linked = false

// Quiet is never called: fastcall checks Linked first.
func Quiet(uintptr, unsafe.Pointer, uintptr) uintptr {
	panic("cgocall: built without cgo")
}

// Any is never called: fastcall checks Linked first.
func Any(uintptr, unsafe.Pointer, uintptr) uintptr {
	panic("cgocall: built without cgo")
}
