package envoytest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/envoytest"
)

func TestHeaderMaps(t *testing.T) {
	r := play(t, hooks{
		decodeHeaders: func(_ *script, h api.RequestHeaderMap, _ bool) api.StatusType {
			check := func(what, got, want string) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
			check("pseudo", h.Method()+" "+h.Scheme()+" "+h.Host()+" "+h.Path()+" "+h.Protocol(), "GET http example.com /a?b=c HTTP/1.1")
			for name, want := range map[string]string{
				"x-one": "1", "X-ONE": "1", "x-two": "2", ":path": "/a?b=c", ":method": "GET", ":authority": "example.com",
				":scheme": "http", "host": "example.com", "Host": "example.com",
			} {
				got, ok := h.Get(name)
				check(name, fmt.Sprint(got, ok), want+"true")
				check(name+" raw", h.GetRaw(name), want)
			}
			if _, ok := h.Get("x-none"); ok || h.GetRaw("x-none") != "" || h.Values("x-none") != nil {
				t.Error("a field that is not there")
			}
			all := h.GetAllHeaders()
			check("all", fmt.Sprint(all), "map[:authority:[example.com] :method:[GET] :path:[/a?b=c] :scheme:[http] authorization:[Basic eDp5] x-one:[1] x-two:[2 3]]")
			h.Add("X-Two", "4")
			h.Set("X-One", "5")
			h.Del("AUTHORIZATION")
			h.Set("x-new", "6")
			h.SetHost("other.example.com")
			h.SetMethod("PUT")
			h.Set(":path", "/b")
			h.Del("Content-Length")
			h.Set("connection", "close")
			h.Del(":path")
			check("changed", fmt.Sprintln(h.Values("x-two"), h.GetRaw("x-one"), h.GetRaw("x-new"), h.Host(), h.Method(), h.Path()), "[2 3 4] 5 6 other.example.com PUT /b\n")
			var seen []string
			h.Range(func(key, value string) bool {
				seen = append(seen, key+"="+value)
				h.Get("x-one") // Envoy would wait for ever
				return !strings.HasPrefix(key, "x-new")
			})
			check("range", strings.Join(seen, " "), ":authority=other.example.com :path=/b :method=PUT :scheme=http x-two=2 x-two=3 x-two=4 x-one=5 x-new=6")
			if h.ByteSize() == 0 {
				t.Error("no bytes")
			}
			return api.Continue
		},
		encodeHeaders: func(_ *script, h api.ResponseHeaderMap, _ bool) api.StatusType {
			status, ok := h.Status()
			text, _ := h.Get(":status")
			if status != 200 || !ok || text != "200" {
				t.Errorf("status %d %q", status, text)
			}
			server, _ := h.Get("Server")
			h.Set("server2", server)
			h.Set(":status", "202")
			h.Del("content-length")
			if got, _ := h.Status(); got != 202 {
				t.Errorf("status %d after it was set", got)
			}
			if _, ok := h.Get(":path"); ok {
				t.Error("a response has no path")
			}
			return api.Continue
		},
	}, get, okay)
	u := r.Upstream
	if u.Method != "PUT" || u.Path != "/b" || u.Host != "other.example.com" || fmt.Sprint(u.Fields) != "[[x-one 5] [x-two 2] [X-Two 3] [x-two 4] [x-new 6]]" {
		if fmt.Sprint(u.Fields.Values("x-two")) != "[2 3 4]" || u.Fields.Get("x-one") != "5" || u.Fields.Get("authorization") != "" {
			t.Errorf("%+v", u)
		}
	}
	if r.Status != 202 || r.Fields.Get("server2") != "origin" || len(r.Faults) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestTrailers(t *testing.T) {
	answer := okay
	answer.Trailers = envoytest.Fields{{"Grpc-Status", "0"}}
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		logged := make(chan string, 1)
		r := playBy(t, hooks{
			decodeTrailers: func(_ *script, h api.RequestTrailerMap) api.StatusType {
				sum, _ := h.Get("x-sum")
				h.Set("x-sum2", sum)
				h.Del("X-Sum")
				return api.Continue
			},
			encodeTrailers: func(_ *script, h api.ResponseTrailerMap) api.StatusType {
				if fmt.Sprint(h.GetAllHeaders()) != "map[grpc-status:[0]]" {
					t.Errorf("%v", h.GetAllHeaders())
				}
				h.Add("x-end", "1")
				return api.Continue
			},
			onLog: func(_ *script, _ api.RequestHeaderMap, a api.RequestTrailerMap, _ api.ResponseHeaderMap, b api.ResponseTrailerMap) {
				logged <- fmt.Sprint(a.GetAllHeaders(), b.GetRaw("X-End"))
			},
		}, ended, answer, f)
		if got := <-logged; got != "map[x-sum2:[7]]1" && got != "map[x-sum2:[7]] 1" {
			t.Errorf("logged %q", got)
		}
		if fmt.Sprint(r.Upstream.Trailers, r.Trailers) != "[[x-sum2 7]] [[Grpc-Status 0] [x-end 1]]" {
			t.Errorf("%v %v %v", r.Upstream.Trailers, r.Trailers, r.Faults)
		}
	})
}

