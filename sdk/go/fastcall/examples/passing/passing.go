// Package passing shows how to pass strings between Go and C, one case per file, each with the usual way for
// comparison. Copy what you need: the C functions are made up, the Go code around them is not. `go test -bench .`
// measures the costs.
//
//   - toc.go: a Go string to C, without a copy and without an allocation
//   - unknown.go: a C string whose length C returns: to read it, or to keep it
//   - known.go: a text of known length: Go allocates, C fills
//   - batch.go: many strings in one call
//   - array.go: an array, and when cgo copies all of it
//
// All of it passes cgo's default checks (GODEBUG=cgocheck=1).
package passing
