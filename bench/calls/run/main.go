// Run measures calls between Go and native code with several versions of Go: it builds the Go side and the host
// program beside it, runs both in turn, and writes what came out as JSON and into the documents.
//
//	go run ./run                        # all versions, some five minutes
//	go run ./run -versions go1.26.8 -rounds 1
//	go run ./run -render                # only the documents again, from the results there are
package main

import (
	"fmt"
	"path/filepath"

	"github.com/eddy-gateway/eddy/bench/calls/turns"
)

func main() { turns.Main(suite) }

var suite = turns.Suite{
	ID:     "calls",
	Groups: groups,
	Goals:  goals,
	Documents: []turns.Document{
		{Path: "docs/guide/calls.md"},
		{Path: "sdk/go/fastcall/README.md", Groups: []string{"call", "string", "from", "batch"}},
	},
	Prepare: buildHost,
	Build:   buildGuest,
}

func buildHost(p turns.Plan) error {
	fmt.Println("building the host program")
	return p.CargoBuild(p.Target(target), nil, "--manifest-path", "bench/calls/host/Cargo.toml")
}

// target is where cargo puts the host program, where nobody says otherwise.
const target = "bench/calls/host/target"

func buildGuest(p turns.Plan, folder, version string) ([][]string, error) {
	program, library := filepath.Join(folder, version), filepath.Join(folder, version+".so")
	for _, arguments := range [][]string{{"-o", program, "./guest"}, {"-buildmode=c-shared", "-o", library, "./guest"}} {
		command := turns.GoBuild(filepath.Join(p.Root, "bench/calls"), version, arguments...)
		if output, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %.1000s", err, output)
		}
	}
	repeats := fmt.Sprint(p.Repeats)
	host := filepath.Join(p.Target(target), "release/eddy-bench-calls-host")
	return [][]string{{program, "-repeats", repeats}, {host, library, repeats}}, nil
}
