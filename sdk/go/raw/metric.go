package raw

import (
	"sync/atomic"
	"unsafe"
)

// Metric is a metric of a filter: cells in memory of the gateway, added to without a call.
type Metric struct {
	cells  MetricCells
	bounds []uint64
	lanes  uint32
}

// NewMetric defines a metric. Bounds, ascending and at most 32, are for histograms.
func NewMetric(filter uint32, kind MetricKind, name string, bounds []uint64) (*Metric, error) {
	h := theHost()
	if h == nil {
		return nil, Gone
	}
	cells, result := h.Metric(filter, kind, name, bounds)
	if result != OK {
		return nil, result
	}
	return &Metric{cells: cells, bounds: append([]uint64(nil), bounds...), lanes: uint32(h.Workers())}, nil
}

// OutsideLane is the lane for goroutines that are not in a hook.
const OutsideLane = ^uint32(0)

func (m *Metric) cell(lane uint32, index uintptr) *uint64 {
	lane = min(lane, m.lanes)
	return (*uint64)(unsafe.Add(unsafe.Pointer(m.cells.Cells), (uintptr(lane)*uintptr(m.cells.Stride)+index)*8))
}

// Add adds to a counter or, the number read as signed, to a gauge. The lane is the worker of the call.
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
