// Package passing shows how strings go between Go and C, one way a file, the good one beside the usual one. Copy what
// you need: the C functions are made up, the Go around them is not. `go test -bench .` says what each costs.
//
//   - toc.go: a Go string to C, without a copy and without an allocation
//   - unknown.go: a string of C whose length Go learns from C: look at it, or keep it
//   - known.go: a text whose length is known before: Go makes room, C fills it
//   - batch.go: many strings in one call
//   - array.go: an array, and how cgo comes to copy all of it
//
// Everything passes cgo's own checks as they are by default (GODEBUG=cgocheck=1).
package passing
