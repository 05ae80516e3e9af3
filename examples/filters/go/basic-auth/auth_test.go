package auth_test

import (
	"encoding/base64"
	"strings"
	"testing"

	auth "github.com/eddy-gateway/eddy/examples/filters/go/basic-auth"
	"github.com/eddy-gateway/eddy/sdk/go/eddytest"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

var config = auth.Config{Username: "fooname", Password: "validpassword"}

func basic(credentials string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

func TestOnlyTheConfiguredUserIsAdmitted(t *testing.T) {
	g := eddytest.New(t, "basic-auth", config)
	for value, passes := range map[string]bool{
		basic("fooname:validpassword"):                             true,
		"bAsIc " + basic("fooname:validpassword")[6:]:              true,
		basic("fooname:validpasswor"):                              false,
		basic("fooname:validpasswordd"):                            false,
		basic("fooname:"):                                          false,
		basic(""):                                                  false,
		"Basic":                                                    false,
		"Basic !!!!":                                               false,
		"Bearer " + basic("fooname:validpassword")[6:]:             false,
		basic("fooname:validpassword") + "=":                       false,
		basic("fooname:" + strings.Repeat("x", 100_000)):           false,
		basic("fooname:validpassword") + "\t":                      false,
		"  " + basic("fooname:validpassword"):                      false,
		"Basic " + strings.Repeat("=", 344):                        false,
		"Basic " + strings.Repeat("A", 345):                        false,
		basic("fooname:validpassword\x00"):                         false,
		basic("Fooname:validpassword"):                             false,
		basic("fooname:validpassword") + basic("fooname:validpas"): false,
	} {
		r := g.Get("/").Header("Authorization", value).Do()
		if passed := r.Forwarded != nil; passed != passes {
			t.Errorf("%.80q: passed is %v", value, passed)
		}
		if !passes && (r.Status != 401 || r.Get("www-authenticate") != `Basic realm="restricted"`) {
			t.Errorf("%.80q: %v", value, r)
		}
	}
}

func TestMissingCredentialsAreRequested(t *testing.T) {
	if r := eddytest.New(t, "basic-auth", config).Get("/").Do(); r.Status != 401 || r.Forwarded != nil {
		t.Error(r)
	}
}

func TestARuleMayHaveAnotherPassword(t *testing.T) {
	g := eddytest.NewChain(t, eddytest.Filter{Name: "basic-auth", Config: config, Rule: map[string]string{"password": "other"}})
	if r := g.Get("/").Header("authorization", basic("fooname:other")).Do(); r.Forwarded == nil {
		t.Error(r)
	}
	if r := g.Get("/").Header("authorization", basic("fooname:validpassword")).Do(); r.Forwarded != nil {
		t.Error(r)
	}
}

func TestConfigurationsAreChecked(t *testing.T) {
	for _, c := range []struct {
		config any
		says   string
	}{
		{map[string]any{"username": "a"}, `"password": missing`},
		{map[string]any{"username": "a", "password": "b", "relm": "c"}, `"relm": unknown`},
		{map[string]any{"username": "a:b", "password": "b"}, "colon"},
		{map[string]any{"username": "a", "password": "b", "realm": `"`}, "realm"},
		{map[string]any{"username": "a", "password": 5}, `"password": can't be a number`},
		{auth.Config{Username: "a", Password: strings.Repeat("b", 300)}, "256"},
	} {
		if err := eddytest.Refusal(t, "basic-auth", c.config); !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.config, err)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	g := eddytest.New(t, "basic-auth", config)
	pass := g.Get("/").Header("authorization", basic("fooname:validpassword")).Crossing(raw.PhaseRequestHead)
	if v := pass.Enter(); v != raw.Continue {
		t.Fatal(v)
	}
	for name, crossing := range map[string]*eddytest.Crossing{"pass": pass, "refuse": g.Get("/").Crossing(raw.PhaseRequestHead)} {
		if n := crossing.Allocs(); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkCrossing(b *testing.B) {
	eddytest.New(b, "basic-auth", config).Get("/").Header("authorization", basic("fooname:validpassword")).
		Crossing(raw.PhaseRequestHead).Bench(b)
}
