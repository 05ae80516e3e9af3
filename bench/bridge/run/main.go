// Run measures calls across languages and processes with several versions of Go, and writes what came out as JSON and into the guide.
//
//	go run ./run                        # all versions
//	go run ./run -versions go1.26.8 -rounds 1
//	go run ./run -render                # only the document again, from the results there are
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/eddy-gateway/eddy/bench/calls/turns"
)

func main() { turns.Main(suite) }

var suite = turns.Suite{
	ID:        "bridge",
	Groups:    groups,
	Goals:     goals,
	Documents: []turns.Document{{Path: "docs/guide/bridge-rings.md"}},
	Prepare:   buildPeer,
	Build:     buildProgram,
}

// buildPeer builds the other process in Rust.
func buildPeer(p turns.Plan) error {
	fmt.Println("building the other process in Rust")
	command := exec.Command("cargo", "build", "--release", "--quiet", "-p", "eddy-bridge-ring", "--bin", "eddy-bridge-ring-peer")
	command.Dir = p.Root
	command.Env = append(os.Environ(), "CARGO_TARGET_DIR="+target(p), "CARGO_PROFILE_RELEASE_LTO=off")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

// target is where cargo puts what it builds.
func target(p turns.Plan) string {
	folder := os.Getenv("CARGO_TARGET_DIR")
	if folder == "" {
		folder = filepath.Join(p.Root, "target")
	}
	if absolute, err := filepath.Abs(folder); err == nil {
		return absolute
	}
	return folder
}

func buildProgram(p turns.Plan, folder, version string) ([][]string, error) {
	program := filepath.Join(folder, version)
	command := turns.GoBuild(filepath.Join(p.Root, "bench/bridge"), version, "-o", program, "./program")
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %.1000s", err, output)
	}
	peer := filepath.Join(target(p), "release/eddy-bridge-ring-peer")
	return [][]string{{program, "-repeats", fmt.Sprint(p.Repeats), "-peer", peer}}, nil
}
