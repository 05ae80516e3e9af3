package cstring

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

func TestAViewSharesItsBytes(t *testing.T) {
	bytes := []byte("abc")
	view := View(unsafe.Pointer(&bytes[0]), 3)
	clone := strings.Clone(view)
	bytes[0] = 'x'
	if view != "xbc" || clone != "abc" {
		t.Errorf("the view is %q, its clone %q", view, clone)
	}
	if View(nil, 3) != "" || View(unsafe.Pointer(&bytes[0]), 0) != "" {
		t.Error("nothing is not empty")
	}
}

func TestATerminatedViewEndsAtTheNul(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("a", 4095), strings.Repeat("a", 4096), strings.Repeat("a", 10_000)} {
		bytes := append([]byte(text), 0, 'x')
		if got := ViewTerminated(unsafe.Pointer(&bytes[0])); got != text {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
	}
	if ViewTerminated(nil) != "" {
		t.Error("nothing is not empty")
	}
}

// The NUL is the last byte before memory that can't be read.
func TestATerminatedViewReadsNoPageTooMuch(t *testing.T) {
	page := os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
	}()
	if err := syscall.Mprotect(memory[2*page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for i := range 2*page - 1 {
		memory[i] = 'a'
	}
	for _, length := range []int{0, 1, 100, page - 1, page, page + 7, 2*page - 1} {
		if got := ViewTerminated(unsafe.Pointer(&memory[2*page-1-length])); len(got) != length {
			t.Errorf("%d bytes became %d", length, len(got))
		}
	}
}

func TestAFilledStringHasTheWrittenBytes(t *testing.T) {
	fill := func(written int) func([]byte) int {
		return func(buffer []byte) int { return max(min(copy(buffer, "abcdef"), written), written) }
	}
	for _, written := range []int{0, 1, 6} {
		if got := Filled(6, fill(written)); got != "abcdef"[:written] {
			t.Errorf("%d bytes written give %q", written, got)
		}
	}
	if Filled(0, nil) != "" {
		t.Error("nothing is not empty")
	}
	for _, wrong := range []int{7, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bytes written into 6 pass", wrong)
				}
			}()
			Filled(6, fill(wrong))
		}()
	}
	if allocations := testing.AllocsPerRun(100, func() { sink = Filled(64, fill(3)) }); allocations > 1 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestAFlatReturnsItsStrings(t *testing.T) {
	var flat Flat
	for round := range 3 {
		var texts []string
		flat.Reset()
		for i := range 50 * (round + 1) {
			text := strings.Repeat(fmt.Sprint(i), i%7)
			texts = append(texts, text)
			flat.Append(text)
		}
		if got := slices.Collect(All(flat.Bytes())); !slices.Equal(got, texts) {
			t.Errorf("%q became %q", texts, got)
		}
	}
	if got := slices.Collect(All(nil)); got != nil {
		t.Errorf("nothing became %q", got)
	}
	for range All(flat.Bytes()) {
		break
	}
	if allocations := testing.AllocsPerRun(100, func() { flat.Reset(); flat.Append("abc"); sinkBytes = flat.Bytes() }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestAFlatIsPaddedWithZeros(t *testing.T) {
	var flat Flat
	flat.Append("xxxx")
	flat.Reset()
	flat.Append("a")
	if got := string(flat.Bytes()[4:]); got != "a\x00\x00\x00" {
		t.Errorf("the bytes are %q", got)
	}
}

func TestAMalformedBufferIsReadSafely(t *testing.T) {
	var flat Flat
	flat.Append("abcde")
	whole := flat.Bytes()
	for length := range whole {
		for text := range All(whole[:length]) {
			if len(text) != 5 || length < 9 {
				t.Errorf("of %d bytes: %q", length, text)
			}
		}
	}
	if got := slices.Collect(All([]byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4})); got != nil {
		t.Errorf("a length that leads out of the buffer gives %q", got)
	}
}

var (
	sink      string
	sinkBytes []byte
)
