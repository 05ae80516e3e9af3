package eddy

import (
	"encoding/binary"
	"errors"
	"iter"
	"sync"
)

// Decoder decodes messages of one type for filters that need complete messages, and reuses them: in a steady state it
// allocates nothing, except for allocations of the codec itself. Filters that need only some fields should use
// [Body.Field], which decodes nothing.
//
// The filter chooses the codec, for example vtprotobuf:
//
//	orders := eddy.NewDecoder(func() *pb.Order { return &pb.Order{} },
//		func(bytes []byte, o *pb.Order) error { return o.UnmarshalVT(bytes) },
//		(*pb.Order).Reset)
//
// or Google's module with proto.Unmarshal and proto.Reset. A Decoder is safe for concurrent use.
type Decoder[M any] struct {
	pool   sync.Pool
	decode func(bytes []byte, message M) error
	reset  func(message M)
}

// NewDecoder returns a decoder. reset clears a message before it is reused; it may be nil if decode does that.
func NewDecoder[M any](fresh func() M, decode func(bytes []byte, message M) error, reset func(message M)) *Decoder[M] {
	d := &Decoder[M]{decode: decode, reset: reset}
	d.pool.New = func() any { return fresh() }
	return d
}

// With decodes a message and calls use with it.
//
// The decoder owns the message: use must not keep it or parts of it, because it is reused after use has returned. Copy
// what must be kept. A codec whose strings refer to the input (UnmarshalVTUnsafe) requires that bytes stay unchanged
// until then: those of a [Body] do, until the next change of the body.
func (d *Decoder[M]) With(bytes []byte, use func(message M)) error {
	message := d.pool.Get().(M)
	err := d.decode(bytes, message)
	if err == nil {
		use(message)
	}
	// Only now: after a panic in decode or use, the state of the message is unknown, and it is not reused.
	if d.reset != nil {
		d.reset(message)
	}
	d.pool.Put(message)
	return err
}

// GRPCMessages returns an iterator over the messages of a whole gRPC body, as views without their five-byte prefixes. A
// compressed or truncated frame yields an error and ends the iteration.
func GRPCMessages(body []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for len(body) > 0 {
			if body[0] > 1 {
				yield(nil, errFrame)
				return
			}
			if body[0] == 1 {
				yield(nil, errCompressed)
				return
			}
			if len(body) < frameBytes {
				yield(nil, errCut)
				return
			}
			length := uint64(binary.BigEndian.Uint32(body[1:]))
			body = body[frameBytes:]
			if length > uint64(len(body)) {
				yield(nil, errCut)
				return
			}
			if !yield(body[:length:length], nil) {
				return
			}
			body = body[length:]
		}
	}
}

// frameBytes is the size of the prefix of a message: compression flag and length.
const frameBytes = 5

var (
	errFrame      = errors.New("the body is not gRPC")
	errCompressed = errors.New("a message is compressed")
	errCut        = errors.New("a message is truncated")
)
