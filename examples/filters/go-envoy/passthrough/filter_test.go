package main

import (
	"testing"

	"github.com/envoyproxy/envoy/envoytest"
)

func TestEverythingIsForwarded(t *testing.T) {
	g := envoytest.New(t, envoytest.Filter{Name: "passthrough"})
	request := envoytest.Request{Method: "POST", Path: "/a", Host: "example.com", Body: []string{"x", "y"}}
	r := g.Do(request, envoytest.Response{Status: 201, Body: []string{"z"}})
	if r.Status != 201 || r.Text() != "z" || r.Upstream.Text() != "xy" || r.Upstream.Path != "/a" {
		t.Errorf("%+v", r)
	}
	// Bodies and the end are not even told.
	if g.Interest()[0] != 1<<0|1<<3 {
		t.Errorf("interest %b", g.Interest()[0])
	}
}
