package ring

// frame is the fixed part of what lies in a ring; its bytes follow it, padded to whole words.
//
//	word 0   bytes (32 bits) | kind (8) | zero (24)
//	word 1   number of the call
//	word 2   a call's method or a failure's code (32 bits) | a call's time in ms (32)
//	word 3   bytes of the whole message
type frame struct {
	kind      kind
	bytes     uint32
	call      uint64
	detail    uint32
	timeoutMs uint32
	total     uint64
}

// kind is what a frame is.
type kind uint8

const (
	kindCall    kind = 1 // begins a call
	kindAnswer  kind = 2 // begins the answer to one
	kindFailure kind = 3 // begins a failure, which is told instead of an answer
	kindCancel  kind = 4 // nobody waits for the answer of a call any longer
	kindMore    kind = 5 // the next piece of the message that was begun last
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
		return frame{}, misconduct("a frame is of the unknown kind %d", f.kind)
	}
	return f, nil
}

// words that the frame takes in a ring.
func (f *frame) words() uint64 { return frameWords + (uint64(f.bytes)+wordBytes-1)/wordBytes }

const (
	frameWords = 4
	wordBytes  = 8
)

// message is a whole message of the other side.
type message struct {
	kind      kind
	call      uint64
	detail    uint32
	timeoutMs uint32
	bytes     []byte
}

// assembler puts messages together from pieces that follow each other. A writer never mixes the pieces of two messages; one that
// gives a message up just begins the next. So there is one unfinished message at most, and its memory grows with what has come of
// it, not with what was announced.
type assembler struct {
	messageBytesMax uint64
	pieceBytesMax   uint64
	isUnfinished    bool
	message         message
	total           uint64
}

// accept checks a frame, and gives what its bytes are to be appended to.
func (a *assembler) accept(f *frame) (*[]byte, *Fault) {
	if f.kind != kindMore {
		if f.total > a.messageBytesMax {
			return nil, misconduct("a message of %d bytes was announced, the limit is %d", f.total, a.messageBytesMax)
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

// takeWhole gives the message if its last piece has come.
func (a *assembler) takeWhole() (message, bool) {
	if !a.isUnfinished || uint64(len(a.message.bytes)) != a.total {
		return message{}, false
	}
	whole := a.message
	a.message, a.isUnfinished = message{}, false
	return whole, true
}
