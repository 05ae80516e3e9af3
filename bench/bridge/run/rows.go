package main

import "github.com/eddy-gateway/eddy/bench/calls/turns"

// groups are all rows in the order of the document.
var groups = []turns.Group{
	{ID: "empty", Text: "Nothing passed", Rows: []turns.Title{
		{ID: "empty-cgo", Text: "cgo"},
		{ID: "empty-ring-rust", Text: "ring to a process in Rust"},
		{ID: "empty-ring-go", Text: "ring to a process in Go"},
		{ID: "empty-socket", Text: "Unix socket and protobuf to a process in Go"},
	}},
	{ID: "text", Text: "A text of 32 bytes", Rows: []turns.Title{
		{ID: "text-cgo", Text: "cgo, address and length"},
		{ID: "text-cstring", Text: "cgo, `C.CString` and `C.free`"},
		{ID: "text-ring-rust", Text: "ring to a process in Rust"},
		{ID: "text-ring-go", Text: "ring to a process in Go"},
		{ID: "text-socket", Text: "Unix socket and protobuf"},
	}},
	{ID: "struct", Text: "A struct of ten fields, five of them texts", Rows: []turns.Title{
		{ID: "struct-cgo", Text: "cgo, copied flat"},
		{ID: "struct-cstring", Text: "cgo, five times `C.CString` and `C.free`"},
		{ID: "struct-pinner", Text: "cgo, `runtime.Pinner`"},
		{ID: "struct-ring-rust", Text: "ring to a process in Rust, copied flat"},
		{ID: "struct-ring-go", Text: "ring to a process in Go, copied flat"},
		{ID: "struct-socket", Text: "Unix socket and protobuf"},
	}},
	{ID: "batch", Text: "16 texts of 24 bytes", Rows: []turns.Title{
		{ID: "batch-cgo", Text: "cgo, copied flat"},
		{ID: "batch-cstring", Text: "cgo, 16 times `C.CString` and `C.free`"},
		{ID: "batch-pinner", Text: "cgo, `runtime.Pinner`"},
		{ID: "batch-ring-rust", Text: "ring to a process in Rust, copied flat"},
		{ID: "batch-ring-go", Text: "ring to a process in Go, copied flat"},
		{ID: "batch-socket", Text: "Unix socket and protobuf"},
	}},
	{ID: "bytes", Text: "64 KiB", Rows: []turns.Title{
		{ID: "bytes-cgo", Text: "cgo, address and length"},
		{ID: "bytes-copied", Text: "cgo, `C.CBytes` and `C.free`"},
		{ID: "bytes-ring-rust", Text: "ring to a process in Rust"},
		{ID: "bytes-ring-go", Text: "ring to a process in Go"},
		{ID: "bytes-socket", Text: "Unix socket and protobuf"},
	}},
	{ID: "threads", Text: "Nothing passed, several at once; ns a call of each", Rows: []turns.Title{
		{ID: "empty-cgo-two", Text: "cgo, two goroutines"},
		{ID: "empty-ring-rust-two", Text: "ring to Rust, two goroutines"},
		{ID: "empty-ring-go-two", Text: "ring to Go, two goroutines"},
		{ID: "empty-socket-two", Text: "Unix socket and protobuf, two goroutines with a connection each"},
		{ID: "empty-elsewhere-ring-rust", Text: "ring to Rust, answered by another thread, one after the other"},
		{ID: "empty-elsewhere-ring-go", Text: "ring to Go, answered by a goroutine of its own, one after the other"},
		{ID: "empty-ring-rust-many", Text: "ring to Rust, answered by another thread, 64 goroutines; ns a call of all"},
		{ID: "empty-ring-go-many", Text: "ring to Go, answered by a goroutine of its own, 64 goroutines; ns a call of all"},
	}},
}

var goals = []turns.Goal{
	{Row: "batch-cgo", Times: 1.0 / 8, OfOther: "batch-pinner", Title: "16 texts copied flat, of the Pinner's 1/8"},
	{Row: "struct-ring-rust", Times: 1.0 / 10, OfOther: "struct-socket", Title: "a struct by the ring, of the socket's 1/10"},
}
