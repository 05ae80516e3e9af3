package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// soon is longer than any successful operation takes.
const soon = 20 * time.Second

// small returns options with small rings, which reach their limits sooner.
func small() Options { return Options{RingBytes: 4096, MessageBytesMax: 1 << 20, CallsMax: 16} }

func (o Options) with(handle Handler) Options {
	o.Handle = handle
	return o
}

func echo(_ context.Context, _ uint32, payload []byte) ([]byte, error) { return payload, nil }

// sockets returns both ends of a socket.
func sockets(t testing.TB) (*net.UnixConn, *net.UnixConn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := [2]*net.UnixConn{}
	for index, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		if ends[index], err = FileConn(file); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
	}
	return ends[0], ends[1]
}

// linked returns both ends of a link in one process.
func linked(t testing.TB, ours, theirs Options) (*Link, *Link) {
	t.Helper()
	left, right := sockets(t)
	accepted := make(chan *Link, 1)
	go func() {
		link, err := Accept(right, theirs)
		if err != nil {
			t.Error(err)
		}
		accepted <- link
	}()
	link, err := Connect(left, ours)
	if err != nil {
		t.Fatal(err)
	}
	other := <-accepted
	t.Cleanup(func() {
		link.Close()
		other.Close()
	})
	return link, other
}

