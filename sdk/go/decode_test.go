package eddy_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	eddy "github.com/eddy-gateway/eddy/sdk/go"
)

// order is the message type of a test codec.
type order struct {
	number int
	dirty  bool
}

var errOrder = errors.New("no order")

func orders() *eddy.Decoder[*order] {
	decode := func(bytes []byte, o *order) (err error) {
		if o.dirty {
			panic("it was not emptied")
		}
		o.dirty = true
		if o.number, err = strconv.Atoi(string(bytes)); err != nil {
			return errOrder
		}
		return nil
	}
	return eddy.NewDecoder(func() *order { return &order{} }, decode, func(o *order) { *o = order{} })
}

func TestMessagesAreReused(t *testing.T) {
	d := orders()
	var all sync.WaitGroup
	for base := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := range 1000 {
				want := base*1000 + n
				err := d.With([]byte(strconv.Itoa(want)), func(o *order) {
					if o.number != want {
						t.Errorf("%d, not %d", o.number, want)
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	if err := d.With([]byte("none"), func(*order) { t.Error("there is no message") }); !errors.Is(err, errOrder) {
		t.Error(err)
	}
	if err := d.With([]byte("7"), func(*order) {}); err != nil {
		t.Error(err)
	}
	bytes := []byte("7")
	if n := testing.AllocsPerRun(100, func() { _ = d.With(bytes, func(*order) {}) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMessagesOfACallAreDecoded(t *testing.T) {
	check := func(body string, want []string, wantErr bool) {
		t.Helper()
		var got []string
		failed := false
		for message, err := range eddy.GRPCMessages([]byte(body)) {
			if err != nil {
				failed = true
				continue
			}
			got = append(got, string(message))
		}
		if !slices.Equal(got, want) || failed != wantErr {
			t.Errorf("%q: %q %v", body, got, failed)
		}
	}
	check("", nil, false)
	check("\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00", []string{"ab", ""}, false)
	check("\x00\x00\x00\x00\x02ab\x00\x00\x00\x00", []string{"ab"}, true)
	check("\x00\x00\x00\x00\x03ab", nil, true)
	check("\x00\xff\xff\xff\xffab", nil, true)
	check("\x01\x00\x00\x00\x01a", nil, true)
	check("{\"a\":1}", nil, true)
}
