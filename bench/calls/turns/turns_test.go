package turns

import (
	"io"
	"strings"
	"testing"
)

var suite = Suite{
	ID: "calls",
	Groups: []Group{
		{ID: "call", Text: "Go calls a native function that does nothing", Rows: []Title{
			{ID: "go-c-fast", Text: "`fastcall.Call`", Published: "2"},
			{ID: "c-go-barrier", Text: "the other way"},
		}},
		{ID: "gap", Text: "after a pause", IsGap: true, Rows: []Title{{ID: "gap-1ms", Text: "1 ms at work"}}},
	},
	Goals: []Goal{
		{Row: "go-c-fast", NS: 2.5, Title: "there"},
		{Row: "c-go-barrier", Times: 30, OfOther: "go-c-fast", Title: "back"},
	},
}

func TestTheMinimumIsReported(t *testing.T) {
	r := newResults(suite, Plan{})
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

func TestTargetsAreChecked(t *testing.T) {
	r := newResults(suite, Plan{})
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

func TestTablesAreWrittenBetweenTheMarkers(t *testing.T) {
	document := "a\n" + marker("calls", "start") + "\nold\n" + marker("calls", "end") + "\nb\n"
	got, err := replace("calls", document, "new\n")
	if expected := strings.Replace(document, "old", "new", 1); err != nil || got != expected {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := replace("calls", "a\n", "new\n"); err == nil {
		t.Error("a document without markers passes")
	}
}

func TestATableHasAColumnPerVersion(t *testing.T) {
	r := newResults(suite, Plan{})
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
