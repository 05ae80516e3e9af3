package envoytest_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/envoytest"
)

func TestAGoroutineReadsAndChangesTheMessageOfItsHook(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		var seen, body string
		r := playBy(t, hooks{
			decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
				h.Set("x-before", "1")
				returned := make(chan struct{})
				go func() {
					defer s.callbacks.DecoderFilterCallbacks().RecoverPanic()
					<-returned
					seen, _ = h.Get("x-one")
					seen += h.Path() + strings.Join(h.Values("X-TWO"), ",") + h.Host()
					h.Set("x-after", seen)
					h.SetPath("/other")
					before, _ := h.Get("x-before")
					after, _ := h.Get("X-After")
					seen += before + after + h.Path()
					s.callbacks.DecoderFilterCallbacks().Continue(api.Continue)
				}()
				close(returned)
				return api.Running
			},
			encodeData: func(s *script, b api.BufferInstance, _ bool) api.StatusType {
				go func() {
					defer s.callbacks.EncoderFilterCallbacks().RecoverPanic()
					body += b.String()
					b.SetString(strings.ToUpper(b.String()))
					s.callbacks.EncoderFilterCallbacks().InjectData([]byte("["))
					s.callbacks.EncoderFilterCallbacks().Continue(api.Continue)
				}()
				return api.Running
			},
		}, get, okay, f)
		const facts = "1/a?b=c2,3example.com"
		if seen != facts+"1"+facts+"/other" {
			t.Errorf("the goroutine saw %q", seen)
		}
		u := r.Upstream
		if u.Path != "/other" || u.Fields.Get("x-after") != facts || u.Fields.Get("x-before") != "1" {
			t.Errorf("the endpoint got %+v", u)
		}
		if body != "hello world" || r.Text() != "[HELLO [WORLD" {
			t.Errorf("bodies %q and %q", body, r.Text())
		}
	})
}

func TestTheFirstFinishWins(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		var late sync.WaitGroup
		late.Add(1)
		r := playBy(t, hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
			c := s.callbacks.DecoderFilterCallbacks()
			go func() {
				defer late.Done()
				h.Set("x-a", "1")
				c.Continue(api.Continue)
				// None of these calls has an effect or causes harm.
				c.Continue(api.Continue)
				c.SendLocalReply(500, "late", nil, -1, "late")
				h.Set("x-b", "2")
				h.SetPath("/late")
				s.callbacks.StreamInfo().DynamicMetadata().Set("a", "b", 1)
				s.callbacks.ClearRouteCache()
				c.AddData([]byte("late"), true)
				c.InjectData([]byte("late"))
			}()
			return api.Running
		}}, get, okay, f)
		late.Wait()
		if r.Status != 200 || r.Upstream.Path != get.Path || r.Upstream.Fields.Get("x-a") != "1" || r.Upstream.Fields.Get("x-b") != "" {
			t.Errorf("%+v", r)
		}
	})
	r := play(t, hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
		c := s.callbacks.DecoderFilterCallbacks()
		c.SendLocalReply(403, "first", nil, -1, "first")
		c.Continue(api.Continue)
		c.SendLocalReply(404, "second", nil, -1, "second")
		return api.LocalReply
	}}, get, okay)
	if r.Status != 403 || len(r.Faults) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestAFilterMayBePausedForEver(t *testing.T) {
	var held struct {
		callbacks api.FilterCallbackHandler
		head      api.RequestHeaderMap
		body      api.BufferInstance
	}
	play(t, hooks{
		decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
			held.callbacks, held.head = s.callbacks, h
			return api.Continue
		},
		decodeData: func(_ *script, b api.BufferInstance, _ bool) api.StatusType {
			held.body = b
			return api.Continue
		},
	}, post, okay)
	// Another exchange is in progress while the first one is used.
	r := play(t, hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
		if s.callbacks == held.callbacks {
			t.Error("two exchanges share their callbacks")
		}
		held.callbacks.DecoderFilterCallbacks().SendLocalReply(500, "", nil, -1, "")
		held.head.Set("x-stale", "1")
		held.body.SetString("stale")
		if v, ok := held.head.Get("x-one"); ok {
			t.Errorf("a head of an exchange that is over says %q", v)
		}
		if held.head.Path() != "" || held.body.Len() != 0 || held.callbacks.StreamInfo().GetRouteName() != "" {
			t.Error("something of an exchange that is over can be read")
		}
		if _, err := held.callbacks.GetProperty("request.path"); err != api.ErrValueNotFound {
			t.Errorf("a property of an exchange that is over: %v", err)
		}
		held.callbacks.Log(api.Info, "still works")
		return api.Continue
	}}, get, okay)
	if r.Status != 200 || r.Upstream.Fields.Get("x-stale") != "" {
		t.Errorf("%+v", r)
	}
}

