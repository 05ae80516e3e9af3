package ring

// frame is the header of an item in a ring; its bytes follow, padded to whole words.
//
//	word 0   bytes (32 bits) | kind (8) | zero (24)
//	word 1   number of the call
//	word 2   a call's method or a failure's code (32 bits) | a call's timeout in ms (32)
//	word 3   bytes of the whole message
type frame struct {
	kind      kind
	bytes     uint32
	call      uint64
	detail    uint32
	timeoutMs uint32
	total     uint64
}

// kind is the kind of a frame.
type kind uint8

const (
	kindCall    kind = 1 // starts a call
	kindAnswer  kind = 2 // starts an answer
	kindFailure kind = 3 // starts a failure, which replaces an answer
	kindCancel  kind = 4 // the caller no longer waits for the answer
	kindMore    kind = 5 // next piece of the message started last
)

func (f *frame) toWords() [frameWords]uint64 {
	return [frameWords]uint64{
		uint64(f.bytes) | uint64(f.kind)<<32, f.call, uint64(f.detail) | uint64(f.timeoutMs)<<32, f.total,
	}
}

func parseFrame(words [frameWords]uint64) (frame, *Fault) {
	if words[0]>>40 != 0 {
		return frame{}, misconduct("reserved bits of a frame are set")
	}
	f := frame{
		kind: kind(words[0] >> 32), bytes: uint32(words[0]), call: words[1],
		detail: uint32(words[2]), timeoutMs: uint32(words[2] >> 32), total: words[3],
	}
	if f.kind < kindCall || f.kind > kindMore {
		return frame{}, misconduct("a frame has the unknown kind %d", f.kind)
	}
	return f, nil
}

// words returns the size of the frame in a ring.
func (f *frame) words() uint64 { return frameWords + (uint64(f.bytes)+wordBytes-1)/wordBytes }

const (
	frameWords = 4
	wordBytes  = 8
)

// message is a complete message of the other side.
type message struct {
	kind      kind
	call      uint64
	detail    uint32
	timeoutMs uint32
	bytes     []byte
}

// assembler joins consecutive pieces to messages. A writer never interleaves the pieces of two messages; to abandon a
// message, it starts the next one. So there is at most one incomplete message, and its memory grows with the received
// bytes, not with the announced size.
type assembler struct {
	messageBytesMax uint64
	pieceBytesMax   uint64
	isUnfinished    bool
	message         message
	total           uint64
}

// accept validates a frame and returns the buffer to append its bytes to.
func (a *assembler) accept(f *frame) (*[]byte, *Fault) {
	if f.kind != kindMore {
		if f.total > a.messageBytesMax {
			return nil, misconduct("a message announced %d bytes; the limit is %d", f.total, a.messageBytesMax)
		}
		a.isUnfinished = true
		a.message = message{kind: f.kind, call: f.call, detail: f.detail, timeoutMs: f.timeoutMs}
		a.total = f.total
	}
	if !a.isUnfinished || a.message.call != f.call || a.total != f.total {
		return nil, misconduct("a piece belongs to no message")
	}
	expected := min(a.total-uint64(len(a.message.bytes)), a.pieceBytesMax)
	if uint64(f.bytes) != expected || (f.kind == kindMore && expected == 0) {
		return nil, misconduct("a piece of a message has %d bytes instead of %d", f.bytes, expected)
	}
	return &a.message.bytes, nil
}

// takeWhole returns the message if its last piece has arrived.
func (a *assembler) takeWhole() (message, bool) {
	if !a.isUnfinished || uint64(len(a.message.bytes)) != a.total {
		return message{}, false
	}
	whole := a.message
	a.message, a.isUnfinished = message{}, false
	return whole, true
}
