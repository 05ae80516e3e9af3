//go:build wasip1

package raw

// metricHost is a host whose memory a module cannot access. It selects the lane itself.
type metricHost interface {
	MetricAdd(metric uint32, n uint64)
	MetricObserve(metric uint32, value uint64)
}

// Add adds to a counter or, with the number read as signed, to a gauge.
func (m *Metric) Add(_ uint32, n uint64) {
	if h, ok := theHost().(metricHost); ok {
		h.MetricAdd(m.cells.Stride, n)
	}
}

// Observe counts a value in a histogram.
func (m *Metric) Observe(_ uint32, value uint64) {
	if h, ok := theHost().(metricHost); ok {
		h.MetricObserve(m.cells.Stride, value)
	}
}
