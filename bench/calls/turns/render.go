package turns

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// render writes the tables into the documents.
func (r *Results) render(root string) error {
	for _, document := range r.suite.Documents {
		path := filepath.Join(root, document.Path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		replaced, err := replace(r.suite.ID, string(text), r.tables(document.Groups))
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
func replace(id, document, text string) (string, error) {
	before, rest, hasBegin := strings.Cut(document, marker(id, "start"))
	_, after, hasEnd := strings.Cut(rest, marker(id, "end"))
	if !hasBegin || !hasEnd {
		return "", fmt.Errorf("there is no place for the tables: %s and %s", marker(id, "start"), marker(id, "end"))
	}
	return before + marker(id, "start") + "\n" + text + marker(id, "end") + after, nil
}

func marker(id, which string) string { return "<!-- " + id + ":" + which + " -->" }

func (r *Results) tables(shown []string) string {
	var text strings.Builder
	for _, group := range r.suite.Groups {
		if shown == nil || slices.Contains(shown, group.ID) {
			r.table(&text, group)
		}
	}
	fmt.Fprintf(&text, "%s, %s cores, Linux %s, %s, %s; %s. The least of %d measurements of a millisecond each, in %d rounds over the versions",
		r.Machine["processor"], r.Machine["cores"], r.Machine["kernel"], r.Machine["rustc"], r.Machine["cc"], r.Date, r.Rounds*r.Repeats, r.Rounds)
	if slices.ContainsFunc(r.suite.Groups, func(g Group) bool { return g.IsGap && (shown == nil || slices.Contains(shown, g.ID)) }) {
		text.WriteString("; after pauses the lowest median and 99th percentile of a round")
	}
	text.WriteString(".\n")
	return text.String()
}

func (r *Results) table(text *strings.Builder, group Group) {
	hasPublished := slices.ContainsFunc(group.Rows, func(t Title) bool { return t.Published != "" })
	hasAllocations := slices.ContainsFunc(group.Rows, func(t Title) bool { return r.allocations(t.ID) != "" })
	head := []string{group.Text}
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
	for _, title := range group.Rows {
		cells := []string{title.Text}
		for _, version := range r.Versions {
			cells = append(cells, cell(group, r.Rows[title.ID][version]))
		}
		if hasAllocations {
			cells = append(cells, r.allocations(title.ID))
		}
		if hasPublished {
			cells = append(cells, title.Published)
		}
		line(text, cells)
	}
	text.WriteString("\n")
}

// allocations says what the newest version allocates; a dash where it was not counted.
func (r *Results) allocations(row string) string {
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

func cell(group Group, figure figure) string {
	if group.IsGap {
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
