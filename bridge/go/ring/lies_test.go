package ring

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// liar is a link with direct access to its other end, which violates the protocol.
type liar struct {
	link     *Link
	producer *producer
	memory   *memory
	bell     *bell
}

func newLiar(t *testing.T, o Options) *liar {
	t.Helper()
	ours, theirs := sockets(t)
	accepted := make(chan *Link, 1)
	go func() {
		link, err := Accept(theirs, o)
		if err != nil {
			t.Error(err)
		}
		accepted <- link
	}()
	checked, err := o.checked()
	if err != nil {
		t.Fatal(err)
	}
	m, a, err := offer(ours, &checked)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := split(m, a.ringBytes, true)
	b, err := newBell(ours)
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{<-accepted, p, m, b}
	t.Cleanup(func() {
		l.link.Close()
		_ = ours.Close()
	})
	return l
}

func (l *liar) push(t *testing.T, f frame, payload []byte) {
	t.Helper()
	if isSent, fault := l.producer.tryPush(&f, payload); !isSent || fault != nil {
		t.Fatal(isSent, fault)
	}
	l.bell.ring()
}

// expect waits for the end of the link and checks its reason.
func (l *liar) expect(t *testing.T, text string) {
	t.Helper()
	select {
	case <-l.link.Ended():
	case <-time.After(soon):
		t.Fatal("the link goes on")
	}
	if !strings.Contains(l.link.Fault().Error(), text) {
		t.Error(l.link.Fault())
	}
}

func aCall(number uint64, bytes uint32) frame {
	return frame{kind: kindCall, bytes: bytes, call: number, detail: 1, timeoutMs: 60_000, total: uint64(bytes)}
}

func TestInvalidFramesEndTheLink(t *testing.T) {
	words := func(l *liar, at int, value uint64) {
		atomic.StoreUint64(&l.memory.words[at], value)
		l.bell.ring()
	}
	for expected, lie := range map[string]func(*liar){
		"off by 10000 words":            func(l *liar) { words(l, 0, 10_000) },
		"announced 4 words, but 3 were": func(l *liar) { words(l, 0, 3) },
		"unknown kind 0":                func(l *liar) { words(l, 0, 4) },
		"unknown kind 6":                func(l *liar) { words(l, 512, 6<<32); words(l, 0, 4) },
		"reserved bits":                 func(l *liar) { words(l, 512, 1<<40); words(l, 0, 4) },
		"announced 5 words, but 4 were": func(l *liar) { words(l, 512, 1|1<<32); words(l, 0, 4) },
		"it answered call 5":            func(l *liar) { l.push(t, frame{kind: kindAnswer, call: 5}, nil) },
		"a message announced 1048577":   func(l *liar) { l.push(t, frame{kind: kindCall, total: 1<<20 + 1}, nil) },
		"has 8 bytes instead of 9":      func(l *liar) { l.push(t, frame{kind: kindCall, bytes: 8, total: 9}, make([]byte, 8)) },
		"a piece belongs to no message": func(l *liar) { l.push(t, frame{kind: kindMore}, nil) },
		"call 3 was made twice":         func(l *liar) { l.push(t, aCall(3, 0), nil); l.push(t, aCall(3, 0), nil) },
	} {
		l := newLiar(t, small().with(func(ctx context.Context, _ uint32, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		lie(l)
		l.expect(t, expected)
	}
}

func TestAPeerThatDoesNotReadStallsTheLink(t *testing.T) {
	o := small()
	o.Stall = 200 * time.Millisecond
	l := newLiar(t, o)
	var fault *Fault
	if _, err := l.link.Call(within(t, soon), 1, make([]byte, 100_000)); !errors.As(err, &fault) || fault.Kind() != Stalled {
		t.Error(err)
	}
}

func TestACallEndsAtItsDeadline(t *testing.T) {
	o := small()
	o.Stall = 2 * soon
	l := newLiar(t, o)
	for _, length := range []int{0, 100_000} {
		begun := time.Now()
		_, err := l.link.Call(within(t, 100*time.Millisecond), 1, make([]byte, length))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > soon {
			t.Error(err, time.Since(begun))
		}
	}
}

func TestAPeerThatReadsNoResponsesIsDisconnected(t *testing.T) {
	o := small().with(echo)
	o.Stall = 300 * time.Millisecond
	l := newLiar(t, o)
	number := uint64(0)
	for begun := time.Now(); l.link.Fault() == nil; {
		if time.Since(begun) > soon {
			t.Fatal("the link goes on")
		}
		f := aCall(number, 0)
		if isSent, _ := l.producer.tryPush(&f, nil); isSent {
			number++
		}
		l.bell.ring()
	}
}

// With any content of the shared memory, the link ends or continues, and calls return.
func TestRandomWordsInSharedMemoryAreHandledSafely(t *testing.T) {
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 1))
		o := small().with(echo)
		o.Stall = 20 * time.Millisecond
		l := newLiar(t, o)
		for range 40 {
			at := dice.IntN(len(l.memory.words))
			switch dice.IntN(3) {
			case 0:
				at = dice.IntN(8) * 16
			case 1:
				at = 512 + dice.IntN(16)
			}
			value := dice.Uint64()
			switch dice.IntN(4) {
			case 0:
				value %= 600
			case 1:
				value = value%600 | uint64(dice.IntN(8))<<32
			case 2:
				value = 1 << dice.IntN(64)
			}
			atomic.StoreUint64(&l.memory.words[at], value)
			l.bell.ring()
			if dice.IntN(4) == 0 {
				_, _ = l.link.Call(within(t, time.Millisecond), 1, make([]byte, dice.IntN(3000)))
			}
		}
		l.link.Close()
	}
}

