package bridge

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// recorder is another process that records requests and always returns the same reply.
type recorder struct {
	method  uint32
	request []uint64
	reply   []uint64
	err     error
}

func (r *recorder) Call(_ context.Context, _, method uint32, request []uint64) ([]uint64, error) {
	r.method, r.request = method, request
	return r.reply, r.err
}

// framed is a frame as in generated code, with a text, a list, and a struct with narrow fields.
type framed struct {
	extent  uint64
	text    string
	texts   View
	numbers View
	flag    uint64
	narrow  uint64
	reply   [1]uint64
}

var framedParts = []Part{
	{At: 0, Size: 1}, {At: 2, Size: Texts}, {At: 4, Size: 2}, {At: 6, Size: 1, Narrow: true}, {At: 7, Size: 4, Narrow: true},
}

func TestAFrameForAnotherProcessIsAMessage(t *testing.T) {
	other := &recorder{reply: []uint64{7}}
	service := Over(other, 3)
	frame := framed{
		extent: Extent(8, 1), text: "a text", texts: ViewOf([]string{"one", "", "three"}), numbers: ViewOf([]int16{-1, 2}),
		flag: 0xffff_ff01, narrow: 1<<63 | 5,
	}
	for _, outcome := range []uintptr{service.Short(4, &frame.extent), service.Call(4, &frame.extent, 1<<2)} {
		in, err := service.Otherwise(4, outcome, &frame.extent, framedParts, 1)
		if err != nil || in.U64(0) != 7 || other.method != 4 {
			t.Fatal(in, err, other.method)
		}
		in = InReply(other.request)
		first, n := in.Records(2, 2)
		texts := make([]string, n)
		for i := range texts {
			texts[i] = in.String(first + 2*i)
		}
		if in.String(0) != "a text" || !slices.Equal(texts, []string{"one", "", "three"}) {
			t.Errorf("the texts are %q and %q", in.String(0), texts)
		}
		if numbers := ReadSlice[int16](in, 4); !slices.Equal(numbers, []int16{-1, 2}) {
			t.Errorf("the numbers are %v", numbers)
		}
		// Padding between the fields of a struct is not sent to another process.
		if in.U64(6) != 1 || in.U64(7) != 5 {
			t.Errorf("narrow numbers are %#x and %#x", in.U64(6), in.U64(7))
		}
	}
	if frame.flag != 0xffff_ff01 || frame.text != "a text" {
		t.Error("the frame was changed")
	}
}

func TestResponsesOfAnotherProcessAreValidated(t *testing.T) {
	frame := framed{extent: Extent(8, 1)}
	service := Over(&recorder{}, 3)
	_, err := service.Otherwise(0, service.Short(0, &frame.extent), &frame.extent, framedParts, 1)
	var fault *Fault
	if !errors.As(err, &fault) || fault.Kind != FaultMalformed {
		t.Errorf("a reply without words is %v", err)
	}
	broken := errors.New("broken")
	service = Over(&recorder{err: broken}, 3)
	if _, err := service.Otherwise(0, service.Short(0, &frame.extent), &frame.extent, nil, 0); !errors.Is(err, broken) {
		t.Errorf("a link that broke is %v", err)
	}
}
