package main

import (
	"context"
	"fmt"

	"github.com/eddy-gateway/eddy/bench/calls/row"
	bridge "github.com/eddy-gateway/eddy/bridge/go"
)

// bridgeRows are calls of a library of Rust in this process, by what the generator has made.
func bridgeRows(library string) ([]row.Row, error) {
	rust, err := bridge.Open(library)
	if err != nil {
		return nil, err
	}
	native, err := BindNative(rust)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	viewed := orderOfViews(&sample)
	calls := []struct {
		name       string
		short, cgo func(n int)
		future     func() (uint64, error)
	}{
		{
			"empty",
			func(n int) {
				for range n {
					expect(1, native.EmptyShort())
				}
			},
			func(n int) {
				for range n {
					expect(1, native.Empty())
				}
			},
			func() (uint64, error) { return 1, native.EmptyLater(ctx) },
		},
		{
			"text",
			func(n int) {
				for range n {
					expect(native.TextShort(text32))
				}
			},
			func(n int) {
				for range n {
					expect(native.Text(text32))
				}
			},
			func() (uint64, error) { return native.TextLater(ctx, text32) },
		},
		{
			"struct",
			func(n int) {
				for range n {
					expect(native.OrderShort(viewed))
				}
			},
			func(n int) {
				for range n {
					expect(native.Order(viewed))
				}
			},
			func() (uint64, error) { return native.OrderLater(ctx, viewed) },
		},
		{
			"batch",
			func(n int) {
				for range n {
					expect(native.BatchShort(texts16))
				}
			},
			func(n int) {
				for range n {
					expect(native.Batch(texts16))
				}
			},
			func() (uint64, error) { return native.BatchLater(ctx, texts16) },
		},
		{
			"bytes",
			func(n int) {
				for range n {
					expect(native.BytesShort(bytes64))
				}
			},
			func(n int) {
				for range n {
					expect(native.Bytes(bytes64))
				}
			},
			func() (uint64, error) { return native.BytesLater(ctx, bytes64) },
		},
	}
	var rows []row.Row
	for _, one := range calls {
		future := func() { expect(one.future()) }
		rows = append(rows,
			row.Row{ID: one.name + "-short", Loop: one.short},
			row.Row{ID: one.name + "-short-two", Loop: onTwo(one.short)},
			row.Row{ID: one.name + "-bridge", Loop: one.cgo},
			row.Row{ID: one.name + "-bridge-two", Loop: onTwo(one.cgo)},
			row.Row{ID: one.name + "-async", Loop: atOnce(future)})
		if one.name == "empty" {
			rows = append(rows, row.Row{ID: "empty-async-single", Loop: repeated(future)})
		}
	}
	return rows, nil
}

// expect expects an answer. It is inlined, as what calls without the bridge do is.
func expect(answer uint64, err error) {
	if answer == 0 || err != nil {
		unexpected(answer, err)
	}
}

func unexpected(answer uint64, err error) { panic(fmt.Sprint(answer, err)) }

// orderOfViews is an order as it is passed over the bridge.
func orderOfViews(o *order) *Order {
	return &Order{
		ID: o.id, Number: o.number, Total: o.total, Time: o.time, IsNew: o.isNew,
		Name: bridge.StrOf(o.name), Kind: bridge.StrOf(o.kind), Place: bridge.StrOf(o.place),
		Note: bridge.StrOf(o.note), Sign: bridge.StrOf(o.sign),
	}
}
