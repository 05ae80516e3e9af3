package bridge

import (
	"math"
	"runtime"
	"unsafe"
)

// Out is a message to be written. For generated code. The zero value is empty and grows on demand.
type Out struct {
	// Words is the message, possibly after other data.
	Words []uint64
	// base is the index in Words at which the message starts.
	base int
	// pins keeps the data that the message refers to by address, which is used for long data. If it is nil, the message
	// outlives the call, and all data is copied.
	pins *runtime.Pinner
	// hasPins is true if there are such addresses.
	hasPins bool
}

// pinnedBytes is the size from which pinning, some 60 ns, is cheaper than a copy.
const pinnedBytes = 4096

// Room starts a reply with a record of that many zero words, in the given space if it is large enough. For generated
// code.
func Room(room []uint64, words int) []uint64 {
	if words > cap(room) {
		return make([]uint64, words)
	}
	room = room[:words]
	clear(room)
	return room
}

// Record appends that many zero words and returns the index of the first.
func (o *Out) Record(words int) int {
	at := len(o.Words)
	if at+words > cap(o.Words) {
		o.grow(words)
	}
	o.Words = o.Words[:at+words]
	clear(o.Words[at:])
	return at - o.base
}

//go:noinline
func (o *Out) grow(words int) {
	grown := make([]uint64, len(o.Words), 2*(len(o.Words)+words)+64)
	copy(grown, o.Words)
	o.Words = grown
}

func (o *Out) set(at int, word uint64) { o.Words[o.base+at] = word }

// U8 writes a number.
func (o *Out) U8(at int, v uint8) { o.set(at, uint64(v)) }

// U16 writes a number.
func (o *Out) U16(at int, v uint16) { o.set(at, uint64(v)) }

// U32 writes a number.
func (o *Out) U32(at int, v uint32) { o.set(at, uint64(v)) }

// U64 writes a number.
func (o *Out) U64(at int, v uint64) { o.set(at, v) }

// I8 writes a number.
func (o *Out) I8(at int, v int8) { o.set(at, uint64(v)) }

// I16 writes a number.
func (o *Out) I16(at int, v int16) { o.set(at, uint64(v)) }

// I32 writes a number.
func (o *Out) I32(at int, v int32) { o.set(at, uint64(v)) }

// I64 writes a number.
func (o *Out) I64(at int, v int64) { o.set(at, uint64(v)) }

// F32 writes a number.
func (o *Out) F32(at int, v float32) { o.set(at, uint64(math.Float32bits(v))) }

// F64 writes a number.
func (o *Out) F64(at int, v float64) { o.set(at, math.Float64bits(v)) }

// Bool writes a bool.
func (o *Out) Bool(at int, v bool) {
	var word uint64
	if v {
		word = 1
	}
	o.set(at, word)
}

// Str writes a view of a string.
func (o *Out) Str(at int, v Str) { o.String(at, v.text) }

// String writes a string.
func (o *Out) String(at int, v string) {
	o.bytes(at, unsafe.Pointer(unsafe.StringData(v)), len(v), len(v))
}

// WriteSlice writes a list of numbers.
func WriteSlice[T Number](o *Out, at int, v []T) {
	var one T
	o.bytes(at, unsafe.Pointer(unsafe.SliceData(v)), len(v), len(v)*int(unsafe.Sizeof(one)))
}

// bytes writes a list with that many elements and bytes.
func (o *Out) bytes(at int, first unsafe.Pointer, length, bytes int) {
	if bytes == 0 {
		return
	}
	if o.pins != nil && bytes >= pinnedBytes {
		o.pin(at, first, length)
		return
	}
	place := o.Record((bytes + 7) / 8)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&o.Words[o.base+place])), bytes), unsafe.Slice((*byte)(first), bytes))
	o.set(at, uint64(place)*8)
	o.set(at+1, uint64(length)|inMessageFlag)
}

//go:noinline
func (o *Out) pin(at int, first unsafe.Pointer, length int) {
	o.pins.Pin(first)
	o.hasPins = true
	o.set(at, uint64(uintptr(first)))
	o.set(at+1, uint64(length))
}

// Records appends the records of a list whose position and length are at `at`, and returns the index of the first.
func (o *Out) Records(at, length, words int) int {
	first := o.Record(length * words)
	o.set(at, uint64(first)*8)
	o.set(at+1, uint64(length)|inMessageFlag)
	return first
}