func TestAClientMayDisconnectWhileAFilterIsRunning(t *testing.T) {
	for _, phase := range []string{"DH", "DD", "EH"} {
		t.Run(phase, func(t *testing.T) {
			gone, went := make(chan struct{}), make(chan struct{})
			reasons := make(chan api.DestroyReason, 1)
			_, on := answers(phase, api.Running, func(s *script) {
				go func() {
					defer close(went)
					defer s.callbacks.DecoderFilterCallbacks().RecoverPanic()
					<-gone
					var c api.FilterProcessCallbacks = s.callbacks.DecoderFilterCallbacks()
					if phase[0] == 'E' {
						c = s.callbacks.EncoderFilterCallbacks()
					}
					s.callbacks.StreamInfo().DynamicMetadata().Set("a", "b", "c")
					c.Continue(api.Continue)
					c.SendLocalReply(403, "", nil, -1, "")
					panic("nobody hears it")
				}()
			})
			on.onDestroy = func(_ *script, reason api.DestroyReason) { reasons <- reason }
			g := envoytest.New(t, envoytest.Filter{Name: "script"})
			current.Store(&on)
			r := g.Leave(post)
			current.Store(nothing)
			if reason := <-reasons; reason != api.Terminate || r.Status != 0 {
				t.Errorf("%s: %v, %+v", phase, reason, r)
			}
			close(gone)
			<-went
		})
	}
}

func TestAClientMayDisconnectBeforeAHookRunsOnAGoroutine(t *testing.T) {
	for range 200 {
		var inHook sync.WaitGroup
		g := envoytest.New(t, envoytest.Filter{Name: "script", Blocking: true})
		current.Store(&hooks{
			decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
				inHook.Add(1)
				defer inHook.Done()
				h.Set("x-path", h.Path())
				return api.Continue
			},
			onDestroy: func(*script, api.DestroyReason) {
				// Hooks and the end run one after another.
				inHook.Wait()
			},
		})
		if r := g.Leave(get); r.Status != 0 {
			t.Errorf("%+v", r)
		}
	}
	current.Store(nothing)
}

func TestManyGoroutinesUseOneExchange(t *testing.T) {
	r := play(t, hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
		var all sync.WaitGroup
		for range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				h.Add("x-many", "1")
				h.Get("x-one")
				h.RangeWithCopy(func(string, string) bool { h.Get("x-two"); return true })
				s.callbacks.StreamInfo().DynamicMetadata().Set("n", "k", "v")
				s.callbacks.StreamInfo().FilterState().GetString("x")
				s.callbacks.GetProperty("request.path")
			}()
		}
		go func() {
			all.Wait()
			s.callbacks.DecoderFilterCallbacks().Continue(api.Continue)
		}()
		return api.Running
	}}, get, okay)
	if n := len(r.Upstream.Fields.Values("x-many")); n != 8 {
		t.Errorf("%d of 8 changes arrived", n)
	}
}

