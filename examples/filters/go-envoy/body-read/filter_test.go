package main

import (
	"testing"

	"github.com/envoyproxy/envoy/envoytest"
)

func TestBytesAreCountedAndForwarded(t *testing.T) {
	g := envoytest.New(t, envoytest.Filter{Name: "body-read"})
	before := envoytest.Metric("found")
	r := g.Do(envoytest.Request{}, envoytest.Response{Status: 200, Body: []string{"a\nb\n", "c", "\n"}})
	if r.Text() != "a\nb\nc\n" || len(r.Body) != 3 || envoytest.Metric("found")-before != 3 {
		t.Errorf("%+v, %d found", r, envoytest.Metric("found")-before)
	}
}
