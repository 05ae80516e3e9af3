package main

import "github.com/eddy-gateway/eddy/bench/calls/turns"

// ringGroups and callGroups are what each document shows.
var (
	ringGroups = []string{"empty", "text", "struct", "batch", "bytes", "threads"}
	callGroups = []string{"calls-empty", "calls-text", "calls-struct", "calls-batch", "calls-bytes", "calls-two", "calls-later"}
)

// groups are all rows in the order of the documents: calls between processes, then calls in one.
var groups = append(betweenProcesses, inProcess()...)

var betweenProcesses = []turns.Group{
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

// inProcess are the calls of the bridge in one process, beside what one would write without it.
func inProcess() []turns.Group {
	plain := map[string][]turns.Title{
		"empty": {
			{ID: "empty-cgo", Text: "Go to C by cgo, without the bridge"},
			{ID: "empty-callback", Text: "Rust to an exported function of Go, without the bridge"},
			{ID: "empty-callback-barrier", Text: "the same with a `recover` barrier"},
		},
		"text": {
			{ID: "text-cgo", Text: "Go to C by cgo, address and length"},
			{ID: "text-cstring", Text: "the same with `C.CString` and `C.free`"},
		},
		"struct": {
			{ID: "struct-cgo", Text: "Go to C by cgo, copied flat by hand"},
			{ID: "struct-cstring", Text: "the same with five times `C.CString` and `C.free`"},
			{ID: "struct-pinner", Text: "the same with `runtime.Pinner`"},
		},
		"batch": {
			{ID: "batch-cgo", Text: "Go to C by cgo, copied flat by hand"},
			{ID: "batch-cstring", Text: "the same with 16 times `C.CString` and `C.free`"},
			{ID: "batch-pinner", Text: "the same with `runtime.Pinner`"},
		},
		"bytes": {
			{ID: "bytes-cgo", Text: "Go to C by cgo, address and length"},
			{ID: "bytes-copied", Text: "the same with `C.CBytes` and `C.free`"},
		},
	}
	two := turns.Group{ID: "calls-two", Text: "Two threads at once; ns a call of each", Rows: []turns.Title{
		{ID: "empty-cgo-two", Text: "nothing: Go to C by cgo, without the bridge"},
		{ID: "empty-callback-two", Text: "nothing: Rust to an exported function of Go, without the bridge"},
		{ID: "empty-callback-barrier-two", Text: "nothing: the same with a `recover` barrier"},
	}}
	later := turns.Group{ID: "calls-later", Text: "Answered later; ns a call of all that are under way", Rows: []turns.Title{
		{ID: "empty-async-single", Text: "nothing: a goroutine waits for a future of Rust, one call after the other"},
		{ID: "empty-rust-go-async-single", Text: "nothing: a thread waits for a goroutine, one call after the other"},
	}}
	var all []turns.Group
	for _, passed := range []struct{ id, text string }{
		{"empty", "nothing"}, {"text", "a text of 32 bytes"}, {"struct", "a struct of ten fields"},
		{"batch", "16 texts of 24 bytes"}, {"bytes", "64 KiB"},
	} {
		rows := append(plain[passed.id],
			turns.Title{ID: passed.id + "-short", Text: "**Go to Rust, `#[short]`**"},
			turns.Title{ID: passed.id + "-bridge", Text: "**Go to Rust**"},
			turns.Title{ID: passed.id + "-rust-go", Text: "**Rust to Go**"},
			turns.Title{ID: passed.id + "-socket", Text: "Unix socket and protobuf to another process"})
		all = append(all, turns.Group{ID: "calls-" + passed.id, Text: "One thread: " + passed.text, Rows: rows})
		two.Rows = append(two.Rows,
			turns.Title{ID: passed.id + "-short-two", Text: passed.text + ": Go to Rust, `#[short]`"},
			turns.Title{ID: passed.id + "-bridge-two", Text: passed.text + ": Go to Rust"},
			turns.Title{ID: passed.id + "-rust-go-two", Text: passed.text + ": Rust to Go"})
		later.Rows = append(later.Rows,
			turns.Title{ID: passed.id + "-async", Text: passed.text + ": 64 goroutines wait for Rust"},
			turns.Title{ID: passed.id + "-rust-go-async", Text: passed.text + ": a thread with 256 calls of Go"},
			turns.Title{ID: passed.id + "-rust-go-async-two", Text: passed.text + ": two threads with 256 each; of each"})
	}
	return append(all, two, later)
}

var goals = []turns.Goal{
	{Row: "empty-short", NS: 5, Title: "a short call of Rust"},
	{Row: "empty-bridge", Times: 1.1, OfOther: "empty-cgo", Title: "a call of Rust by cgo, of plain cgo's 1.1"},
	{Row: "struct-rust-go", NS: 70, Title: "a struct of ten fields to Go"},
	{Row: "empty-rust-go-async", NS: 1500, Title: "an async call of Go at load"},
	{Row: "batch-short", Times: 1.0 / 8, OfOther: "batch-pinner", Title: "16 texts in a short call, of the Pinner's 1/8"},
	{Row: "batch-bridge", Times: 1.0 / 8, OfOther: "batch-pinner", Title: "16 texts by cgo, of the Pinner's 1/8"},
	{Row: "struct-rust-go", Times: 1.0 / 10, OfOther: "struct-socket", Title: "a struct to Go, of the socket's 1/10"},
	{Row: "batch-cgo", Times: 1.0 / 8, OfOther: "batch-pinner", Title: "16 texts copied flat, of the Pinner's 1/8"},
	{Row: "struct-ring-rust", Times: 1.0 / 10, OfOther: "struct-socket", Title: "a struct by the ring, of the socket's 1/10"},
}
