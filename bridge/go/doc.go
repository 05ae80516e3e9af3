// Package bridge is the Go side of calls between Rust and Go in one process, from one declaration.
//
// The declaration is a file of Rust; `eddy-bridge generate` makes a file of Go from it, which uses this package. Programs
// see little of it themselves: the types of views, options and results, [Open] for a library of Rust, and [Fault].
//
// docs/guide/bridge.md tells the whole of it.
package bridge
