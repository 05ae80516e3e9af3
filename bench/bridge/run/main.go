// Run measures calls across languages and processes with several versions of Go, and writes what came out as JSON and into the guide.
//
//	go run ./run                        # all versions
//	go run ./run -versions go1.26.8 -rounds 1
//	go run ./run -render                # only the document again, from the results there are
package main

import (
	"fmt"
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
	settings := []string{"CARGO_PROFILE_RELEASE_LTO=off"}
	return p.CargoBuild(p.Target(target), settings, "-p", "eddy-bridge-ring", "--bin", "eddy-bridge-ring-peer")
}

// target is where cargo puts what it builds, where nobody says otherwise.
const target = "target"

func buildProgram(p turns.Plan, folder, version string) ([][]string, error) {
	program := filepath.Join(folder, version)
	command := turns.GoBuild(filepath.Join(p.Root, "bench/bridge"), version, "-o", program, "./program")
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %.1000s", err, output)
	}
	peer := filepath.Join(p.Target(target), "release/eddy-bridge-ring-peer")
	return [][]string{{program, "-repeats", fmt.Sprint(p.Repeats), "-peer", peer}}, nil
}
