package turns

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// figure is what was measured of a row.
type figure struct {
	Nanoseconds float64  `json:"ns"`               // the least; of pauses the median
	Late        float64  `json:"p99,omitempty"`    // of pauses, the 99th percentile in ns
	Allocations *float64 `json:"allocs,omitempty"` // a call
	Bytes       *float64 `json:"bytes,omitempty"`
}

// Results are what the file of results holds.
type Results struct {
	suite    Suite
	Date     string                       `json:"date"`
	Machine  map[string]string            `json:"machine"`
	Rounds   int                          `json:"rounds"`
	Repeats  int                          `json:"repeats"` // in each round
	Versions []string                     `json:"versions"`
	Skipped  []string                     `json:"skipped,omitempty"`
	Ways     map[string]string            `json:"ways"` // what fastcall said
	Rows     map[string]map[string]figure `json:"rows"` // by row and version
}

func newResults(suite Suite, p Plan) *Results {
	return &Results{
		suite: suite, Date: time.Now().UTC().Format(time.DateOnly), Machine: machine(), Rounds: p.Rounds, Repeats: p.Repeats,
		Ways: map[string]string{}, Rows: map[string]map[string]figure{},
	}
}

// note takes a figure over where it is less than what is there.
func (r *Results) note(version, row string, new figure) error {
	if !slices.ContainsFunc(r.suite.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Rows, func(t Title) bool { return t.ID == row })
	}) {
		return fmt.Errorf("row %q has no title", row)
	}
	if r.Rows[row] == nil {
		r.Rows[row] = map[string]figure{}
	}
	if old, found := r.Rows[row][version]; found {
		new.Nanoseconds = min(new.Nanoseconds, old.Nanoseconds)
		new.Late = min(new.Late, old.Late)
		new.Allocations = least(new.Allocations, old.Allocations)
		new.Bytes = least(new.Bytes, old.Bytes)
	}
	r.Rows[row][version] = new
	return nil
}

// check finds rows that nothing was measured of.
func (r *Results) check() error {
	for _, group := range r.suite.Groups {
		for _, title := range group.Rows {
			if got := len(r.Rows[title.ID]); got != len(r.Versions) {
				return fmt.Errorf("row %q has figures of %d versions instead of %d", title.ID, got, len(r.Versions))
			}
		}
	}
	return nil
}

// judge compares with the goals and returns how many are missed.
func (r *Results) judge(output io.Writer) int {
	missed := 0
	for _, goal := range r.suite.Goals {
		for _, version := range r.Versions {
			got, limit, word := r.Rows[goal.Row][version].Nanoseconds, goal.NS, "met"
			if goal.OfOther != "" {
				limit = goal.Times * r.Rows[goal.OfOther][version].Nanoseconds
			}
			if got > limit {
				word = "MISSED"
				missed++
			}
			fmt.Fprintf(output, "%s: %s, %s: %.2f ns of %.4g ns\n", word, goal.Title, version, got, limit)
		}
	}
	return missed
}

func (r *Results) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func read(suite Suite, path string) (*Results, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := Results{suite: suite}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}

func least(a, b *float64) *float64 {
	if a == nil || b == nil || *b < *a {
		return b
	}
	return a
}
