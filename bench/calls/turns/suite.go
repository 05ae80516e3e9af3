// Package turns has a benchmark measured with several versions of Go, each in its turn, and writes what came out as JSON and into
// the documents.
package turns

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Suite is a benchmark.
type Suite struct {
	ID        string // of the file of results and the marks in documents
	Groups    []Group
	Goals     []Goal
	Documents []Document
	// Prepare builds what all versions share; nil: nothing.
	Prepare func(Plan) error
	// Build builds what is measured with one version of Go, in a folder, and gives the commands that measure.
	Build func(p Plan, folder, version string) ([][]string, error)
}

// Group is some rows under a heading, in the order of the documents.
type Group struct {
	ID    string
	Text  string
	IsGap bool // median and 99th percentile instead of the least
	Rows  []Title
}

// Title is how a row is shown.
type Title struct {
	ID        string
	Text      string
	Published string // what others have published, in ns
}

// Goal is a figure that a row must not exceed: so many ns, or a multiple of another row.
type Goal struct {
	Row     string
	NS      float64
	Title   string
	Times   float64
	OfOther string // with Times
}

// Document is a page with tables, and the groups that it shows; none: all.
type Document struct {
	Path   string
	Groups []string
}

// GoBuild builds a package with a version of Go.
func GoBuild(folder, version string, arguments ...string) *exec.Cmd {
	command := exec.Command("go", append([]string{"build", "-buildvcs=false"}, arguments...)...)
	command.Dir = folder
	command.Env = append(command.Environ(), "GOTOOLCHAIN="+version, "CGO_ENABLED=1")
	return command
}

// Target is where cargo puts what it builds: CARGO_TARGET_DIR, or this folder of the project.
func (p Plan) Target(usual string) string {
	folder := os.Getenv("CARGO_TARGET_DIR")
	if folder == "" {
		folder = filepath.Join(p.Root, usual)
	}
	if absolute, err := filepath.Abs(folder); err == nil {
		return absolute
	}
	return folder
}

// CargoBuild builds a program of the project for measuring, which is put into target; settings are variables of the environment.
func (p Plan) CargoBuild(target string, settings []string, arguments ...string) error {
	command := exec.Command("cargo", append([]string{"build", "--release", "--quiet"}, arguments...)...)
	command.Dir = p.Root
	command.Env = append(append(os.Environ(), "CARGO_TARGET_DIR="+target), settings...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("cargo build %v: %w\n%s", arguments, err, output)
	}
	return nil
}
