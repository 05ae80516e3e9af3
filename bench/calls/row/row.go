// Package row measures pieces of work that a benchmark has a row for, and writes what came out, a line of JSON each.
package row

import (
	"encoding/json"
	"io"
	"runtime"
	"time"
)

// Row is one thing to be measured: Loop does it n times.
type Row struct {
	ID   string
	Loop func(n int)
}

// Result is a line of the output: what one time takes at least, and allocates.
type Result struct {
	Row         string  `json:"row"`
	Nanoseconds float64 `json:"ns"`
	Allocations float64 `json:"allocs"`
	Bytes       float64 `json:"bytes"`
}

// Measure takes the least of some short measurements: what else runs on the machine only ever adds.
func Measure(r Row, repeats int) Result {
	n := calibrate(r)
	least := time.Duration(1 << 62)
	for range repeats {
		least = min(least, timed(r, n))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.Loop(n)
	runtime.ReadMemStats(&after)
	return Result{
		Row:         r.ID,
		Nanoseconds: float64(least.Nanoseconds()) / float64(n),
		Allocations: perOperation(after.Mallocs-before.Mallocs, n),
		Bytes:       perOperation(after.TotalAlloc-before.TotalAlloc, n),
	}
}

// MeasureAll measures rows one after the other, and writes a line of JSON for each.
func MeasureAll(rows []Row, repeats int, output io.Writer) error {
	lines := json.NewEncoder(output)
	for _, r := range rows {
		if err := lines.Encode(Measure(r, repeats)); err != nil {
			return err
		}
	}
	return nil
}

// calibrate finds how many times take a millisecond or so, and warms up.
func calibrate(r Row) int {
	n := 16
	for timed(r, n) < time.Millisecond {
		n *= 2
	}
	return n
}

func timed(r Row, n int) time.Duration {
	start := time.Now()
	r.Loop(n)
	return time.Since(start)
}

// perOperation rounds to hundredths: the runtime itself allocates a little now and then.
func perOperation(total uint64, n int) float64 {
	return float64(int(float64(total)/float64(n)*100+0.5)) / 100
}
