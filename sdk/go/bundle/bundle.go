// Package bundle makes a program a library that eddy can open: import it, for its effect only, into package main of
// a build with -buildmode=c-shared, together with the packages of the filters.
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
// One process can hold one Go runtime: all Go filters of a gateway are one bundle. With GOOS=wasip1 GOARCH=wasm the
// same program becomes a module of Wasm, of which a process can hold as many as it likes.
package bundle
