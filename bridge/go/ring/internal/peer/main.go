// Peer is the other process of the tests and benchmarks.
//
//	peer listen PATH        accepts links at a path, one after another
//	peer call PATH COUNT    makes that many calls to the process there, with messages of many lengths
//	peer wait PATH          makes a call there that is never answered
//	peer idle PATH          makes a call there after the link has ended
//	peer flood PATH         makes long calls there after its input has ended
//
// The last three print "linked" first, and at the end the reason why a call failed.
//
// Method 1 echoes the payload, method 2 never answers, method 3 fails, method 4 calls method 1 of the caller; method 5
// is method 1 without a separate goroutine.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/eddy-gateway/eddy/bridge/go/ring"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "listen":
		return listen(arguments[1])
	case len(arguments) == 3 && arguments[0] == "call":
		count, err := strconv.Atoi(arguments[2])
		if err != nil {
			return err
		}
		return call(arguments[1], count)
	case len(arguments) == 2 && arguments[0] == "wait":
		return untilEnd(arguments[1], func(ctx context.Context, link *ring.Link) error {
			_, err := link.Call(ctx, 2, nil)
			return err
		})
	case len(arguments) == 2 && arguments[0] == "idle":
		return untilEnd(arguments[1], func(ctx context.Context, link *ring.Link) error {
			<-link.Ended()
			_, err := link.Call(ctx, 1, nil)
			return err
		})
	case len(arguments) == 2 && arguments[0] == "flood":
		return untilEnd(arguments[1], func(ctx context.Context, link *ring.Link) error {
			if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
				return err
			}
			_, err := link.Call(ctx, 1, make([]byte, 4<<20))
			return err
		})
	}
	return errors.New("usage: peer listen PATH | call PATH COUNT | wait, idle or flood PATH")
}

// untilEnd makes calls until one fails.
func untilEnd(path string, call func(context.Context, *ring.Link) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	link, err := ring.Dial(ctx, path, ring.Options{})
	if err != nil {
		return err
	}
	fmt.Println("linked")
	for {
		if err := call(ctx, link); err != nil {
			return err
		}
	}
}

func listen(path string) error {
	var own atomic.Pointer[ring.Link]
	options := ring.Options{
		Handle: func(ctx context.Context, method uint32, payload []byte) ([]byte, error) {
			return answer(ctx, own.Load(), method, payload)
		},
		IsShort: func(method uint32) bool { return method == 5 },
	}
	listener, err := ring.Listen(path, options)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		link, err := listener.Accept()
		if errors.Is(err, ring.ErrNotLinked) {
			continue
		}
		if err != nil {
			return err
		}
		own.Store(link)
	}
}

func answer(ctx context.Context, link *ring.Link, method uint32, payload []byte) ([]byte, error) {
	switch method {
	case 1, 5:
		return payload, nil
	case 2:
		<-ctx.Done()
		return nil, ctx.Err()
	case 3:
		return nil, &ring.Failure{Code: ring.FirstOwnCode, Text: "as it was asked to"}
	case 4:
		if link == nil {
			return nil, errors.New("the link is not there yet")
		}
		return link.Call(ctx, 1, payload)
	}
	return nil, &ring.Failure{Code: ring.CodeUnknownMethod, Text: fmt.Sprint("there is no method ", method)}
}

func call(path string, count int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	link, err := ring.Dial(ctx, path, ring.Options{})
	if err != nil {
		return err
	}
	defer link.Close()
	for number := range count {
		payload := bytes.Repeat([]byte{byte(number)}, number*number%3001)
		answer, err := link.Call(ctx, 1, payload)
		if err != nil {
			return err
		}
		if !bytes.Equal(answer, payload) {
			return fmt.Errorf("call %d of %d bytes came back otherwise", number, len(payload))
		}
	}
	var failure *ring.Failure
	if _, err := link.Call(ctx, 3, nil); !errors.As(err, &failure) || failure.Code != ring.FirstOwnCode {
		return fmt.Errorf("method 3 did not fail as it should: %w", err)
	}
	return nil
}
