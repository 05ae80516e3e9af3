package bridge

import (
	"math"
	"slices"
	"strings"
	"unsafe"
)

// In is a message that is read: words of a record, and what they point to. Generated code uses it.
//
// A list in a record is two words: its place, in bytes from the start of the message, and how many elements it has. Where
// the highest bit of the second is set, the place is an address in this process.
//
// Its methods panic with a [Fault] where the message is wrong.
type In struct {
	base  unsafe.Pointer
	words int
	// hasAddresses tells that the message is of this process.
	hasAddresses bool
}

// isAddress is set in the length of a list whose place is an address.
const isAddress = 1 << 63

func (in In) word(at int) uint64 {
	if uint(at) >= uint(in.words) {
		malformed("the message ends within its record")
	}
	return *(*uint64)(unsafe.Add(in.base, at*8))
}

// U8 reads a number.
func (in In) U8(at int) uint8 { return uint8(in.word(at)) }

// U16 reads a number.
func (in In) U16(at int) uint16 { return uint16(in.word(at)) }

// U32 reads a number.
func (in In) U32(at int) uint32 { return uint32(in.word(at)) }

// U64 reads a number.
func (in In) U64(at int) uint64 { return in.word(at) }

// I8 reads a number.
func (in In) I8(at int) int8 { return int8(in.word(at)) }

// I16 reads a number.
func (in In) I16(at int) int16 { return int16(in.word(at)) }

// I32 reads a number.
func (in In) I32(at int) int32 { return int32(in.word(at)) }

// I64 reads a number.
func (in In) I64(at int) int64 { return int64(in.word(at)) }

// F32 reads a number.
func (in In) F32(at int) float32 { return math.Float32frombits(uint32(in.word(at))) }

// F64 reads a number.
func (in In) F64(at int) float64 { return math.Float64frombits(in.word(at)) }

// Bool reads a bool.
func (in In) Bool(at int) bool { return in.word(at) != 0 }

// Str reads a string as a view.
func (in In) Str(at int) Str { return Str{in.text(at)} }

// String reads a string as a copy.
func (in In) String(at int) string { return strings.Clone(in.text(at)) }

func (in In) text(at int) string {
	if in.hasAddresses && uint(at+1) < uint(in.words) {
		// What is in memory of the caller is the usual case, and small enough to be inlined.
		if view := (*view)(unsafe.Add(in.base, at*8)); view.length < 0 {
			return unsafe.String(view.first, int(view.length&^math.MinInt64))
		}
	}
	return in.textWithin(at)
}

func (in In) textWithin(at int) string {
	first, length := in.list(at, 1)
	return unsafe.String((*byte)(first), length)
}

// view is a list whose place is an address: isAddress is the sign of its length.
type view struct {
	first  *byte
	length int64
}

// ViewSlice reads a list of numbers as a view.
func ViewSlice[T Number](in In, at int) Slice[T] { return Slice[T]{numbers[T](in, at)} }

// ReadSlice reads a list of numbers as a copy.
func ReadSlice[T Number](in In, at int) []T { return slices.Clone(numbers[T](in, at)) }

func numbers[T Number](in In, at int) []T {
	var one T
	first, length := in.list(at, int(unsafe.Sizeof(one)))
	if length == 0 {
		return []T{}
	}
	if uintptr(first)%unsafe.Alignof(one) != 0 {
		malformed("a list is at no place for its type")
	}
	return unsafe.Slice((*T)(first), length)
}

// list finds a list: its first element, and how many there are.
func (in In) list(at, size int) (unsafe.Pointer, int) {
	place, length := in.word(at), in.word(at+1)
	if length&isAddress != 0 {
		if !in.hasAddresses {
			malformed("a message from elsewhere has an address")
		}
		return pointerAt(place), int(length &^ isAddress)
	}
	bytes := uint64(in.words) * 8
	if length > bytes || place > bytes || length*uint64(size) > bytes-place {
		malformed("a list lies outside of the message")
	}
	if length == 0 {
		return nil, 0
	}
	return unsafe.Add(in.base, int(place)), int(length)
}

// Records finds a list of records: the first word of the first, and how many there are, each of so many words.
func (in In) Records(at, words int) (first, length int) {
	place, count := in.word(at), in.word(at+1)
	if place%8 != 0 || place/8 > uint64(in.words) || count > uint64(in.words) ||
		count*uint64(words) > uint64(in.words)-place/8 {
		malformed("a list lies outside of the message")
	}
	return int(place / 8), int(count)
}
