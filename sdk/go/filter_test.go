package eddy_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// hooks is a filter with hooks given by a test.
type hooks struct {
	start                     func(*eddy.Env) error
	head, body, response, rbd func(*eddy.Exchange) eddy.Verdict
	end                       func(*eddy.Ending)
}

func (h *hooks) Start(env *eddy.Env) error {
	if h.start == nil {
		return nil
	}
	return h.start(env)
}

func call(f func(*eddy.Exchange) eddy.Verdict, x *eddy.Exchange) eddy.Verdict {
	if f == nil {
		return eddy.Continue
	}
	return f(x)
}

func (h *hooks) RequestHead(x *eddy.Exchange) eddy.Verdict  { return call(h.head, x) }
func (h *hooks) RequestBody(x *eddy.Exchange) eddy.Verdict  { return call(h.body, x) }
func (h *hooks) ResponseHead(x *eddy.Exchange) eddy.Verdict { return call(h.response, x) }
func (h *hooks) ResponseBody(x *eddy.Exchange) eddy.Verdict { return call(h.rbd, x) }
func (h *hooks) End(e *eddy.Ending) {
	if h.end != nil {
		h.end(e)
	}
}

var names atomic.Int64

// register registers hooks as a filter under a unique name.
func register(h *hooks) string {
	name := fmt.Sprintf("hooks-%d", names.Add(1))
	eddy.Register(name, func(struct{}) (eddy.Filter, error) { return h, nil })
	return name
}

func serve(t testing.TB, h *hooks) *eddytest.Gateway { return eddytest.New(t, register(h), nil) }

func TestAStateLivesAsLongAsItsExchange(t *testing.T) {
	type seen struct {
		id    uint64
		calls int
	}
	var ends atomic.Int64
	note := func(x *eddy.Exchange) eddy.Verdict {
		s := eddy.State[seen](x)
		if s.calls != 0 && s.id != x.ID() {
			t.Errorf("exchange %d has the state of %d", x.ID(), s.id)
		}
		s.id = x.ID()
		s.calls++
		*eddy.State[string](x) += "."
		return eddy.Continue
	}
	g := serve(t, &hooks{head: note, body: note, response: note, rbd: note, end: func(e *eddy.Ending) {
		ends.Add(1)
		if s := eddy.State[seen](e); s.calls != 5 || *eddy.State[string](e) != "....." || !e.IsComplete() {
			t.Errorf("at the end %+v", s)
		}
	}})
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 50 {
				g.Post("/", "a", "b").Do()
			}
		}()
	}
	all.Wait()
	if ends.Load() != 400 {
		t.Errorf("%d ends", ends.Load())
	}
}

func TestAStateIsReused(t *testing.T) {
	h := &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		if s := eddy.State[[4]uint64](x); s[0] != 0 {
			t.Error("the state is not zero at first")
		} else {
			s[0] = 1
		}
		return eddy.Continue
	}}
	if n := serve(t, h).Get("/").Crossing(raw.PhaseRequestHead).Allocs(); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	bytes := 0
	h := &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		r := x.Request()
		for name, value := range r.All() {
			bytes += len(name) + len(value)
		}
		for value := range r.Values(eddy.Cookie) {
			bytes += len(value)
		}
		if r.Has(eddy.Host) && r.HasPrefix(eddy.Host, "example") && r.Equal(eddy.Host, "example.com") {
			r.SetByName("x-a", r.Get(eddy.Cookie))
			r.Remove(eddy.Cookie)
			r.SetPath("/other")
		}
		if v, ok := r.Lookup("x-a"); !ok || v != "a=1" || r.Path() != "/other" || r.Query() != "q" || r.Has(eddy.Cookie) {
			t.Error("the edits are not seen")
		}
		return x.Reply(403, "no", eddy.F(eddy.Vary, "a"), eddy.Named("x-b", "c"))
	}}
	crossing := serve(t, h).Get("/a?q").Header("cookie", "a=1").Crossing(raw.PhaseRequestHead)
	crossing.Enter()
	if n := crossing.Allocs(); n > 1 {
		// Joining path and query allocates once.
		t.Errorf("%v allocations", n)
	}
}

