package raw

import "unicode"

// Metric is a metric of a filter.
type Metric struct {
	cells  MetricCells
	bounds []uint64
	lanes  uint32
}

// LabelRune returns a character of a label's value, or an underscore for one that is not allowed there.
func LabelRune(c rune) rune {
	if c == ';' || unicode.IsControl(c) || c == unicode.ReplacementChar {
		return '_'
	}
	return c
}

// NewMetric defines a metric; NAME;KEY=VALUE has labels. Bounds are for histograms: ascending, at most 32.
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
