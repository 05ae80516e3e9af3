// Command waf compares the example filter with Coraza in eddy with Coraza's own HTTP handler in front of a reverse proxy
// of Go's net/http: the verdicts on all cases of the Core Rule Set, or with -cost the CPU time of clean requests.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/rs/zerolog"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "waf:", err)
		os.Exit(1)
	}
}

func run() error {
	program := flag.String("eddy", "eddy", "the program of the gateway")
	name := flag.String("cases", "", "regular expression of the names of cases, such as ^942100-")
	nth := flag.Int("nth", 1, "run each nth case only")
	within := flag.Duration("within", time.Hour, "start no case after this time")
	results := flag.String("results", "", "folder of RESULT.md, for verdicts.json or cost.json; none: only a summary")
	cost := flag.Bool("cost", false, "measure the cost instead")
	only := flag.String("servers", "", "regular expression of the servers to measure, such as '^eddy and Coraza$'")
	windows := flag.Int("windows", 10, "windows of each scenario and target")
	window := flag.Duration("window", time.Second, "length of a window")
	connections := flag.Int("connections", 4, "connections of the load")
	backend := flag.String("serve-native", "", "serve Coraza's own handler in front of this address")
	flag.Parse()
	zerolog.SetGlobalLevel(zerolog.Disabled)
	if *backend != "" {
		return serveNative(*backend)
	}
	folder, err := os.MkdirTemp("", "eddy-waf")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if *cost {
		servers, err := regexp.Compile(*only)
		if err != nil {
			return err
		}
		c, err := measure(*program, folder, servers, *windows, *window, *connections)
		if err != nil {
			return err
		}
		fmt.Print(c.table())
		return save(*results, "cost", c, c.table())
	}
	r, err := compare(*program, *name, folder, max(*nth, 1), *within)
	if err != nil {
		return err
	}
	fmt.Print(r.text())
	if err := save(*results, "verdicts", r, r.text()); err != nil {
		return err
	}
	return r.unexplained()
}
