// Package raw is the base of filter SDKs in Go: the memory of abi/eddy_filter.h as Go types, reads and edits on it, and
// the registry of filters.
//
// Write filters with package eddy instead. This package is for other interfaces on top of it: it checks little, and it
// returns views.
//
// # Views
//
// The strings and slices of a [Call] refer to memory of the gateway. They are valid until the hook returns, and an edit
// of the same call may invalidate those from its edit log. Clone what is needed longer, or make a [Copy] of the call.
//
// # Threads
//
// A call belongs to the thread that it runs on. Any goroutine may call [Resume], [WriteLog], [NewMetric], [Send] and
// [Cancel].
package raw
