package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	bridge "github.com/eddy-gateway/eddy/bridge/go"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// A program of Go that has loaded a library of Rust: tests/library.rs builds it, and tells where it is.

// values is how many values of all types are sent.
const values = 5000

var opened = sync.OnceValues(func() (bridge.Rust, error) { return bridge.Open(os.Getenv("EDDY_BRIDGE_LIBRARY")) })

func library(t *testing.T) bridge.Rust {
	t.Helper()
	if os.Getenv("EDDY_BRIDGE_LIBRARY") == "" {
		t.Skip("EDDY_BRIDGE_LIBRARY names no library of Rust: `cargo test -p eddy-bridge-e2e --test library` builds one")
	}
	rust, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return rust
}

func mirrorIn(t *testing.T) Mirror {
	t.Helper()
	mirror, err := BindMirror(library(t))
	if err != nil {
		t.Fatal(err)
	}
	return mirror
}

// same fails unless both print the same: an empty list may be nil.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if got, want := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); got != want {
		t.Fatalf("%s: %s became %s", what, want, got)
	}
}

func must[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestShortCallsIntoALibraryUseAssembly(t *testing.T) {
	library(t)
	if state := fastcall.Status(); state.Way != fastcall.Assembly {
		t.Fatal(state.Reason)
	}
}

func TestALibraryReturnsItsArguments(t *testing.T) {
	mirror := mirrorIn(t)
	for seed := range uint64(values) {
		value := randomOf(seed).every()
		by := []func(*Every) (Every, error){mirror.Every, mirror.EveryShort}[seed%2]
		back, err := by(&value)
		same(t, fmt.Sprint("seed ", seed), must(t, back, err), value)
	}
}

func TestALibraryReadsViewsInPlace(t *testing.T) {
	mirror := mirrorIn(t)
	send := func(what string, name string, body []uint8, numbers []uint32, maybe bridge.Option[string], count uint64) {
		view := View{Name: bridge.StrOf(name), Body: bridge.SliceOf(body), Numbers: bridge.SliceOf(numbers), Count: count}
		if text, ok := maybe.Get(); ok {
			view.Maybe = bridge.Some(bridge.StrOf(text))
		}
		back, err := mirror.View(view)
		want := Viewed{Name: name, Body: body, Numbers: numbers, Maybe: maybe, Count: count}
		same(t, what, must(t, back, err), want)
	}
	for seed := range uint64(values) {
		r := randomOf(seed)
		send(fmt.Sprint("seed ", seed), r.text(), r.bytes(), numbers[uint32](r), perhaps(r, r.text), seed)
	}
	// About the room of a call, the most that cgo copies, and far beyond.
	for _, length := range []int{511 * 8, 512 * 8, 64 << 10, 1 << 20} {
		body, numbers := make([]uint8, length), make([]uint32, length/8)
		body[length-1], numbers[length/8-1] = 1, 2
		send(fmt.Sprint(length, " bytes"), strings.Repeat("n", length/4), body, numbers, bridge.Some(""), 0)
	}
}

func TestAFailureInALibraryIsAnError(t *testing.T) {
	mirror := mirrorIn(t)
	long := strings.Repeat("so long ", 1000)
	for _, text := range []string{"the end", long} {
		_, err := mirror.Explode(text)
		var fault *bridge.Fault
		if !errors.As(err, &fault) || fault.Kind != bridge.FaultPanic || fault.Text != text {
			t.Fatalf("%.100v", err)
		}
	}
	_, err := mirror.Explode("")
	var refusal *bridge.SaidError[Refusal]
	if !errors.As(err, &refusal) || refusal.Value.Reason != "there is no text" {
		t.Fatal(err)
	}
	_, err = mirror.Letters("")
	var said *bridge.SaidError[string]
	if !errors.As(err, &said) || said.Value != "there is no text" {
		t.Fatal(err)
	}
	_, err = mirror.Letters(long + "\xff")
	var fault *bridge.Fault
	if !errors.As(err, &fault) || fault.Kind != bridge.FaultMalformed {
		t.Fatal(err)
	}
	letters, err := mirror.Letters(long)
	same(t, "letters", must(t, letters, err), len(long))
}

func TestServicesOfALibraryAreFoundByNameAndDeclaration(t *testing.T) {
	rust := library(t)
	for _, name := range []string{"Nobody", "Mirror", "", strings.Repeat("long", 100)} {
		if _, err := rust.Bind(name, 1); err == nil {
			t.Fatalf("%q of another declaration is bound", name)
		}
	}
	if _, err := bridge.Open("libm.so.6"); err == nil {
		t.Fatal("a library without a bridge is opened")
	}
}

func TestALibraryReturnsAsynchronously(t *testing.T) {
	mirror := mirrorIn(t)
	var group sync.WaitGroup
	for number := range 200 {
		group.Add(1)
		go func() {
			defer group.Done()
			text := strings.Repeat("later ", number*number/2)
			if back, err := mirror.Later(context.Background(), text, uint32(number%7)); err != nil || back != text {
				t.Errorf("%d: %.100v %.100v", number, back, err)
			}
		}()
	}
	group.Wait()
}

func TestACancelledContextDropsTheFutureOfALibrary(t *testing.T) {
	mirror := mirrorIn(t)
	before, err := mirror.Dropped()
	before = must(t, before, err)
	const calls = 50
	for range calls {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if err := mirror.Never(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}
	end := time.Now().Add(30 * time.Second)
	for dropped := before; dropped < before+calls; {
		if time.Now().After(end) {
			t.Fatalf("%d of %d futures were dropped", dropped-before, calls)
		}
		runtime.Gosched()
		dropped, err = mirror.Dropped()
		dropped = must(t, dropped, err)
	}
}

func TestALibraryToleratesGarbageCollectionAndGoroutines(t *testing.T) {
	mirror := mirrorIn(t)
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for range 500 {
			runtime.GC()
		}
	}()
	var group sync.WaitGroup
	for seed := uint64(0); ; seed++ {
		select {
		case <-collected:
			group.Wait()
			return
		default:
		}
		group.Add(1)
		// A goroutine with a stack that has yet to grow.
		go func() {
			defer group.Done()
			value := randomOf(seed).every()
			for _, by := range []func(*Every) (Every, error){mirror.Every, mirror.EveryShort} {
				if back, err := by(&value); err != nil || fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", value) {
					t.Errorf("seed %d: %+v became %+v: %v", seed, value, back, err)
				}
			}
			if sum, err := mirror.Add(seed, 1); err != nil || sum != seed+1 {
				t.Errorf("%d + 1 = %d, %v", seed, sum, err)
			}
		}()
		if seed%8 == 7 {
			group.Wait()
		}
	}
}
