//go:build !wasip1

package raw

import (
	"sync/atomic"
	"unsafe"
)

func (m *Metric) cell(lane uint32, index uintptr) *uint64 {
	lane = min(lane, m.lanes)
	return (*uint64)(unsafe.Add(unsafe.Pointer(m.cells.Cells), (uintptr(lane)*uintptr(m.cells.Stride)+index)*8))
}

// Add adds to a counter or, with the number read as signed, to a gauge: in memory of the gateway, without a call. The
// lane is the worker of the call.
func (m *Metric) Add(lane uint32, n uint64) { atomic.AddUint64(m.cell(lane, 0), n) }

// Observe counts a value in a histogram.
func (m *Metric) Observe(lane uint32, value uint64) {
	at := 0
	for at < len(m.bounds) && m.bounds[at] < value {
		at++
	}
	atomic.AddUint64(m.cell(lane, uintptr(at)), 1)
	atomic.AddUint64(m.cell(lane, uintptr(len(m.bounds)+1)), value)
}
