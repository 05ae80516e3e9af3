package main

import (
	"testing"

	"github.com/envoyproxy/envoy/envoytest"
)

func TestHeadersAreCopied(t *testing.T) {
	g := envoytest.New(t, envoytest.Filter{Name: "header-get-set"})
	request := envoytest.Request{Host: "example.com:8080", Fields: envoytest.Fields{{"Host2", "a lie"}}}
	r := g.Do(request, envoytest.Response{Status: 200, Fields: envoytest.Fields{{"Server", "origin"}}})
	if got := r.Upstream.Fields.Values("host2"); len(got) != 1 || got[0] != "example.com:8080" {
		t.Errorf("host2 %q", got)
	}
	if got := r.Fields.Values("server2"); len(got) != 1 || got[0] != "origin" {
		t.Errorf("server2 %q", got)
	}
	if r = g.Do(request, envoytest.Response{Status: 200}); r.Fields.Values("server2") != nil {
		t.Errorf("%+v", r)
	}
}
