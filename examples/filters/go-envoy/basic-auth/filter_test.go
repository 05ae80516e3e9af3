package main

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/envoyproxy/envoy/envoytest"
)

const fooname = `{"username": "fooname", "password": "validpassword"}`

func TestOnlyTheConfiguredUserIsAdmitted(t *testing.T) {
	g := envoytest.New(t, envoytest.Filter{Name: "basic-auth", Config: fooname})
	for credentials, want := range map[string]int{
		"fooname:validpassword": 200, "fooname:validpasswor": 401, "fooname:validpassword2": 401, "foonam:validpassword": 401,
		":": 401, "": 401, strings.Repeat("x", 500): 401,
	} {
		encoded := base64.StdEncoding.EncodeToString([]byte(credentials))
		for scheme, passes := range map[string]bool{"Basic ": true, "basic ": true, "Bearer ": false, "": false} {
			r := g.Do(envoytest.Request{Fields: envoytest.Fields{{"Authorization", scheme + encoded}}}, envoytest.Response{Status: 200})
			want := want
			if !passes {
				want = 401
			}
			if r.Status != want || (want == 401) != (r.Fields.Get("www-authenticate") != "") || (want == 401) != (r.Upstream == nil) {
				t.Errorf("%q %q: %+v", scheme, credentials, r)
			}
		}
	}
	if r := g.Do(envoytest.Request{}, envoytest.Response{Status: 200}); r.Status != 401 || r.Details != "bad-request" {
		t.Errorf("%+v", r)
	}
	if r := g.Do(envoytest.Request{Fields: envoytest.Fields{{"Authorization", "Basic %%%"}}}, envoytest.Response{Status: 200}); r.Status != 401 {
		t.Errorf("%+v", r)
	}
}

func TestARuleCanHaveItsOwnUser(t *testing.T) {
	g := envoytest.New(t, envoytest.Filter{Name: "basic-auth", Config: fooname, Rule: `{"username": "x", "password": "y"}`})
	for credentials, want := range map[string]int{"Basic eDp5": 200, "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk": 401} {
		r := g.Do(envoytest.Request{Fields: envoytest.Fields{{"Authorization", credentials}}}, envoytest.Response{Status: 200})
		if r.Status != want {
			t.Errorf("%s: %+v", credentials, r)
		}
	}
}

func TestAConfigurationIsRequired(t *testing.T) {
	for _, config := range []string{"null", "{}", `{"username": "x"}`, `{"username": "a:b", "password": "c"}`} {
		if envoytest.Configure(t, envoytest.Filter{Name: "basic-auth", Config: config}) == nil {
			t.Errorf("%s is taken", config)
		}
	}
}
