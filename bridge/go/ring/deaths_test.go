package ring

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// When it is set, the test program acts as another process: "listen PATH" never answers, "wait PATH" waits for an
// answer.
const roleVariable = "EDDY_RING_TEST_ROLE"

func TestMain(m *testing.M) {
	manner, path, isOther := strings.Cut(os.Getenv(roleVariable), " ")
	if !isOther {
		os.Exit(m.Run())
	}
	if err := other(manner, path); err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

func other(manner, path string) error {
	if manner == "wait" {
		link, err := Dial(context.Background(), path, Options{})
		if err != nil {
			return err
		}
		_, err = link.Call(context.Background(), 1, nil)
		return err
	}
	listener, err := Listen(path, Options{}.with(func(ctx context.Context, _ uint32, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	if err != nil {
		return err
	}
	_, _ = os.Stdout.WriteString("listening\n")
	for {
		if _, err := listener.Accept(); err != nil && !errors.Is(err, ErrNotLinked) {
			return err
		}
	}
}

// spawn starts another process and returns a function that kills it.
func spawn(t *testing.T, manner, path string) (kill func()) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), roleVariable+"="+manner+" "+path)
	said, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if manner == "listen" {
		if line, err := bufio.NewReader(said).ReadString('\n'); line != "listening\n" {
			t.Fatal(line, err)
		}
	}
	return func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = os.Remove(path)
	}
}

// held is the set of resources of a process that links could leak.
type held struct{ descriptors, mappings, goroutines int }

func holds(t *testing.T) held {
	t.Helper()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return held{len(descriptors), strings.Count(string(maps), "memfd:eddy"), runtime.NumGoroutine()}
}

func heapBytes() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestTwoHundredCrashesLeakNothing(t *testing.T) {
	twoDeaths(t, t.TempDir())
	until(t, func() bool { runtime.GC(); return holds(t).mappings == 0 })
	before, heap := holds(t), heapBytes()
	for range 100 {
		twoDeaths(t, t.TempDir())
	}
	begun := time.Now()
	for holds(t) != before && time.Since(begun) < soon {
		runtime.GC() // unmaps memory without references
		runtime.Gosched()
	}
	if after := holds(t); after != before {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if grown := int64(heapBytes()) - int64(heap); grown > 1<<20 {
		t.Errorf("%d bytes more than before", grown)
	}
}

// twoDeaths kills a called and a calling process while calls are in progress.
func twoDeaths(t *testing.T, folder string) {
	t.Helper()
	isGone := func(err error) bool {
		var fault *Fault
		return errors.As(err, &fault) && fault.Kind() == Gone
	}
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()

	kill := spawn(t, "listen", folder+"/called")
	link, err := Dial(ctx, folder+"/called", Options{})
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 9)
	for number := range 9 {
		go func() {
			_, err := link.Call(ctx, 1, make([]byte, number*500_000))
			results <- err
		}()
	}
	until(t, func() bool {
		link.calls.mutex.Lock()
		defer link.calls.mutex.Unlock()
		return len(link.calls.open) == 9
	})
	kill()
	for range 9 {
		if err := <-results; !isGone(err) {
			t.Error(err)
		}
	}

	served := make(chan error, 1)
	listener, err := Listen(folder+"/calling", Options{}.with(func(ctx context.Context, _ uint32, _ []byte) ([]byte, error) {
		served <- nil
		<-ctx.Done()
		served <- ctx.Err()
		return nil, ctx.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	kill = spawn(t, "wait", folder+"/calling")
	link, err = listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	<-served
	kill()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-link.Ended()
	if !isGone(link.Fault()) {
		t.Error(link.Fault())
	}
	_ = listener.Close()
}
