package bundle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Bundle is a folder with a Go module that has the sources of filters, as they are.
type Bundle struct {
	Folder string
	// Paths are the import paths by filter, Packages the folders.
	Paths, Packages map[string]string
	// Tags are what to build the filters with.
	Tags     []string
	requires []string
}

// New makes an empty bundle in a folder.
func New(folder string) *Bundle {
	return &Bundle{Folder: folder, Paths: map[string]string{}, Packages: map[string]string{}}
}

// Add brings the sources of a filter.
func (b *Bundle) Add(f Filter) error {
	if f.Module != "" {
		return b.addModule(f)
	}
	folder := filepath.Join(b.Folder, "filters", f.ID)
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
	b.Paths[f.ID] = "bundle.invalid/filters/" + f.ID
	b.Packages[f.ID] = folder
	return nil
}

func (b *Bundle) addModule(f Filter) error {
	folder, err := download(f.Module, f.Version)
	if err != nil {
		return err
	}
	// The Go command lays no overlay over its own cache.
	copied := filepath.Join(b.Folder, "modules", f.ID)
	if err := os.RemoveAll(copied); err != nil {
		return err
	}
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		return err
	}
	b.Paths[f.ID] = f.Package
	b.Packages[f.ID] = filepath.Join(copied, strings.TrimPrefix(f.Package, f.Module))
	b.requires = append(b.requires, "require "+f.Module+" "+f.Version+"\n\nreplace "+f.Module+" => "+copied)
	b.Tags = append(b.Tags, f.Tags)
	return nil
}

// Write makes a module of what was added, in which eddy's kits are those of the tree at root.
func (b *Bundle) Write(root string) error {
	var requires strings.Builder
	for _, r := range b.requires {
		fmt.Fprintf(&requires, "%s\n\n", r)
	}
	return b.File("go.mod", fmt.Sprintf(`module bundle.invalid

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
}

// Tidy lets the Go command find all other modules.
func (b *Bundle) Tidy() error {
	tidy := exec.Command("go", "mod", "tidy", "-e")
	tidy.Dir = b.Folder
	if output, err := tidy.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy: %w\n%s", err, output)
	}
	return nil
}

// File writes a file of the bundle.
func (b *Bundle) File(name, text string) error {
	name = filepath.Join(b.Folder, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}