func within(t testing.TB, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

func TestSentBytesAreEchoed(t *testing.T) {
	for _, o := range []Options{small(), {}, {RingBytes: 4096, Spin: -1}} {
		short := o.with(echo)
		short.IsShort = func(method uint32) bool { return method == 2 }
		link, _ := linked(t, o, short)
		for _, length := range []int{0, 1, 7, 8, 9, 1023, 1024, 1025, 4096, 65536, 1 << 20} {
			payload := make([]byte, length)
			for index := range payload {
				payload[index] = byte(rand.Uint32())
			}
			for method := range uint32(3) {
				got, err := link.Call(within(t, soon), method, payload)
				if err != nil || !bytes.Equal(got, payload) {
					t.Fatalf("%d bytes by method %d: %v", length, method, err)
				}
			}
		}
	}
}

func TestBothSidesCallConcurrently(t *testing.T) {
	left, right := linked(t, small().with(echo), small().with(echo))
	var all sync.WaitGroup
	for index := range 8 {
		link := []*Link{left, right}[index%2]
		all.Add(1)
		go func() {
			defer all.Done()
			for range 200 {
				payload := bytes.Repeat([]byte{byte(index)}, rand.IntN(20_000))
				if got, err := link.Call(within(t, soon), 1, payload); err != nil || !bytes.Equal(got, payload) {
					t.Errorf("%d bytes: %v", len(payload), err)
					return
				}
			}
		}()
	}
	all.Wait()
}

func TestACallbackSucceeds(t *testing.T) {
	var back atomic.Pointer[Link]
	link, other := linked(t, small().with(echo), small().with(func(ctx context.Context, _ uint32, payload []byte) ([]byte, error) {
		return back.Load().Call(ctx, 2, payload)
	}))
	back.Store(other)
	if got, err := link.Call(within(t, soon), 1, []byte("there and back")); err != nil || string(got) != "there and back" {
		t.Fatal(string(got), err)
	}
}

func TestFailuresReportTheirReason(t *testing.T) {
	link, _ := linked(t, small(), small().with(func(_ context.Context, method uint32, _ []byte) ([]byte, error) {
		switch method {
		case 1:
			return nil, &Failure{77, "out of order"}
		case 2:
			panic("the handler itself")
		case 3:
			return nil, errors.New("any error")
		case 4:
			return make([]byte, 1<<20+1), nil
		case 6:
			runtime.Goexit()
		}
		return nil, &Failure{78, strings.Repeat("é", 4000)}
	}))
	for method, expected := range map[uint32]Failure{
		1: {77, "out of order"},
		2: {CodePanicked, "the handler panicked: the handler itself"},
		3: {CodeFailed, "any error"},
		4: {CodeAnswerTooLong, "the answer has 1048577 bytes; the caller accepts at most 1048576"},
		5: {78, strings.Repeat("é", 2048)},
		6: {CodePanicked, "the handler ended its goroutine by runtime.Goexit"},
	} {
		var failure *Failure
		if _, err := link.Call(within(t, soon), method, nil); !errors.As(err, &failure) || *failure != expected {
			t.Errorf("method %d: %v", method, err)
		}
	}
	var tooLong *TooLongError
	if _, err := link.Call(within(t, soon), 1, make([]byte, 1<<20+1)); !errors.As(err, &tooLong) {
		t.Error(err)
	}
	other, _ := linked(t, small(), small())
	if _, err := other.Call(within(t, soon), 1, nil); err == nil || !strings.Contains(err.Error(), "does not accept calls") {
		t.Error(err)
	}
}

// A short handler that ends the reading goroutine ends the link, with a reason on its side.
func TestGoexitInAShortHandlerEndsTheLink(t *testing.T) {
	o := small().with(func(context.Context, uint32, []byte) ([]byte, error) {
		runtime.Goexit()
		return nil, nil
	})
	o.IsShort = func(uint32) bool { return true }
	link, other := linked(t, small(), o)
	if _, err := link.Call(within(t, soon), 1, nil); err == nil {
		t.Error("there is an answer")
	}
	<-link.Ended()
	<-other.Ended()
	if text := other.Fault().Error(); !strings.Contains(text, "by runtime.Goexit") {
		t.Error(text)
	}
}

func TestACancelledCallIsNotServedAnyMore(t *testing.T) {
	var begun, cancelled atomic.Int64
	link, _ := linked(t, small(), small().with(func(ctx context.Context, _ uint32, _ []byte) ([]byte, error) {
		begun.Add(1)
		<-ctx.Done()
		cancelled.Add(1)
		return nil, ctx.Err()
	}))
	// A call whose deadline has already passed is not made.
	until(t, func() bool {
		if _, err := link.Call(within(t, 50*time.Millisecond), 1, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		return begun.Load() > 0
	})
	until(t, func() bool { return cancelled.Load() == begun.Load() })
	before := begun.Load()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for begun.Load() == before && ctx.Err() == nil {
			runtime.Gosched()
		}
	}()
	if _, err := link.Call(ctx, 1, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	until(t, func() bool { return cancelled.Load() == begun.Load() })
}

func TestConcurrentCallsAreLimited(t *testing.T) {
	gate := make(chan struct{})
	link, _ := linked(t, small(), small().with(func(context.Context, uint32, []byte) ([]byte, error) {
		<-gate
		return nil, nil
	}))
	results := make(chan error, 16)
	for range 16 {
		go func() {
			_, err := link.Call(within(t, soon), 1, nil)
			results <- err
		}()
	}
	until(t, func() bool {
		link.calls.mutex.Lock()
		defer link.calls.mutex.Unlock()
		return len(link.calls.open) == 16
	})
	var busy *BusyError
	if _, err := link.Call(within(t, soon), 1, nil); !errors.As(err, &busy) || busy.Limit != 16 {
		t.Error(err)
	}
	close(gate)
	for range 16 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func isBusy(err error) bool {
	var failure *Failure
	return errors.As(err, &failure) && failure.Code == CodeBusy
}

func TestBytesOfUnansweredCallsAreLimited(t *testing.T) {
	gate, entered := make(chan struct{}), make(chan struct{}, 1)
	o := small().with(func(context.Context, uint32, []byte) ([]byte, error) {
		entered <- struct{}{}
		<-gate
		return nil, nil
	})
	o.CallsBytesMax = 1000
	link, _ := linked(t, small(), o)
	first := make(chan error, 1)
	go func() {
		_, err := link.Call(within(t, soon), 1, make([]byte, 5000))
		first <- err
	}()
	<-entered
	if _, err := link.Call(within(t, soon), 1, []byte("one more")); !isBusy(err) {
		t.Error(err)
	}
	close(gate)
	if err := <-first; err != nil {
		t.Error(err)
	}
	until(t, func() bool {
		_, err := link.Call(within(t, soon), 1, make([]byte, 900))
		return err == nil
	})
}

func TestPendingCallsEndWithTheLink(t *testing.T) {
	link, other := linked(t, small(), small().with(func(ctx context.Context, _ uint32, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	waiting := make(chan error, 1)
	go func() {
		_, err := link.Call(within(t, soon), 1, nil)
		waiting <- err
	}()
	until(t, func() bool {
		other.served.mutex.Lock()
		defer other.served.mutex.Unlock()
		return len(other.served.open) == 1
	})
	other.Close()
	var fault *Fault
	if err := <-waiting; !errors.As(err, &fault) || fault.Kind() != Gone {
		t.Error(err)
	}
	<-link.Ended()
	if _, err := link.Call(within(t, soon), 1, nil); !errors.As(err, &fault) || fault.Kind() != Gone {
		t.Error(err)
	}
	if _, err := other.Call(within(t, soon), 1, nil); !errors.As(err, &fault) || fault.Kind() != Closed {
		t.Error(err)
	}
}

func TestManyConcurrentCallsLeakNothing(t *testing.T) {
	o := small().with(echo)
	o.CallsMax = 64
	link, other := linked(t, o, o)
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 300 {
				payload := bytes.Repeat([]byte{byte(rand.Uint32())}, rand.IntN(3000))
				limit := soon
				if rand.IntN(3) == 0 {
					limit = time.Duration(rand.IntN(100)) * time.Microsecond
				}
				ctx, cancel := context.WithTimeout(context.Background(), limit)
				got, err := link.Call(ctx, 1, payload)
				cancel()
				if (err != nil && limit == soon) || (err == nil && !bytes.Equal(got, payload)) {
					t.Errorf("%d bytes: %v", len(payload), err)
				}
			}
		}()
	}
	all.Wait()
	until(t, func() bool {
		other.served.mutex.Lock()
		defer other.served.mutex.Unlock()
		return len(other.served.open) == 0 && other.served.bytes == 0
	})
	link.calls.mutex.Lock()
	defer link.calls.mutex.Unlock()
	if link.Fault() != nil || other.Fault() != nil || len(link.calls.open) != 0 {
		t.Error(link.Fault(), other.Fault(), len(link.calls.open))
	}
}

func until(t testing.TB, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); runtime.Gosched() {
		if time.Since(begun) > soon {
			t.Fatal("it never holds")
		}
	}
}

func BenchmarkCall(b *testing.B) {
	for _, length := range []int{0, 32, 64 << 10} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			o := Options{Handle: echo, IsShort: func(method uint32) bool { return method == 5 }}
			link, _ := linked(b, Options{}, o)
			payload := make([]byte, length)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := link.Call(context.Background(), 5, payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
