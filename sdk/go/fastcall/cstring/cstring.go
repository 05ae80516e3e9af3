// Package cstring helps with passing strings between Go and native code: views of native memory, texts that native code
// writes, and many strings in one call. It is plain Go; the package examples/passing shows each with a C function.
//
// Three rules apply to all of it. The callee may use memory of Go only until it returns. A view of native memory is
// valid until its owner frees or changes it; clone what is needed longer (strings.Clone). Memory passed to native code
// contains no Go pointers: a string is passed as its bytes, many strings as one buffer.
package cstring

import (
	"bytes"
	"unsafe"
)

// View returns the bytes at an address as a string, without a copy. A nil address returns "".
//
// Changing the bytes while the string is in use violates the immutability of strings; for example, a map no longer
// finds such a key.
func View(data unsafe.Pointer, length int) string {
	if data == nil {
		return ""
	}
	return unsafe.String((*byte)(data), length)
}

// ViewTerminated returns the bytes at an address up to a NUL as a string, without a copy. A nil address returns "".
//
// # Cost
//
// One pass over the bytes.
//
//go:nocheckptr
func ViewTerminated(data unsafe.Pointer) string {
	if data == nil {
		return ""
	}
	for length := 0; ; {
		// Only up to the end of the page, because the next page may not be mapped.
		end := length + pageBytes - int((uintptr(data)+uintptr(length))%pageBytes)
		rest := unsafe.Slice((*byte)(data), end)[length:]
		if found := bytes.IndexByte(rest, 0); found >= 0 {
			return unsafe.String((*byte)(data), length+found)
		}
		length = end
	}
}

// Filled returns a text that native code writes: fill receives a buffer of `size` bytes, passes it on, and returns the
// number of bytes written. It must not keep the buffer.
//
// # Panics
//
// If fill returns a number outside of the buffer.
//
// # Cost
//
// One allocation of `size` bytes, no copy. The string keeps all of them alive.
func Filled(size int, fill func(buffer []byte) int) string {
	if size == 0 {
		return ""
	}
	buffer := make([]byte, size)
	return unsafe.String(unsafe.SliceData(buffer), len(buffer[:fill(buffer)]))
}

// pageBytes divides the size of every memory page.
const pageBytes = 4096
