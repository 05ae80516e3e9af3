// Package frame calls native functions by cgo with arguments that are on the goroutine's stack, although the function may
// call Go, so that the stack may move. cgo has no such call of its own: an argument escapes, or nothing may be called back.
package frame

// int frame_call(void *);
// static void *frame_call_at(void) { return (void *)frame_call; }
import "C"

import (
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

const (
	// WordsMax is how many words a frame may have behind its extent.
	WordsMax = 96
	// Outgrown is the outcome of a call that was not made, because there are more words than that, or the lists have more
	// texts than 64.
	Outgrown = 1
)

// Extent is the first word of a frame, with a request of so many words, and room for so many: how many words follow, in
// the upper half, and how many of them are the request.
func Extent(request, room int) uint64 { return uint64(request+room)<<32 | uint64(request) }

// Call calls `uintptr_t fn(uint64_t *words, uintptr_t word)` with a copy of a frame: words on the stack of the goroutine that
// begin with an extent, and have a request behind it, and room for a reply. Where the function gives 0, it has written to
// the first word how many words of the room to keep. What else it gives is the outcome.
//
// What the request points to has to be on the heap, or in memory of C, and to be kept alive by the frame itself. The
// function gets of Go's memory what an argument of a call by cgo may point to; so lists of strings, which point further,
// are copied, too, up to 64 strings: texts has a bit for each word of the request that is, with the next, such a list.
//
//go:noinline
func Call(fn fastcall.Func, words *uint64, word uintptr, texts uint64) uintptr {
	call := call{uintptr(fn), word, words, texts, 0}
	if cgocall(function, &call) == 0 {
		return 0
	}
	return call.outcome
}

// call is what frame.c makes a call of.
type call struct {
	fn, word uintptr
	words    *uint64
	texts    uint64
	outcome  uintptr
}

var function = C.frame_call_at()

// The runtime's half of every call by cgo. Its source says that it stays as it is, for packages that name it like this.
//
// Its argument has a type here, which the runtime's doesn't: with the address sanitizer, and with checkptr=2, what is
// converted to an unsafe.Pointer escapes, and this has to be on the stack.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn unsafe.Pointer, arg *call) int32
