package bridge

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/eddy-gateway/eddy/bridge/go/internal/frame"
	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// A call whose arguments have the layout of a message in Go as well is a frame: a structure on the stack of the goroutine
// with the extent, the arguments as they are, and room for the answer. A string or a list in it is where Go has it.

// Extent is that of a frame, of arguments of so many words, and so many words for the answer.
func Extent(request, room int) uint64 { return frame.Extent(request, room) }

// Short calls a method of Rust by assembly, where that is possible. What it gives is 0 where the answer is in its room, and
// otherwise for [Service.Otherwise].
func (s *Service) Short(method int, extent *uint64) uintptr {
	if method >= len(s.methods) {
		return isElsewhere
	}
	return fastcall.CallWith(s.methods[method], unsafe.Pointer(extent), s.context)
}

// Call calls a method of Rust by cgo, as [Service.Short] does by assembly. What the frame points to has to [Escape]; texts
// has a bit for each word that begins a list of strings.
func (s *Service) Call(method int, extent *uint64, texts uint64) uintptr {
	if method >= len(s.methods) {
		return isElsewhere
	}
	return frame.Call(s.methods[method], extent, s.context, texts)
}

const (
	// isOutgrown is the outcome of a frame with too many texts.
	isOutgrown = frame.Outgrown
	// isElsewhere is the outcome of a call of another process; what is larger is an address.
	isElsewhere = 2
)

// Escape has what a value points to be on the heap: the stack of a goroutine moves when Rust calls Go.
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

// ViewOf is a list of numbers or strings where Go has it.
func ViewOf[T Number | string](list []T) View {
	return View{unsafe.Pointer(unsafe.SliceData(list)), len(list)}
}

// WordOfBool is a bool in a frame.
func WordOfBool(v bool) (word uint64) {
	if v {
		word = 1
	}
	return word
}

// WordOfFloat is a number with a fraction in a frame.
func WordOfFloat(v float32) uint64 { return uint64(math.Float32bits(v)) }

// Part tells of a word in the arguments of a frame that is more than a number of 64 bits: a list, whose elements have so
// many bytes, or a narrow number, of which so many bytes mean something.
type Part struct {
	At, Size int
	Narrow   bool
}

// Texts is the size of elements that are strings.
const Texts = -1

// Otherwise reads what there is instead of an answer in its room, or calls another process. answer is how many words the
// answer has at least.
func (s *Service) Otherwise(method int, outcome uintptr, extent *uint64, parts []Part, answer int) (In, error) {
	var kept Kept
	in, err := kept.Otherwise(s, method, outcome, extent, parts, answer)
	kept.free() // it has but a fault: an answer without lists is never larger than its room
	return in, err
}

// Kept has the memory of a reply that is larger than its room.
type Kept struct {
	// memory is from C.
	memory unsafe.Pointer
}

// Otherwise is [Service.Otherwise] where the answer may have lists: it is valid until [Kept.End].
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

// read reads what there is instead of a reply that has room: status and words, and the words.
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

// End gives the memory back, and turns a message that is wrong into an error. Generated code defers it.
func (k *Kept) End(err *error) {
	k.free()
	settle(recover(), err)
}

// flat is the request of a frame as a message that is whole in itself.
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

// whole checks that a reply has as many words as its record.
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
