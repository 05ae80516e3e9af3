// Program uses fastcall and reports the result: as a program, or as a library whose run function a native program
// calls.
package main

/*
#include <stdint.h>

uintptr_t call_back(void *);
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall/internal/native"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "callback" {
		fastcall.Call(fastcall.Func(unsafe.Pointer(C.call_back)), nil)
		fmt.Println("called back")
		return
	}
	if run(20_000) != 0 {
		os.Exit(1)
	}
	fmt.Println(fastcall.Status())
}

// run makes calls from deep and shallow stacks while the collector runs, and returns the number of wrong results.
//
//export run
func run(rounds int) int {
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		for !stop.Load() {
			runtime.GC()
		}
		close(done)
	}()
	wrong := 0
	for round := range rounds {
		if descend(round%40) != uintptr(round%40)+510 {
			wrong++
		}
		if fastcall.CallString(fastcall.Func(native.Sum), "\x01\x02\x03") != 6 {
			wrong++
		}
	}
	stop.Store(true)
	<-done
	return wrong
}

//go:noinline
func descend(depth int) uintptr {
	if depth == 0 {
		return fastcall.Call(fastcall.Func(native.Stack), nil)
	}
	addition := native.Addition{Left: 1, Right: uint64(descend(depth - 1))}
	fastcall.Call(fastcall.Func(native.Add), unsafe.Pointer(&addition))
	return uintptr(addition.Sum)
}

// status prints how calls are made.
//
//export status
func status() {
	fmt.Println(fastcall.Status())
}

//export calledBack
func calledBack() {}
