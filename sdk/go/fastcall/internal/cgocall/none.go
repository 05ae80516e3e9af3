//go:build !cgo

package cgocall

import "unsafe"

// Linked says whether the program was built with cgo.
const Linked = false

// Quiet can't be reached: fastcall asks Linked before.
func Quiet(uintptr, unsafe.Pointer, uintptr) uintptr {
	panic("cgocall: built without cgo")
}

// Any can't be reached: fastcall asks Linked before.
func Any(uintptr, unsafe.Pointer, uintptr) uintptr {
	panic("cgocall: built without cgo")
}
