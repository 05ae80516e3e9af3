package main

/*
#include <stdlib.h>
#include "native.h"

#cgo noescape native_text_length
#cgo nocallback native_text_length
#cgo noescape native_flat_length
#cgo nocallback native_flat_length
#cgo noescape native_zero_ended
#cgo nocallback native_zero_ended
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/eddy-gateway/eddy/bench/calls/row"
)

// nativeRows are the ways to pass something to native code by cgo.
func nativeRows() []row.Row {
	return []row.Row{
		{ID: "empty-cgo", Loop: empty},
		{ID: "empty-cgo-two", Loop: onTwo(empty)},
		{ID: "text-cgo", Loop: func(n int) {
			for range n {
				C.native_text_length(chars(text32), C.size_t(len(text32)))
			}
		}},
		{ID: "text-cstring", Loop: func(n int) {
			for range n {
				copied := C.CString(text32)
				C.native_zero_ended(copied)
				C.free(unsafe.Pointer(copied))
			}
		}},
		{ID: "struct-cgo", Loop: func(n int) {
			flat := make([]byte, 0, 256)
			for range n {
				flat = appendOrder(flat[:0], &sample)
				C.native_text_length((*C.char)(unsafe.Pointer(unsafe.SliceData(flat))), C.size_t(len(flat)))
			}
		}},
		{ID: "struct-cstring", Loop: func(n int) {
			for range n {
				orderByCString(&sample)
			}
		}},
		{ID: "struct-pinner", Loop: func(n int) {
			for range n {
				orderByPinner(&sample)
			}
		}},
		{ID: "batch-cgo", Loop: func(n int) {
			flat := make([]byte, 0, 1024)
			for range n {
				flat = appendTexts(flat[:0], texts16)
				C.native_flat_length((*C.char)(unsafe.Pointer(unsafe.SliceData(flat))), C.size_t(len(flat)))
			}
		}},
		{ID: "batch-cstring", Loop: func(n int) {
			for range n {
				textsByCString(texts16)
			}
		}},
		{ID: "batch-pinner", Loop: func(n int) {
			for range n {
				textsByPinner(texts16)
			}
		}},
		{ID: "bytes-cgo", Loop: func(n int) {
			for range n {
				C.native_text_length((*C.char)(unsafe.Pointer(unsafe.SliceData(bytes64))), C.size_t(len(bytes64)))
			}
		}},
		{ID: "bytes-copied", Loop: func(n int) {
			for range n {
				copied := C.CBytes(bytes64)
				C.native_text_length((*C.char)(copied), C.size_t(len(bytes64)))
				C.free(copied)
			}
		}},
	}
}

func empty(n int) {
	for range n {
		C.native_empty()
	}
}

func chars(text string) *C.char { return (*C.char)(unsafe.Pointer(unsafe.StringData(text))) }

func view(text string) C.native_text { return C.native_text{chars(text), C.size_t(len(text))} }

func orderByCString(o *order) {
	native := nativeOrder(o)
	texts := []string{o.name, o.kind, o.place, o.note, o.sign}
	for index, place := range []*C.native_text{&native.name, &native.kind, &native.place, &native.note, &native.sign} {
		place.data, place.length = C.CString(texts[index]), C.size_t(len(texts[index]))
		defer C.free(unsafe.Pointer(place.data))
	}
	C.native_order_length(&native)
}

func orderByPinner(o *order) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	native := nativeOrder(o)
	texts := []string{o.name, o.kind, o.place, o.note, o.sign}
	for index, place := range []*C.native_text{&native.name, &native.kind, &native.place, &native.note, &native.sign} {
		pinner.Pin(unsafe.StringData(texts[index]))
		*place = view(texts[index])
	}
	C.native_order_length(&native)
}

// nativeOrder has the numbers of an order.
func nativeOrder(o *order) C.native_order {
	native := C.native_order{id: C.int64_t(o.id), number: C.int64_t(o.number), total: C.int64_t(o.total), time: C.int64_t(o.time)}
	if o.isNew {
		native.is_new = 1
	}
	return native
}

func textsByCString(texts []string) {
	copied := [16]*C.char{}
	for index, text := range texts {
		copied[index] = C.CString(text)
	}
	C.native_strings_length(&copied[0], 16)
	for _, text := range copied {
		C.free(unsafe.Pointer(text))
	}
}

func textsByPinner(texts []string) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	views := [16]C.native_text{}
	for index, text := range texts {
		pinner.Pin(unsafe.StringData(text))
		views[index] = view(text)
	}
	C.native_texts_length(&views[0], 16)
}

// onTwo has two goroutines, each on a thread, run a loop at once: n times each.
func onTwo(loop func(n int)) func(n int) {
	return func(n int) {
		var both sync.WaitGroup
		for range 2 {
			both.Add(1)
			go func() {
				defer both.Done()
				loop(n)
			}()
		}
		both.Wait()
	}
}
