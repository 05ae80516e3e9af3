package eddy_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
)

type inner struct {
	Rate  int `json:"rate" eddy:"required"`
	Burst int `json:"burst"`
}

type config struct {
	Name    string            `json:"name" eddy:"required"`
	Limits  inner             `json:"limits"`
	List    []inner           `json:"list"`
	Labels  map[string]string `json:"labels"`
	Timeout eddy.Duration     `json:"timeout"`
	Small   uint8             `json:"small"`
}

func (c *config) SetDefaults() { c.Timeout = eddy.Duration(time.Second) }

type configured struct{ config config }

func (f *configured) RequestHead(x *eddy.Exchange) eddy.Verdict {
	x.SetMetadataOf("config", "is", f.config)
	return eddy.Continue
}

type merging struct{ Words []string }

func (m merging) Merge(rule merging) merging { return merging{slices.Concat(m.Words, rule.Words)} }

func (m merging) RequestHead(x *eddy.Exchange) eddy.Verdict {
	x.SetMetadataOf("config", "is", m.Words)
	return eddy.Continue
}

func init() {
	eddy.Register("configured", func(c config) (eddy.Filter, error) {
		if c.Name == "bad" {
			return nil, errors.New("the name is bad")
		}
		return &configured{c}, nil
	})
	eddy.Register("merging", func(m merging) (eddy.Filter, error) { return m, nil })
	eddy.Register("panicking", func(map[string]any) (eddy.Filter, error) { panic("at birth") })
	eddy.Register("hookless", func(struct{}) (eddy.Filter, error) { return struct{}{}, nil })
	eddy.Register("nothing", func(struct{}) (eddy.Filter, error) { return nil, nil })
}

type object = map[string]any

func TestConfigurationErrorsNameTheKey(t *testing.T) {
	limits := object{"rate": 1}
	for says, c := range map[string]any{
		`key "name": missing`:               nil,
		`key "limits.rate": missing`:        object{"name": "a", "limits": object{}},
		`key "nam": unknown; known here: `:  object{"nam": "a"},
		`key "limits.rat": unknown`:         object{"name": "a", "limits": object{"rat": 1}},
		`key "list[1].x": unknown`:          object{"name": "a", "limits": limits, "list": []object{limits, {"rate": 1, "x": 2}}},
		`key "limits.rate": can't be a str`: object{"name": "a", "limits": object{"rate": "fast"}},
		`key "small": can't be a number`:    object{"name": "a", "limits": limits, "small": 256},
		`time: invalid duration`:            object{"name": "a", "limits": limits, "timeout": "soon"},
		`the name is bad`:                   object{"name": "bad", "limits": limits},
		`can't be a number, a table`:        5,
	} {
		if err := eddytest.Refusal(t, "configured", c); !strings.Contains(err.Error(), says) {
			t.Errorf("%v, not %s", err, says)
		}
	}
	for name, says := range map[string]string{
		"panicking": "at birth", "hookless": "none of the hooks", "nothing": "none of the hooks", "no-such": "there is no filter",
	} {
		if err := eddytest.Refusal(t, name, nil); !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func configOf(t *testing.T, f eddytest.Filter) string {
	return eddytest.NewChain(t, f).Get("/").Do().Metadata[0].Value
}

func TestKeysOfARuleOverrideThoseOfTheFilter(t *testing.T) {
	base := object{"name": "a", "limits": object{"rate": 1, "burst": 2}, "labels": object{"x": "1"}, "timeout": "2s"}
	before := maps.Clone(base)
	got := configOf(t, eddytest.Filter{Name: "configured", Config: base, Rule: object{"limits": object{"rate": 5}, "labels": object{"y": "2"}}})
	want := `{"name":"a","limits":{"rate":5,"burst":2},"list":null,"labels":{"x":"1","y":"2"},"timeout":"2s","small":0}`
	if got != want {
		t.Error(got)
	}
	got = configOf(t, eddytest.Filter{Name: "configured", Config: before})
	if want = `{"name":"a","limits":{"rate":1,"burst":2},"list":null,"labels":{"x":"1"},"timeout":"2s","small":0}`; got != want {
		t.Error(got)
	}
	if err := eddytest.RuleRefusal(t, "configured", base, object{"nam": 1}); !strings.Contains(err.Error(), `"nam"`) {
		t.Error(err)
	}
}

func TestAConfigurationMayMergeItself(t *testing.T) {
	got := configOf(t, eddytest.Filter{Name: "merging", Config: object{"words": []string{"a"}}, Rule: object{"words": []string{"b"}}})
	if got != `["a","b"]` {
		t.Error(got)
	}
}
