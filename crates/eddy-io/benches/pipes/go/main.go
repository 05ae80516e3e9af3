// Pipes is what Go has of the same: a pool of pipes that its collector reclaims, and a relay by io.Copy, which the runtime
// splices through such a pool.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pipes:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 3 && arguments[0] == "pool":
		count, err := strconv.Atoi(arguments[1])
		if err != nil {
			return err
		}
		rounds, err := strconv.Atoi(arguments[2])
		if err != nil {
			return err
		}
		return measure(count, rounds)
	case len(arguments) == 3 && arguments[0] == "relay":
		return relay(arguments[1], arguments[2])
	}
	return fmt.Errorf("usage: pool GET_PUTS ROUNDS | relay LISTEN TARGET")
}

// relay passes on what comes on one connection after the other, until it is ended.
func relay(listen, target string) error {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	for {
		source, err := listener.Accept()
		if err != nil {
			return err
		}
		sink, err := net.Dial("tcp", target)
		if err != nil {
			return err
		}
		if _, err := io.Copy(sink, source); err != nil {
			return err
		}
		sink.Close()
		source.Close()
	}
}
