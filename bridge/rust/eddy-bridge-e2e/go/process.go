package main

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/eddy-gateway/eddy/bridge/go/apart"
	"github.com/eddy-gateway/eddy/bridge/go/ring"
)

var (
	// isProcess tells that this is a program, not a library.
	isProcess atomic.Bool
	// links has the first link of the program.
	links = make(chan *ring.Link, 1)
)

// listen answers calls of other processes at a path.
func listen(path string) error {
	isProcess.Store(true)
	listener, err := ring.Listen(path, ring.Options{Handle: apart.Handle})
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		link, err := listener.Accept()
		if err != nil && !errors.Is(err, ring.ErrNotLinked) {
			return err
		}
		select {
		case links <- link:
		default:
		}
	}
}
