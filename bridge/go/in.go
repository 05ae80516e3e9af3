package bridge

import (
	"math"
	"slices"
	"strings"
	"unsafe"
)

// In is a message to be read: the words of a record, and the data that they refer to. For generated code.
//
// A list in a record has two words: its address in this process and its number of elements, as in a Go string. If the
// highest bit of the second word is set, the list is in the message itself, and the first word is its position in bytes
// from the start. A number narrower than a word is in the lower bytes; the other bytes are ignored.
//
// Its methods panic with a [Fault] if the message is invalid.
type In struct {
	base  unsafe.Pointer
	words int
	// hasViews is true if the caller, in this process, blocks: numbers and texts of lists are read in its memory.
	hasViews bool
}

// inMessageFlag is set in the length of a list that is in the message itself.
const inMessageFlag = 1 << 63

// InReply reads the reply of a call from its space. For generated code.
func InReply(room []uint64) In {
	return In{base: unsafe.Pointer(unsafe.SliceData(room)), words: len(room)}
}

// At returns the address of a record of that many words that can be read as a Go structure, or nil if it must be read
// field by field.
func (in In) At(at, words int) unsafe.Pointer {
	if !in.hasViews || uint(at+words) > uint(in.words) {
		return nil
	}
	return unsafe.Add(in.base, at*8)
}

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
func (in In) Bool(at int) bool { return uint8(in.word(at)) != 0 }

// Str reads a string as a view.
func (in In) Str(at int) Str { return Str{in.text(at)} }

// String reads a string as a copy.
func (in In) String(at int) string { return strings.Clone(in.text(at)) }

func (in In) text(at int) string {
	if in.hasViews && uint(at+1) < uint(in.words) {
		// Memory of the caller is the usual case, and small enough to be inlined.
		return *(*string)(unsafe.Add(in.base, at*8))
	}
	return in.textWithin(at)
}

func (in In) textWithin(at int) string {
	first, length := in.list(at, 1)
	return unsafe.String((*byte)(first), length)
}

// Views reads a list of strings: in place if the caller blocks, otherwise as a copy.
func Views(in In, at int) []Str {
	first, n := in.Records(at, 2)
	if in.hasViews && n != 0 {
		return unsafe.Slice((*Str)(unsafe.Add(in.base, first*8)), n)
	}
	views := make([]Str, n)
	for i := range views {
		views[i] = in.Str(first + i*2)
	}
	return views
}

// ViewSlice reads a list of numbers as a view.
func ViewSlice[T Number](in In, at int) Slice[T] { return SliceOf(numbers[T](in, at)) }

// ReadSlice reads a list of numbers as a copy.
func ReadSlice[T Number](in In, at int) []T { return slices.Clone(numbers[T](in, at)) }

func numbers[T Number](in In, at int) []T {
	var one T
	first, length := in.list(at, int(unsafe.Sizeof(one)))
	if length == 0 {
		return []T{}
	}
	if uintptr(first)%unsafe.Alignof(one) != 0 {
		malformed("a list is not aligned for its type")
	}
	return unsafe.Slice((*T)(first), length)
}

// list finds a list: its first element and its length.
func (in In) list(at, size int) (unsafe.Pointer, int) {
	place, length := in.word(at), in.word(at+1)
	if length == 0 {
		return nil, 0
	}
	if length&inMessageFlag == 0 {
		if !in.hasViews {
			malformed("a message of another process contains an address")
		}
		return pointerAt(place), int(length)
	}
	length &^= inMessageFlag
	bytes := uint64(in.words) * 8
	if length > bytes || place > bytes || length*uint64(size) > bytes-place {
		malformed("a list is outside the message")
	}
	return unsafe.Add(in.base, int(place)), int(length)
}

// Records finds a list of records: the first word of the first record, and the number of records of that many words.
func (in In) Records(at, words int) (first, length int) {
	place, count := in.word(at), in.word(at+1)
	if count == 0 {
		return 0, 0
	}
	if count&inMessageFlag == 0 {
		malformed("a list of records is not in the message")
	}
	count &^= inMessageFlag
	if place%8 != 0 || place/8 > uint64(in.words) || count > uint64(in.words) ||
		count*uint64(words) > uint64(in.words)-place/8 {
		malformed("a list is outside the message")
	}
	return int(place / 8), int(count)
}
