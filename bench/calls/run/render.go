package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// documents are the pages with tables, and the groups that each shows; none: all.
var documents = []struct {
	path   string
	groups []string
}{
	{"docs/guide/calls.md", nil},
	{"sdk/go/fastcall/README.md", []string{"call", "string", "from", "batch"}},
}

// render writes the tables into the documents.
func (r *results) render(root string) error {
	for _, document := range documents {
		path := filepath.Join(root, document.path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		replaced, err := replace(string(text), r.tables(document.groups))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(replaced), 0o644); err != nil {
			return err
		}
		fmt.Println("written:", path)
	}
	return nil
}

// replace puts a text between the markers of a document.
func replace(document, text string) (string, error) {
	before, rest, hasBegin := strings.Cut(document, marker("start"))
	_, after, hasEnd := strings.Cut(rest, marker("end"))
	if !hasBegin || !hasEnd {
		return "", fmt.Errorf("there is no place for the tables: %s and %s", marker("start"), marker("end"))
	}
	return before + marker("start") + "\n" + text + marker("end") + after, nil
}

func marker(which string) string { return "<!-- calls:" + which + " -->" }

func (r *results) tables(shown []string) string {
	var text strings.Builder
	for _, group := range groups {
		if shown == nil || slices.Contains(shown, group.id) {
			r.table(&text, group)
		}
	}
	fmt.Fprintf(&text, "%s, %s cores, Linux %s, %s, %s; %s. The least of %d measurements of a millisecond each, in %d rounds over the versions",
		r.Machine["processor"], r.Machine["cores"], r.Machine["kernel"], r.Machine["rustc"], r.Machine["cc"], r.Date, r.Rounds*r.Repeats, r.Rounds)
	if shown == nil {
		text.WriteString("; after pauses the lowest median and 99th percentile of a round")
	}
	text.WriteString(".\n")
	return text.String()
}

func (r *results) table(text *strings.Builder, group group) {
	hasPublished := slices.ContainsFunc(group.rows, func(t title) bool { return t.published != "" })
	hasAllocations := slices.ContainsFunc(group.rows, func(t title) bool { return r.allocations(t.id) != "" })
	head := []string{group.text}
	for _, version := range r.Versions {
		head = append(head, "Go "+strings.TrimPrefix(version, "go"))
	}
	if hasAllocations {
		head = append(head, "allocations")
	}
	if hasPublished {
		head = append(head, "published")
	}
	line(text, head)
	rule := []string{"---"}
	for range head[1:] {
		rule = append(rule, "---:")
	}
	line(text, rule)
	for _, title := range group.rows {
		cells := []string{title.text}
		for _, version := range r.Versions {
			cells = append(cells, cell(group, r.Rows[title.id][version]))
		}
		if hasAllocations {
			cells = append(cells, r.allocations(title.id))
		}
		if hasPublished {
			cells = append(cells, title.published)
		}
		line(text, cells)
	}
	text.WriteString("\n")
}

// allocations says what the newest version allocates; a dash where it was not counted.
func (r *results) allocations(row string) string {
	for _, version := range slices.Backward(r.Versions) {
		figure := r.Rows[row][version]
		if figure.Allocations == nil || figure.Bytes == nil {
			continue
		}
		if *figure.Allocations < 0.5 {
			return "0"
		}
		return fmt.Sprintf("%.0f (%.0f B)", *figure.Allocations, *figure.Bytes)
	}
	return ""
}

func cell(group group, figure figure) string {
	if group.isGap {
		return duration(figure.Nanoseconds) + " / " + duration(figure.Late)
	}
	if figure.Nanoseconds < 100 {
		return fmt.Sprintf("%.1f", figure.Nanoseconds)
	}
	return fmt.Sprintf("%.0f", figure.Nanoseconds)
}

func duration(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.0f ns", ns)
	}
	return fmt.Sprintf("%.1f µs", ns/1000)
}

func line(text *strings.Builder, cells []string) {
	text.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
