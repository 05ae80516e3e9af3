// Package utils turns addresses into views, as the package of this name does in Envoy.
package utils

import "unsafe"

func slice(address, length uint64) []byte {
	if length == 0 {
		return nil
	}
	// The address is a variable's here, so that reading it as a pointer is not taken for arithmetic.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), int(length))
}

// BytesToString views memory as a text, without a copy.
func BytesToString(ptr uint64, len uint64) string {
	return unsafe.String(unsafe.SliceData(slice(ptr, len)), int(len))
}

// BytesToSlice views memory as bytes, without a copy.
func BytesToSlice(ptr uint64, len uint64) []byte { return slice(ptr, len) }

// BufferToSlice views memory as bytes, without a copy.
func BufferToSlice(ptr uint64, len uint64) []byte { return slice(ptr, len) }
