package envoytest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	old "github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
	"github.com/envoyproxy/envoy/envoytest"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// marks sets a header to its configuration: the generations differ in how it is created.
type marks struct {
	api.PassThroughStreamFilter
	value string
}

func (m *marks) DecodeHeaders(h api.RequestHeaderMap, _ bool) api.StatusType {
	h.Set("x-mark", m.value)
	return api.Continue
}

type parser126 struct{}

func (parser126) Parse(any *anypb.Any) (interface{}, error) { return read(any) }

func (parser126) Merge(parent, child interface{}) interface{} {
	return parent.(string) + "+" + child.(string)
}

// parser125 is of a snapshot before 1.26: it panics where later ones return an error.
type parser125 struct{}

func (parser125) Parse(any *anypb.Any) interface{} {
	value, err := read(any)
	if err != nil {
		panic(err)
	}
	return value
}

func (parser125) Merge(parent, child interface{}) interface{} {
	return parser126{}.Merge(parent, child)
}

type parser131 struct{ parser126 }

func (parser131) Parse(any *anypb.Any, callbacks api.ConfigCallbackHandler) (interface{}, error) {
	value, err := read(any)
	if callbacks == nil {
		return "rule:" + value, err
	}
	return value, err
}

// read parses {"value": text} as a google.protobuf.Struct.
func read(any *anypb.Any) (string, error) {
	if any.GetTypeUrl() == "" {
		return "none", nil
	}
	s := &structpb.Struct{}
	if err := any.UnmarshalTo(s); err != nil {
		return "", err
	}
	if s.Fields["value"] == nil {
		return "", errors.New("there is no value")
	}
	return s.Fields["value"].GetStringValue(), nil
}

func config126(c interface{}) old.StreamFilterFactory {
	return func(old.FilterCallbackHandler) old.StreamFilter { return &marks{value: c.(string)} }
}

func config127(c interface{}) api.StreamFilterFactory {
	return func(api.FilterCallbackHandler) api.StreamFilter { return &marks{value: c.(string)} }
}

func config131(c interface{}, _ api.FilterCallbackHandler) api.StreamFilter {
	return &marks{value: c.(string)}
}

type namedFactory func(c interface{}, _ api.FilterCallbackHandler) api.StreamFilter

func init() {
	http.RegisterHttpFilterConfigFactory("mark126", config126)
	http.RegisterHttpFilterConfigParser(&parser126{})
	http.RegisterHttpFilterConfigFactoryAndParser("mark125", config126, parser125{})
	http.RegisterHttpFilterConfigFactoryAndParser("mark127", config127, parser126{})
	http.RegisterHttpFilterFactoryAndConfigParser("mark131", config131, parser131{})
	http.RegisterHttpFilterFactoryAndConfigParser("named", namedFactory(config131), parser131{})
	http.RegisterHttpFilterFactoryAndConfigParser("pass131", http.PassThroughFactory, http.NullParser)
	http.RegisterHttpFilterConfigFactoryAndParser("pass127", http.PassThroughFactory, nil)
	http.RegisterHttpFilterConfigFactory("pass126", http.PassThroughFactory)
	http.RegisterHttpFilterConfigFactoryAndParser("reads127", readsConfig, nil)
	http.RegisterHttpFilterFactoryAndConfigParser("reads131", func(c interface{}, _ api.FilterCallbackHandler) api.StreamFilter {
		return readsConfig(c).(func(api.FilterCallbackHandler) api.StreamFilter)(nil)
	}, http.NullParser)
	http.RegisterHttpFilterFactoryAndConfigParser("panics", func(c interface{}, _ api.FilterCallbackHandler) api.StreamFilter {
		panic("not without an exchange")
	}, http.NullParser)
	http.RegisterHttpFilterFactoryAndConfigParser("metrics", func(c interface{}, _ api.FilterCallbackHandler) api.StreamFilter {
		return &marks{value: "m"}
	}, parserFunc(func(_ *anypb.Any, callbacks api.ConfigCallbackHandler) (interface{}, error) {
		counter, gauge := callbacks.DefineCounterMetric("a.count"), callbacks.DefineGaugeMetric("a-gauge")
		counter.Increment(2)
		counter.Increment(-1)
		counter.Record(5)
		counter.Record(1)
		gauge.Record(7)
		gauge.Increment(-3)
		if counter.Get() != 5 || gauge.Get() != 4 {
			return nil, fmt.Errorf("counter %d, gauge %d", counter.Get(), gauge.Get())
		}
		return nil, nil
	}))
}

