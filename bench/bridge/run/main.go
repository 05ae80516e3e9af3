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
	ID:     "bridge",
	Groups: groups,
	Goals:  goals,
	Documents: []turns.Document{
		{Path: "docs/guide/bridge-rings.md", Groups: ringGroups},
		{Path: "docs/guide/bridge.md", Groups: callGroups},
	},
	Prepare: buildRust,
	Build:   buildProgram,
}

// buildRust builds the host, the library and the other process in Rust. Most programs are built without optimization across
// crates, so these are, too.
func buildRust(p turns.Plan) error {
	fmt.Println("building what is in Rust")
	settings := []string{"CARGO_PROFILE_RELEASE_LTO=off"}
	return p.CargoBuild(p.Target(target), settings, "-p", "eddy-bench-bridge", "-p", "eddy-bridge-ring")
}

// target is where cargo puts what it builds, where nobody says otherwise.
const target = "target"

func buildProgram(p turns.Plan, folder, version string) ([][]string, error) {
	program, library := filepath.Join(folder, version), filepath.Join(folder, version+".so")
	for _, arguments := range [][]string{{"-o", program}, {"-buildmode=c-shared", "-o", library}} {
		command := turns.GoBuild(filepath.Join(p.Root, "bench/bridge"), version, append(arguments, "./program")...)
		if output, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %.1000s", err, output)
		}
	}
	built := func(name string) string { return filepath.Join(p.Target(target), "release", name) }
	repeats := fmt.Sprint(p.Repeats)
	return [][]string{
		{program, "-repeats", repeats, "-library", built("libeddy_bench_bridge.so"), "-peer", built("eddy-bridge-ring-peer")},
		{built("eddy-bench-bridge-host"), library, repeats},
	}, nil
}