func TestAPanicIsAFault(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		for _, phase := range []string{"DH", "DD", "EH", "ED"} {
			_, on := answers(phase, api.Continue, func(*script) { panic("oh " + phase) })
			r := playBy(t, on, post, okay, f)
			if r.Status != 500 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "oh "+phase) || !strings.Contains(r.Faults[0], "scripted_test.go") && !strings.Contains(r.Faults[0], "status_test.go") {
				t.Errorf("%s: %+v", phase, r)
			}
		}
		// The edits of a hook are dropped with it.
		r := playBy(t, hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
			h.Set("x-a", "1")
			s.callbacks.StreamInfo().DynamicMetadata().Set("a", "b", 1)
			panic("no")
		}}, get, okay, f)
		if r.Status != 500 || len(r.Metadata) != 0 {
			t.Errorf("%+v", r)
		}
		for _, combined := range []bool{false, true} {
			r = playBy(t, hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
				go func() {
					if combined {
						defer s.callbacks.RecoverPanic()
					} else {
						defer s.callbacks.DecoderFilterCallbacks().RecoverPanic()
					}
					panic("in a goroutine")
				}()
				return api.Running
			}}, get, okay, f)
			if r.Status != 500 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "in a goroutine") {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestAPanicOnAnUnawaitedGoroutineFailsTheNextHook(t *testing.T) {
	r := play(t, hooks{decodeHeaders: func(s *script, _ api.RequestHeaderMap, _ bool) api.StatusType {
		go func() {
			defer s.callbacks.DecoderFilterCallbacks().RecoverPanic()
			s.callbacks.DecoderFilterCallbacks().Continue(api.Continue)
			panic("too late for this one")
		}()
		return api.Running
	}, encodeHeaders: func(s *script, _ api.ResponseHeaderMap, _ bool) api.StatusType { return api.Continue }}, get, okay)
	// The scheduler decides whether the panic happens before the response.
	if r.Status != 500 && r.Status != 200 {
		t.Errorf("%+v", r)
	}
}

func TestContinueMayAskForTheBody(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		var got string
		var tokens api.RequestHeaderMap
		on := hooks{
			decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
				tokens = h
				go s.callbacks.DecoderFilterCallbacks().Continue(api.StopAndBuffer)
				return api.Running
			},
			decodeData: func(s *script, b api.BufferInstance, end bool) api.StatusType {
				got = b.String()
				// The head waits, and can be changed.
				tokens.Set("x-bytes", "13")
				tokens.SetPath("/later")
				b.Drain(4)
				b.PrependString("<")
				b.AppendString(">")
				return api.Continue
			},
		}
		r := playBy(t, on, post, okay, f)
		if got != "one two three" || r.Upstream.Text() != "<two three>" || r.Upstream.Fields.Get("x-bytes") != "13" || r.Upstream.Path != "/later" {
			t.Errorf("%q %+v", got, r)
		}
		if r := playBy(t, on, get, okay, f); r.Status != 500 {
			t.Errorf("there is no body to wait for: %+v", r)
		}
	})
}

func TestGoexitInABlockingHookIsAnImmediateFault(t *testing.T) {
	for what, on := range map[string]hooks{
		"a head": {decodeHeaders: func(*script, api.RequestHeaderMap, bool) api.StatusType {
			runtime.Goexit()
			return api.Continue
		}},
		"an answer": {encodeHeaders: func(s *script, _ api.ResponseHeaderMap, _ bool) api.StatusType {
			s.callbacks.EncoderFilterCallbacks().Continue(api.Continue)
			runtime.Goexit()
			return api.Running
		}},
	} {
		r := playBy(t, on, get, okay, envoytest.Filter{Name: "script", Blocking: true})
		if r.Status != 500 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "runtime.Goexit") {
			t.Errorf("%s: %d %q", what, r.Status, r.Faults)
		}
	}
}

func TestDataInjectedBetweenChunksPrecedesTheNext(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		pieces := 0
		r := playBy(t, hooks{
			decodeHeaders: func(s *script, _ api.RequestHeaderMap, _ bool) api.StatusType {
				injected := make(chan struct{})
				go func() {
					defer close(injected)
					s.callbacks.DecoderFilterCallbacks().InjectData([]byte("zero "))
				}()
				<-injected
				return api.Continue
			},
			decodeData: func(_ *script, b api.BufferInstance, _ bool) api.StatusType {
				if pieces++; pieces == 1 {
					b.Reset()
				}
				return api.Continue
			},
		}, post, okay, f)
		if r.Upstream.Text() != "zero two three" {
			t.Errorf("the endpoint got %q, faults %q", r.Upstream.Text(), r.Faults)
		}
	})
}

func TestDataThatCannotBeInjectedIsReported(t *testing.T) {
	r := play(t, hooks{encodeHeaders: func(s *script, _ api.ResponseHeaderMap, _ bool) api.StatusType {
		go func() {
			// The request has no body, and this goroutine does not recover a panic.
			s.callbacks.DecoderFilterCallbacks().InjectData([]byte("12345"))
			s.callbacks.EncoderFilterCallbacks().Continue(api.Continue)
		}()
		return api.Running
	}}, get, okay)
	if r.Status != 200 || len(r.Faults) != 0 {
		t.Errorf("%+v", r)
	}
	for _, record := range envoytest.Records() {
		if strings.Contains(record.Text, "InjectData: the body has gone on to its end; 5 bytes are not sent") {
			return
		}
	}
	t.Error("nothing was logged")
}

func TestAStatusAmongTheHeadersOfALocalReplyIsIgnored(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		r := playBy(t, hooks{decodeHeaders: func(s *script, _ api.RequestHeaderMap, _ bool) api.StatusType {
			headers := map[string][]string{":status": {"200"}, "x-why": {"because"}}
			s.callbacks.DecoderFilterCallbacks().SendLocalReply(403, "no", headers, -1, "denied")
			return api.LocalReply
		}}, get, okay, f)
		if r.Status != 403 || r.Text() != "no" || len(r.Faults) != 0 {
			t.Errorf("%+v", r)
		}
	})
}
