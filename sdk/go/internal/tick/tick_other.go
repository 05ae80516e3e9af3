//go:build !(linux && gc && (amd64 || arm64))

// Package tick tells Go's monitor that a worker's thread makes progress, where it knows how.
package tick

// Bump does nothing here.
func Bump() {}

// Probe tells why Bump does nothing.
func Probe() (reason string) { return "there is no assembly for this platform" }

// Reset does nothing here.
func Reset() {}