const value = `{"@type": "type.googleapis.com/google.protobuf.Struct", "value": {"value": %q}}`

func TestEachGenerationOfRegistration(t *testing.T) {
	for name, want := range map[string]string{"mark125": "a+b", "mark126": "a+b", "mark127": "a+b", "mark131": "a+rule:b", "named": "a+rule:b"} {
		g := envoytest.New(t, envoytest.Filter{Name: name, Config: fmt.Sprintf(value, "a"), Rule: fmt.Sprintf(value, "b")})
		if got := g.Do(get, okay).Upstream.Fields.Get("x-mark"); got != want {
			t.Errorf("%s: %q", name, got)
		}
		g = envoytest.New(t, envoytest.Filter{Name: "github.com/envoyproxy/envoy/envoytest_test:" + name})
		if got := g.Do(get, okay).Upstream.Fields.Get("x-mark"); got != "none" {
			t.Errorf("%s without configuration: %q", name, got)
		}
		err := envoytest.Configure(t, envoytest.Filter{Name: name, Config: `{"@type": "type.googleapis.com/google.protobuf.Struct", "value": {}}`})
		if err == nil || !strings.Contains(err.Error(), "there is no value") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"pass126", "pass127", "pass131"} {
		g := envoytest.New(t, envoytest.Filter{Name: name})
		if r := g.Do(post, okay); r.Status != 200 || r.Upstream.Text() != post.Text() {
			t.Errorf("%s: %+v", name, r)
		}
		if name != "pass126" && g.Interest()[0] != 1|1<<3 {
			t.Errorf("%s is entered in phases %b", name, g.Interest()[0])
		}
	}
}

// readsConfig is a factory that parses the configuration itself: without a parser, Envoy passes the message.
func readsConfig(c interface{}) api.StreamFilterFactory {
	value, err := read(c.(*anypb.Any))
	if err != nil {
		panic(err)
	}
	return func(api.FilterCallbackHandler) api.StreamFilter { return &marks{value: value} }
}

func TestAFactoryWithoutAParserGetsTheMessage(t *testing.T) {
	for _, name := range []string{"reads127", "reads131"} {
		filter := envoytest.Filter{Name: "github.com/envoyproxy/envoy/envoytest_test:" + name}
		for rule, want := range map[string]string{"": "a", fmt.Sprintf(value, "b"): "b"} {
			filter.Config, filter.Rule = fmt.Sprintf(value, "a"), rule
			if got := envoytest.New(t, filter).Do(get, okay).Upstream.Fields.Get("x-mark"); got != want {
				t.Errorf("%s with the rule's configuration %q: %q", name, rule, got)
			}
		}
	}
}