func TestAForwardedHeadCannotBeChanged(t *testing.T) {
	var head api.RequestHeaderMap
	r := play(t, hooks{
		decodeHeaders: func(_ *script, h api.RequestHeaderMap, _ bool) api.StatusType { head = h; return api.Continue },
		decodeData: func(_ *script, _ api.BufferInstance, _ bool) api.StatusType {
			head.Set("x-late", "1")
			return api.Continue
		},
		encodeHeaders: func(_ *script, _ api.ResponseHeaderMap, _ bool) api.StatusType {
			head.Set("x-late", "1")
			if head.Path() != "/" || head.Host() != "example.com" {
				t.Errorf("it can still be read: %q", head.Path())
			}
			return api.Continue
		},
	}, post, okay)
	if r.Status != 200 || len(r.Faults) != 0 || r.Upstream.Fields.Get("x-late") != "" || r.Fields.Get("x-late") != "" {
		t.Errorf("%+v", r)
	}
}

func TestBuffers(t *testing.T) {
	tests := []struct {
		name string
		do   func(b api.BufferInstance)
		want string
	}{
		{"nothing", func(api.BufferInstance) {}, "abcdef"},
		{"append", func(b api.BufferInstance) { b.Append([]byte("1")); b.AppendString("2") }, "abcdef12"},
		{"prepend", func(b api.BufferInstance) { b.Prepend([]byte("1")); b.PrependString("2") }, "21abcdef"},
		{"write", func(b api.BufferInstance) {
			b.Write([]byte("1"))
			b.WriteString("2")
			b.WriteByte('3')
			b.WriteUint16(4)
			b.WriteUint32(56)
			b.WriteUint64(789)
		}, "abcdef123456789"},
		{"drain", func(b api.BufferInstance) { b.Drain(2) }, "cdef"},
		{"drain none", func(b api.BufferInstance) { b.Drain(0); b.Drain(-1) }, "abcdef"},
		{"drain more than there is", func(b api.BufferInstance) { b.Drain(99) }, ""},
		{"drain across", func(b api.BufferInstance) { b.PrependString("12"); b.AppendString("34"); b.Drain(9) }, "4"},
		{"reset", func(b api.BufferInstance) { b.Reset() }, ""},
		{"reset and write", func(b api.BufferInstance) { b.Reset(); b.WriteString("x"); b.PrependString("y") }, "yx"},
		{"set", func(b api.BufferInstance) { b.Set([]byte("x")); b.AppendString("y") }, "xy"},
		{"set to a part", func(b api.BufferInstance) { b.SetString("xyz"); b.Set(b.Bytes()[1:]) }, "yz"},
		{"set to nothing", func(b api.BufferInstance) { b.SetString("") }, ""},
		{"bytes are a copy", func(b api.BufferInstance) { b.Bytes()[0] = 'X' }, "abcdef"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := play(t, hooks{decodeData: func(_ *script, b api.BufferInstance, _ bool) api.StatusType {
				if string(b.Peek(3)) != "abc" || b.Peek(7) != nil || b.Len() != 6 {
					t.Error("what came")
				}
				test.do(b)
				if b.String() != test.want || string(b.Bytes()) != test.want || b.Len() != len(test.want) {
					t.Errorf("reads %q, want %q", b.String(), test.want)
				}
				return api.Continue
			}}, envoytest.Request{Method: "POST", Body: []string{"abcdef"}}, okay)
			if r.Upstream.Text() != test.want {
				t.Errorf("sent %q, want %q", r.Upstream.Text(), test.want)
			}
		})
	}
}

