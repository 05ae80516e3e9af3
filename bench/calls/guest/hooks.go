package main

/*
#include "shared.h"

#cgo noescape guest_get
#cgo nocallback guest_get
#cgo noescape guest_set
#cgo nocallback guest_set
#cgo noescape guest_copy
#cgo nocallback guest_copy
*/
import "C"

import (
	"runtime"
	"strings"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Two filters, each written for three kinds of interfaces: the request read in place and changes written to a list; a
// call of the host for each operation, by assembly; and such a call by cgo.

//export hook_auth_flat
func hook_auth_flat(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	return toInt(isAllowed((*request)(at).find(authorizationID)))
}

//export hook_auth_decoded
func hook_auth_decoded(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	return toInt(isAllowedDecoded((*request)(at).find(authorizationID)))
}

//export hook_auth_fast
func hook_auth_fast(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	return toInt(isAllowedDecoded(strings.Clone(fastGet((*request)(at), "authorization"))))
}

//export hook_auth_cgo
func hook_auth_cgo(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	name := "authorization"
	value := C.guest_get((*C.bench_request)(at), (*C.uint8_t)(unsafe.StringData(name)), C.size_t(len(name)))
	text := unsafe.String((*byte)(value.data), int(value.length))
	return toInt(isAllowedDecoded(strings.Clone(text)))
}

//export hook_headers_flat
func hook_headers_flat(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	r := (*request)(at)
	for _, field := range r.all() {
		result += visit(r.text(field.nameStart, field.nameEnd), r.text(field.valueStart, field.valueEnd))
	}
	setTwo(r)
	return result
}

//export hook_headers_copied
func hook_headers_copied(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	r := (*request)(at)
	arena := strings.Clone(unsafe.String(r.bytes, r.bytesLength))
	var texts [40]string
	for i, field := range r.all() {
		texts[2*i] = arena[field.nameStart:field.nameEnd]
		texts[2*i+1] = arena[field.valueStart:field.valueEnd]
	}
	for i := 0; i < len(r.all()); i++ {
		result += visit(texts[2*i], texts[2*i+1])
	}
	setTwo(r)
	return result
}

//export hook_headers_fast
func hook_headers_fast(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	r := (*request)(at)
	bytes := make([]byte, r.bytesLength)
	var fields [20]field
	copy := copying{request: r, bytes: unsafe.SliceData(bytes), fields: &fields[0]}
	fastcall.Call(hostCopy, unsafe.Pointer(&copy))
	arena := unsafe.String(unsafe.SliceData(bytes), len(bytes))
	for _, field := range fields {
		result += visit(arena[field.nameStart:field.nameEnd], arena[field.valueStart:field.valueEnd])
	}
	fastSet(r, "x-first", "a value of some bytes")
	fastSet(r, "x-second", "another value")
	return result
}

// hook_headers_cgo is how Envoy's Go filters do it: Go makes room for texts and their bytes, pinned, the host fills
// both.
//
//export hook_headers_cgo
func hook_headers_cgo(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	r := (*request)(at)
	bytes := make([]byte, r.bytesLength)
	texts := make([][2]string, r.fieldsLength)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(unsafe.SliceData(bytes))
	pinner.Pin(unsafe.SliceData(texts))
	C.guest_copy((*C.bench_request)(at), (*C.uint8_t)(unsafe.SliceData(bytes)), (*C.bench_text)(unsafe.Pointer(unsafe.SliceData(texts))))
	for _, text := range texts {
		result += visit(text[0], text[1])
	}
	cgoSet(r, "x-first", "a value of some bytes")
	cgoSet(r, "x-second", "another value")
	return result
}

//export hook_headers_map
func hook_headers_map(at unsafe.Pointer) (result C.int) {
	defer barrier(&result)
	r := (*request)(at)
	arena := strings.Clone(unsafe.String(r.bytes, r.bytesLength))
	headers := make(map[string][]string, r.fieldsLength)
	for _, field := range r.all() {
		name := arena[field.nameStart:field.nameEnd]
		headers[name] = append(headers[name], arena[field.valueStart:field.valueEnd])
	}
	for name, values := range headers {
		result += visit(name, values[0])
	}
	setTwo(r)
	return result
}

// visit looks at a field, as cheaply as can be.
func visit(name, value string) C.int {
	return C.int(len(name)) + C.int(len(value)) + C.int(name[0])
}

func setTwo(r *request) {
	r.set("x-first", "a value of some bytes")
	r.set("x-second", "another value")
}

func cgoSet(r *request, name, value string) {
	C.guest_set((*C.bench_request)(unsafe.Pointer(r)),
		(*C.uint8_t)(unsafe.StringData(name)), C.size_t(len(name)),
		(*C.uint8_t)(unsafe.StringData(value)), C.size_t(len(value)))
}

func toInt(is bool) C.int {
	if is {
		return 1
	}
	return 0
}
