// Package bridge is the Go side of calls between Rust and Go in one process, generated from one declaration.
//
// The declaration is a Rust file; `eddy-bridge generate` generates a Go file from it, which uses this package. Programs
// themselves use only a few of its names: the types of views, options and results, [Open] for a Rust library, and
// [Fault].
//
// docs/guide/bridge.md is the guide.
package bridge