func TestAddedDataPrecedesTheBody(t *testing.T) {
	add := hooks{decodeHeaders: func(s *script, _ api.RequestHeaderMap, _ bool) api.StatusType {
		s.callbacks.DecoderFilterCallbacks().AddData([]byte("zero "), true)
		return api.Continue
	}}
	if r := play(t, add, post, okay); r.Upstream.Text() != "zero one two three" {
		t.Errorf("%+v", r.Upstream)
	}
	if r := play(t, add, get, okay); r.Status != 500 {
		t.Errorf("data for a body that there is not: %+v", r.Upstream)
	}
}

func TestDataThatCannotBeAddedFailsTheExchangeAlone(t *testing.T) {
	// None of these goroutines recovers a panic, which would end the process.
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		r := playBy(t, hooks{encodeHeaders: func(s *script, _ api.ResponseHeaderMap, _ bool) api.StatusType {
			go func() {
				s.callbacks.EncoderFilterCallbacks().AddData([]byte("body"), true)
				s.callbacks.EncoderFilterCallbacks().Continue(api.Continue)
			}()
			return api.Running
		}}, get, empty, f)
		if r.Status != 500 || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "AddData: in eddy, a message without a body") {
			t.Errorf("no body: %d %q", r.Status, r.Faults)
		}
		r = playBy(t, hooks{decodeTrailers: func(s *script, _ api.RequestTrailerMap) api.StatusType {
			go func() {
				s.callbacks.DecoderFilterCallbacks().AddData([]byte("more"), true)
				s.callbacks.DecoderFilterCallbacks().Continue(api.Continue)
			}()
			return api.Running
		}}, ended, okay, f)
		if len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "AddData: in eddy, nothing can be added") {
			t.Errorf("trailers: %d %q", r.Status, r.Faults)
		}
	})
	// A hook may recover the panic, as in Envoy.
	recovered := hooks{decodeData: func(s *script, b api.BufferInstance, _ bool) api.StatusType {
		func() {
			defer func() {
				if recover() != nil {
					b.AppendString("!")
				}
			}()
			s.callbacks.DecoderFilterCallbacks().AddData([]byte("more"), true)
		}()
		return api.Continue
	}}
	if r := play(t, recovered, envoytest.Request{Method: "POST", Body: []string{"one"}}, okay); r.Upstream.Text() != "one!" {
		t.Errorf("%+v %q", r.Upstream, r.Faults)
	}
}

func TestTheNextFilterSeesEarlierChanges(t *testing.T) {
	g := envoytest.New(t, envoytest.Filter{Name: "script"}, envoytest.Filter{Name: "script"})
	n := 0
	current.Store(&hooks{
		decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
			h.Set("x-n", h.GetRaw("x-n")+"d")
			n++
			s.callbacks.StreamInfo().DynamicMetadata().Set("count", "n", n)
			if s.callbacks.StreamInfo().DynamicMetadata().Get("count")["n"] != float64(n) {
				t.Error("metadata")
			}
			return api.Continue
		},
		encodeHeaders: func(_ *script, h api.ResponseHeaderMap, _ bool) api.StatusType {
			h.Set("x-n", h.GetRaw("x-n")+"e")
			return api.Continue
		},
		encodeData: func(_ *script, b api.BufferInstance, _ bool) api.StatusType {
			b.AppendString("!")
			return api.Continue
		},
	})
	defer current.Store(nothing)
	r := g.Do(get, okay)
	if r.Upstream.Fields.Get("x-n") != "dd" || r.Fields.Get("x-n") != "ee" || r.Metadata["count.n"] != "2" || r.Text() != "hello !!world!!" {
		t.Errorf("%+v %+v", r, r.Upstream)
	}
}

