// Package eddytest tests filters without a gateway: a host in Go that lays out requests in memory like the gateway,
// calls filters, and refuses the same edits as the gateway.
//
//	func TestStrangersAreRefused(t *testing.T) {
//		g := eddytest.New(t, "basic-auth", Config{Username: "a", Password: "b"})
//		r := g.Get("/x").Do()
//		if r.Status != 401 || r.Forwarded != nil {
//			t.Error(r)
//		}
//	}
//
// It has no routing, limits or network, and the timing of heads and bodies is not that of a gateway.
package eddytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Field is a name and a value.
type Field struct {
	Name  string
	Value string
}

// Fields returns fields from alternating names and values.
func Fields(namesAndValues ...string) []Field {
	fields := make([]Field, 0, len(namesAndValues)/2)
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		fields = append(fields, Field{namesAndValues[i], namesAndValues[i+1]})
	}
	return fields
}

// Message is a complete request or response.
type Message struct {
	Method    string
	Target    string
	Authority string
	// Status is 0 in a request.
	Status   int
	Fields   []Field
	Body     string
	Pieces   []string
	Trailers []Field
}

// Get returns the value of the first field of a name, in any letter case; empty if there is none.
func (m *Message) Get(name string) string {
	if values := m.Values(name); len(values) != 0 {
		return values[0]
	}
	return ""
}

// Has returns whether there is a field of a name, in any letter case.
func (m *Message) Has(name string) bool { return len(m.Values(name)) != 0 }

