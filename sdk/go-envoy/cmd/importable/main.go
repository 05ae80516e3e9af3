// Command importable converts filters that were written as programs, so that they can be linked into one library.
//
// A filter for Envoy is a package main. A bundle for eddy links many filters, but Go cannot import a package main. For
// each given folder, this command writes copies of its Go files with another package clause, and an overlay for `go
// build -overlay FILE` that replaces the originals, which are not changed:
//
//	importable -out DIR FOLDER...
//	go build -overlay DIR/overlay.json ...
//
// Folders with another package are ignored. An existing overlay in DIR is extended.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
)

// Overlay is the file format of `go build -overlay`.
type Overlay struct {
	Replace map[string]string
}

func main() {
	out := flag.String("out", "", "folder for the copies and overlay.json")
	flag.Parse()
	if *out == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "importable:", err)
		os.Exit(1)
	}
}

func run(out string, folders []string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	overlay := Overlay{Replace: map[string]string{}}
	file := filepath.Join(out, "overlay.json")
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &overlay); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	for _, folder := range folders {
		if err := overlay.add(out, folder); err != nil {
			return err
		}
	}
	if text, err = json.MarshalIndent(overlay, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// add writes the copies of one folder.
func (o *Overlay) add(out, folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		renamed, ok, err := rename(name, text)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		// Files of several folders may have the same name.
		copied := filepath.Join(out, fmt.Sprintf("%d-%s", len(o.Replace), filepath.Base(name)))
		if err := os.WriteFile(copied, renamed, 0o644); err != nil {
			return err
		}
		o.Replace[name] = copied
	}
	return nil
}

// rename changes only the clause of a package main: positions in compiler messages stay correct.
func rename(name string, text []byte) (renamed []byte, ok bool, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.PackageClauseOnly)
	if err != nil {
		return nil, false, err
	}
	// The tests of a program are in a package main or main_test in the same folder, and must remain its tests.
	if name := parsed.Name.Name; name != "main" && name != "main_test" {
		return nil, false, nil
	}
	at := files.Position(parsed.Name.Pos()).Offset
	return slices.Concat(text[:at], []byte("filter"), text[at+len("main"):]), true, nil
}