func TestAPausedExchangeIsFinishedOnce(t *testing.T) {
	var handle atomic.Pointer[eddy.Pause]
	h := &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		p := x.Pause()
		handle.Store(p)
		go func() {
			p.Exchange().Request().SetByName("x-late", "1")
			var won atomic.Int64
			var all sync.WaitGroup
			for i := range 8 {
				all.Add(1)
				go func() {
					defer all.Done()
					var err error
					if i%2 == 0 {
						err = p.Resume()
					} else {
						err = p.Finish(eddy.Continue)
					}
					if err == nil {
						won.Add(1)
					} else if !errors.Is(err, eddy.ErrStale) {
						t.Error(err)
					}
				}()
			}
			all.Wait()
			if won.Load() != 1 {
				t.Errorf("%d have resumed", won.Load())
			}
		}()
		return eddy.Paused
	}}
	if r := serve(t, h).Get("/").Do(); r.Forwarded.Get("x-late") != "1" {
		t.Error(r)
	}
	if err := handle.Load().Reply(200, "late"); !errors.Is(err, eddy.ErrStale) {
		t.Error(err)
	}
}

func TestAPauseAfterTheEndIsReportedAsGone(t *testing.T) {
	handles := make(chan *eddy.Pause, 1)
	contexts := make(chan context.Context, 1)
	h := &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		contexts <- x.Context()
		handles <- x.PauseWithCopy()
		return eddy.Paused
	}}
	r := serve(t, h).Patience(10 * time.Millisecond).Get("/kept?a").Do()
	if r.Status != 504 {
		t.Error(r)
	}
	<-(<-contexts).Done()
	p := <-handles
	if p.Exchange().Request().Target() != "/kept?a" {
		t.Error("the copy is not kept")
	}
	if err := p.Reply(200, ""); !errors.Is(err, eddy.ErrGone) {
		t.Error(err)
	}
}

func TestVerdictsMustMatchTheCallsOfTheHook(t *testing.T) {
	for says, head := range map[string]func(*eddy.Exchange) eddy.Verdict{
		"without having called Pause": func(*eddy.Exchange) eddy.Verdict { return eddy.Paused },
		"called Pause and then said continue": func(x *eddy.Exchange) eddy.Verdict {
			x.Pause()
			return eddy.Continue
		},
		"the body can't be changed": func(x *eddy.Exchange) eddy.Verdict {
			x.Body().SetString("x")
			return eddy.Continue
		},
		"keeps none of it": func(x *eddy.Exchange) eddy.Verdict {
			p := x.Pause()
			p.Exchange().Request().Method()
			return eddy.Paused
		},
		"too large": func(x *eddy.Exchange) eddy.Verdict {
			x.Request().SetByName("x", strings.Repeat("v", 17<<20))
			return eddy.Continue
		},
		"deliberate": func(x *eddy.Exchange) eddy.Verdict { panic(errors.New("deliberate")) },
	} {
		r := serve(t, &hooks{head: head}).Get("/").Do()
		if r.Status != 500 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], says) {
			t.Errorf("%s: %v", says, r)
		}
	}
}

func TestAPanicIsReportedWithItsStack(t *testing.T) {
	r := serve(t, &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		x.Request().SetByName("x-a", "1")
		var none map[string]int
		none["a"] = 1
		return eddy.Continue
	}}).Get("/").Do()
	if len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "nil map") || !strings.Contains(r.Faults[0], "filter_test.go") ||
		strings.Contains(r.Faults[0], "eddytest") || len(r.Faults[0]) > raw.FaultBytes {
		t.Errorf("%q", r.Faults)
	}
}

func TestAnOpenFilterIsSkipped(t *testing.T) {
	name := register(&hooks{head: func(x *eddy.Exchange) eddy.Verdict { panic("x") }, response: func(x *eddy.Exchange) eddy.Verdict {
		t.Error("a filter was entered after its fault")
		return eddy.Continue
	}})
	r := eddytest.NewChain(t, eddytest.Filter{Name: name, Open: true}).Get("/").Do()
	if r.Status != 200 || len(r.Faults) != 1 {
		t.Error(r)
	}
}

