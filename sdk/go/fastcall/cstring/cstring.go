// Package cstring has what passing strings between Go and native code takes besides a call: views of native memory,
// texts that native code writes, and many strings in one call. It is plain Go; the package examples/passing beside it
// shows each with a C function.
//
// Three rules hold for all of it. Memory of Go is the callee's until it returns, and no longer. A view of native memory
// is good until its owner frees or changes it; what must live longer is cloned (strings.Clone). And nothing that Go gives
// away has pointers of Go in it: a string is passed as its bytes, many strings as one buffer.
package cstring

import (
	"bytes"
	"unsafe"
)

// View returns the bytes at an address as a string, without a copy. A nil address gives "".
//
// Changing the bytes while the string is in use breaks the promise that strings never change; a map with such a key, for
// one, does not find it again.
func View(data unsafe.Pointer, length int) string {
	if data == nil {
		return ""
	}
	return unsafe.String((*byte)(data), length)
}

// ViewTerminated returns the bytes at an address up to a NUL as a string, without a copy. A nil address gives "".
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
		// Up to the end of the page, because behind it may be nothing.
		end := length + pageBytes - int((uintptr(data)+uintptr(length))%pageBytes)
		rest := unsafe.Slice((*byte)(data), end)[length:]
		if found := bytes.IndexByte(rest, 0); found >= 0 {
			return unsafe.String((*byte)(data), length+found)
		}
		length = end
	}
}

// Filled returns a text that native code writes: fill is given a buffer of `size` bytes, passes it on, and returns how
// many bytes were written. It must not keep the buffer.
//
// # Panics
//
// When fill says that it has written more than there was room for, or less than nothing.
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

// pageBytes divides the size of every page of memory.
const pageBytes = 4096
