package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reasons explain differences, by the names of their cases.
var reasons = []struct {
	text  string
	cases []string
}{
	{"`OPTIONS *`, which is addressed to the server: eddy answers it with 204 and net/http with 200, before the firewall sees it", []string{"920100-3", "920300-2"}},
	{"`CONNECT` where no tunnels are allowed: eddy refuses it with 501, or with 400 if there is no port",
		[]string{"920100-4", "920100-5", "920100-6", "920300-3"}},
	{"a fragment (`#`) in the target: eddy refuses it with 400", []string{"920100-7", "920100-8", "920610-2"}},
	{"both `Content-Length` and `Transfer-Encoding`, as in request smuggling: eddy refuses it with 400", []string{"920181-1"}},
	{"a `Host` that is empty or no host name: eddy refuses it with 400", []string{"920270-4", "920274-1", "920290-1", "920290-2"}},
	{"an HTTP version that does not exist: eddy refuses it with 400, net/http with 505", []string{"920280-3", "920430-3", "920430-9"}},
	{"an empty `Host` in HTTP/1.0: net/http removes it, so that the rule for a missing one matches; eddy's filter sees it, as " +
		"the case expects", []string{"920290-4"}},
}

// reason returns why eddy's verdict of a case differs; empty if the reason is not known.
func (d difference) reason() string {
	for _, r := range reasons {
		if slices.Contains(r.cases, d.ID) {
			return r.text
		}
	}
	return ""
}

// unexplained returns an error if there are differences without a reason.
func (r *report) unexplained() error {
	var names []string
	for _, d := range r.Differences {
		if d.reason() == "" {
			names = append(names, d.ID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d differences have no reason: %s", len(names), strings.Join(names, ", "))
}

// text returns the result as Markdown.
func (r *report) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d of %d cases, commit %s, %d s\n\n", r.Cases, r.Total, r.Commit, r.Seconds)
	s.WriteString("| | pass | fail | error |\n|---|--:|--:|--:|\n")
	for _, row := range []struct {
		name   string
		counts map[string]int
	}{{"net/http and Coraza", r.Native}, {"eddy and Coraza", r.Eddy}} {
		fmt.Fprintf(&s, "| %s | %d | %d | %d |\n", row.name, row.counts["pass"], row.counts["fail"], row.counts["error"])
	}
	fmt.Fprintf(&s, "\n%d cases differ in the result, in the rules that matched, or in the status with a firewall that blocks:\n\n", len(r.Differences))
	s.WriteString("| reason | cases | of them with another result of go-ftw | names |\n|---|--:|--:|---|\n")
	var order []string
	byReason := map[string][]difference{}
	for _, d := range r.Differences {
		if byReason[d.reason()] == nil {
			order = append(order, d.reason())
		}
		byReason[d.reason()] = append(byReason[d.reason()], d)
	}
	for _, reason := range order {
		var names []string
		others := 0
		for _, d := range byReason[reason] {
			names = append(names, d.ID)
			if word(d.Native) != word(d.Eddy) {
				others++
			}
		}
		if reason == "" {
			reason = "not known"
		}
		fmt.Fprintf(&s, "| %s | %d | %d | %s |\n", reason, len(names), others, strings.Join(names, ", "))
	}
	return s.String()
}

// table returns the result as Markdown.
func (c *costs) table() string {
	var s strings.Builder
	fmt.Fprintf(&s, "Commit %s, %d windows of %g s for each cell, in turn, load average at the end %s\n\n", c.Commit, c.Windows, c.Seconds, c.Load)
	s.WriteString("| request | server | CPU time per request, µs | middle half | requests per second |\n|---|---|--:|--:|--:|\n")
	for _, f := range c.Figures {
		fmt.Fprintf(&s, "| %s | %s | %.0f | %.0f to %.0f | %.0f |\n", f.Scenario, f.Target, f.CPU, f.CPULow, f.CPUTop, f.Rate)
	}
	return s.String()
}

// save writes a result as JSON into a folder, if there is one, and as text into its RESULT.md.
func save(folder, name string, result any, text string) error {
	if folder == "" {
		return nil
	}
	if err := write(filepath.Join(folder, name+".json"), result); err != nil {
		return err
	}
	file := filepath.Join(folder, "RESULT.md")
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	replaced, ok := replace(string(page), name, text)
	if !ok {
		return fmt.Errorf("%s has no lines <!-- %s --> and <!-- /%s -->", file, name, name)
	}
	return os.WriteFile(file, []byte(replaced), 0o644)
}

// replace replaces the text between two comments of a page.
func replace(page, name, text string) (string, bool) {
	before, rest, ok := strings.Cut(page, "<!-- "+name+" -->\n")
	_, after, both := strings.Cut(rest, "<!-- /"+name+" -->\n")
	return before + "<!-- " + name + " -->\n" + text + "<!-- /" + name + " -->\n" + after, ok && both
}
