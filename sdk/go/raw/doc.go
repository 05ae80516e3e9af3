// Package raw is the floor that kits for filters in Go stand on: the memory of abi/eddy_filter.h as Go types, reads
// and edits on it, and the registry of filters.
//
// Filters are better written with package eddy. This package is for those who build another interface: it checks
// little, and what it hands out are views.
//
// # Views
//
// The strings and slices that come out of a [Call] point into memory of the gateway. They are valid until the hook
// returns, and an edit to the same call may end those that came from its edit log. Clone what must live longer, or
// make a [Copy] of the call.
//
// # Threads
//
// A call belongs to the thread that it runs on. [Resume], [WriteLog], [NewMetric], [Send] and [Cancel] may be called by any goroutine.
package raw
