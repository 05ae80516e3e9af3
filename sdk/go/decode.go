package eddy

import (
	"encoding/binary"
	"errors"
	"iter"
	"sync"
)

// Decoder decodes messages of one type for filters that need the whole of one, and uses them again: once as many are there as are
// needed at once, nothing is allocated for them but what the codec itself allocates. A filter that needs some fields only is better
// off with [Body.Field], which decodes nothing.
//
// The codec is the filter's choice, such as vtprotobuf:
//
//	orders := eddy.NewDecoder(func() *pb.Order { return &pb.Order{} },
//		func(bytes []byte, o *pb.Order) error { return o.UnmarshalVT(bytes) },
//		(*pb.Order).Reset)
//
// or that of Google's module, by proto.Unmarshal and proto.Reset. A Decoder may be used by many goroutines at once.
type Decoder[M any] struct {
	pool   sync.Pool
	decode func(bytes []byte, message M) error
	reset  func(message M)
}

// NewDecoder makes a decoder. reset empties a message before it is used again; it may be nil where decode does that itself.
func NewDecoder[M any](fresh func() M, decode func(bytes []byte, message M) error, reset func(message M)) *Decoder[M] {
	d := &Decoder[M]{decode: decode, reset: reset}
	d.pool.New = func() any { return fresh() }
	return d
}

// With decodes a message and calls use with it.
//
// The message is the decoder's: use must not keep it, nor anything in it, as it is decoded over when use has returned. What is to be
// kept is copied. A codec whose strings lie in the input (UnmarshalVTUnsafe) adds that bytes must stay as they are until then: the
// bytes of a [Body] do, up to the next change of the body.
func (d *Decoder[M]) With(bytes []byte, use func(message M)) error {
	message := d.pool.Get().(M)
	err := d.decode(bytes, message)
	if err == nil {
		use(message)
	}
	// Only now: after a panic in decode or use nobody knows what the message holds, and it is left to the collector.
	if d.reset != nil {
		d.reset(message)
	}
	d.pool.Put(message)
	return err
}

// GRPCMessages walks over the messages of a whole body of gRPC: views of it, without the five bytes before each. A frame that is
// compressed or cut off is an error, and the last that comes.
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

// frameBytes stand before a message: whether it is compressed, and its length.
const frameBytes = 5

var (
	errFrame      = errors.New("the body is none of gRPC")
	errCompressed = errors.New("a message is compressed")
	errCut        = errors.New("a message is cut off")
)
