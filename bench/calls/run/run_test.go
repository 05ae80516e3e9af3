package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestTheLeastFigureCounts(t *testing.T) {
	r := newResults(plan{})
	one, two := 1.0, 2.0
	for _, figure := range []figure{{5, 9, &two, &two}, {4, 20, &one, &two}, {6, 8, nil, nil}} {
		if err := r.note("go1.0", "go-c-fast", figure); err != nil {
			t.Fatal(err)
		}
	}
	got := r.Rows["go-c-fast"]["go1.0"]
	if got.Nanoseconds != 4 || got.Late != 8 || *got.Allocations != 1 || *got.Bytes != 2 {
		t.Errorf("the figure is %+v", got)
	}
	if r.note("go1.0", "unheard-of", figure{}) == nil {
		t.Error("a row without a title passes")
	}
}

func TestGoalsAreJudged(t *testing.T) {
	r := newResults(plan{})
	r.Versions = []string{"go1.0"}
	r.Rows["go-c-fast"] = map[string]figure{"go1.0": {Nanoseconds: 2.4}}
	r.Rows["c-go-barrier"] = map[string]figure{"go1.0": {Nanoseconds: 60}}
	var said strings.Builder
	if missed := r.judge(&said); missed != 0 || strings.Count(said.String(), "met:") != 2 {
		t.Errorf("%d missed, %s", missed, said.String())
	}
	r.Rows["go-c-fast"]["go1.0"] = figure{Nanoseconds: 2.6}
	if r.judge(io.Discard) != 1 {
		t.Error("a goal that is missed passes")
	}
}

func TestTablesGoBetweenTheMarkers(t *testing.T) {
	document := "a\n" + marker("start") + "\nold\n" + marker("end") + "\nb\n"
	got, err := replace(document, "new\n")
	if expected := strings.Replace(document, "old", "new", 1); err != nil || got != expected {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := replace("a\n", "new\n"); err == nil {
		t.Error("a document without markers passes")
	}
}

func TestATableHasAColumnAVersion(t *testing.T) {
	r := newResults(plan{})
	r.Versions = []string{"go1.0", "go1.1"}
	allocations, bytes := 1.0, 32.0
	r.Rows["go-c-fast"] = map[string]figure{"go1.0": {Nanoseconds: 2.25}, "go1.1": {Nanoseconds: 123.4, Allocations: &allocations, Bytes: &bytes}}
	r.Rows["gap-1ms"] = map[string]figure{"go1.0": {Nanoseconds: 70, Late: 18217}}
	got := r.tables(nil)
	for _, expected := range []string{
		"| Go calls a native function that does nothing | Go 1.0 | Go 1.1 | allocations | published |\n| --- | ---: | ---: | ---: | ---: |\n",
		"| `fastcall.Call` | 2.2 | 123 | 1 (32 B) | 2 |\n",
		"| 1 ms at work | 70 ns / 18.2 µs | ",
	} {
		if !strings.Contains(got, expected) {
			t.Errorf("there is no %q in:\n%s", expected, got)
		}
	}
}

// Everything is built and run once, as short as it goes: each row is measured and has a title.
func TestARehearsal(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT REHEARSED because of -short")
	}
	if _, err := exec.LookPath("cargo"); err != nil {
		t.Skip("NOT REHEARSED: ", err)
	}
	p := plan{versions: []string{runtime.Version()}, rounds: 1, repeats: 1}
	p.root, _ = filepath.Abs("../../..")
	p.results = filepath.Join(t.TempDir(), "calls.json")
	measured, err := measure(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := measured.write(p.results); err != nil {
		t.Fatal(err)
	}
	again, err := read(p.results)
	if err != nil || again.check() != nil {
		t.Errorf("%v, %v", err, again.check())
	}
	if way := again.Ways[runtime.Version()]; !strings.HasPrefix(way, "fastcall: assembly: ") {
		t.Errorf("calls went by %q", way)
	}
	if _, err := os.Stat(p.results); err != nil {
		t.Error(err)
	}
}
