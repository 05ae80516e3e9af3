package bridge

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

// Shorts tells how texts and numbers get into the message of a short call. Generated code calls it.
func (s *Service) Shorts() Lists { return s.shorts }

// CallShort makes the call, by assembly where that is possible. answer is how many words the answer has at least.
func (s *Service) CallShort(o *Out, answer int) (In, error) {
	if s.transport != nil {
		return s.callOver(context.Background(), o, answer)
	}
	end := len(o.Words)
	if cap(o.Words)-end < answer {
		o.grow(answer)
	}
	block := o.Words[:cap(o.Words)]
	block[extent] = uint64(len(block))<<32 | uint64(end)
	block[outcome] = 0
	block[place] = s.context
	fastcall.Call(s.at(block[target]), unsafe.Pointer(unsafe.SliceData(block)))
	length := int(block[outcome])
	if uint(length) > uint(len(block)-end) || length < answer {
		return unusual(block, end)
	}
	if length == 0 {
		return In{}, nil
	}
	return In{base: unsafe.Pointer(&block[end]), words: length}, nil
}

// KeepAlive keeps what a variable has in memory until here. A short call has but addresses of it, which the collector of
// garbage doesn't follow. Generated code calls it.
func KeepAlive[T any](variable *T) { runtime.KeepAlive(variable) }

// unusual reads a reply that is a fault, or larger than its room: a copy, so that nobody has to free it.
//
//go:noinline
func unusual(block []uint64, end int) (In, error) {
	status, length := FaultKind(block[outcome]>>32), int(uint32(block[outcome]))
	var reply []uint64
	if length <= len(block)-end {
		reply = append(reply, block[end:end+length]...)
	} else {
		memory := pointerAt(block[place])
		reply = append(reply, unsafe.Slice((*uint64)(memory), length)...)
		free(memory)
	}
	in := In{base: unsafe.Pointer(unsafe.SliceData(reply)), words: len(reply)}
	if status == 0 {
		return in, nil
	}
	return In{}, told(status, in)
}

// told reads the text of a fault.
func told(status FaultKind, in In) (err error) {
	defer Recover(&err)
	return &Fault{status, in.String(0)}
}

// Recover turns a message that is wrong into an error. Generated code defers it.
func Recover(err *error) {
	if r := recover(); r != nil {
		fault, ok := r.(*Fault)
		if !ok {
			panic(r)
		}
		*err = fault
	}
}

func (s *Service) callOver(ctx context.Context, o *Out, answer int) (In, error) {
	// A copy, because what a transport does with it would move every block of a short call to the heap.
	request := append([]uint64(nil), o.Words[HeaderWords:]...)
	reply, err := s.transport.Call(ctx, s.number, uint32(o.Words[target]), request)
	if err != nil {
		return In{}, err
	}
	if len(reply) < answer {
		return In{}, &Fault{FaultMalformed, fmt.Sprintf("a reply of %d words, fewer than %d", len(reply), answer)}
	}
	return In{base: unsafe.Pointer(unsafe.SliceData(reply)), words: len(reply)}, nil
}
