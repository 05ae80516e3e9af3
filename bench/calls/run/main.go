// Run measures calls between Go and native code with several versions of Go: it builds the Go side and the host
// program beside it, runs both in turn, and writes what came out as JSON and into the documents.
//
//	go run ./run                        # all versions, some five minutes
//	go run ./run -versions go1.26.8 -rounds 1
//	go run ./run -render                # only the documents again, from the results there are
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	plan := plan{}
	versions := flag.String("versions", or(os.Getenv("GO_VERSIONS"), "go1.24.11,go1.25.5,go1.26.8,go1.27.0"), "versions of Go, with commas")
	flag.IntVar(&plan.rounds, "rounds", 3, "how often each version has its turn")
	flag.IntVar(&plan.repeats, "repeats", 10, "measurements of each row in a turn; the least of all counts")
	flag.StringVar(&plan.root, "root", "../..", "the root of the project")
	flag.StringVar(&plan.results, "results", "", "where results go (bench/results/calls.json of the project)")
	flag.BoolVar(&plan.isStrict, "strict", false, "a goal that is missed is a failure")
	isRenderOnly := flag.Bool("render", false, "write the documents from the results there are")
	flag.Parse()
	plan.versions = strings.Split(*versions, ",")
	if plan.results == "" {
		plan.results = filepath.Join(plan.root, "bench/results/calls.json")
	}
	if err := run(plan, *isRenderOnly); err != nil {
		fmt.Fprintln(os.Stderr, "bench-calls:", err)
		os.Exit(1)
	}
}

// plan is what is to be done.
type plan struct {
	root     string
	results  string
	versions []string
	rounds   int
	repeats  int
	isStrict bool
}

func run(p plan, isRenderOnly bool) error {
	if !isRenderOnly {
		measured, err := measure(p)
		if err != nil {
			return err
		}
		if err := measured.write(p.results); err != nil {
			return err
		}
		fmt.Println("written:", p.results)
	}
	results, err := read(p.results)
	if err != nil {
		return err
	}
	if err := results.render(p.root); err != nil {
		return err
	}
	if missed := results.judge(os.Stdout); missed > 0 && p.isStrict {
		return fmt.Errorf("%d goals are missed", missed)
	}
	return nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