// Values returns the values of all fields of a name, in any letter case.
func (m *Message) Values(name string) (values []string) {
	for _, f := range m.Fields {
		if raw.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// pieces returns the body as it arrives.
func (m *Message) pieces() []string {
	if len(m.Pieces) != 0 {
		return m.Pieces
	}
	if m.Body == "" {
		return nil
	}
	return []string{m.Body}
}

// Filter is a filter of the chain.
type Filter struct {
	// Name is the registered name.
	Name string
	// Config is the configuration, encoded as JSON unless it is a json.RawMessage.
	Config any
	// Rule is the configuration of the rule, if any.
	Rule any
	// Blocking corresponds to `blocking: true`.
	Blocking bool
	// Open corresponds to `on_failure: open`.
	Open bool
}

// Gateway is a chain of filters with test endpoints.
type Gateway struct {
	t     testing.TB
	host  *host
	chain []*link

	mutex    sync.Mutex
	endpoint func(*Message) *Message
	clusters map[string]func(*Message) *Message
	logs     []string
	metrics  map[string]*metric
	patience time.Duration
}

type link struct {
	Filter
	id     uint32
	handle uint64
	config uint64
	info   raw.Info
}

type metric struct {
	cells  []uint64
	stride uint32
	width  uint32
}

// New returns a gateway with one filter; a refused configuration fails the test.
func New(t testing.TB, name string, config any) *Gateway {
	t.Helper()
	return NewChain(t, Filter{Name: name, Config: config})
}

// NewChain returns a gateway with several filters.
func NewChain(t testing.TB, filters ...Filter) *Gateway {
	t.Helper()
	g, err := open(t, filters)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Refusal returns the error of a configuration that must be refused; if it is accepted, the test fails.
func Refusal(t testing.TB, name string, config any) error {
	t.Helper()
	_, err := open(t, []Filter{{Name: name, Config: config}})
	if err == nil {
		t.Fatalf("the configuration of %q was not refused", name)
	}
	return err
}

// RuleRefusal is Refusal for the configuration of a rule.
func RuleRefusal(t testing.TB, name string, config, rule any) error {
	t.Helper()
	_, err := open(t, []Filter{{Name: name, Config: config, Rule: rule}})
	if err == nil {
		t.Fatalf("the rule's configuration of %q was not refused", name)
	}
	return err
}

func open(t testing.TB, filters []Filter) (*Gateway, error) {
	g := &Gateway{t: t, host: theHost(), clusters: map[string]func(*Message) *Message{}, metrics: map[string]*metric{}, patience: 10 * time.Second}
	g.endpoint = func(*Message) *Message {
		return &Message{Status: 200, Fields: []Field{{"Server", "endpoint"}, {"Content-Type", "text/plain"}}, Body: "ok\n"}
	}
	t.Cleanup(g.free)
	for _, f := range filters {
		l := &link{Filter: f, id: g.host.ids.Add(1)}
		g.host.mutex.Lock()
		g.host.gateways[l.id] = g
		g.host.mutex.Unlock()
		text, err := jsonOf(f.Config)
		if err != nil {
			return nil, err
		}
		if l.handle, l.info, err = raw.NewFilter(f.Name, text, l.id); err != nil {
			return nil, fmt.Errorf("filter %q: %w", f.Name, err)
		}
		g.chain = append(g.chain, l)
		if f.Rule == nil {
			continue
		}
		if text, err = jsonOf(f.Rule); err != nil {
			return nil, err
		}
		if l.config, err = raw.NewConfig(l.handle, text); err != nil {
			return nil, fmt.Errorf("rule of filter %q: %w", f.Name, err)
		}
	}
	return g, nil
}

func jsonOf(config any) ([]byte, error) {
	if text, ok := config.(json.RawMessage); ok {
		return text, nil
	}
	return json.Marshal(config)
}

func (g *Gateway) free() {
	for _, l := range g.chain {
		if l.config != 0 {
			raw.FreeConfig(l.config)
		}
		raw.FreeFilter(l.handle)
	}
}

// Endpoint sets the response of the endpoint; default 200 with Server, Content-Type and a short body.
func (g *Gateway) Endpoint(answer func(request *Message) *Message) *Gateway {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.endpoint = answer
	return g
}

// Cluster adds a cluster for requests that filters send. If the response is nil, the request fails.
func (g *Gateway) Cluster(name string, answer func(request *Message) *Message) *Gateway {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.clusters[name] = answer
	return g
}

// Patience sets the maximum duration of a pause; default 10 s. After that the client gets 504.
func (g *Gateway) Patience(d time.Duration) *Gateway {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.patience = d
	return g
}

// Logs returns the messages logged so far, each as "LEVEL text".
func (g *Gateway) Logs() []string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return append([]string(nil), g.logs...)
}

var levels = [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"}

func (g *Gateway) note(level raw.Level, text string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.logs = append(g.logs, levels[min(int(level), len(levels)-1)]+" "+strings.Clone(text))
}

// Metric returns the value of a counter or gauge, or the sum of a histogram. [eddy.WithLabels] gives the name of one with
// labels.
func (g *Gateway) Metric(name string) int64 {
	buckets := g.Buckets(name)
	if len(buckets) == 0 {
		return 0
	}
	return int64(buckets[len(buckets)-1])
}

// Buckets returns the cells of a metric: the counts of a histogram, then the sum.
func (g *Gateway) Buckets(name string) []uint64 {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	m := g.metrics[name]
	if m == nil {
		return nil
	}
	sums := make([]uint64, m.width)
	for lane := range uint32(workers + 1) {
		for i := range sums {
			sums[i] += atomic.LoadUint64(&m.cells[lane*m.stride+uint32(i)])
		}
	}
	return sums
}

func (g *Gateway) metric(kind raw.MetricKind, name string, bounds []uint64) (raw.MetricCells, raw.Result) {
	plain, labels, _ := strings.Cut(name, ";")
	for label := range strings.SplitSeq(labels, ";") {
		if labels != "" && !strings.Contains(label, "=") {
			return raw.MetricCells{}, raw.Invalid
		}
	}
	valid := plain != "" && len(plain) <= 1024 && !strings.ContainsFunc(plain, func(c rune) bool {
		return c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9')
	})
	if !valid || len(bounds) > 32 {
		return raw.MetricCells{}, raw.Invalid
	}
	for i := 1; i < len(bounds); i++ {
		if bounds[i-1] >= bounds[i] {
			return raw.MetricCells{}, raw.Invalid
		}
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	m := g.metrics[name]
	if m == nil {
		if len(g.metrics) >= 1024 {
			return raw.MetricCells{}, raw.Full
		}
		m = &metric{width: 1}
		if kind == raw.HistogramKind {
			m.width = uint32(len(bounds)) + 2
		}
		m.stride = (m.width + 7) / 8 * 8
		m.cells = make([]uint64, m.stride*(workers+1))
		g.metrics[name] = m
	}
	return raw.MetricCells{Cells: unsafe.SliceData(m.cells), Stride: m.stride}, raw.OK
}

func (g *Gateway) clusterOf(name string) func(*Message) *Message {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.clusters[name]
}

// answer passes the response of a test endpoint to a filter's request.
func (h *host) answer(token uint64, s *send, handler func(*Message) *Message, request *Message, timeout time.Duration) {
	if timeout == 0 {
		timeout = 5 * time.Second
	}
	answers := make(chan *Message, 1)
	go func() { answers <- handler(request) }()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	select {
	case a := <-answers:
		if a == nil {
			h.fail(token, "connect")
			return
		}
		if h.takeSend(token) == nil {
			return
		}
		m := &memory{}
		event := &raw.Event{
			Kind: raw.EventResponse, Token: token, Filter: s.filter, Status: uint16(a.Status), Head: writeHead(m, 0, a.Fields),
			Body: raw.TextOf(a.Body),
		}
		raw.HandleEvent(event)
	case <-deadline.C:
		h.fail(token, "timeout")
	case <-s.done:
	}
}

var errTime = errors.New("the filter's time is up")
