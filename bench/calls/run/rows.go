package main

import "github.com/eddy-gateway/eddy/bench/calls/turns"

// groups are all rows in the order of the documents.
var groups = []turns.Group{
	{ID: "call", Text: "Go calls a native function that does nothing", Rows: []turns.Title{
		{ID: "go-floor", Text: "a Go function that is not inlined, for comparison"},
		{ID: "go-c-fast", Text: "`fastcall.Call`", Published: "2"},
		{ID: "go-c-cgo", Text: "cgo", Published: "28 to 30"},
		{ID: "go-c-quiet", Text: "cgo with `noescape` and `nocallback`"},
	}},
	{ID: "string", Text: "A string or bytes to C", Rows: []turns.Title{
		{ID: "string-fast", Text: "string on the heap: `fastcall.CallString`"},
		{ID: "string-noescape", Text: "… cgo, `noescape` and `nocallback`"},
		{ID: "string-escape", Text: "… cgo"},
		{ID: "fresh-fast", Text: "32 bytes made for the call: `fastcall.CallString`"},
		{ID: "fresh-noescape", Text: "… cgo, `noescape` and `nocallback`", Published: "61"},
		{ID: "fresh-escape", Text: "… cgo", Published: "87"},
		{ID: "fresh-cstring", Text: "… `C.CString`, call, `C.free`"},
		{ID: "stack-noescape", Text: "`[64]byte` of the stack: cgo, `noescape` and `nocallback`", Published: "61"},
		{ID: "stack-escape", Text: "… cgo", Published: "87"},
		{ID: "array-typed", Text: "`[4096]byte`: to a `uint8_t *`"},
		{ID: "array-address", Text: "… to a `void *`, its address taken before"},
		{ID: "array-copied", Text: "… to a `void *` as `unsafe.Pointer(&array[0])`"},
	}},
	{ID: "from", Text: "A string from C", Rows: []turns.Title{
		{ID: "from-view", Text: "length told by C: a view, compared (cgo)"},
		{ID: "from-clone", Text: "… cloned"},
		{ID: "from-filled", Text: "length known: Go allocates, C fills (cgo)"},
		{ID: "from-malloc", Text: "… C allocates, `C.GoString`, `C.free`"},
	}},
	{ID: "batch", Text: "16 strings of 24 bytes", Rows: []turns.Title{
		{ID: "batch-headers-fast", Text: "to C: Go's own array of strings, one `fastcall.Call`"},
		{ID: "batch-each-fast", Text: "… 16 × `fastcall.CallString`"},
		{ID: "batch-flat-fast", Text: "… copied flat, one `fastcall.CallBytes`"},
		{ID: "batch-flat", Text: "… copied flat, one call by cgo"},
		{ID: "batch-each", Text: "… 16 calls by cgo"},
		{ID: "batch-pinner", Text: "… `runtime.Pinner`, one call by cgo"},
		{ID: "batch-cstring", Text: "… 16 × `C.CString` and `C.free`, one call by cgo"},
		{ID: "batch-read-in-place", Text: "from C: a flat table read in place, no call"},
		{ID: "batch-read-cloned", Text: "… cloned into one Go string"},
	}},
	{ID: "into", Text: "A Rust host calls Go (`dlopen`)", Rows: []turns.Title{
		{ID: "c-go-empty", Text: "an empty function", Published: "over 1,000 before Go 1.21"},
		{ID: "c-go-arguments", Text: "… a pointer in, a number out"},
		{ID: "c-go-barrier", Text: "… and a `recover` barrier"},
		{ID: "c-go-panic", Text: "… and a panic that the barrier catches"},
		{ID: "c-go-two-threads", Text: "empty, two threads at once"},
		{ID: "c-go-first", Text: "empty, the first call of a thread"},
	}},
	{ID: "back", Text: "Go calls the host that called it", Rows: []turns.Title{
		{ID: "go-host-fast", Text: "`fastcall.Call`"},
		{ID: "go-host-cgo", Text: "cgo"},
	}},
	{ID: "hook", Text: "A whole hook: crossing, filter, changes applied", Rows: []turns.Title{
		{ID: "auth-flat", Text: "basic auth: request read in place, compared"},
		{ID: "auth-decoded", Text: "… decoded, then compared"},
		{ID: "auth-fast", Text: "… field asked for by fastcall, cloned, decoded"},
		{ID: "auth-cgo", Text: "… field asked for by cgo, cloned, decoded"},
		{ID: "headers-flat", Text: "20 fields looked at, 2 set: read in place, changes listed"},
		{ID: "headers-copied", Text: "… copied to Go, changes listed"},
		{ID: "headers-fast", Text: "… copied by fastcall, set by fastcall"},
		{ID: "headers-cgo", Text: "… copied by cgo with pinned memory, set by cgo"},
		{ID: "headers-map", Text: "… as `map[string][]string`, changes listed"},
	}},
	{ID: "object", Text: "The object of a request found again", Rows: []turns.Title{
		{ID: "object-slot", Text: "a slot: an index into a slice"},
		{ID: "object-handle", Text: "`cgo.Handle.Value`"},
		{ID: "object-map", Text: "32 maps with a mutex each: put, find, delete"},
		{ID: "object-handle-new", Text: "`cgo.NewHandle`, `Value`, `Delete`"},
		{ID: "object-pinned", Text: "`runtime.Pinner`: pin, unpin"},
		{ID: "object-new", Text: "allocating it (24 bytes)"},
	}},
	{ID: "gap", Text: "An empty call from Rust after a pause", IsGap: true, Rows: []turns.Title{
		{ID: "gap-10us", Text: "10 µs at work"},
		{ID: "gap-50us", Text: "50 µs at work"},
		{ID: "gap-100us", Text: "100 µs at work"},
		{ID: "gap-300us", Text: "300 µs at work"},
		{ID: "gap-1ms", Text: "1 ms at work"},
		{ID: "gap-1ms-asleep", Text: "1 ms asleep"},
	}},
}

var goals = []turns.Goal{
	{Row: "go-c-fast", NS: 2.5, Title: "Go to native by fastcall"},
	{Row: "c-go-barrier", NS: 60, Title: "native to Go with a recover barrier"},
}
