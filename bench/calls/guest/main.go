// Guest is the Go side of the benchmark of calls: as a program it measures what begins in Go, as a library
// (-buildmode=c-shared) it is what the host program calls.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/eddy-gateway/eddy/bench/calls/row"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

func main() {
	repeats := flag.Int("repeats", 10, "measurements of each row; the least counts")
	flag.Parse()
	fmt.Fprintln(os.Stderr, fastcall.Status())
	if err := row.MeasureAll(rows(), *repeats, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
