// Package bundle makes a program a library that eddy can load. Import it for its side effect into package main of a
// build with -buildmode=c-shared, together with the packages of the filters.
//
//	package main
//
//	import (
//		_ "example.com/filters/auth"
//		_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
//	)
//
//	func main() {}
//
// A process can have one Go runtime, so all Go filters of a gateway are in one bundle. With GOOS=wasip1 GOARCH=wasm,
// the same program becomes a Wasm module; the number of modules in a process is not limited.
package bundle
