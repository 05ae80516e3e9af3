package frame

import (
	"testing"
	"unsafe"

	"github.com/eddy-gateway/eddy/bridge/go/internal/frame/native"
)

func TestAFrameIsCopiedAndItsResultReturned(t *testing.T) {
	for _, count := range []int{0, 1, 64} {
		texts := make([]string, count)
		for i := range texts {
			texts[i] = "\x01\x02"
		}
		frame := struct {
			extent uint64
			texts  unsafe.Pointer
			length int
			number uint64
			reply  [3]uint64
		}{Extent(3, 3), unsafe.Pointer(unsafe.SliceData(texts)), count, 40, [3]uint64{7, 7, 7}}
		if outcome := Call(native.Sum, &frame.extent, 2, 1<<0); outcome != 0 {
			t.Fatal(outcome)
		}
		if want := [3]uint64{uint64(3 * count), 42, 7}; frame.reply != want {
			t.Errorf("%d texts are %v, not %v", count, frame.reply, want)
		}
		if frame.texts != unsafe.Pointer(unsafe.SliceData(texts)) || frame.extent != Extent(3, 3) {
			t.Error("the request was changed")
		}
		if outcome := Call(native.Sum, &frame.extent, 0, 1<<0); outcome != 77 {
			t.Errorf("the outcome is %d", outcome)
		}
	}
}

func TestAFrameReportsStringsBeyondItsCapacity(t *testing.T) {
	texts := make([]string, 200)
	frame := struct {
		extent uint64
		texts  unsafe.Pointer
		length int
		number uint64
	}{Extent(3, 0), unsafe.Pointer(unsafe.SliceData(texts)), len(texts), 0}
	for length, want := range map[int]uintptr{64: 0, 65: Outgrown, 200: Outgrown} {
		frame.length = length
		if outcome := Call(native.Sum, &frame.extent, 2, 1<<0); outcome != want {
			t.Errorf("of %d texts the outcome is %d", length, outcome)
		}
	}
	if outcome := Call(native.Sum, &frame.extent, 2, 0); outcome != 0 {
		t.Errorf("lists that are not copied have no limit: %d", outcome)
	}
	words := make([]uint64, 1+WordsMax+1)
	words[0] = Extent(3, WordsMax-2)
	if outcome := Call(native.Sum, &words[0], 2, 0); outcome != Outgrown {
		t.Errorf("more words than there is room for are %d", outcome)
	}
	words[0] = Extent(3, WordsMax-3)
	if outcome := Call(native.Sum, &words[0], 2, 0); outcome != 0 || words[5] != 2 {
		t.Errorf("as many words as there is room for are %d", outcome)
	}
}
