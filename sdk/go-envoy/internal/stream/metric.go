package stream

import (
	"fmt"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// metrics defines metrics and returns secrets for the parser of a filter's configuration.
type metrics struct {
	filter  uint32
	secrets secrets
	tags    []tag
}

// secrets are those of a configuration.
type secrets map[string]string

// GetGenericSecret returns a secret of the configuration.
func (s secrets) GetGenericSecret(name string) (string, bool) {
	secret, ok := s[name]
	return secret, ok
}

// SecretManager returns the secrets of the configuration.
func (m *metrics) SecretManager() api.SecretManager { return m.secrets }

// metric is a counter or gauge. Its sum is known only here: the host's cells can only be added to.
type metric struct {
	mutex     sync.Mutex
	cells     *raw.Metric // nil if the host refused it
	value     int64
	isCounter bool
}

// known has metrics by filter and name, because a reconfigured filter continues with the host's cells.
var known struct {
	sync.Mutex
	metrics map[knownMetric]*metric
}

type knownMetric struct {
	filter uint32
	name   string
}

// DefineCounterMetric defines a counter. Parts of the name that Envoy's tags match become labels; other characters that
// are not allowed in eddy's names are replaced with underscores.
func (m *metrics) DefineCounterMetric(name string) api.CounterMetric {
	return m.define(name, raw.CounterKind)
}

// DefineGaugeMetric defines a gauge, with a name as of a counter.
func (m *metrics) DefineGaugeMetric(name string) api.GaugeMetric {
	return m.define(name, raw.GaugeKind)
}

func (m *metrics) define(name string, kind raw.MetricKind) *metric {
	key := knownMetric{m.filter, nameOf(name, m.tags)}
	known.Lock()
	defer known.Unlock()
	if known.metrics == nil {
		known.metrics = map[knownMetric]*metric{}
	}
	if old := known.metrics[key]; old != nil && old.isCounter == (kind == raw.CounterKind) {
		return old
	}
	cells, err := raw.NewMetric(m.filter, kind, key.name, nil)
	made := &metric{cells: cells, isCounter: kind == raw.CounterKind}
	if err != nil {
		// The number of names that the host refuses has no limit.
		raw.WriteLog(m.filter, raw.LevelError, fmt.Sprintf("metric %.100q is not exported: %v: %s", name, err, metricLimits))
		return made
	}
	known.metrics[key] = made
	return made
}

const metricLimits = "a name has at most 1024 bytes, and a filter at most 1024 metrics, of one kind for each name"

func (m *metric) add(n int64) {
	if m.isCounter && n < 0 || n == 0 {
		return
	}
	m.value += n
	if m.cells != nil {
		m.cells.Add(raw.OutsideLane, uint64(n))
	}
}

// Increment adds a value; a counter ignores negative ones.
func (m *metric) Increment(offset int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.add(offset)
}

// Get returns the value.
func (m *metric) Get() uint64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return uint64(m.value)
}

// Record sets the value; a counter only increases.
func (m *metric) Record(value uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.add(int64(value) - m.value)
}
