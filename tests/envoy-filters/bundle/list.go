// Package bundle gets filters that others wrote for Envoy, and makes one Go module of them.
package bundle

import (
	"encoding/json"
	"os"
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
	// EndToEnd filters are checked in the gateway only.
	EndToEnd bool `json:"end_to_end"`
}

// File is a source file of a repository.
type File struct{ Path, Commit, SHA256 string }

// List reads filters.json.
func List(path string) ([]Filter, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list struct{ Filters []Filter }
	return list.Filters, json.Unmarshal(text, &list)
}
