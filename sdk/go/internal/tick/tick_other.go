//go:build !(linux && gc && (amd64 || arm64))

// Package tick shows Go's monitor that a worker's thread makes progress, on supported systems.
package tick

// Bump does nothing on this system.
func Bump() {}

// Probe returns why Bump does nothing.
func Probe() (reason string) { return "there is no assembly for this platform" }

// Reset does nothing on this system.
func Reset() {}
