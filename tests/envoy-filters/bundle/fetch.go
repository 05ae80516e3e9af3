package bundle

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
	"time"
)

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

// ErrChanged means that a source was fetched and is not the one in the list.
var ErrChanged = errors.New("another checksum")

func check(text []byte, f File) error {
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != f.SHA256 {
		return fmt.Errorf("%w: %s has the SHA-256 %s, not %s", ErrChanged, f.Path, got, f.SHA256)
	}
	return nil
}

// download lets the Go command fetch a module, which checks it against the checksum database, and tells its folder.
func download(module, version string) (string, error) {
	output, err := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(output, &got); jsonErr != nil {
		return "", fmt.Errorf("go mod download: %w", errors.Join(err, jsonErr))
	}
	if got.Error != "" {
		return "", errors.New(got.Error)
	}
	return got.Dir, nil
}
