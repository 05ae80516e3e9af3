package main

import (
	"context"
	"runtime"
	"unsafe"

	bridge "github.com/eddy-gateway/eddy/bridge/go"
)

import "C"

// As a library, the program answers what Rust calls: it reads all that it is given.
func init() { RegisterReader(&reader{}) }

type reader struct{}

func (*reader) Empty() {}

func (*reader) Text(text bridge.Str) uint64 { return read(text.View()) }

func (*reader) Order(order *Order) uint64 {
	numbers := order.ID + order.Number + order.Total + order.Time
	if order.IsNew {
		numbers++
	}
	return uint64(numbers) + read(order.Name.View()) + read(order.Kind.View()) + read(order.Place.View()) +
		read(order.Note.View()) + read(order.Sign.View())
}

func (*reader) Batch(texts []bridge.Str) uint64 {
	sum := uint64(0)
	for _, text := range texts {
		sum += read(text.View())
	}
	return sum
}

func (*reader) Bytes(bytes bridge.Slice[uint8]) uint64 {
	view := bytes.View()
	return uint64(view[0]) + uint64(len(view))
}

func (*reader) EmptyLater(context.Context) {}

func (r *reader) TextLater(_ context.Context, text bridge.Str) uint64 { return r.Text(text) }

func (r *reader) OrderLater(_ context.Context, order *Order) uint64 { return r.Order(order) }

func (r *reader) BatchLater(_ context.Context, texts []bridge.Str) uint64 { return r.Batch(texts) }

func (r *reader) BytesLater(_ context.Context, bytes bridge.Slice[uint8]) uint64 {
	return r.Bytes(bytes)
}

func (*reader) Allocated() Allocated {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Allocated{Count: stats.Mallocs, Bytes: stats.TotalAlloc}
}

func read(text string) uint64 { return uint64(text[0]) + uint64(len(text)) }

// What calls into Go cost without the bridge.

//export bench_empty
func bench_empty(unsafe.Pointer) {}

//export bench_barrier
func bench_barrier(unsafe.Pointer) {
	defer func() { _ = recover() }()
}
