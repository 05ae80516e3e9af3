package cstring

import (
	"encoding/binary"
	"iter"
	"unsafe"
)

// Flat is many strings in one buffer, passed in one call as address and length. Each string is its length as a
// native-endian uint32, then its bytes, then up to three zero bytes, so that the next one starts at a multiple of four.
// In C:
//
//	for (const uint8_t *at = data, *end = data + length; at < end;) {
//	  uint32_t size = *(const uint32_t *)at;
//	  visit(at + 4, size);
//	  at += 4 + ((size + 3) & ~3u);
//	}
//
// The zero Flat is empty and ready to use. A Flat that is reused with Reset does not allocate once it has grown.
type Flat struct {
	words []uint32 // words, so that the buffer is aligned for uint32
}

// Append appends a string.
//
// # Panics
//
// If it has 4 GiB or more.
func (f *Flat) Append(text string) {
	size := uint32(len(text))
	if int(size) != len(text) {
		panic("cstring: a string of 4 GiB or more")
	}
	start := len(f.words) + 1
	end := start + (len(text)+3)/4
	if end > cap(f.words) {
		f.grow(end)
	}
	f.words = f.words[:end]
	f.words[start-1] = size
	if end > start {
		f.words[end-1] = 0
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&f.words[start])), len(text)), text)
	}
}

// Reset clears the buffer and keeps its memory.
func (f *Flat) Reset() { f.words = f.words[:0] }

// Bytes returns the buffer. It is valid until the next Append or Reset.
func (f *Flat) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(f.words))), 4*len(f.words))
}

// All returns the strings of a buffer in Flat's format, as views. It stops early if the buffer has another format: a
// length beyond the end is not followed.
func All(flat []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(flat) >= 4 {
			size := uint64(binary.NativeEndian.Uint32(flat))
			if size > uint64(len(flat)-4) {
				return
			}
			text := flat[4 : 4+size]
			if !yield(unsafe.String(unsafe.SliceData(text), len(text))) {
				return
			}
			flat = flat[min(uint64(len(flat)), 4+(size+3)&^3):]
		}
	}
}

func (f *Flat) grow(words int) {
	grown := make([]uint32, len(f.words), max(words, 2*cap(f.words), 64))
	copy(grown, f.words)
	f.words = grown
}
