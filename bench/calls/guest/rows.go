package main

/*
#include "shared.h"

#cgo noescape guest_quiet_call
#cgo nocallback guest_quiet_call
*/
import "C"

import (
	"fmt"
	"runtime"
	"runtime/cgo"
	"strings"
	"sync"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall/examples/passing"
)

// rows is everything that begins in Go; run/rows.go has the titles.
func rows() []row {
	all := callRows()
	all = append(all, stringRows()...)
	all = append(all, batchRows()...)
	return append(all, handleRows()...)
}

func callRows() []row {
	empty := fastcall.Func(unsafe.Pointer(C.guest_native_empty))
	return []row{
		{"go-floor", func(n int) {
			for range n {
				goFunction(nil)
			}
		}},
		{"go-c-cgo", func(n int) {
			for range n {
				C.guest_empty_call()
			}
		}},
		{"go-c-quiet", func(n int) {
			for range n {
				C.guest_quiet_call()
			}
		}},
		{"go-c-fast", func(n int) {
			for range n {
				fastcall.Call(empty, nil)
			}
		}},
	}
}

//go:noinline
func goFunction(unsafe.Pointer) uintptr { return 0 }

func stringRows() []row {
	source := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	text := strings.Repeat("a", 32)
	table := new(passing.Table)
	return []row{
		{"string-escape", func(n int) {
			for range n {
				passing.SumEscaping(text)
			}
		}},
		{"string-noescape", func(n int) {
			for range n {
				passing.Sum(text)
			}
		}},
		{"string-fast", func(n int) {
			for range n {
				passing.SumFast(text)
			}
		}},
		{"fresh-escape", func(n int) {
			for range n {
				passing.SumEscaping(string(source[:32]))
			}
		}},
		{"fresh-noescape", func(n int) {
			for range n {
				passing.Sum(string(source[:32]))
			}
		}},
		{"fresh-fast", func(n int) {
			for range n {
				passing.SumFast(string(source[:32]))
			}
		}},
		{"fresh-cstring", func(n int) {
			for range n {
				passing.SumCString(string(source[:32]))
			}
		}},
		{"stack-escape", func(n int) {
			for range n {
				var bytes [64]byte
				passing.SumBytesEscaping(bytes[:])
			}
		}},
		{"stack-noescape", func(n int) {
			for range n {
				var bytes [64]byte
				passing.SumBytes(bytes[:])
			}
		}},
		{"array-copied", func(n int) {
			for range n {
				passing.SumTableCopied(*table)
			}
		}},
		{"array-address", func(n int) {
			for range n {
				passing.SumTable(table)
			}
		}},
		{"array-typed", func(n int) {
			for range n {
				passing.SumTableTyped(table)
			}
		}},
		{"from-view", func(n int) {
			for range n {
				passing.HasName(1, "user-agent")
			}
		}},
		{"from-clone", func(n int) {
			for range n {
				kept = passing.Name(1)
			}
		}},
		{"from-filled", func(n int) {
			for range n {
				kept = passing.Hex(1)
			}
		}},
		{"from-malloc", func(n int) {
			for range n {
				kept = passing.HexMalloc(1)
			}
		}},
	}
}

func batchRows() []row {
	texts := make([]string, 16)
	for i := range texts {
		texts[i] = fmt.Sprintf("x-header-%02d: some-values", i)[:24]
	}
	var batch passing.Batch
	packed := pack(texts)
	return []row{
		{"batch-cstring", func(n int) {
			for range n {
				passing.SumCStrings(texts)
			}
		}},
		{"batch-pinner", func(n int) {
			for range n {
				passing.SumPinned(texts)
			}
		}},
		{"batch-each", func(n int) {
			for range n {
				passing.SumEach(texts)
			}
		}},
		{"batch-each-fast", func(n int) {
			for range n {
				for _, text := range texts {
					passing.SumFast(text)
				}
			}
		}},
		{"batch-flat", func(n int) {
			for range n {
				batch.Sum(texts)
			}
		}},
		{"batch-flat-fast", func(n int) {
			for range n {
				batch.SumFast(texts)
			}
		}},
		{"batch-headers-fast", func(n int) {
			for range n {
				passing.SumHeadersFast(texts)
			}
		}},
		{"batch-read-in-place", func(n int) {
			for range n {
				for _, field := range packed.all() {
					name := packed.text(field.nameStart, field.nameEnd)
					total += len(name) + int(name[0])
				}
			}
		}},
		{"batch-read-cloned", func(n int) {
			for range n {
				arena := strings.Clone(unsafe.String(packed.bytes, packed.bytesLength))
				for i, field := range packed.all() {
					keptTexts[i] = arena[field.nameStart:field.nameEnd]
				}
			}
		}},
	}
}

// pack lays texts out as a host does: their bytes in a row, and a table.
func pack(texts []string) *request {
	var bytes []byte
	fields := make([]field, len(texts))
	for i, text := range texts {
		fields[i].nameStart = uint32(len(bytes))
		bytes = append(bytes, text...)
		fields[i].nameEnd = uint32(len(bytes))
	}
	return &request{
		bytes: unsafe.SliceData(bytes), bytesLength: uint32(len(bytes)),
		fields: unsafe.SliceData(fields), fieldsLength: uint32(len(fields)),
	}
}

// state is an object that a filter keeps from one hook of a request to the next.
type state struct {
	hooks int
	name  string
}

// shard is one part of a table from numbers to objects that many threads use.
type shard struct {
	sync.Mutex
	objects map[uint64]*state
}

func handleRows() []row {
	object := &state{name: "a"}
	slots := make([]*state, 64)
	slots[7] = object
	handle := cgo.NewHandle(object)
	var shards [32]shard
	for i := range shards {
		shards[i].objects = map[uint64]*state{}
	}
	return []row{
		{"object-slot", func(n int) {
			for i := range n {
				total += slotted(slots, uint32(i)&56|7).hooks
			}
		}},
		{"object-handle", func(n int) {
			for range n {
				total += handle.Value().(*state).hooks
			}
		}},
		{"object-map", func(n int) {
			for i := range n {
				number := uint64(i)
				shard := &shards[number%32]
				shard.Lock()
				shard.objects[number] = object
				shard.Unlock()
				shard.Lock()
				total += shard.objects[number].hooks
				shard.Unlock()
				shard.Lock()
				delete(shard.objects, number)
				shard.Unlock()
			}
		}},
		{"object-handle-new", func(n int) {
			for range n {
				handle := cgo.NewHandle(object)
				total += handle.Value().(*state).hooks
				handle.Delete()
			}
		}},
		{"object-pinned", func(n int) {
			var pinner runtime.Pinner
			for range n {
				pinner.Pin(object)
				pinner.Unpin()
			}
		}},
		{"object-new", func(n int) {
			for range n {
				keptState = &state{name: "a"}
			}
		}},
	}
}

//go:noinline
func slotted(slots []*state, number uint32) *state {
	if int(number) < len(slots) && slots[number] != nil {
		return slots[number]
	}
	return slots[7]
}

// What is assigned to these can't be optimized away.
var (
	kept      string
	keptTexts [16]string
	keptState *state
	total     int
)
