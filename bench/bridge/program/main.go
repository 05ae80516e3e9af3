// Program measures calls from Go to code outside of Go, in the process and in another one. It is the other process too.
//
//	program -repeats N -library LIBRARY -peer PROGRAM
//	                                    measures; LIBRARY is the library in Rust, PROGRAM eddy-bridge-ring-peer, the other
//	                                    process in Rust
//	program socket PATH                 answers protobuf over a Unix socket
//	program ring PATH                   answers over a ring
//
// Built as a library, it answers what a program of Rust calls.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/eddy-gateway/eddy/bench/calls/row"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

func main() {
	repeats := flag.Int("repeats", 10, "measurements of each row; the least counts")
	peer := flag.String("peer", "", "the program eddy-bridge-ring-peer")
	library := flag.String("library", "", "the library of eddy-bench-bridge")
	flag.Parse()
	if err := run(*repeats, *library, *peer, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench-bridge:", err)
		os.Exit(1)
	}
}

func run(repeats int, library, peer string, arguments []string) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "socket":
		return serveSocket(arguments[1])
	case len(arguments) == 2 && arguments[0] == "ring":
		return serveRing(arguments[1])
	case len(arguments) != 0 || library == "" || peer == "":
		return errors.New("usage: program -repeats N -library LIBRARY -peer PROGRAM | socket PATH | ring PATH")
	}
	fmt.Fprintln(os.Stderr, fastcall.Status())
	others, err := startOthers(peer)
	if err != nil {
		return err
	}
	defer others.stop()
	rows := nativeRows()
	bridged, err := bridgeRows(library)
	if err != nil {
		return err
	}
	rows = append(rows, bridged...)
	for _, more := range []func(*processes) ([]row.Row, error){socketRows, ringRows} {
		added, err := more(others)
		if err != nil {
			return err
		}
		rows = append(rows, added...)
	}
	return row.MeasureAll(rows, repeats, os.Stdout)
}

// processes are the other processes, and where they listen.
type processes struct {
	folder  string
	running []*exec.Cmd
}

func startOthers(peer string) (*processes, error) {
	folder, err := os.MkdirTemp("", "bench-bridge-")
	if err != nil {
		return nil, err
	}
	o := &processes{folder: folder}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, command := range [][]string{
		{own, "socket", o.path("socket")}, {own, "ring", o.path("ring-go")}, {peer, "listen", o.path("ring-rust")},
	} {
		if err := o.start(exec.Command(command[0], command[1:]...)); err != nil {
			o.stop()
			return nil, fmt.Errorf("%v: %w", command, err)
		}
	}
	return o, nil
}

func (o *processes) path(name string) string { return filepath.Join(o.folder, name) }

// start starts a process and waits until it says that it listens.
func (o *processes) start(command *exec.Cmd) error {
	command.Stderr = os.Stderr
	said, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	o.running = append(o.running, command)
	_, err = bufio.NewReader(said).ReadString('\n')
	return err
}

func (o *processes) stop() {
	for _, process := range o.running {
		_ = process.Process.Kill()
		_ = process.Wait()
	}
	_ = os.RemoveAll(o.folder)
}
