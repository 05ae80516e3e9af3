package main

/*
#include "shared.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// What the host calls. Nothing of Go is kept by it.

//export guest_open
func guest_open(host unsafe.Pointer) {
	table := (*C.bench_host)(host)
	C.guest_set_host(table)
	hostEmpty = fastcall.Func(unsafe.Pointer(table.empty))
	hostGet = fastcall.Func(unsafe.Pointer(table.get))
	hostSet = fastcall.Func(unsafe.Pointer(table.set))
	hostCopy = fastcall.Func(unsafe.Pointer(table.copy))
}

// guest_status writes the fastcall.Status as text and returns its length.
//
//export guest_status
func guest_status(data unsafe.Pointer, size C.size_t) C.size_t {
	return C.size_t(copy(unsafe.Slice((*byte)(data), int(size)), fastcall.Status().String()))
}

// guest_allocated writes how many objects and bytes have been allocated so far.
//
//export guest_allocated
func guest_allocated(out unsafe.Pointer) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	*(*[2]uint64)(out) = [2]uint64{memory.Mallocs, memory.TotalAlloc}
}

//export guest_empty
func guest_empty() {}

//export guest_arguments
func guest_arguments(at unsafe.Pointer) C.int {
	return C.int((*request)(at).fieldsLength)
}

//export guest_barrier
func guest_barrier(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	return C.int((*request)(at).fieldsLength)
}

//export guest_panic
func guest_panic(unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	panic(message)
}

//export guest_inside_cgo
func guest_inside_cgo(count C.size_t) {
	for range int(count) {
		C.guest_host_empty()
	}
}

//export guest_inside_fast
func guest_inside_fast(count C.size_t) {
	for range int(count) {
		fastcall.Call(hostEmpty, nil)
	}
}

// barrier ends a panic where it would leave Go.
func barrier(result *C.int) {
	if recover() != nil {
		*result = -1
	}
}

var (
	hostEmpty, hostGet, hostSet, hostCopy fastcall.Func

	message any = "a filter panics"
)
