package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/eddy-gateway/eddy/bench/calls/turns"
)

// Everything is built and run once, as short as it goes: each row is measured and has a title.
func TestAShortRunSucceeds(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT REHEARSED because of -short")
	}
	if _, err := exec.LookPath("cargo"); err != nil {
		t.Skip("NOT REHEARSED: ", err)
	}
	if _, err := turns.Rehearse(suite, "../../..", runtime.Version(), filepath.Join(t.TempDir(), "bridge.json")); err != nil {
		t.Fatal(err)
	}
}
