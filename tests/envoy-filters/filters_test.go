// Package filters fetches filters that others wrote for Envoy, builds them unchanged into one library, and checks that
// each does its job.
package filters

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eddy-gateway/eddy/tests/envoy-filters/checks"
)

// Filter is an entry of filters.json.
type Filter struct {
	ID         string
	Repository string
	// Files are the filter's sources, each as of a commit; or
	Files []File
	// Module, Version and Package are where the Go module proxy has it, and Tags what to build it with.
	Module, Version, Package, Tags string
	API, Licence, Does, Checked    string
}

// File is a source file of a repository.
type File struct{ Path, Commit, SHA256 string }

func TestFiltersOfOthers(t *testing.T) {
	var manifest struct{ Filters []Filter }
	text, err := os.ReadFile("filters.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	b := bundle{test: t, folder: t.TempDir(), paths: map[string]string{}}
	missing := map[string]error{}
	for _, f := range manifest.Filters {
		if checks.All[f.ID] == nil {
			t.Errorf("filter %q has no check", f.ID)
		}
		if err := b.add(f); err != nil {
			missing[f.ID] = err
		}
	}
	b.write()
	output := b.run("test", "-count=1", "-v", "./...")
	b.run("build", "-buildmode=c-shared", "-o", filepath.Join(b.folder, "bundle.so"), "./library")
	for _, f := range manifest.Filters {
		t.Run(f.ID, func(t *testing.T) {
			if err := missing[f.ID]; err != nil {
				t.Skipf("SKIPPED: the sources of %s can't be had here: %v", f.Repository, err)
			}
			if !strings.Contains(output, "--- PASS: TestFilter/"+f.ID+" ") {
				t.Errorf("the check failed:\n%s", output)
			}
		})
	}
}

// bundle is a folder in which all filters are one program.
type bundle struct {
	test   *testing.T
	folder string
	paths  map[string]string // import path by id
	// programs are the folders whose package clause says main.
	programs []string
	requires []string
	tags     []string
}

// add brings the sources of a filter.
func (b *bundle) add(f Filter) error {
	if f.Module != "" {
		return b.addModule(f)
	}
	folder := filepath.Join(b.folder, "filters", f.ID)
	for _, file := range f.Files {
		text, err := fetch(f.Repository, file)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(file.Path)), text, 0o644); err != nil {
			return err
		}
	}
	b.paths[f.ID] = "bundle.invalid/filters/" + f.ID
	b.programs = append(b.programs, folder)
	return nil
}

// addModule lets the Go command fetch a module, which checks it against the checksum database.
func (b *bundle) addModule(f Filter) error {
	output, err := exec.Command("go", "mod", "download", "-json", f.Module+"@"+f.Version).Output()
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(output, &got); jsonErr != nil {
		return fmt.Errorf("go mod download: %w", errors.Join(err, jsonErr))
	}
	if got.Error != "" {
		return errors.New(got.Error)
	}
	// The Go command lays no overlay over its own cache.
	copied := filepath.Join(b.folder, "modules", f.ID)
	if err := os.CopyFS(copied, os.DirFS(got.Dir)); err != nil {
		return err
	}
	b.paths[f.ID] = f.Package
	b.programs = append(b.programs, filepath.Join(copied, strings.TrimPrefix(f.Package, f.Module)))
	b.requires = append(b.requires, "require "+f.Module+" "+f.Version+"\n\nreplace "+f.Module+" => "+copied)
	b.tags = append(b.tags, f.Tags)
	return nil
}

// fetch brings a file from the cache ($EDDY_ENVOY_FILTERS, else a folder of the user's) or from GitHub.
func fetch(repository string, f File) ([]byte, error) {
	cache := os.Getenv("EDDY_ENVOY_FILTERS")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		cache = filepath.Join(user, "eddy", "envoy-filters")
	}
	cached := filepath.Join(cache, repository, f.Commit, f.Path)
	text, err := os.ReadFile(cached)
	if err == nil {
		return text, check(text, f)
	}
	client := http.Client{Timeout: 20 * time.Second}
	response, err := client.Get("https://raw.githubusercontent.com/" + repository + "/" + f.Commit + "/" + f.Path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", f.Path, response.Status)
	}
	if text, err = io.ReadAll(io.LimitReader(response.Body, 1<<20)); err != nil {
		return nil, err
	}
	if err := check(text, f); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(cached), 0o755); err != nil {
		return nil, err
	}
	return text, os.WriteFile(cached, text, 0o644)
}

func check(text []byte, f File) error {
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != f.SHA256 {
		return fmt.Errorf("%s has the SHA-256 %s, not %s", f.Path, got, f.SHA256)
	}
	return nil
}

// write makes a module of what was fetched: a test that runs the checks, and the main package of a library.
func (b *bundle) write() {
	root, err := filepath.Abs("../..")
	if err != nil {
		b.test.Fatal(err)
	}
	var imports, table, requires strings.Builder
	for id, path := range b.paths {
		fmt.Fprintf(&imports, "\t_ %q\n", path)
		fmt.Fprintf(&table, "\t\t%q: %q,\n", id, path)
	}
	for _, r := range b.requires {
		fmt.Fprintf(&requires, "%s\n\n", r)
	}
	b.file("go.mod", fmt.Sprintf(`module bundle.invalid

go 1.24

%srequire (
	github.com/eddy-gateway/eddy/sdk/go v0.0.0
	github.com/eddy-gateway/eddy/tests/envoy-filters v0.0.0
	github.com/envoyproxy/envoy v1.31.0
)

replace (
	github.com/eddy-gateway/eddy/sdk/go => %[2]s/sdk/go
	github.com/eddy-gateway/eddy/tests/envoy-filters => %[2]s/tests/envoy-filters
	github.com/envoyproxy/envoy => %[2]s/sdk/go-envoy
)
`, requires.String(), root))
	b.file("filters_test.go", fmt.Sprintf(`package bundle

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
	b.file("library/main.go", fmt.Sprintf(`package main

import (
	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
%s)

func main() {}
`, imports.String()))
	overlay := exec.Command("go", append([]string{"run", "github.com/envoyproxy/envoy/cmd/importable", "-out", filepath.Join(b.folder, "_overlay")}, b.programs...)...)
	if output, err := overlay.CombinedOutput(); err != nil {
		b.test.Fatalf("importable: %v\n%s", err, output)
	}
	tidy := exec.Command("go", "mod", "tidy", "-e")
	tidy.Dir = b.folder
	if output, err := tidy.CombinedOutput(); err != nil {
		b.test.Fatalf("go mod tidy: %v\n%s", err, output)
	}
}

func (b *bundle) file(name, text string) {
	name = filepath.Join(b.folder, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.test.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		b.test.Fatal(err)
	}
}

// run runs the Go command on the bundle. A failing build ends the test, a failing check only shows in the output.
func (b *bundle) run(verb string, arguments ...string) string {
	all := []string{verb, "-overlay", filepath.Join(b.folder, "_overlay", "overlay.json"), "-tags", strings.Join(b.tags, ",")}
	command := exec.Command("go", append(all, arguments...)...)
	command.Dir = b.folder
	output, err := command.CombinedOutput()
	if err != nil && (verb != "test" || !strings.Contains(string(output), "=== RUN")) {
		b.test.Fatalf("go %s: %v\n%s", verb, err, output)
	}
	return string(output)
}
