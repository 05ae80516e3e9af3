package bridge

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/eddy-gateway/eddy/bridge/go/internal/frame"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// A call whose arguments have the same layout in a message and in Go is a frame: a structure on the goroutine's stack
// with the extent, the arguments themselves, and space for the answer. Strings and lists in it refer to memory of Go.

// Extent returns the extent of a frame with that many words of arguments and of answer.
func Extent(request, room int) uint64 { return frame.Extent(request, room) }

// Short calls a Rust method through assembly where possible. It returns 0 if the answer is in its space, otherwise a
// value for [Service.Otherwise].
func (s *Service) Short(method int, extent *uint64) uintptr {
	if method >= len(s.methods) {
		return isElsewhere
	}
	return fastcall.CallWith(s.methods[method], unsafe.Pointer(extent), s.context)
}

// Call calls a Rust method through cgo, as [Service.Short] does through assembly. Data that the frame points to must
// [Escape]. texts has a bit for each word that starts a list of strings.
func (s *Service) Call(method int, extent *uint64, texts uint64) uintptr {
	if method >= len(s.methods) {
		return isElsewhere
	}
	return frame.Call(s.methods[method], extent, s.context, texts)
}

const (
	// isOutgrown is the outcome of a frame with too many texts.
	isOutgrown = frame.Outgrown
	// isElsewhere is the outcome of a call of another process; larger values are addresses.
	isElsewhere = 2
)

// Escape forces the target of a value onto the heap, because the goroutine's stack moves when Rust calls Go.
func Escape[T any](value T) {
	if never {
		escaped = value
	}
}

var (
	never   bool
	escaped any
)

// View is a list in a frame.
type View struct {
	first  unsafe.Pointer
	length int
}

// ViewOf returns a list of numbers or strings that stays in memory of Go.
func ViewOf[T Number | string](list []T) View {
	return View{unsafe.Pointer(unsafe.SliceData(list)), len(list)}
}

// WordOfBool converts a bool to a word of a frame.
func WordOfBool(v bool) (word uint64) {
	if v {
		word = 1
	}
	return word
}

// WordOfFloat converts a floating-point number to a word of a frame.
func WordOfFloat(v float32) uint64 { return uint64(math.Float32bits(v)) }

// Part describes a word in the arguments of a frame that is not a 64-bit number: a list with elements of that many
// bytes, or a narrow number of that many bytes.
type Part struct {
	At, Size int
	Narrow   bool
}

// Texts is the element size of lists of strings.
const Texts = -1

// Otherwise reads a result that is not an answer in its space, or calls another process. answer is the minimum size of
// the answer in words.
func (s *Service) Otherwise(method int, outcome uintptr, extent *uint64, parts []Part, answer int) (In, error) {
	var kept Kept
	in, err := kept.Otherwise(s, method, outcome, extent, parts, answer)
	kept.free() // only a fault: an answer without lists always fits into its space
	return in, err
}

// Kept owns the memory of a reply that is larger than its space.
type Kept struct {
	// memory is allocated by C.
	memory unsafe.Pointer
}

// Otherwise is [Service.Otherwise] for answers that may have lists: the answer is valid until [Kept.End].
func (k *Kept) Otherwise(
	s *Service, method int, outcome uintptr, extent *uint64, parts []Part, answer int,
) (In, error) {
	switch outcome {
	case isElsewhere:
		return s.callOver(context.Background(), method, flat(extent, parts), answer)
	case isOutgrown:
		request := flat(extent, parts)
		words := append(make([]uint64, 1, 1+len(request)+replyWords), request...)
		words[0] = Extent(len(request), cap(words)-len(words))
		outcome = fastcall.CallCgoWith(s.methods[method], unsafe.Pointer(unsafe.SliceData(words)), s.context)
		if outcome == 0 {
			return whole(InReply(words[len(words):][:words[0]]), answer)
		}
	}
	return k.read(outcome, answer)
}

// read reads a result that is not a reply in its space: status, number of words, and the words.
func (k *Kept) read(outcome uintptr, answer int) (In, error) {
	k.memory = pointerAt(uint64(outcome))
	head := *(*uint64)(k.memory)
	in := In{base: unsafe.Add(k.memory, 8), words: int(uint32(head))}
	if status := FaultKind(head >> 32); status != 0 {
		return In{}, told(status, in)
	}
	return whole(in, answer)
}

func (k *Kept) free() {
	if k.memory != nil {
		free(k.memory)
		k.memory = nil
	}
}

// End releases the memory and converts the panic of an invalid message to an error. Generated code defers it.
func (k *Kept) End(err *error) {
	k.free()
	settle(recover(), err)
}

// flat encodes the request of a frame as a self-contained message.
func flat(extent *uint64, parts []Part) []uint64 {
	length := int(uint32(*extent))
	first := unsafe.Add(unsafe.Pointer(extent), 8)
	out := Out{Words: append(make([]uint64, 0, 2*length+replyWords), unsafe.Slice((*uint64)(first), length)...)}
	for _, part := range parts {
		if part.Narrow {
			out.Words[part.At] &= 1<<(8*part.Size) - 1
			continue
		}
		list := *(*View)(unsafe.Add(first, part.At*8))
		out.Words[part.At], out.Words[part.At+1] = 0, 0
		if part.Size != Texts {
			out.bytes(part.At, list.first, list.length, list.length*part.Size)
			continue
		}
		at := out.Records(part.At, list.length, 2)
		for i, text := range unsafe.Slice((*string)(list.first), list.length) {
			out.String(at+2*i, text)
		}
	}
	return out.Words
}

// whole checks that a reply has all words of its record.
func whole(in In, answer int) (In, error) {
	if in.words < answer {
		return In{}, &Fault{FaultMalformed, fmt.Sprintf("a reply of %d words, fewer than %d", in.words, answer)}
	}
	return in, nil
}

// told reads the text of a fault.
func told(status FaultKind, in In) (err error) {
	defer func() { settle(recover(), &err) }()
	return &Fault{status, in.String(0)}
}

func (s *Service) callOver(ctx context.Context, method int, request []uint64, answer int) (In, error) {
	reply, err := s.transport.Call(ctx, s.number, uint32(method), request)
	if err != nil {
		return In{}, err
	}
	return whole(InReply(reply), answer)
}