func TestConfigurationsAreRefused(t *testing.T) {
	for name, want := range map[string]string{"none": "there is no filter", "panics": "panicked"} {
		err := envoytest.Configure(t, envoytest.Filter{Name: name})
		if name == "panics" {
			// A factory that needs an exchange is called in every phase, and may then do its work.
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g := envoytest.New(t, envoytest.Filter{Name: "panics"})
	if r := g.Do(get, okay); r.Status != 500 || !strings.Contains(r.Faults[0], "not without an exchange") {
		t.Errorf("%+v", r)
	}
}

func TestUnsupportedSignaturesAreRefusedAtRegistration(t *testing.T) {
	for what, register := range map[string]func(){
		"factory": func() { http.RegisterHttpFilterFactoryAndConfigParser("x", func() {}, http.NullParser) },
		"nil":     func() { http.RegisterHttpFilterFactoryAndConfigParser("x", nil, http.NullParser) },
		"parser":  func() { http.RegisterHttpFilterFactoryAndConfigParser("x", config131, nil) },
		"parse":   func() { http.RegisterHttpFilterFactoryAndConfigParser("x", config131, struct{ merger }{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", what)
				}
			}()
			register()
		}()
	}
}

type merger struct{}

func (merger) Merge(parent, child interface{}) interface{} { return child }

func TestMetrics(t *testing.T) {
	count, gauge := envoytest.Metric("a_count"), envoytest.Metric("a_gauge")
	envoytest.New(t, envoytest.Filter{Name: "metrics"})
	if count, gauge := envoytest.Metric("a_count")-count, envoytest.Metric("a_gauge")-gauge; count != 5 || gauge != 4 {
		t.Errorf("count %d, gauge %d", count, gauge)
	}
}

// owned is a configuration that counts its destructions.
type owned struct{ ends *int }

func (o *owned) Destroy() { *o.ends++ }

type ownedParser struct {
	ends   *[]*int
	merges func(parent, child interface{}) interface{}
}

func (p ownedParser) Parse(*anypb.Any, api.ConfigCallbackHandler) (interface{}, error) {
	n := new(int)
	*p.ends = append(*p.ends, n)
	return &owned{n}, nil
}

func (p ownedParser) Merge(parent, child interface{}) interface{} { return p.merges(parent, child) }

func TestEveryConfigurationIsDestroyedOnce(t *testing.T) {
	for what, merges := range map[string]func(parent, child interface{}) interface{}{
		"child": func(_, child interface{}) interface{} { return child },
		"own":   func(parent, _ interface{}) interface{} { return parent },
	} {
		var ends []*int
		http.RegisterHttpFilterFactoryAndConfigParser("owned-"+what, func(interface{}, api.FilterCallbackHandler) api.StreamFilter {
			return &marks{}
		}, ownedParser{&ends, merges})
		t.Run(what, func(t *testing.T) {
			envoytest.New(t, envoytest.Filter{Name: "owned-" + what, Config: "{}", Rule: "{}"})
		})
		if len(ends) != 2 || *ends[0] != 1 || *ends[1] != 1 {
			t.Errorf("%s: %d configurations", what, len(ends))
		}
	}
}

func TestSecrets(t *testing.T) {
	g := envoytest.New(t, envoytest.Filter{Name: "script", Config: `{"@secrets": {"token": "abc"}}`})
	current.Store(&hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
		secret, ok := s.callbacks.SecretManager().GetGenericSecret("token")
		_, none := s.callbacks.SecretManager().GetGenericSecret("none")
		if secret != "abc" || !ok || none {
			t.Errorf("%q %v %v", secret, ok, none)
		}
		return api.Continue
	}})
	defer current.Store(nothing)
	g.Do(get, okay)
}

func TestLogs(t *testing.T) {
	if api.GetLogLevel() != api.Debug {
		t.Errorf("level %s", api.GetLogLevel())
	}
	api.LogTrace("not this")
	api.LogCriticalf("but %d", 1)
	play(t, hooks{decodeHeaders: func(s *script, h api.RequestHeaderMap, _ bool) api.StatusType {
		s.callbacks.Log(api.Warn, "and this")
		if s.callbacks.LogLevel() != api.Debug {
			t.Error("level")
		}
		return api.Continue
	}}, get, okay)
	var texts []string
	for _, r := range envoytest.Records() {
		texts = append(texts, r.Text)
	}
	all := strings.Join(texts, "\n")
	if strings.Contains(all, "not this") || !strings.Contains(all, "but 1") || !strings.Contains(all, "and this") {
		t.Error(all)
	}
}

func init() { envoytest.RegisterByFramework("shared", "outer") }

func TestPackagesThatRegisterByOneFrameworkKeepTheirNames(t *testing.T) {
	const inner = "github.com/envoyproxy/envoy/envoytest"
	for where, want := range map[string]string{inner: "inner", inner + "_test": "outer"} {
		g := envoytest.New(t, envoytest.Filter{Name: where + ":shared"})
		if got := g.Do(get, okay).Upstream.Fields.Get("x-mark"); got != want {
			t.Errorf("%s: %q", where, got)
		}
	}
	err := envoytest.Configure(t, envoytest.Filter{Name: "shared"})
	if err == nil || !strings.Contains(err.Error(), inner+":shared") || !strings.Contains(err.Error(), inner+"_test:shared") {
		t.Error(err)
	}
}
