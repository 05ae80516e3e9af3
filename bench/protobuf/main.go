// Protobuf measures codecs of Go with the messages of the crate's own benchmark: marshal and unmarshal, one goroutine and
// one for each CPU, with allocations. `make bench-protobuf` runs it; the code of gen/ is written by ./generate.
//
//	go run . -json results.json
//	go run . -only vtprotobuf -time 100ms
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// document is what eddy-bench reports of, in the form of the crate's own benchmark.
type document struct {
	Subject     string `json:"subject"`
	CPU         string `json:"cpu"`
	Kernel      string `json:"kernel"`
	LoadAverage string `json:"load_average"`
	Rows        []row  `json:"rows"`
}

// row is what one way of doing one thing with one message costs, nanoseconds a message. Where several goroutines work at
// once, it is the time that passes divided by all their messages.
type row struct {
	Message     string  `json:"message"`
	Work        string  `json:"work"`
	By          string  `json:"by"`
	Bytes       int     `json:"bytes"`
	NS          float64 `json:"ns"`
	Allocations float64 `json:"allocations"`
}

func main() {
	testing.Init()
	file := flag.String("json", "", "where results go")
	only := flag.String("only", "", "only rows that have this in their title")
	time := flag.String("time", "200ms", "how long each measurement takes")
	rounds := flag.Int("rounds", 5, "measurements of each row; the least counts")
	flag.Parse()
	if err := flag.Set("test.benchtime", *time); err != nil {
		fail(err)
	}
	samples, err := samples()
	if err != nil {
		fail(err)
	}
	results := document{Subject: "protobuf_go", CPU: cpu(), Kernel: line("/proc/sys/kernel/osrelease"), LoadAverage: load()}
	for _, sample := range samples {
		for _, way := range ways(sample) {
			for _, processes := range []int{1, runtime.GOMAXPROCS(0)} {
				work := way.work
				if processes > 1 {
					work = fmt.Sprintf("%s, %d at once", way.work, processes)
				}
				title := fmt.Sprintf("%s %s %s", sample.name, work, way.by)
				if !strings.Contains(title, *only) {
					continue
				}
				measured, err := measure(way, processes > 1, *rounds)
				if err != nil {
					fail(fmt.Errorf("%s: %w", title, err))
				}
				measured.Message, measured.Work, measured.By = sample.name, work, way.by
				measured.Bytes = len(sample.bytes)
				fmt.Printf("%-10s %-26s %-42s %12.1f ns %8.0f allocations\n",
					sample.name, work, way.by, measured.NS, measured.Allocations)
				results.Rows = append(results.Rows, measured)
			}
		}
	}
	if *file == "" {
		return
	}
	text, err := json.MarshalIndent(results, "", "  ")
	if err == nil {
		err = os.WriteFile(*file, append(text, '\n'), 0o644)
	}
	if err != nil {
		fail(err)
	}
}

// measure takes the least of several measurements: whatever else runs can only make one slower.
func measure(w way, isParallel bool, rounds int) (row, error) {
	if err := w.begin()(); err != nil {
		return row{}, err
	}
	best := row{}
	for round := range rounds {
		result := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			if !isParallel {
				op := w.begin()
				for b.Loop() {
					_ = op()
				}
				return
			}
			// One for each goroutine, made ready before the clock runs.
			ops := make([]func() error, runtime.GOMAXPROCS(0))
			for index := range ops {
				ops[index] = w.begin()
			}
			var begun atomic.Int32
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				op := ops[begun.Add(1)-1]
				for pb.Next() {
					_ = op()
				}
			})
		})
		ns := float64(result.T.Nanoseconds()) / float64(result.N)
		if round == 0 || ns < best.NS {
			best.NS = ns
		}
		best.Allocations = float64(result.AllocsPerOp())
	}
	return best, nil
}

func cpu() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for text := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(text, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func load() string {
	first, _, _ := strings.Cut(line("/proc/loadavg"), " ")
	return first
}

func line(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench-protobuf:", err)
	os.Exit(1)
}
