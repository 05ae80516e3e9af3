// The library that the tests of the bridge open: it gives back what it gets.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bridge "github.com/eddy-gateway/eddy/bridge/go"
	"github.com/eddy-gateway/eddy/bridge/go/apart"
)

// As a program it is another process, which listens at a path.
func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: everything PATH")
		os.Exit(2)
	}
	if err := listen(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func init() { RegisterEcho(&echo{}) }

type echo struct {
	ended atomic.Uint64
}

// mirror is Rust's side: the program that loaded the library, or the one at the other end of a ring.
var mirror = sync.OnceValue(func() Mirror {
	var from bridge.Binder
	if isProcess.Load() {
		from = apart.New(<-links, time.Minute)
	} else {
		rust, err := bridge.Host()
		if err != nil {
			panic(err)
		}
		from = rust
	}
	m, err := BindMirror(from)
	if err != nil {
		panic(err)
	}
	return m
})

func (e *echo) Nothing() {}

func (e *echo) Every(value *Every) Every { return *value }

func (e *echo) EveryByRust(value *Every) (Every, error) { return mirror().Every(value) }

func (e *echo) EveryByShort(value *Every) (Every, error) { return mirror().EveryShort(value) }

func (e *echo) View(view *View) Viewed {
	viewed := Viewed{
		Name: view.Name.Clone(), Body: view.Body.Clone(), Numbers: view.Numbers.Clone(), Count: view.Count,
	}
	if text, ok := view.Maybe.Get(); ok {
		viewed.Maybe = bridge.Some(text.Clone())
	}
	return viewed
}

func (e *echo) ViewByRust(view *View) (Viewed, error) { return mirror().View(*view) }

func (e *echo) Narrow(value *Narrow) Narrow { return *value }

func (e *echo) NarrowByRust(value *Narrow) (Narrow, error) { return mirror().Narrow(value) }

func (e *echo) NarrowByShort(value *Narrow) (Narrow, error) { return mirror().NarrowShort(value) }

func (e *echo) JoinByRust(views []bridge.Str, numbers bridge.Slice[uint16], flag bool) (string, error) {
	names := make([]string, len(views))
	for i, view := range views {
		names[i] = view.Clone()
	}
	joined, err := mirror().Join(names, numbers.Clone(), flag, 1.5, 255)
	if err != nil {
		return "", err
	}
	short, err := mirror().JoinShort(names, numbers.Clone(), flag, 1.5, 255)
	if short != joined {
		return "", fmt.Errorf("%q by cgo, %q by assembly: %w", joined, short, err)
	}
	return joined, err
}

// BackByRust calls from a new goroutine, whose stack is small.
func (e *echo) BackByRust(text bridge.Str, depth uint32) (string, error) {
	own := []byte(text.View())
	type back struct {
		text string
		err  error
	}
	answer := make(chan back)
	go func() {
		// Were it not passed on, this string would be on the stack.
		text, err := mirror().Back(string(own), depth)
		answer <- back{text, err}
	}()
	b := <-answer
	return b.text, b.err
}

func (e *echo) Deep(depth uint32) {
	deep("", nil, int(depth))
	runtime.GC()
}

func (e *echo) Join(
	text bridge.Str, bytes bridge.Slice[uint8], numbers bridge.Slice[int16], names []bridge.Str, last bridge.Option[uint8],
) string {
	joined := make(chan string)
	// A new goroutine, whose stack is small and moves with the views on it.
	go func() { joined <- join(text, bytes, numbers, names, last) }()
	return <-joined
}

func join(
	text bridge.Str, bytes bridge.Slice[uint8], numbers bridge.Slice[int16], names []bridge.Str, last bridge.Option[uint8],
) string {
	if deep(text.View(), bytes.View(), 200) != text.Len()+bytes.Len() {
		panic("a view has changed")
	}
	var joined strings.Builder
	fmt.Fprint(&joined, text.View(), bytes.View(), numbers.View())
	for _, name := range names {
		fmt.Fprint(&joined, name.View(), ";")
	}
	if last, ok := last.Get(); ok {
		fmt.Fprint(&joined, last)
	}
	return joined.String()
}

// deep has the stack grow, and move, under views.
func deep(text string, bytes []uint8, depth int) int {
	var frame [1024]byte
	frame[depth] = 1
	if depth == 0 {
		return len(text) + len(bytes)
	}
	return deep(text, bytes, depth-1) + int(frame[depth]) - 1
}

func (e *echo) AddByRust(one, other uint64) (uint64, error) { return mirror().Add(one, other) }

func (e *echo) Refuse(code uint32) *Refusal {
	if code == 0 {
		return nil
	}
	return &Refusal{Code: code, Reason: "because"}
}

func (e *echo) Explode(text bridge.Str) {
	if text.View() == "nil" {
		var none *echo
		none.ended.Add(1)
	}
	panic(text.Clone())
}

func (e *echo) ExplodeInRust(text bridge.Str) string {
	_, err := mirror().Explode(text.View())
	var said *bridge.SaidError[Refusal]
	if errors.As(err, &said) {
		return "said: " + said.Value.Reason
	}
	return err.Error()
}

func (e *echo) InvalidInRust() string {
	_, err := mirror().Letters("\xff")
	return err.Error()
}

func (e *echo) Collect() { runtime.GC() }

func (e *echo) Later(_ context.Context, text bridge.Str, milliseconds uint32) string {
	time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	return text.Clone()
}

func (e *echo) ExplodeLater(_ context.Context, text bridge.Str) error {
	if text.View() == "goexit" {
		runtime.Goexit()
	}
	panic(text.Clone())
}

func (e *echo) ForEver(ctx context.Context) {
	<-ctx.Done()
	e.ended.Add(1)
}

func (e *echo) Ended() uint64 { return e.ended.Load() }

func (e *echo) LaterByRust(ctx context.Context, text bridge.Str, turns uint32) (string, error) {
	return mirror().Later(ctx, text.View(), turns)
}

func (e *echo) GiveUpInRust(ctx context.Context, milliseconds uint32) string {
	before, _ := mirror().Dropped()
	short, cancel := context.WithTimeout(ctx, time.Duration(milliseconds)*time.Millisecond)
	defer cancel()
	err := mirror().Never(short)
	for dropped := before; dropped == before; dropped, _ = mirror().Dropped() {
		runtime.Gosched()
	}
	return err.Error()
}
