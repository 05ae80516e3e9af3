// Package utils converts addresses to views, like the package of this name in Envoy.
package utils

import "unsafe"

func slice(address, length uint64) []byte {
	if length == 0 {
		return nil
	}
	// The address is that of a variable, so that reading it as a pointer does not count as pointer arithmetic.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), int(length))
}

// BytesToString returns memory as a string, without a copy.
func BytesToString(ptr uint64, len uint64) string {
	return unsafe.String(unsafe.SliceData(slice(ptr, len)), int(len))
}

// BytesToSlice returns memory as bytes, without a copy.
func BytesToSlice(ptr uint64, len uint64) []byte { return slice(ptr, len) }

// BufferToSlice returns memory as bytes, without a copy.
func BufferToSlice(ptr uint64, len uint64) []byte { return slice(ptr, len) }
