package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyThePackageClauseOfAProgramChanges(t *testing.T) {
	tests := []struct{ text, want string }{
		{"// main is\npackage main // main\n\nfunc main() {}\n", "// main is\npackage filter // main\n\nfunc main() {}\n"},
		{"//go:build so\n\npackage main\n", "//go:build so\n\npackage filter\n"},
		{"package main_test\n", "package filter_test\n"},
		{"package other\n", ""},
	}
	for _, test := range tests {
		renamed, ok, err := rename("x.go", []byte(test.text))
		if err != nil || ok != (test.want != "") || string(renamed) != test.want {
			t.Errorf("%q: %q %v %v", test.text, renamed, ok, err)
		}
	}
	if _, _, err := rename("x.go", []byte("nonsense")); err == nil {
		t.Error("nonsense is taken")
	}
}

func TestAnOverlayIsExtended(t *testing.T) {
	out, one, two := t.TempDir(), t.TempDir(), t.TempDir()
	for _, folder := range []string{one, two} {
		if err := os.WriteFile(filepath.Join(folder, "filter.go"), []byte("package main\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(out, []string{folder}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "overlay.json"))
	var overlay Overlay
	if err != nil || json.Unmarshal(text, &overlay) != nil || len(overlay.Replace) != 2 {
		t.Fatalf("%s %v", text, err)
	}
	for original, copied := range overlay.Replace {
		if text, _ := os.ReadFile(copied); string(text) != "package filter\n" {
			t.Errorf("%s: %q", original, text)
		}
	}
}