func TestStreamInfo(t *testing.T) {
	bothWays(t, func(t *testing.T, f envoytest.Filter) {
		request := get
		request.TLS = true
		var lines []string
		facts := func(s *script, at string) {
			i := s.callbacks.StreamInfo()
			protocol, _ := i.Protocol()
			code, hasCode := i.ResponseCode()
			details, hasDetails := i.ResponseCodeDetails()
			endpoint, hasEndpoint := i.UpstreamRemoteAddress()
			cluster, _ := i.UpstreamClusterName()
			_, hasLocal := i.UpstreamLocalAddress()
			_, hasVirtual := i.VirtualClusterName()
			lines = append(lines, fmt.Sprint(at, " ", i.GetRouteName(), i.FilterChainName(), protocol, cluster, code, hasCode, details, hasDetails,
				i.AttemptCount(), i.DownstreamLocalAddress(), i.DownstreamRemoteAddress(), endpoint, hasEndpoint, hasLocal, hasVirtual,
				i.WorkerID(), i.DownstreamSslConnection() != nil))
			i.DrainConnectionUponCompletion()
		}
		done := make(chan struct{})
		playBy(t, hooks{
			decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
				facts(s, "request")
				return api.Continue
			},
			encodeHeaders: func(s *script, h api.ResponseHeaderMap, _ bool) api.StatusType {
				go func() { facts(s, "response"); s.callbacks.EncoderFilterCallbacks().Continue(api.Continue) }()
				return api.Running
			},
			onLog: func(s *script, a api.RequestHeaderMap, b api.RequestTrailerMap, c api.ResponseHeaderMap, d api.ResponseTrailerMap) {
				facts(s, "log "+a.Path()+c.GetRaw("server"))
				if b != nil || d != nil {
					t.Error("trailers are not known any more")
				}
			},
			onComplete: func(*script) { lines = append(lines, "complete") },
			onDestroy: func(_ *script, reason api.DestroyReason) {
				lines = append(lines, fmt.Sprint("destroy ", reason))
				close(done)
			},
		}, request, okay, f)
		<-done
		const known = "192.0.2.2:8080192.0.2.1:4711"
		want := "request usersmainHTTP/1.1backend0 falsefalse0" + known + "falsefalsefalse0true|" +
			"response usersmainHTTP/1.1backend200 truevia_upstreamtrue1" + known + "192.0.2.9:9001truefalsefalse0true|complete|" +
			"log /a?b=coriginusersmainHTTP/1.1backend200 truevia_upstreamtrue1" + known + "192.0.2.9:9001truefalsefalse0true|destroy 0"
		clean := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := strings.Join(lines, "|"); clean(got) != clean(want) {
			t.Errorf("\n%s\nwant\n%s", got, want)
		}
	})
}