func TestHooksRunUnchangedOnGoroutines(t *testing.T) {
	var running atomic.Int64
	type note struct{ text string }
	h := &hooks{
		head: func(x *eddy.Exchange) eddy.Verdict {
			running.Add(1)
			eddy.State[note](x).text = x.Request().GetString(eddy.Host)
			x.Request().SetByName("x-a", "1")
			if x.Request().Path() == "/panic" {
				panic("elsewhere")
			}
			if x.Request().Path() == "/exit" {
				runtime.Goexit()
			}
			if x.Request().Path() == "/no" {
				return x.Reply(403, "no")
			}
			if x.Request().Path() == "/pause" {
				p := x.Pause()
				go p.Resume()
				return eddy.Paused
			}
			return x.Buffer()
		},
		body: func(x *eddy.Exchange) eddy.Verdict {
			if x.Body().IsWhole() {
				x.Body().Set(slices.Concat([]byte("<"), x.Body().Bytes(), []byte(">")))
			}
			return eddy.Continue
		},
		response: func(x *eddy.Exchange) eddy.Verdict {
			x.Response().SetByName("x-host", eddy.State[note](x).text)
			return eddy.Continue
		},
		end: func(*eddy.Ending) { running.Add(-1) },
	}
	g := eddytest.NewChain(t, eddytest.Filter{Name: register(h), Blocking: true})
	if r := g.Post("/", "a", "b").Do(); r.Forwarded == nil || r.Forwarded.Body != "<ab>" || r.Forwarded.Get("x-a") != "1" || r.Get("x-host") != "example.com" {
		t.Error(r)
	}
	if r := g.Get("/no").Do(); r.Status != 403 || r.Forwarded != nil {
		t.Error(r)
	}
	if r := g.Get("/pause").Do(); r.Status != 200 || r.Forwarded.Get("x-a") != "1" {
		t.Error(r)
	}
	for path, says := range map[string]string{"/panic": "elsewhere", "/exit": "Goexit"} {
		if r := g.Get(path).Do(); r.Status != 500 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], says) {
			t.Error(r)
		}
	}
	// The exchange of a resumed pause may have ended before the hook that paused it has returned: the last goroutine
	// reports the end.
	for deadline := time.Now().Add(10 * time.Second); running.Load() != 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d exchanges have not ended", running.Load())
		}
	}
}

// looksBack is a filter whose Log takes as long as a test requires.
type looksBack struct {
	eddy.Filter
	release chan struct{}
	order   chan string
}

func (l *looksBack) Log(x *eddy.Exchange) {
	<-l.release
	l.order <- "log"
	if x.Request().Path() == "/panic" {
		panic("in Log")
	}
}

func (l *looksBack) End(*eddy.Ending) {
	l.order <- "end"
	panic("in End")
}

func TestTheEndFollowsHooksOnGoroutines(t *testing.T) {
	l := &looksBack{release: make(chan struct{}), order: make(chan string, 8)}
	name := fmt.Sprintf("hooks-%d", names.Add(1))
	eddy.Register(name, func(struct{}) (eddy.Filter, error) { return l, nil })
	g := eddytest.NewChain(t, eddytest.Filter{Name: name, Blocking: true})
	for _, path := range []string{"/", "/panic", "/"} {
		if r := g.Get(path).Do(); r.Status != 200 {
			t.Error(r)
		}
		if len(l.order) != 0 {
			t.Fatal(<-l.order, "before Log has returned")
		}
		l.release <- struct{}{}
		if first, second := <-l.order, <-l.order; first != "log" || second != "end" {
			t.Error(first, second)
		}
	}
	if len(l.order) != 0 {
		t.Error("told again:", <-l.order)
	}
}

func TestGoroutinesAreBounded(t *testing.T) {
	eddy.Configure(eddy.Options{GoroutinesMax: 2})
	defer eddy.Configure(eddy.Options{})
	release, entered := make(chan struct{}), make(chan struct{}, 8)
	g := serve(t, &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		return eddy.Go(x, func(x *eddy.Exchange) eddy.Verdict {
			entered <- struct{}{}
			<-release
			return eddy.Continue
		})
	}})
	var all sync.WaitGroup
	for range 2 {
		all.Add(1)
		go func() {
			defer all.Done()
			if r := g.Get("/").Do(); r.Status != 200 {
				t.Error(r)
			}
		}()
		<-entered
	}
	if r := g.Get("/").Do(); r.Status != 500 || len(r.Faults) != 1 || r.Faults[0] != eddy.ErrBusy.Error() {
		t.Error(r)
	}
	if n := g.Metric("goroutines"); n != 2 {
		t.Errorf("%d goroutines are shown for the filter", n)
	}
	close(release)
	all.Wait()
}

