package passing

/*
#include "passing.h"

#cgo noescape passing_sum_flat
#cgo nocallback passing_sum_flat
#cgo noescape passing_sum_texts
#cgo nocallback passing_sum_texts
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall/cstring"
)

// Batch sums many strings in one call. It is reused between calls for its memory.
type Batch struct {
	flat cstring.Flat
}

// Sum copies the strings into one buffer and passes it. Copying some hundred bytes is the cheapest part.
func (b *Batch) Sum(texts []string) uint64 {
	bytes := b.flatten(texts)
	return uint64(C.passing_sum_flat((*C.uint8_t)(unsafe.SliceData(bytes)), C.size_t(len(bytes))))
}

// SumFast is Sum without cgo, for a short function.
func (b *Batch) SumFast(texts []string) uint64 {
	return uint64(fastcall.CallBytes(sumFlat, b.flatten(texts)))
}

func (b *Batch) flatten(texts []string) []byte {
	b.flat.Reset()
	for _, text := range texts {
		b.flat.Append(text)
	}
	return b.flat.Bytes()
}

// SumHeadersFast passes the strings as Go stores them, addresses and lengths, without a copy or a scan. fastcall allows
// it, because nothing moves or is collected while the function runs; cgo's rules do not, so it is only for functions
// called through fastcall.
func SumHeadersFast(texts []string) uint64 {
	arg := struct {
		texts *string
		count int
	}{unsafe.SliceData(texts), len(texts)}
	return uint64(fastcall.Call(sumHeaders, unsafe.Pointer(&arg)))
}

// SumEach makes a call for each string.
func SumEach(texts []string) uint64 {
	sum := uint64(0)
	for _, text := range texts {
		sum += Sum(text)
	}
	return sum
}

// SumPinned passes an array of addresses. Data that an array in Go's memory points to must be pinned with the Pinner,
// which costs more than copying.
func SumPinned(texts []string) uint64 {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	array := make([]C.passing_text, len(texts))
	for i, text := range texts {
		data := unsafe.StringData(text)
		pinner.Pin(data)
		array[i] = C.passing_text{data: (*C.uint8_t)(data), length: C.size_t(len(text))}
	}
	return uint64(C.passing_sum_texts(unsafe.SliceData(array), C.size_t(len(array))))
}

// SumCStrings copies each string to the C heap and frees it.
func SumCStrings(texts []string) uint64 {
	array := make([]C.passing_text, len(texts))
	for i, text := range texts {
		copied := unsafe.Pointer(C.CString(text))
		array[i] = C.passing_text{data: (*C.uint8_t)(copied), length: C.size_t(len(text))}
	}
	sum := uint64(C.passing_sum_texts(unsafe.SliceData(array), C.size_t(len(array))))
	for _, text := range array {
		C.free(unsafe.Pointer(text.data))
	}
	return sum
}

// Packed returns C strings in one buffer in the format of cstring.Flat, as views: no call per string.
func Packed() []byte {
	var length C.size_t
	data := C.passing_packed(&length)
	return unsafe.Slice((*byte)(unsafe.Pointer(data)), int(length))
}

var (
	sumFlat    = fastcall.Func(unsafe.Pointer(C.passing_sum_flat))
	sumHeaders = fastcall.Func(unsafe.Pointer(C.passing_sum_headers))
)
