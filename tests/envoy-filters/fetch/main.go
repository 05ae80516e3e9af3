// Command fetch puts the sources of filters of filters.json into a folder, for a gateway to build them.
//
//	go run ./fetch FOLDER ID...
//
// It writes an object for each filter: its `id` and `tags`, and either the folder of its `package` and its `import`
// path, or as `missing` why it can't be had.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/eddy-gateway/eddy/tests/envoy-filters/bundle"
)

type told struct {
	ID      string `json:"id"`
	Tags    string `json:"tags"`
	Package string `json:"package"`
	Import  string `json:"import"`
	Missing string `json:"missing"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("a folder and the ids of filters are needed")
	}
	folder, ids := arguments[0], arguments[1:]
	filters, err := bundle.List("filters.json")
	if err != nil {
		return err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	b := bundle.New(folder)
	var all []told
	for _, id := range ids {
		at := slices.IndexFunc(filters, func(f bundle.Filter) bool { return f.ID == id })
		if at < 0 {
			return fmt.Errorf("filters.json has no filter %q", id)
		}
		one := told{ID: id, Tags: filters[at].Tags}
		if err := b.Add(filters[at]); errors.Is(err, bundle.ErrChanged) {
			return fmt.Errorf("the filter %q: %w", id, err)
		} else if err != nil {
			one.Missing = err.Error()
		}
		one.Package, one.Import = b.Packages[id], b.Paths[id]
		all = append(all, one)
	}
	if err := b.Write(root); err != nil {
		return err
	}
	if err := b.Tidy(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}
