package stream

import (
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// metrics defines metrics and returns secrets for the parser of a filter's configuration.
type metrics struct {
	filter  uint32
	secrets secrets
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

// DefineCounterMetric defines a counter. Characters that are not allowed in eddy's names are replaced with underscores.
func (m *metrics) DefineCounterMetric(name string) api.CounterMetric {
	return m.define(name, raw.CounterKind)
}

// DefineGaugeMetric defines a gauge. Characters that are not allowed in eddy's names are replaced with underscores.
func (m *metrics) DefineGaugeMetric(name string) api.GaugeMetric {
	return m.define(name, raw.GaugeKind)
}

func (m *metrics) define(name string, kind raw.MetricKind) *metric {
	plain := []byte(name)
	for i, c := range plain {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			plain[i] = '_'
		}
	}
	known.Lock()
	defer known.Unlock()
	if known.metrics == nil {
		known.metrics = map[knownMetric]*metric{}
	}
	key := knownMetric{m.filter, string(plain)}
	if old := known.metrics[key]; old != nil && old.isCounter == (kind == raw.CounterKind) {
		return old
	}
	cells, err := raw.NewMetric(m.filter, kind, key.name, nil)
	if err != nil {
		raw.WriteLog(m.filter, raw.LevelError, "metric "+name+" is not kept: "+err.Error())
	}
	made := &metric{cells: cells, isCounter: kind == raw.CounterKind}
	known.metrics[key] = made
	return made
}

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
