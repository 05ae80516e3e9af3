// Package frame calls native functions through cgo with arguments on the goroutine's stack, although the function may
// call Go, which may move the stack. cgo itself does not support this: either the argument escapes, or calls back are
// not allowed.
package frame

// int frame_call(void *);
// static void *frame_call_at(void) { return (void *)frame_call; }
import "C"

import (
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

const (
	// WordsMax is the maximum number of words of a frame after its extent.
	WordsMax = 96
	// Outgrown is the outcome of a call that was not made, because its frame has more words, or its lists have more
	// than 64 strings.
	Outgrown = 1
)

// Extent returns the first word of a frame, for a request and a reply of that many words: the number of following words
// in the upper half, and the number of request words in the lower half.
func Extent(request, room int) uint64 { return uint64(request+room)<<32 | uint64(request) }

// Call calls `uintptr_t fn(uint64_t *words, uintptr_t word)` with a copy of a frame: words on the goroutine's stack
// that start with an extent, followed by the request and space for the reply. If the function returns 0, it has written
// the number of reply words to keep to the first word. Any other value is the outcome.
//
// Data that the request points to must be on the heap or in C memory, and is kept alive by the frame itself. The
// function gets memory of Go under the same rules as the argument of a cgo call. Lists of strings contain pointers, so
// they are copied as well, up to 64 strings: texts has a bit for each word of the request that starts such a list.
//
//go:noinline
func Call(fn fastcall.Func, words *uint64, word uintptr, texts uint64) uintptr {
	call := call{uintptr(fn), word, words, texts, 0}
	if cgocall(function, &call) == 0 {
		return 0
	}
	return call.outcome
}

// call is the argument of frame.c.
type call struct {
	fn, word uintptr
	words    *uint64
	texts    uint64
	outcome  uintptr
}

var function = C.frame_call_at()

// The runtime's half of every cgo call. Its source guarantees that it stays unchanged for packages that link to it by
// name.
//
// Its argument has a type here, unlike in the runtime: with the address sanitizer and with checkptr=2, a value that is
// converted to unsafe.Pointer escapes, but this one must be on the stack.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn unsafe.Pointer, arg *call) int32
