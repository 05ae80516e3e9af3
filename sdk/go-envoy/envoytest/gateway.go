package envoytest

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Filter is a filter of the chain.
type Filter struct {
	Name string
	// Config is JSON; empty if there is none.
	Config string
	// Rule is the rule's configuration; empty if there is none.
	Rule string
	// Blocking runs the hooks on goroutines.
	Blocking bool
}

// Gateway is a chain of filters.
type Gateway struct {
	test  testing.TB
	host  *host
	steps []step
	// Rule, Cluster, Endpoint and Listener are facts of the exchange for filters.
	Rule, Cluster, Endpoint, Listener string
}

type step struct {
	filter, config uint64
	interest       uint32
	id             uint32
	flags          uint8
}

// New configures a chain. The test fails if a filter refuses its configuration.
func New(t testing.TB, filters ...Filter) *Gateway {
	t.Helper()
	g := &Gateway{test: t, host: theHost(), Rule: "users", Cluster: "backend", Endpoint: "192.0.2.9:9001", Listener: "main"}
	for _, f := range filters {
		s, err := g.configure(f)
		if err != nil {
			t.Fatalf("filter %q: %v", f.Name, err)
		}
		g.steps = append(g.steps, s)
	}
	t.Cleanup(func() {
		for _, s := range g.steps {
			if s.config != 0 {
				raw.FreeConfig(s.config)
			}
			raw.FreeFilter(s.filter)
		}
	})
	return g
}

// Configure returns why a filter refuses a configuration; nil if it accepts it.
func Configure(t testing.TB, f Filter) error {
	g := &Gateway{test: t, host: theHost()}
	s, err := g.configure(f)
	if err == nil {
		raw.FreeFilter(s.filter)
	}
	return err
}

func (g *Gateway) configure(f Filter) (s step, err error) {
	s.id = atomic.AddUint32(&g.host.filters, 1)
	if f.Config == "" {
		f.Config = "null"
	}
	var info raw.Info
	if s.filter, info, err = raw.NewFilter(f.Name, []byte(f.Config), s.id); err != nil {
		return s, err
	}
	s.interest = info.Interest
	if f.Blocking {
		s.flags = raw.StepBlocking
	}
	if f.Rule != "" {
		s.config, err = raw.NewConfig(s.filter, []byte(f.Rule))
	}
	return s, err
}

// Interest returns the phases in which the filters are called, in the order of the chain.
func (g *Gateway) Interest() (interests []uint32) {
	for _, s := range g.steps {
		interests = append(interests, s.interest)
	}
	return interests
}

// Fields are names and values in order.
type Fields [][2]string

// Get returns the value of the first field of a name.
func (f Fields) Get(name string) string {
	for _, field := range f {
		if strings.EqualFold(field[0], name) {
			return field[1]
		}
	}
	return ""
}

// Values returns the values of all fields of a name.
func (f Fields) Values(name string) (values []string) {
	for _, field := range f {
		if strings.EqualFold(field[0], name) {
			values = append(values, field[1])
		}
	}
	return values
}

// Request is a request as sent by a client or as received by the endpoint.
type Request struct {
	Method, Path, Host string
	Fields             Fields
	// Body has the pieces of the body in the order of arrival.
	Body     []string
	Trailers Fields
	TLS      bool
}

// Response is a response as sent by the endpoint or as received by the client.
type Response struct {
	Status   int
	Fields   Fields
	Body     []string
	Trailers Fields
}

// Text returns the whole body.
func (r Request) Text() string { return strings.Join(r.Body, "") }

// Text returns the whole body.
func (r Response) Text() string { return strings.Join(r.Body, "") }

// Result is the result of an exchange.
type Result struct {
	// Upstream is the request as received by the endpoint; nil if a filter replied.
	Upstream *Request
	// Response is the response as received by the client; status 500 after a fault, 0 after a reset.
	Response
	Details  string
	Faults   []string
	Metadata map[string]string // by namespace, a dot and key
	Endpoint string            // selected by a filter
	Cleared  bool              // a filter requested a new selection of the rule
}

// Do sends a request through the chain to an endpoint that responds, and the response back. A pause of more than 10 s
// fails the test.
func (g *Gateway) Do(request Request, answer Response) *Result {
	g.test.Helper()
	return g.run(request, func(Request) Response { return answer })
}

// DoWith is Do with an endpoint that inspects the request.
func (g *Gateway) DoWith(request Request, endpoint func(Request) Response) *Result {
	g.test.Helper()
	return g.run(request, endpoint)
}

// Leave is Do with a client that disconnects when a filter first pauses: the exchange ends there, and later actions of
// the filter have no effect.
func (g *Gateway) Leave(request Request) *Result {
	g.test.Helper()
	return g.run(request, nil)
}

// Records returns the messages that filters have logged so far in this process.
func Records() []Record {
	h := theHost()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Clone(h.records)
}

// Metric returns the value of a metric of any filter.
func Metric(name string) uint64 {
	h := theHost()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if lanes := h.metrics[name]; lanes != nil {
		return atomic.LoadUint64(&lanes[0]) + atomic.LoadUint64(&lanes[1])
	}
	return 0
}
