package main

import (
	"encoding/base64"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// request is bench_request as Go sees it.
type request struct {
	bytes                      *byte
	fields                     *field
	bytesLength, fieldsLength  uint32
	edits                      *byte
	editsCapacity, editsLength uint32
	host                       unsafe.Pointer
}

// field is bench_field.
type field struct {
	nameStart, nameEnd, valueStart, valueEnd, id uint32
}

// operation is bench_operation; a string of Go is laid out as a bench_text.
type operation struct {
	request     *request
	name, value string
}

// copying is bench_copy.
type copying struct {
	request *request
	bytes   *byte
	fields  *field
	texts   *[2]string
}

func (r *request) all() []field { return unsafe.Slice(r.fields, r.fieldsLength) }

func (r *request) text(start, end uint32) string {
	return unsafe.String(r.bytes, r.bytesLength)[start:end]
}

// find returns the value of a known field, as a view.
func (r *request) find(id uint32) string {
	for _, field := range r.all() {
		if field.id == id {
			return r.text(field.valueStart, field.valueEnd)
		}
	}
	return ""
}

// set writes a change to the list that the host applies.
func (r *request) set(name, value string) {
	length := (8 + uint32(len(name)) + uint32(len(value)) + 7) &^ 7
	if length > r.editsCapacity-r.editsLength {
		return
	}
	record := unsafe.Slice(r.edits, r.editsCapacity)[r.editsLength:][:length]
	*(*[2]uint32)(unsafe.Pointer(&record[0])) = [2]uint32{uint32(len(name)), uint32(len(value))}
	copy(record[8+copy(record[8:], name):], value)
	r.editsLength += length
}

// isAllowed checks a credential as it is sent.
func isAllowed(authorization string) bool {
	return authorization == credential
}

// isAllowedDecoded checks it as a filter does that wants user and password.
func isAllowedDecoded(authorization string) bool {
	const scheme = "Basic "
	if len(authorization) < len(scheme) || authorization[:len(scheme)] != scheme {
		return false
	}
	var buffer [64]byte
	encoded := authorization[len(scheme):]
	if base64.StdEncoding.DecodedLen(len(encoded)) > len(buffer) {
		return false
	}
	length, err := base64.StdEncoding.Decode(buffer[:], unsafe.Slice(unsafe.StringData(encoded), len(encoded)))
	return err == nil && string(buffer[:length]) == "fooname:validpassword"
}

func fastGet(r *request, name string) string {
	get := operation{request: r, name: name}
	fastcall.Call(hostGet, unsafe.Pointer(&get))
	return get.value
}

func fastSet(r *request, name, value string) {
	set := operation{request: r, name: name, value: value}
	fastcall.Call(hostSet, unsafe.Pointer(&set))
}

const (
	// credential is what the request has in its authorization field.
	credential = "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk"

	// authorizationID is the number of that field.
	authorizationID = 33
)