func TestMetricsAndLogs(t *testing.T) {
	var counter *eddy.Counter
	var gauge *eddy.Gauge
	var histogram *eddy.Histogram
	g := serve(t, &hooks{
		start: func(env *eddy.Env) error {
			var errs [4]error
			counter, errs[0] = env.Counter("requests")
			gauge, errs[1] = env.Gauge("open")
			histogram, errs[2] = env.Histogram("bytes", 10, 100)
			if _, err := env.Counter("no good"); !errors.Is(err, eddy.ErrInvalid) {
				errs[3] = fmt.Errorf("a metric with a bad name: %v", err)
			}
			env.Logger().Info("ready", "workers", env.Workers())
			return errors.Join(errs[:]...)
		},
		head: func(x *eddy.Exchange) eddy.Verdict {
			counter.Inc(x)
			counter.Add(nil, 2)
			gauge.Add(x, -5)
			histogram.Observe(x, 10)
			histogram.Observe(x, 11)
			histogram.Observe(x, 1000)
			x.Logger().With("a", "b c").WithGroup("g").Warn("careful", slog.Int("n", 1), slog.Group("h", "k", ""))
			return eddy.Continue
		},
	})
	g.Get("/").Do()
	if g.Metric("requests") != 3 || g.Metric("open") != -5 || !slices.Equal(g.Buckets("bytes"), []uint64{1, 1, 1, 1021}) {
		t.Error(g.Metric("requests"), g.Metric("open"), g.Buckets("bytes"))
	}
	if want := []string{"INFO ready workers=4", `WARN careful a="b c" g.n=1 g.h.k=""`}; !slices.Equal(g.Logs(), want) {
		t.Errorf("%q", g.Logs())
	}
}

func TestMetricsAllocateNothing(t *testing.T) {
	var counter *eddy.Counter
	h := &hooks{
		start: func(env *eddy.Env) (err error) { counter, err = env.Counter("n"); return err },
		head:  func(x *eddy.Exchange) eddy.Verdict { counter.Inc(x); return eddy.Continue },
	}
	if n := serve(t, h).Get("/").Crossing(raw.PhaseRequestHead).Allocs(); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestExchangeInfoIsPassed(t *testing.T) {
	r := serve(t, &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		user, _ := x.Metadata("auth", "user")
		x.SetMetadataOf("seen", "facts", []any{x.Peer(), x.Rule(), x.Cluster(), x.RequestID(), user, x.IsTLS(), x.Request().Version()})
		x.ClearRoute()
		x.RequireEndpoint("127.0.0.1:1")
		if d := time.Since(x.Started()); d < 0 || d > time.Minute {
			t.Errorf("it started %v ago", d)
		}
		return eddy.Continue
	}}).Get("/").Peer("[::1]:5").TLS().Version(20).Facts("r", "c", "id").Metadata("auth", "user", `"ada"`).Do()
	if want := `["[::1]:5","r","c","id","\"ada\"",true,20]`; r.Metadata[1].Value != want || r.Endpoint != "127.0.0.1:1" || !r.RouteCleared {
		t.Errorf("%+v", r)
	}
}

func TestAFilterClosesTheConnectionAfterAResponse(t *testing.T) {
	set := func(name, value string) *eddytest.Result {
		return serve(t, &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
			x.Request().SetByName(name, value)
			return eddy.Continue
		}}).Get("/").Do()
	}
	for _, value := range []string{"close", " Close"} {
		r := set("Connection", value)
		if r.Status != 200 || !r.ConnectionEnds || len(r.Forwarded.Fields) != len(set("x", "y").Forwarded.Fields)-1 {
			t.Errorf("%q: %+v", value, r)
		}
	}
	for _, value := range []string{"keep-alive", "close, x-a", ""} {
		if r := set("connection", value); r.Status != 500 || r.ConnectionEnds {
			t.Errorf("%q: %+v", value, r)
		}
	}
}
