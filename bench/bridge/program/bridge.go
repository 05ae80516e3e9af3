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
		name               string
		short, cgo, future func() (uint64, error)
	}{
		{
			"empty",
			func() (uint64, error) { return 1, native.EmptyShort() },
			func() (uint64, error) { return 1, native.Empty() },
			func() (uint64, error) { return 1, native.EmptyLater(ctx) },
		},
		{
			"text",
			func() (uint64, error) { return native.TextShort(text32) },
			func() (uint64, error) { return native.Text(text32) },
			func() (uint64, error) { return native.TextLater(ctx, text32) },
		},
		{
			"struct",
			func() (uint64, error) { return native.OrderShort(viewed) },
			func() (uint64, error) { return native.Order(viewed) },
			func() (uint64, error) { return native.OrderLater(ctx, viewed) },
		},
		{
			"batch",
			func() (uint64, error) { return native.BatchShort(texts16) },
			func() (uint64, error) { return native.Batch(texts16) },
			func() (uint64, error) { return native.BatchLater(ctx, texts16) },
		},
		{
			"bytes",
			func() (uint64, error) { return native.BytesShort(bytes64) },
			func() (uint64, error) { return native.Bytes(bytes64) },
			func() (uint64, error) { return native.BytesLater(ctx, bytes64) },
		},
	}
	var rows []row.Row
	for _, one := range calls {
		short, cgo, future := answered(one.short), answered(one.cgo), answered(one.future)
		rows = append(rows,
			row.Row{ID: one.name + "-short", Loop: repeated(short)},
			row.Row{ID: one.name + "-short-two", Loop: onTwo(short)},
			row.Row{ID: one.name + "-bridge", Loop: repeated(cgo)},
			row.Row{ID: one.name + "-bridge-two", Loop: onTwo(cgo)},
			row.Row{ID: one.name + "-async", Loop: atOnce(future)})
	}
	return append(rows, row.Row{ID: "empty-async-single", Loop: repeated(answered(calls[0].future))}), nil
}

// answered calls and expects an answer.
func answered(call func() (uint64, error)) func() {
	return func() {
		if answer, err := call(); err != nil || answer == 0 {
			panic(fmt.Sprint(answer, err))
		}
	}
}

// orderOfViews is an order as it is passed over the bridge.
func orderOfViews(o *order) Order {
	return Order{
		ID: o.id, Number: o.number, Total: o.total, Time: o.time, IsNew: o.isNew,
		Name: bridge.StrOf(o.name), Kind: bridge.StrOf(o.kind), Place: bridge.StrOf(o.place),
		Note: bridge.StrOf(o.note), Sign: bridge.StrOf(o.sign),
	}
}
