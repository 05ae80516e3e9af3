package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/eddy-gateway/eddy/bench/calls/row"
	"github.com/eddy-gateway/eddy/bridge/go/ring"
)

// methodLength answers with the length of what it is called with, on the thread that reads; methodElsewhere does so in a goroutine or
// thread of its own. The peer in Rust has the same.
const (
	methodLength    = 6
	methodElsewhere = 7
)

// serveRing answers each call with the length of what it had.
func serveRing(path string) error {
	options := ring.Options{
		Handle: func(_ context.Context, _ uint32, payload []byte) ([]byte, error) {
			return binary.NativeEndian.AppendUint64(nil, uint64(len(payload))), nil
		},
		IsShort: func(method uint32) bool { return method == methodLength },
	}
	listener, err := ring.Listen(path, options)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		if _, err := listener.Accept(); err != nil {
			return err
		}
	}
}

func ringRows(o *processes) ([]row.Row, error) {
	var rows []row.Row
	for _, tongue := range []string{"rust", "go"} {
		link, err := ring.Dial(context.Background(), o.path("ring-"+tongue), ring.Options{})
		if err != nil {
			return nil, err
		}
		flat := make([]byte, 0, 1024)
		call := func(method uint32, payload []byte) {
			answer, err := link.Call(context.Background(), method, payload)
			if err != nil || binary.NativeEndian.Uint64(answer) != uint64(len(payload)) {
				panic(fmt.Sprint(answer, err))
			}
		}
		calls := []struct {
			name string
			call func()
		}{
			{"empty", func() { call(methodLength, nil) }},
			{"text", func() { call(methodLength, append(flat[:0], text32...)) }},
			{"struct", func() { call(methodLength, appendOrder(flat[:0], &sample)) }},
			{"batch", func() { call(methodLength, appendTexts(flat[:0], texts16)) }},
			{"bytes", func() { call(methodLength, bytes64) }},
			{"empty-elsewhere", func() { call(methodElsewhere, nil) }},
		}
		for _, one := range calls {
			rows = append(rows, row.Row{ID: one.name + "-ring-" + tongue, Loop: repeated(one.call)})
		}
		rows = append(rows,
			row.Row{ID: "empty-ring-" + tongue + "-two", Loop: onTwo(repeated(func() { call(methodLength, nil) }))},
			row.Row{ID: "empty-ring-" + tongue + "-many", Loop: atOnce(func() { call(methodElsewhere, nil) })})
	}
	return rows, nil
}

// atOnce has 64 goroutines call, n times in all.
func atOnce(call func()) func(n int) {
	return func(n int) {
		var all sync.WaitGroup
		for index := range 64 {
			share := (n + index) / 64
			all.Add(1)
			go func() {
				defer all.Done()
				for range share {
					call()
				}
			}()
		}
		all.Wait()
	}
}
