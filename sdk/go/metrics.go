package eddy

import (
	"log/slog"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Env is what a filter is given before its first exchange, see [Starter].
type Env struct{ filter *filter }

// ID is the gateway's number of the filter.
func (e *Env) ID() uint32 { return e.filter.id }

// Name is the name that the filter is registered under.
func (e *Env) Name() string { return e.filter.name }

// Workers is the number of the gateway's workers.
func (e *Env) Workers() int { return raw.Workers() }

// Logger writes to the gateway's log, under the filter's name.
func (e *Env) Logger() *slog.Logger { return e.filter.logger }

// Counter defines a number that only grows, shown as eddy_filter_NAME. A filter has at most 64 metrics.
func (e *Env) Counter(name string) (*Counter, error) {
	m, err := raw.NewMetric(e.filter.id, raw.CounterKind, name, nil)
	return &Counter{m}, err
}

// Gauge defines a number that goes up and down.
func (e *Env) Gauge(name string) (*Gauge, error) {
	m, err := raw.NewMetric(e.filter.id, raw.GaugeKind, name, nil)
	return &Gauge{m}, err
}

// Histogram defines counts of values by size. The bounds ascend; there are at most 32.
func (e *Env) Histogram(name string, bounds ...uint64) (*Histogram, error) {
	m, err := raw.NewMetric(e.filter.id, raw.HistogramKind, name, bounds)
	return &Histogram{m}, err
}

// Counter is a number that only grows. Adding is one atomic instruction on a word that only this worker writes.
//
// The exchange may be nil outside of hooks.
type Counter struct{ m *raw.Metric }

// Inc adds one.
func (c *Counter) Inc(x *Exchange) { c.m.Add(x.laneOr(), 1) }

// Add adds n.
func (c *Counter) Add(x *Exchange, n uint64) { c.m.Add(x.laneOr(), n) }

// Gauge is a number that goes up and down: the sum of what all have added.
type Gauge struct{ m *raw.Metric }

// Add adds n, which may be negative.
func (g *Gauge) Add(x *Exchange, n int64) { g.m.Add(x.laneOr(), uint64(n)) }

// Histogram counts values by size.
type Histogram struct{ m *raw.Metric }

// Observe counts a value.
func (h *Histogram) Observe(x *Exchange, value uint64) { h.m.Observe(x.laneOr(), value) }

func (x *Exchange) laneOr() uint32 {
	if x == nil {
		return raw.OutsideLane
	}
	return x.lane
}
