package bridge

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMessagesRoundTrip(t *testing.T) {
	texts := []string{"", "a", "eight by", "more than eight bytes"}
	for range 1000 {
		numbers := make([]int16, rand.IntN(20))
		for i := range numbers {
			numbers[i] = int16(rand.Int())
		}
		text, count := texts[rand.IntN(len(texts))], rand.Int64()
		var out Out
		out.Record(6)
		out.String(0, text)
		WriteSlice(&out, 2, numbers)
		out.I64(4, count)
		out.Bool(5, true)
		in := InReply(out.Words)
		if got := in.String(0); got != text || in.Str(0).View() != text {
			t.Fatalf("%q became %q", text, got)
		}
		got := ReadSlice[int16](in, 2)
		if len(got) != len(numbers) {
			t.Fatalf("%v became %v", numbers, got)
		}
		for i := range got {
			if got[i] != numbers[i] {
				t.Fatalf("%v became %v", numbers, got)
			}
		}
		if in.I64(4) != count || !in.Bool(5) {
			t.Fatal("a number or a bool")
		}
	}
}

func TestNegativeNumbersKeepTheirSign(t *testing.T) {
	var out Out
	out.Record(3)
	out.I8(0, -1)
	out.I16(1, -2)
	out.I32(2, -3)
	in := InReply(out.Words)
	if in.I8(0) != -1 || in.I16(1) != -2 || in.I32(2) != -3 {
		t.Error(in.I8(0), in.I16(1), in.I32(2))
	}
}

// A message of another process may have any content: an invalid one causes a fault and has no other effect.
func TestMessagesOfOtherProcessesAreValidated(t *testing.T) {
	for name, words := range map[string][]uint64{
		"nothing":                {},
		"a place without length": {8},
		"a place outside":        {100, 1 | inMessageFlag},
		"a place far outside":    {1 << 62, 1 | inMessageFlag},
		"a length outside":       {16, 9 | inMessageFlag, 0},
		"a length far outside":   {16, 1<<64 - 1, 0},
		"an address":             {0x1000, 1},
	} {
		for kind, read := range map[string]func(In){
			"string":  func(in In) { _ = in.String(0) },
			"bytes":   func(in In) { ReadSlice[uint8](in, 0) },
			"numbers": func(in In) { ReadSlice[uint64](in, 0) },
			"records": func(in In) { in.Records(0, 2) },
		} {
			t.Run(name+" as "+kind, func(t *testing.T) {
				var err error
				func() {
					defer func() { settle(recover(), &err) }()
					read(InReply(words))
				}()
				var fault *Fault
				if !errors.As(err, &fault) || fault.Kind != FaultMalformed {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

func TestUnalignedNumbersAreRefused(t *testing.T) {
	var err error
	func() {
		defer func() { settle(recover(), &err) }()
		ReadSlice[uint32](InReply([]uint64{17, 1 | inMessageFlag, 0, 0}), 0)
	}()
	if err == nil {
		t.Error("a number was read at an odd place")
	}
}

func TestRandomMessagesAreHandledSafely(t *testing.T) {
	for range 20_000 {
		words := make([]uint64, rand.IntN(12))
		for i := range words {
			words[i] = rand.Uint64()>>rand.IntN(64) | rand.Uint64()&inMessageFlag
		}
		func() {
			var err error
			defer func() { settle(recover(), &err) }()
			in := InReply(words)
			first, length := in.Records(0, 3)
			for i := range length {
				_ = in.String(first + i*3)
			}
			_ = ReadSlice[float64](in, 2)
		}()
	}
}

func TestDispatch(t *testing.T) {
	Register("Dispatched", 7, []Method{
		{Serve: func(_ context.Context, in In, room []uint64) []uint64 {
			out := Out{Words: Room(room, 2)}
			out.String(0, strings.ToUpper(in.String(0)))
			return out.Words
		}},
		{Serve: func(context.Context, In, []uint64) []uint64 { panic("the end") }},
	})
	number, shape, ok := Registered("Dispatched")
	if !ok || shape != 7 {
		t.Fatal("it is not registered")
	}
	var request Out
	request.Record(2)
	request.String(0, "text")
	for _, test := range []struct {
		service, method uint32
		request         []uint64
		status          FaultKind
		text            string
	}{
		{number, 0, request.Words, 0, "TEXT"},
		{number, 0, []uint64{1}, FaultMalformed, "the message ends within its record"},
		{number, 1, nil, FaultPanic, "the end"},
		{number, 2, nil, FaultUnknown, "Dispatched has no method number 2"},
		{99, 0, nil, FaultUnknown, "the Go library has no service number 99"},
	} {
		status, reply := Dispatch(context.Background(), test.service, test.method, test.request)
		if text := InReply(reply).String(0); FaultKind(status) != test.status || text != test.text {
			t.Errorf("%d %q instead of %d %q", status, text, test.status, test.text)
		}
	}
}

func TestADuplicateNameIsRefused(t *testing.T) {
	Register("Once", 1, nil)
	defer func() {
		if recover() == nil {
			t.Error("it was registered twice")
		}
	}()
	Register("Once", 2, nil)
}

func TestAMissingHostIsAnError(t *testing.T) {
	if _, err := Host(); err == nil {
		t.Error("there is a host")
	}
	if _, err := (Rust{}).Bind("Nobody", 1); err == nil {
		t.Error("nobody offers a service")
	}
	if _, err := Open("/nowhere/library.so"); err == nil || !strings.Contains(err.Error(), "/nowhere/library.so") {
		t.Error(err)
	}
}

func TestATableHasALimit(t *testing.T) {
	var waiting table[int]
	for ticket := range uint64(callsMax) {
		if !waiting.put(ticket, 1) {
			t.Fatalf("no room for the %dth", ticket)
		}
	}
	if waiting.put(callsMax, 1) {
		t.Error("there is room for more than there may be")
	}
	if _, ok := waiting.take(5); !ok {
		t.Error("5 is not there")
	}
	if _, ok := waiting.take(5); ok || !waiting.put(callsMax, 1) {
		t.Error("5 is there, or its place was not given back")
	}
}
