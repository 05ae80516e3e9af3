package bridge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// These tests build a library as eddy loads it, and drive it with a C program: the Go race detector cannot be linked
// into such a library, and a Go test has no threads that are not Go's.

func TestAPanicInAnyExportedFunctionIsContained(t *testing.T) { drive(t, "faults") }

func TestAPausedExchangeIsResumedOnce(t *testing.T) { drive(t, "resumes") }

func TestThreadsDoNotMixTheirExchanges(t *testing.T) { drive(t, "threads") }

func TestTheLibraryDescribesItself(t *testing.T) {
	out := drive(t, "about")
	if !strings.HasPrefix(out, "eddy-sdk-go ") || !strings.Contains(out, "auth edit-then-panic empty") {
		t.Errorf("the library calls itself %q", out)
	}
}

// Go cannot return to C from an exiting goroutine, so this checks only the trace that is left.
func TestGoexitOnAWorkerNamesTheFilter(t *testing.T) {
	build(t)
	out, err := exec.Command(built.driver, built.library, "goexit").CombinedOutput()
	text := string(out)
	if err == nil || strings.Contains(text, "the process lives") {
		t.Errorf("runtime.Goexit can be survived now; tell it in the documentation: %s", text)
	}
	if !strings.Contains(text, "LOG 7: the filter called runtime.Goexit") || !strings.Contains(text, "testlib/main.go") {
		t.Errorf("%s", text)
	}
}

// BenchmarkCrossing reports the minimum time of a call from C, as ns/crossing: `empty` does nothing, `auth` decodes and
// compares a credential among 20 headers. The native ones do the same with package eddy; headers reads 20 headers and
// sets two.
func BenchmarkCrossing(b *testing.B) {
	for _, line := range strings.Split(strings.TrimSpace(drive(b, "bench", "empty", "auth", "native-empty", "native-auth", "native-headers", "native-state")), "\n") {
		name, figure, _ := strings.Cut(line, " ")
		ns, err := strconv.ParseFloat(figure, 64)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ns, "ns/crossing")
		})
	}
}

var built struct {
	sync.Once
	library, driver string
	skip, failure   string
}

func build(t testing.TB) {
	built.Do(func() {
		compiler, err := exec.LookPath("gcc")
		if err != nil {
			built.skip = "SKIPPED: there is no gcc to build the driver with"
			return
		}
		folder, err := os.MkdirTemp("", "eddy-bridge")
		if err != nil {
			built.failure = err.Error()
			return
		}
		built.library, built.driver = filepath.Join(folder, "testlib.so"), filepath.Join(folder, "driver")
		for _, command := range []*exec.Cmd{
			exec.Command("go", "build", "-buildmode=c-shared", "-o", built.library, "./testlib"),
			exec.Command(compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-I../../raw", "-o", built.driver,
				"testdata/driver.c", "-ldl", "-lpthread"),
		} {
			if out, err := command.CombinedOutput(); err != nil {
				built.failure = strings.Join(command.Args, " ") + ": " + err.Error() + "\n" + string(out)
				return
			}
		}
	})
	if built.skip != "" {
		t.Skip(built.skip)
	}
	if built.failure != "" {
		t.Fatal(built.failure)
	}
}

func drive(t testing.TB, arguments ...string) string {
	t.Helper()
	build(t)
	command := exec.Command(built.driver, append([]string{built.library}, arguments...)...)
	deadline := time.AfterFunc(time.Minute, func() { command.Process.Kill() })
	defer deadline.Stop()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("driver %v: %v\n%s", arguments, err, out)
	}
	return string(out)
}

func TestMain(m *testing.M) {
	status := m.Run()
	if built.library != "" {
		// A failed run leaves files in the temporary folder.
		_ = os.RemoveAll(filepath.Dir(built.library))
	}
	os.Exit(status)
}
