package waf

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	coreruleset "github.com/corazawaf/coraza-coreruleset/v4"
)

// Names of embedded files.
const (
	recommended = "@coraza.conf-recommended"
	crsSetup    = "@crs-setup.conf.example"
	crsRules    = "@owasp_crs/*.conf"
)

// files are the files that directives may name: the embedded ones of the Core Rule Set, and those of the machine.
type files struct{}

// embedded returns the name within the Core Rule Set. Coraza puts the folder of an including file in front of it.
func embedded(name string) (string, bool) {
	for _, start := range []string{"@owasp_crs", recommended, crsSetup} {
		if i := strings.Index(name, start); i >= 0 && (i == 0 || name[i-1] == '/') {
			return name[i:], true
		}
	}
	return "", false
}

// Open implements fs.FS.
func (files) Open(name string) (fs.File, error) {
	if inside, ok := embedded(name); ok {
		return coreruleset.FS.Open(inside)
	}
	return os.Open(name)
}

// ReadFile implements fs.ReadFileFS.
func (files) ReadFile(name string) ([]byte, error) {
	if inside, ok := embedded(name); ok {
		return fs.ReadFile(coreruleset.FS, inside)
	}
	return os.ReadFile(name)
}

// Glob implements fs.GlobFS.
func (files) Glob(pattern string) ([]string, error) {
	if inside, ok := embedded(pattern); ok {
		return fs.Glob(coreruleset.FS, inside)
	}
	return filepath.Glob(pattern)
}
