package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// pipe is two files, which are closed when the collector finds that nobody has them.
type pipe struct{ ends *[2]int }

// pool is made as that of internal/poll, which no program can get at.
var pool = sync.Pool{New: func() any {
	ends := new([2]int)
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return (*pipe)(nil)
	}
	made := &pipe{ends: ends}
	runtime.AddCleanup(made, func(ends *[2]int) {
		syscall.Close(ends[0])
		syscall.Close(ends[1])
	}, ends)
	return made
}}

// measure prints what it takes to get a pipe and give it back, in nanoseconds: alone, and each of two at once by both.
func measure(count, rounds int) error {
	alone, both := make([]float64, 0, rounds), make([]float64, 0, rounds)
	for range rounds {
		alone = append(alone, perCall(count))
		var other float64
		var group sync.WaitGroup
		group.Add(1)
		go func() {
			defer group.Done()
			other = perCall(count)
		}()
		mine := perCall(count)
		group.Wait()
		both = append(both, (mine+other)/4)
	}
	slices.Sort(alone)
	slices.Sort(both)
	fmt.Printf("%.2f %.2f\n", alone[rounds/2], both[rounds/2])
	return nil
}

func perCall(count int) float64 {
	begun := time.Now()
	for range count {
		taken := pool.Get().(*pipe)
		if taken == nil {
			panic("no pipe can be made")
		}
		pool.Put(taken)
	}
	return float64(time.Since(begun).Nanoseconds()) / float64(count)
}
