// Program peer is a service of gRPC and its client.
//
//	peer serve ADDRESS         serves until its standard input ends; lines there say how the service is: "NAME STATUS".
//	                           The first line of its output is "listening ADDRESS"
//	peer call ADDRESS CASE...  calls it, and ends with the first case that does not go as it should
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 2 && arguments[0] == "serve" {
		return serve(arguments[1])
	}
	if len(arguments) > 2 && arguments[0] == "call" {
		return call(arguments[1], arguments[2:])
	}
	return fmt.Errorf("usage: peer serve ADDRESS | peer call ADDRESS CASE...")
}
