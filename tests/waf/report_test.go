package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestReasonsNameCases(t *testing.T) {
	all, err := cases(regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]int{}
	for _, one := range all {
		known[one.Tests[0].IdString()]++
	}
	if len(known) != len(all) || len(all) < 4000 {
		t.Errorf("%d cases have %d names", len(all), len(known))
	}
	for _, r := range reasons {
		for _, name := range r.cases {
			if known[name] != 1 {
				t.Errorf("%s is no case, or has two reasons", name)
			}
			known[name]++
		}
	}
}

func TestDifferencesWithoutReasonsFailTheRun(t *testing.T) {
	r := &report{Cases: 3, Total: 3, Differences: []difference{{ID: "920100-3"}, {ID: "942100-1"}}}
	if err := r.unexplained(); err == nil || !strings.Contains(err.Error(), "942100-1") || strings.Contains(err.Error(), "920100-3") {
		t.Error(err)
	}
	if text := r.text(); !strings.Contains(text, "| not known | 1 | 0 | 942100-1 |") || !strings.Contains(text, "`OPTIONS *`") {
		t.Error(text)
	}
}

func TestResultsReplaceEarlierOnes(t *testing.T) {
	page := "a\n<!-- cost -->\nold\n<!-- /cost -->\nb\n"
	if got, ok := replace(page, "cost", "new\n"); !ok || got != "a\n<!-- cost -->\nnew\n<!-- /cost -->\nb\n" {
		t.Error(got, ok)
	}
	if _, ok := replace(page, "verdicts", "new\n"); ok {
		t.Error("a page without the comments was changed")
	}
}

func TestTheLargeRequestHasTheSizeOfItsName(t *testing.T) {
	for _, s := range scenarios() {
		_, body, ok := strings.Cut(string(s.request), "\r\n\r\n")
		if !ok || s.name == "POST of 2 KiB" && len(body) != 2048 || s.name != "POST of 2 KiB" && body != "" {
			t.Error(s.name, len(body))
		}
	}
}
