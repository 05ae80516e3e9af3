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

	"github.com/eddy-gateway/eddy/bench/calls/row"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall/examples/passing"
)

// rows is everything that begins in Go; run/rows.go has the titles.
func rows() []row.Row {
	all := callRows()
	all = append(all, stringRows()...)
	all = append(all, batchRows()...)
	return append(all, handleRows()...)
}

func callRows() []row.Row {
	empty := fastcall.Func(unsafe.Pointer(C.guest_native_empty))
	return []row.Row{
		{ID: "go-floor", Loop: func(n int) {
			for range n {
				goFunction(nil)
			}
		}},
		{ID: "go-c-cgo", Loop: func(n int) {
			for range n {
				C.guest_empty_call()
			}
		}},
		{ID: "go-c-quiet", Loop: func(n int) {
			for range n {
				C.guest_quiet_call()
			}
		}},
		{ID: "go-c-fast", Loop: func(n int) {
			for range n {
				fastcall.Call(empty, nil)
			}
		}},
	}
}

//go:noinline
func goFunction(unsafe.Pointer) uintptr { return 0 }

func stringRows() []row.Row {
	source := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	text := strings.Repeat("a", 32)
	table := new(passing.Table)
	return []row.Row{
		{ID: "string-escape", Loop: func(n int) {
			for range n {
				passing.SumEscaping(text)
			}
		}},
		{ID: "string-noescape", Loop: func(n int) {
			for range n {
				passing.Sum(text)
			}
		}},
		{ID: "string-fast", Loop: func(n int) {
			for range n {
				passing.SumFast(text)
			}
		}},
		{ID: "fresh-escape", Loop: func(n int) {
			for range n {
				passing.SumEscaping(string(source[:32]))
			}
		}},
		{ID: "fresh-noescape", Loop: func(n int) {
			for range n {
				passing.Sum(string(source[:32]))
			}
		}},
		{ID: "fresh-fast", Loop: func(n int) {
			for range n {
				passing.SumFast(string(source[:32]))
			}
		}},
		{ID: "fresh-cstring", Loop: func(n int) {
			for range n {
				passing.SumCString(string(source[:32]))
			}
		}},
		{ID: "stack-escape", Loop: func(n int) {
			for range n {
				var bytes [64]byte
				passing.SumBytesEscaping(bytes[:])
			}
		}},
		{ID: "stack-noescape", Loop: func(n int) {
			for range n {
				var bytes [64]byte
				passing.SumBytes(bytes[:])
			}
		}},
		{ID: "array-copied", Loop: func(n int) {
			for range n {
				passing.SumTableCopied(*table)
			}
		}},
		{ID: "array-address", Loop: func(n int) {
			for range n {
				passing.SumTable(table)
			}
		}},
		{ID: "array-typed", Loop: func(n int) {
			for range n {
				passing.SumTableTyped(table)
			}
		}},
		{ID: "from-view", Loop: func(n int) {
			for range n {
				passing.HasName(1, "user-agent")
			}
		}},
		{ID: "from-clone", Loop: func(n int) {
			for range n {
				kept = passing.Name(1)
			}
		}},
		{ID: "from-filled", Loop: func(n int) {
			for range n {
				kept = passing.Hex(1)
			}
		}},
		{ID: "from-malloc", Loop: func(n int) {
			for range n {
				kept = passing.HexMalloc(1)
			}
		}},
	}
}

func batchRows() []row.Row {
	texts := make([]string, 16)
	for i := range texts {
		texts[i] = fmt.Sprintf("x-header-%02d: some-values", i)[:24]
	}
	var batch passing.Batch
	packed := pack(texts)
	return []row.Row{
		{ID: "batch-cstring", Loop: func(n int) {
			for range n {
				passing.SumCStrings(texts)
			}
		}},
		{ID: "batch-pinner", Loop: func(n int) {
			for range n {
				passing.SumPinned(texts)
			}
		}},
		{ID: "batch-each", Loop: func(n int) {
			for range n {
				passing.SumEach(texts)
			}
		}},
		{ID: "batch-each-fast", Loop: func(n int) {
			for range n {
				for _, text := range texts {
					passing.SumFast(text)
				}
			}
		}},
		{ID: "batch-flat", Loop: func(n int) {
			for range n {
				batch.Sum(texts)
			}
		}},
		{ID: "batch-flat-fast", Loop: func(n int) {
			for range n {
				batch.SumFast(texts)
			}
		}},
		{ID: "batch-headers-fast", Loop: func(n int) {
			for range n {
				passing.SumHeadersFast(texts)
			}
		}},
		{ID: "batch-read-in-place", Loop: func(n int) {
			for range n {
				for _, field := range packed.all() {
					name := packed.text(field.nameStart, field.nameEnd)
					total += len(name) + int(name[0])
				}
			}
		}},
		{ID: "batch-read-cloned", Loop: func(n int) {
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

func handleRows() []row.Row {
	object := &state{name: "a"}
	slots := make([]*state, 64)
	slots[7] = object
	handle := cgo.NewHandle(object)
	var shards [32]shard
	for i := range shards {
		shards[i].objects = map[uint64]*state{}
	}
	return []row.Row{
		{ID: "object-slot", Loop: func(n int) {
			for i := range n {
				total += slotted(slots, uint32(i)&56|7).hooks
			}
		}},
		{ID: "object-handle", Loop: func(n int) {
			for range n {
				total += handle.Value().(*state).hooks
			}
		}},
		{ID: "object-map", Loop: func(n int) {
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
		{ID: "object-handle-new", Loop: func(n int) {
			for range n {
				handle := cgo.NewHandle(object)
				total += handle.Value().(*state).hooks
				handle.Delete()
			}
		}},
		{ID: "object-pinned", Loop: func(n int) {
			var pinner runtime.Pinner
			for range n {
				pinner.Pin(object)
				pinner.Unpin()
			}
		}},
		{ID: "object-new", Loop: func(n int) {
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
