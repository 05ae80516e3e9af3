package main

// title is how a row is shown.
type title struct {
	id        string
	text      string
	published string // what others have published, in ns
}

// group is some rows under a heading.
type group struct {
	id    string
	text  string
	isGap bool // median and 99th percentile instead of the least
	rows  []title
}

// groups are all rows in the order of the documents.
var groups = []group{
	{id: "call", text: "Go calls a native function that does nothing", rows: []title{
		{"go-floor", "a Go function that is not inlined, for comparison", ""},
		{"go-c-fast", "`fastcall.Call`", "2"},
		{"go-c-cgo", "cgo", "28 to 30"},
		{"go-c-quiet", "cgo with `noescape` and `nocallback`", ""},
	}},
	{id: "string", text: "A string or bytes to C", rows: []title{
		{"string-fast", "string on the heap: `fastcall.CallString`", ""},
		{"string-noescape", "… cgo, `noescape` and `nocallback`", ""},
		{"string-escape", "… cgo", ""},
		{"fresh-fast", "32 bytes made for the call: `fastcall.CallString`", ""},
		{"fresh-noescape", "… cgo, `noescape` and `nocallback`", "61"},
		{"fresh-escape", "… cgo", "87"},
		{"fresh-cstring", "… `C.CString`, call, `C.free`", ""},
		{"stack-noescape", "`[64]byte` of the stack: cgo, `noescape` and `nocallback`", "61"},
		{"stack-escape", "… cgo", "87"},
		{"array-typed", "`[4096]byte`: to a `uint8_t *`", ""},
		{"array-address", "… to a `void *`, its address taken before", ""},
		{"array-copied", "… to a `void *` as `unsafe.Pointer(&array[0])`", ""},
	}},
	{id: "from", text: "A string from C", rows: []title{
		{"from-view", "length told by C: a view, compared (cgo)", ""},
		{"from-clone", "… cloned", ""},
		{"from-filled", "length known: Go allocates, C fills (cgo)", ""},
		{"from-malloc", "… C allocates, `C.GoString`, `C.free`", ""},
	}},
	{id: "batch", text: "16 strings of 24 bytes", rows: []title{
		{"batch-headers-fast", "to C: Go's own array of strings, one `fastcall.Call`", ""},
		{"batch-each-fast", "… 16 × `fastcall.CallString`", ""},
		{"batch-flat-fast", "… copied flat, one `fastcall.CallBytes`", ""},
		{"batch-flat", "… copied flat, one call by cgo", ""},
		{"batch-each", "… 16 calls by cgo", ""},
		{"batch-pinner", "… `runtime.Pinner`, one call by cgo", ""},
		{"batch-cstring", "… 16 × `C.CString` and `C.free`, one call by cgo", ""},
		{"batch-read-in-place", "from C: a flat table read in place, no call", ""},
		{"batch-read-cloned", "… cloned into one Go string", ""},
	}},
	{id: "into", text: "A Rust host calls Go (`dlopen`)", rows: []title{
		{"c-go-empty", "an empty function", "over 1,000 before Go 1.21"},
		{"c-go-arguments", "… a pointer in, a number out", ""},
		{"c-go-barrier", "… and a `recover` barrier", ""},
		{"c-go-panic", "… and a panic that the barrier catches", ""},
		{"c-go-two-threads", "empty, two threads at once", ""},
		{"c-go-first", "empty, the first call of a thread", ""},
	}},
	{id: "back", text: "Go calls the host that called it", rows: []title{
		{"go-host-fast", "`fastcall.Call`", ""},
		{"go-host-cgo", "cgo", ""},
	}},
	{id: "hook", text: "A whole hook: crossing, filter, changes applied", rows: []title{
		{"auth-flat", "basic auth: request read in place, compared", ""},
		{"auth-decoded", "… decoded, then compared", ""},
		{"auth-fast", "… field asked for by fastcall, cloned, decoded", ""},
		{"auth-cgo", "… field asked for by cgo, cloned, decoded", ""},
		{"headers-flat", "20 fields looked at, 2 set: read in place, changes listed", ""},
		{"headers-copied", "… copied to Go, changes listed", ""},
		{"headers-fast", "… copied by fastcall, set by fastcall", ""},
		{"headers-cgo", "… copied by cgo with pinned memory, set by cgo", ""},
		{"headers-map", "… as `map[string][]string`, changes listed", ""},
	}},
	{id: "object", text: "The object of a request found again", rows: []title{
		{"object-slot", "a slot: an index into a slice", ""},
		{"object-handle", "`cgo.Handle.Value`", ""},
		{"object-map", "32 maps with a mutex each: put, find, delete", ""},
		{"object-handle-new", "`cgo.NewHandle`, `Value`, `Delete`", ""},
		{"object-pinned", "`runtime.Pinner`: pin, unpin", ""},
		{"object-new", "allocating it (24 bytes)", ""},
	}},
	{id: "gap", text: "An empty call from Rust after a pause", isGap: true, rows: []title{
		{"gap-10us", "10 µs at work", ""},
		{"gap-50us", "50 µs at work", ""},
		{"gap-100us", "100 µs at work", ""},
		{"gap-300us", "300 µs at work", ""},
		{"gap-1ms", "1 ms at work", ""},
		{"gap-1ms-asleep", "1 ms asleep", ""},
	}},
}

// goal is a figure that calls must not exceed.
type goal struct {
	row   string
	ns    float64
	title string
}

var goals = []goal{
	{"go-c-fast", 2.5, "Go to native by fastcall"},
	{"c-go-barrier", 60, "native to Go with a recover barrier"},
}