func TestProperties(t *testing.T) {
	play(t, hooks{encodeHeaders: func(s *script, _ api.ResponseHeaderMap, _ bool) api.StatusType {
		s.callbacks.StreamInfo().FilterState().SetString("user", "joe", api.StateTypeMutable, api.LifeSpanRequest, api.None)
		s.callbacks.StreamInfo().FilterState().SetString("fixed", "a", api.StateTypeReadOnly, api.LifeSpanRequest, api.None)
		s.callbacks.StreamInfo().FilterState().SetString("fixed", "b", api.StateTypeReadOnly, api.LifeSpanRequest, api.None)
		s.callbacks.StreamInfo().DynamicMetadata().Set("ns", "key", "value")
		for key, want := range map[string]string{
			"request.path": "/a?b=c", "request.url_path": "/a", "request.query": "b=c", "request.host": "example.com",
			"request.scheme": "http", "request.method": "GET", "request.protocol": "HTTP/1.1", "request.id": "id-1",
			"request.headers.x-one": "1", "request.time": "2023-11-14T22:13:20Z", "request.size": "0",
			"response.code": "200", "response.code_details": "via_upstream", "response.headers.server": "origin",
			"source.address": "192.0.2.1:4711", "source.port": "4711", "destination.address": "192.0.2.2:8080", "destination.port": "8080",
			"connection.id": "7", "connection.mtls": "false", "upstream.address": "192.0.2.9:9001", "upstream.port": "9001",
			"xds.route_name": "users", "xds.cluster_name": "backend", "route_name": "users", "filter_state.user": "joe",
			"filter_state.fixed": "a", "metadata.filter_metadata.ns.key": "value",
		} {
			if got, err := s.callbacks.GetProperty(key); got != want || err != nil {
				t.Errorf("%s: %q %v, want %q", key, got, err, want)
			}
		}
		for key, want := range map[string]error{
			"nonsense": api.ErrValueNotFound, "request.headers.x-none": api.ErrValueNotFound, "request.headers": api.ErrSerializationFailure,
			"": api.ErrSerializationFailure, "request": api.ErrSerializationFailure, "request.": api.ErrSerializationFailure, ".": api.ErrValueNotFound,
			"request.referer": api.ErrValueNotFound, "filter_state.none": api.ErrValueNotFound, "request.duration": api.ErrValueNotFound,
			"connection.requested_server_name": api.ErrValueNotFound, "metadata.filter_metadata.ns.none": api.ErrValueNotFound,
		} {
			if _, err := s.callbacks.GetProperty(key); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", key, err, want)
			}
		}
		if s.callbacks.StreamInfo().FilterState().GetString("user") != "joe" {
			t.Error("filter state")
		}
		return api.Continue
	}}, get, okay)
}

func TestMetadataIsJSON(t *testing.T) {
	r := play(t, hooks{
		decodeHeaders: func(s *script, _ api.RequestHeaderMap, _ bool) api.StatusType {
			m := s.callbacks.StreamInfo().DynamicMetadata()
			m.Set("a", "text", "x")
			m.Set("a", "number", 1.5)
			m.Set("a", "list", []any{"x", true})
			m.Set("b", "map", map[string]any{"k": nil})
			m.Set("b", "no", func() {})
			return api.Continue
		},
		encodeHeaders: func(s *script, _ api.ResponseHeaderMap, _ bool) api.StatusType {
			m := s.callbacks.StreamInfo().DynamicMetadata()
			if got := fmt.Sprint(m.Get("a"), m.Get("b"), m.Get("c")); got != "map[list:[x true] number:1.5 text:x] map[map:map[k:<nil>]] map[]" {
				t.Error(got)
			}
			return api.Continue
		},
	}, get, okay)
	if r.Metadata["a.number"] != "1.5" || len(r.Metadata) != 4 {
		t.Errorf("%v", r.Metadata)
	}
}

func TestTheEndpointCanBeSelected(t *testing.T) {
	r := play(t, hooks{decodeHeaders: func(s *script, _ api.RequestHeaderMap, _ bool) api.StatusType {
		if err := s.callbacks.DecoderFilterCallbacks().SetUpstreamOverrideHost("example.com", true); !errors.Is(err, api.ErrInvalidIPAddress) {
			t.Error(err)
		}
		if err := s.callbacks.DecoderFilterCallbacks().SetUpstreamOverrideHost("192.0.2.3:80", true); err != nil {
			t.Error(err)
		}
		s.callbacks.ClearRouteCache()
		return api.Continue
	}}, get, okay)
	if r.Endpoint != "192.0.2.3:80 1" || !r.Cleared {
		t.Errorf("%+v", r)
	}
}
