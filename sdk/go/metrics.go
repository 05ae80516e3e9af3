package eddy

import (
	"log/slog"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Env is the environment of a filter before its first exchange, see [Starter].
type Env struct{ filter *filter }

// ID returns the gateway's number of the filter.
func (e *Env) ID() uint32 { return e.filter.id }

// Name returns the registered name of the filter.
func (e *Env) Name() string { return e.filter.name }

// Workers returns the number of workers of the gateway.
func (e *Env) Workers() int { return raw.Workers() }

// Logger returns a logger to the gateway's log, under the filter's name.
func (e *Env) Logger() *slog.Logger { return e.filter.logger }

// Label is a label of a metric, besides "filter". The key has letters, digits and _.
type Label struct{ Key, Value string }

// WithLabels returns a metric's name with labels, for [Env.Counter], [Env.Gauge] and [Env.Histogram]. At most 16 labels
// are possible. In the values, control characters and semicolons become underscores.
func WithLabels(name string, labels ...Label) string {
	for _, label := range labels {
		name += ";" + label.Key + "=" + strings.Map(raw.LabelRune, label.Value)
	}
	return name
}

// Counter defines a counter, exported as eddy_filter_NAME. A filter has at most 1,024 metrics, where each combination of
// labels counts. The name has letters, digits and _, up to 1 KiB.
func (e *Env) Counter(name string) (*Counter, error) {
	m, err := raw.NewMetric(e.filter.id, raw.CounterKind, name, nil)
	return &Counter{m}, err
}

// Gauge defines a gauge.
func (e *Env) Gauge(name string) (*Gauge, error) {
	m, err := raw.NewMetric(e.filter.id, raw.GaugeKind, name, nil)
	return &Gauge{m}, err
}

// Histogram defines a histogram. The bounds are ascending; there are at most 32.
func (e *Env) Histogram(name string, bounds ...uint64) (*Histogram, error) {
	m, err := raw.NewMetric(e.filter.id, raw.HistogramKind, name, bounds)
	return &Histogram{m}, err
}

// Counter is a number that only increases. Adding is one atomic instruction on a word that only this worker writes.
//
// The exchange may be nil outside of hooks.
type Counter struct{ m *raw.Metric }

// Inc adds one.
func (c *Counter) Inc(x *Exchange) { c.m.Add(x.laneOr(), 1) }

// Add adds n.
func (c *Counter) Add(x *Exchange, n uint64) { c.m.Add(x.laneOr(), n) }

// Gauge is a number that increases and decreases: the sum of all added values.
type Gauge struct{ m *raw.Metric }

// Add adds n, which may be negative.
func (g *Gauge) Add(x *Exchange, n int64) { g.m.Add(x.laneOr(), uint64(n)) }

// Histogram counts values in buckets.
type Histogram struct{ m *raw.Metric }

// Observe counts a value.
func (h *Histogram) Observe(x *Exchange, value uint64) { h.m.Observe(x.laneOr(), value) }

func (x *Exchange) laneOr() uint32 {
	if x == nil {
		return raw.OutsideLane
	}
	return x.lane
}
