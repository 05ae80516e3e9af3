package main

import (
	"runtime"
	"time"
)

// row is one thing to be measured: loop does it n times.
type row struct {
	id   string
	loop func(n int)
}

// result is a line of the output.
type result struct {
	Row         string  `json:"row"`
	Nanoseconds float64 `json:"ns"`
	Allocations float64 `json:"allocs"`
	Bytes       float64 `json:"bytes"`
}

// measure takes the least of some short measurements: what else runs on the machine only ever adds.
func measure(r row, repeats int) result {
	n := calibrate(r)
	least := time.Duration(1 << 62)
	for range repeats {
		least = min(least, timed(r, n))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.loop(n)
	runtime.ReadMemStats(&after)
	return result{
		Row:         r.id,
		Nanoseconds: float64(least.Nanoseconds()) / float64(n),
		Allocations: perOperation(after.Mallocs-before.Mallocs, n),
		Bytes:       perOperation(after.TotalAlloc-before.TotalAlloc, n),
	}
}

// calibrate finds how many times take a millisecond or so, and warms up.
func calibrate(r row) int {
	n := 16
	for timed(r, n) < time.Millisecond {
		n *= 2
	}
	return n
}

func timed(r row, n int) time.Duration {
	start := time.Now()
	r.loop(n)
	return time.Since(start)
}

// perOperation rounds to hundredths: the runtime itself allocates a little now and then.
func perOperation(total uint64, n int) float64 {
	return float64(int(float64(total)/float64(n)*100+0.5)) / 100
}
