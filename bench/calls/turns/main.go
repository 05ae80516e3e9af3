package turns

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Plan is what is to be done.
type Plan struct {
	Root     string // of the project
	Versions []string
	Rounds   int
	Repeats  int
	results  string
	isStrict bool
}

// Main measures a suite as the command line says, and ends the program.
func Main(suite Suite) {
	plan := Plan{}
	versions := flag.String("versions", or(os.Getenv("GO_VERSIONS"), "go1.24.11,go1.25.5,go1.26.8,go1.27.0"), "versions of Go, with commas")
	flag.IntVar(&plan.Rounds, "rounds", 3, "how often each version has its turn")
	flag.IntVar(&plan.Repeats, "repeats", 10, "measurements of each row in a turn; the least of all counts")
	flag.StringVar(&plan.Root, "root", "../..", "the root of the project")
	flag.StringVar(&plan.results, "results", "", "where results go (bench/results/"+suite.ID+".json of the project)")
	flag.BoolVar(&plan.isStrict, "strict", false, "a goal that is missed is a failure")
	isRenderOnly := flag.Bool("render", false, "write the documents from the results there are")
	flag.Parse()
	plan.Versions = strings.Split(*versions, ",")
	if plan.results == "" {
		plan.results = filepath.Join(plan.Root, "bench/results", suite.ID+".json")
	}
	if err := run(suite, plan, *isRenderOnly); err != nil {
		fmt.Fprintf(os.Stderr, "bench-%s: %v\n", suite.ID, err)
		os.Exit(1)
	}
}

func run(suite Suite, p Plan, isRenderOnly bool) error {
	if !isRenderOnly {
		measured, err := measure(suite, p)
		if err != nil {
			return err
		}
		if err := measured.write(p.results); err != nil {
			return err
		}
		fmt.Println("written:", p.results)
	}
	results, err := read(suite, p.results)
	if err != nil {
		return err
	}
	if err := results.render(p.Root); err != nil {
		return err
	}
	if missed := results.judge(os.Stdout); missed > 0 && p.isStrict {
		return fmt.Errorf("%d goals are missed", missed)
	}
	return nil
}

// Rehearse builds and runs everything once, as short as it goes, and checks that each row is measured and has a title.
func Rehearse(suite Suite, root, version, results string) (*Results, error) {
	p := Plan{Root: root, Versions: []string{version}, Rounds: 1, Repeats: 1}
	measured, err := measure(suite, p)
	if err != nil {
		return nil, err
	}
	if err := measured.write(results); err != nil {
		return nil, err
	}
	again, err := read(suite, results)
	if err != nil {
		return nil, err
	}
	return again, again.check()
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