func TestMemoryThatCanShrinkIsRefused(t *testing.T) {
	for expected, made := range map[string]func(t *testing.T) *os.File{
		"not sealed": func(t *testing.T) *os.File { return unsealed(t, memoryBytes(4096)) },
		"not shared": func(t *testing.T) *os.File { return opened(t, "/proc/self/status") }, // never a memory file, as a program in /tmp may be
		"differs":    func(t *testing.T) *os.File { return sealed(t, memoryBytes(4096)-8) },
		"no shared":  func(*testing.T) *os.File { return nil },
	} {
		ours, theirs := sockets(t)
		o, err := small().checked()
		if err != nil {
			t.Fatal(err)
		}
		var rights []byte
		if file := made(t); file != nil {
			rights = syscall.UnixRights(int(file.Fd()))
		}
		if _, _, err := ours.WriteMsgUnix(hello(0, 4096, &o), rights, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := Accept(theirs, small()); err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("%s: %v", expected, err)
		}
		answer := make([]byte, helloBytes)
		if err := readHello(ours, answer, &o); err != nil {
			t.Error(err)
		}
		if status, _, _ := parseHello(answer); status == statusAccepted {
			t.Error("it is not told that it is refused")
		}
	}
}

func TestInvalidOffersAreRefused(t *testing.T) {
	o, _ := small().checked()
	for expected, said := range map[string][]byte{
		"not an eddy ring": []byte("GET / HTTP/1.1\r\nhost: example.com\r\nx: y\r\n"),
		"another protocol": append([]byte("eddyring\x02\x00\x00\x00"), make([]byte, 28)...),
		"not allowed":      hello(0, 8192, &o),
		"did not complete": []byte("eddy"),
	} {
		ours, theirs := sockets(t)
		if _, err := ours.Write(said); err != nil {
			t.Fatal(err)
		}
		short := small()
		if len(said) < helloBytes {
			short.Handshake = 200 * time.Millisecond
		}
		if _, err := Accept(theirs, short); err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("%s: %v", expected, err)
		}
	}
	for _, o := range []Options{{RingBytes: 5000}, {RingBytes: 1 << 27}, {MessageBytesMax: 1<<30 + 1}, {CallsMax: -1}} {
		ours, _ := sockets(t)
		if _, err := Connect(ours, o); err == nil {
			t.Errorf("%+v passes", o)
		}
	}
}

func TestOnlyTheSameUserCanConnect(t *testing.T) {
	path := t.TempDir() + "/ring.sock"
	listener, err := Listen(path, small())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o177 != 0 {
		t.Error(info.Mode(), err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	var unreachable *net.OpError
	if _, err := NewRedial(path, small()).Call(within(t, soon), 1, nil); !errors.As(err, &unreachable) {
		t.Error(err)
	}
}

func unsealed(t *testing.T, size int) *os.File {
	name := [...]byte{'t', 0}
	number, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name)), mfdCloexec|mfdAllowSealing, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	fd := os.NewFile(number, "test")
	if err := fd.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	return fd
}

func sealed(t *testing.T, size int) *os.File {
	_, file, err := createMemory(size)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func opened(t *testing.T, path string) *os.File {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}
