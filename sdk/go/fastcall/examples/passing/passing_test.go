//go:build cgo

package passing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/cstring"
)

func TestEveryWayOfPassingAStringGivesTheSameSum(t *testing.T) {
	for text, expected := range map[string]uint64{"": 0, "a": 2*'a' + 1, "abc": 'a' + 'c' + 3, strings.Repeat("x", 5000): 2*'x' + 5000} {
		for name, sum := range map[string]func(string) uint64{
			"Sum": Sum, "SumEscaping": SumEscaping, "SumFast": SumFast, "SumCString": SumCString,
			"SumBytes":         func(text string) uint64 { return SumBytes([]byte(text)) },
			"SumBytesEscaping": func(text string) uint64 { return SumBytesEscaping([]byte(text)) },
		} {
			if got := sum(text); got != expected {
				t.Errorf("%s of %d bytes is %d instead of %d", name, len(text), got, expected)
			}
		}
	}
}

func TestStringsOfCAreViewedAndCopied(t *testing.T) {
	if !HasName(1, "user-agent") || HasName(1, "host") || HasName(99, "host") || !HasName(99, "") {
		t.Error("a name is not seen as it is")
	}
	if got := []string{Name(0), Name(3), Name(99), NameGoString(2)}; !slices.Equal(got, []string{"host", "authorization", "", "accept"}) {
		t.Errorf("the names are %q", got)
	}
	if !HasMotto("down once, up once") || HasMotto("down once") {
		t.Error("the motto is not seen as it is")
	}
}

func TestCFillsStringsOfGo(t *testing.T) {
	if Hex(0xeddf) != "000000000000eddf" || HexMalloc(0xeddf) != "000000000000eddf" {
		t.Errorf("%q, %q", Hex(0xeddf), HexMalloc(0xeddf))
	}
	if got := AppendLetters([]byte("12"), 3); string(got) != "12abc" {
		t.Errorf("%q", got)
	}
}

func TestEveryWayOfPassingManyStringsGivesTheSameSum(t *testing.T) {
	var batch Batch
	for _, texts := range [][]string{nil, {""}, {"a", "", "bcd"}, headers} {
		expected := uint64(0)
		for _, text := range texts {
			expected += Sum(text)
		}
		for name, sum := range map[string]func([]string) uint64{
			"Batch.Sum": batch.Sum, "Batch.SumFast": batch.SumFast, "SumHeadersFast": SumHeadersFast,
			"SumEach": SumEach, "SumPinned": SumPinned, "SumCStrings": SumCStrings,
		} {
			if got := sum(texts); got != expected {
				t.Errorf("%s of %q is %d instead of %d", name, texts, got, expected)
			}
		}
	}
	if got := slices.Collect(cstring.All(Packed())); !slices.Equal(got, []string{"go", "rust", ""}) {
		t.Errorf("C's texts are %q", got)
	}
}

func TestATableIsPassedCompletely(t *testing.T) {
	table := Table{7}
	if SumTableCopied(table) != 7 || SumTable(&table) != 7 || SumTableTyped(&table) != 7 {
		t.Error("the first byte is another")
	}
}

// The allocations of each way are the reason to choose it.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates by itself")
	}
	var batch Batch
	batch.Sum(headers)
	table := new(Table)
	buffer := make([]byte, 0, 64)
	fresh := func() string { return string(source[:32]) }
	for _, way := range []struct {
		name     string
		expected float64
		run      func()
	}{
		{"Sum of a fresh string", 0, func() { Sum(fresh()) }},
		{"SumFast of a fresh string", 0, func() { SumFast(fresh()) }},
		{"SumEscaping of a fresh string", 1, func() { SumEscaping(fresh()) }},
		{"SumBytes of a stack", 0, func() { var bytes [64]byte; SumBytes(bytes[:]) }},
		{"SumBytesEscaping of a stack", 1, func() { var bytes [64]byte; SumBytesEscaping(bytes[:]) }},
		{"HasName", 0, func() { HasName(1, "user-agent") }},
		{"HasMotto", 0, func() { HasMotto("down once") }},
		{"Name", 1, func() { sinkString = Name(1) }},
		{"Hex", 1, func() { sinkString = Hex(1) }},
		{"AppendLetters", 0, func() { AppendLetters(buffer, 64) }},
		{"Batch.Sum", 0, func() { batch.Sum(headers) }},
		{"Batch.SumFast", 0, func() { batch.SumFast(headers) }},
		{"SumHeadersFast", 0, func() { SumHeadersFast(headers) }},
		{"SumEach", 0, func() { SumEach(headers) }},
		{"SumTable", 0, func() { SumTable(table) }},
		{"SumTableTyped", 0, func() { SumTableTyped(table) }},
	} {
		if got := testing.AllocsPerRun(100, way.run); got != way.expected {
			t.Errorf("%s: %v allocations instead of %v", way.name, got, way.expected)
		}
	}
	if got := testing.AllocsPerRun(100, func() { SumTableCopied(*table) }); got < 1 {
		t.Error("SumTableCopied does not copy any more: tell the readers")
	}
}

func BenchmarkToC(b *testing.B) {
	var bytes [64]byte
	run(b, "string", func() { Sum(heap) })
	run(b, "string-escaping", func() { SumEscaping(heap) })
	run(b, "string-fast", func() { SumFast(heap) })
	run(b, "fresh", func() { Sum(string(source[:32])) })
	run(b, "fresh-escaping", func() { SumEscaping(string(source[:32])) })
	run(b, "fresh-cstring", func() { SumCString(string(source[:32])) })
	run(b, "bytes", func() { SumBytes(bytes[:]) })
}

func BenchmarkFromC(b *testing.B) {
	buffer := make([]byte, 0, 64)
	run(b, "view", func() { HasName(1, "user-agent") })
	run(b, "view-terminated", func() { HasMotto("down once, up once") })
	run(b, "clone", func() { sinkString = Name(1) })
	run(b, "gostring", func() { sinkString = NameGoString(1) })
	run(b, "filled", func() { sinkString = Hex(1) })
	run(b, "malloc", func() { sinkString = HexMalloc(1) })
	run(b, "appended", func() { AppendLetters(buffer, 16) })
}

func BenchmarkBatchOf16(b *testing.B) {
	var batch Batch
	run(b, "cstring", func() { SumCStrings(headers) })
	run(b, "pinner", func() { SumPinned(headers) })
	run(b, "each", func() { SumEach(headers) })
	run(b, "flat", func() { batch.Sum(headers) })
	run(b, "headers-fast", func() { SumHeadersFast(headers) })
	run(b, "flat-fast", func() { batch.SumFast(headers) })
}

func BenchmarkArray(b *testing.B) {
	table := new(Table)
	run(b, "copied", func() { SumTableCopied(*table) })
	run(b, "address-first", func() { SumTable(table) })
	run(b, "typed", func() { SumTableTyped(table) })
}

func run(b *testing.B, name string, work func()) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			work()
		}
	})
}

var (
	source     = []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	heap       = strings.Repeat("a", 32)
	headers    = makeHeaders()
	sinkString string
)

// makeHeaders returns 16 strings of 24 bytes, each in separate memory.
func makeHeaders() []string {
	headers := make([]string, 16)
	for i := range headers {
		headers[i] = fmt.Sprintf("x-header-%02d: some-values", i)[:24]
	}
	return headers
}
