// Package filters builds filters that others wrote for Envoy unchanged into one library, and checks that each does its
// job.
package filters

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eddy-gateway/eddy/tests/envoy-filters/bundle"
	"github.com/eddy-gateway/eddy/tests/envoy-filters/checks"
)

func TestPublishedFilters(t *testing.T) {
	all, err := bundle.List("filters.json")
	if err != nil {
		t.Fatal(err)
	}
	b := bundle.New(t.TempDir())
	var filters []bundle.Filter
	missing := map[string]error{}
	for _, f := range all {
		if f.EndToEnd {
			continue
		}
		filters = append(filters, f)
		if checks.All[f.ID] == nil {
			t.Errorf("filter %q has no check", f.ID)
		}
		if err := b.Add(f); errors.Is(err, bundle.ErrChanged) {
			t.Fatalf("the filter %q: %v", f.ID, err)
		} else if err != nil {
			missing[f.ID] = err
		}
	}
	if err := write(b); err != nil {
		t.Fatal(err)
	}
	output := run(t, b, "test", "-count=1", "-v", "./...")
	run(t, b, "build", "-buildmode=c-shared", "-o", filepath.Join(b.Folder, "bundle.so"), "./library")
	for _, f := range filters {
		t.Run(f.ID, func(t *testing.T) {
			if err := missing[f.ID]; err != nil {
				t.Skipf("SKIPPED: the source of the filter %q (%s) cannot be fetched: %v; %s", f.ID, f.Repository, err, remedy)
			}
			if !strings.Contains(output, "--- PASS: TestFilter/"+f.ID+" ") {
				t.Errorf("the check failed:\n%s", output)
			}
		})
	}
}

const remedy = "to run it: make test where raw.githubusercontent.com and the Go module proxy are within reach, or with the files in $EDDY_ENVOY_FILTERS"

// write adds a test that runs the checks, and the main package of a library.
func write(b *bundle.Bundle) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	if err := b.Write(root); err != nil {
		return err
	}
	var imports, table strings.Builder
	var programs []string
	for id, path := range b.Paths {
		fmt.Fprintf(&imports, "\t_ %q\n", path)
		fmt.Fprintf(&table, "\t\t%q: %q,\n", id, path)
		programs = append(programs, b.Packages[id])
	}
	err = b.File("filters_test.go", fmt.Sprintf(`package bundle

import (
	"testing"

	"github.com/eddy-gateway/eddy/tests/envoy-filters/checks"
%s)

func TestFilter(t *testing.T) {
	for id, path := range map[string]string{
%s	} {
		t.Run(id, func(t *testing.T) { checks.All[id](t, path) })
	}
}
`, imports.String(), table.String()))
	if err != nil {
		return err
	}
	err = b.File("library/main.go", fmt.Sprintf(`package main

import (
	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
%s)

func main() {}
`, imports.String()))
	if err != nil {
		return err
	}
	overlay := exec.Command("go", append([]string{"run", "github.com/envoyproxy/envoy/cmd/importable", "-out", filepath.Join(b.Folder, "_overlay")}, programs...)...)
	if output, err := overlay.CombinedOutput(); err != nil {
		return fmt.Errorf("importable: %w\n%s", err, output)
	}
	return b.Tidy()
}

// run runs the Go command on the bundle. A failing build ends the test, a failing check only shows in the output.
func run(t *testing.T, b *bundle.Bundle, verb string, arguments ...string) string {
	all := []string{verb, "-overlay", filepath.Join(b.Folder, "_overlay", "overlay.json"), "-tags", strings.Join(b.Tags, ",")}
	command := exec.Command("go", append(all, arguments...)...)
	command.Dir = b.Folder
	output, err := command.CombinedOutput()
	if err != nil && (verb != "test" || !strings.Contains(string(output), "=== RUN")) {
		t.Fatalf("go %s: %v\n%s", verb, err, output)
	}
	return string(output)
}
