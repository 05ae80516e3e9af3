package ring

import (
	"slices"
	"sync/atomic"
)

// lane is one ring: its control words and its data. Positions count words from the start and wrap around at 2^64. Each
// side keeps its own position privately and only publishes it; it reads the other side's position once where it is
// needed, and validates it.
type lane struct {
	memory  *memory
	control []uint64 // positions and flags, on separate cache lines
	data    []byte
	words   []uint64 // the same data
	mask    uint64   // for positions in words
}

func newLane(m *memory, ringBytes, index int) lane {
	begin := controlBytes + index*ringBytes
	return lane{
		memory:  m,
		control: m.words[index*laneControlWords:][:laneControlWords],
		data:    m.bytes[begin:][:ringBytes],
		words:   m.words[begin/wordBytes:][:ringBytes/wordBytes],
		mask:    uint64(ringBytes/wordBytes) - 1,
	}
}

func (l *lane) tail() *uint64         { return &l.control[0] }
func (l *lane) head() *uint64         { return &l.control[controlWordSpacing] }
func (l *lane) readerAsleep() *uint64 { return &l.control[2*controlWordSpacing] }
func (l *lane) writerAsleep() *uint64 { return &l.control[3*controlWordSpacing] }

// distance returns the number of words from one position to a later one.
func (l *lane) distance(from, to uint64) (uint64, *Fault) {
	if used := to - from; used <= l.mask+1 {
		return used, nil
	}
	return 0, misconduct("a ring position is off by %d words; the ring has %d", to-from, l.mask+1)
}

// takes tests and clears a flag: it is reported once.
func takes(flag *uint64) bool { return atomic.LoadUint64(flag) != 0 && atomic.SwapUint64(flag, 0) != 0 }

// word returns the address of a word.
func (l *lane) word(position uint64) *uint64 { return &l.words[position&l.mask] }

// write copies bytes to a position.
func (l *lane) write(position uint64, bytes []byte) {
	begin := int(position&l.mask) * wordBytes
	copied := copy(l.data[begin:], bytes)
	copy(l.data, bytes[copied:])
}

// read appends bytes from a position.
func (l *lane) read(position uint64, count int, into []byte) []byte {
	begin := int(position&l.mask) * wordBytes
	into = slices.Grow(into, count)
	first := l.data[begin:min(begin+count, len(l.data))]
	into = append(into, first...)
	return append(into, l.data[:count-len(first)]...)
}

// producer is the writing end of a ring.
type producer struct {
	lane
	position uint64
}

// tryPush writes a frame if there is space, and returns whether there was. The number of bytes must match the frame.
func (p *producer) tryPush(f *frame, bytes []byte) (bool, *Fault) {
	used, fault := p.distance(atomic.LoadUint64(p.head()), p.position)
	if fault != nil {
		return false, fault
	}
	if f.words() > p.mask+1-used {
		return false, nil
	}
	for index, word := range f.toWords() {
		atomic.StoreUint64(p.word(p.position+uint64(index)), word)
	}
	p.write(p.position+frameWords, bytes)
	p.position += f.words()
	atomic.StoreUint64(p.tail(), p.position)
	return true, nil
}

// mustWakeReader returns whether the reader sleeps and must be woken for the written data.
func (p *producer) mustWakeReader() bool { return takes(p.readerAsleep()) }

// requestWriterWake requests a wake from the reader when it has freed space. There may be space already: try again before
// waiting.
func (p *producer) requestWriterWake() { atomic.StoreUint64(p.writerAsleep(), 1) }

// readerPosition returns the published position of the reader. It is only used for comparisons.
func (p *producer) readerPosition() uint64 { return atomic.LoadUint64(p.head()) }

// consumer is the reading end of a ring.
type consumer struct {
	lane
	position uint64
}

// peek returns the header of the next frame, if any. The frame is complete and fits into the ring.
func (c *consumer) peek() (frame, bool, *Fault) {
	used, fault := c.distance(c.position, atomic.LoadUint64(c.tail()))
	if fault != nil || used == 0 {
		return frame{}, false, fault
	}
	if used < frameWords {
		return frame{}, false, truncated(frameWords, used)
	}
	var words [frameWords]uint64
	for index := range words {
		words[index] = atomic.LoadUint64(c.word(c.position + uint64(index)))
	}
	f, fault := parseFrame(words)
	if fault == nil && f.words() > used {
		fault = truncated(f.words(), used)
	}
	return f, fault == nil, fault
}

// take appends the bytes of the frame returned by peek and frees its space.
func (c *consumer) take(f *frame, into *[]byte) {
	*into = c.read(c.position+frameWords, int(f.bytes), *into)
	c.position += f.words()
	atomic.StoreUint64(c.head(), c.position)
}

// mustWakeWriter returns whether the writer waits for space and must be woken for the freed space.
func (c *consumer) mustWakeWriter() bool { return takes(c.writerAsleep()) }

// hasMore returns whether there is unread data.
func (c *consumer) hasMore() bool { return atomic.LoadUint64(c.tail()) != c.position }

// watch publishes that no wake is needed, because this side polls the ring.
func (c *consumer) watch() { atomic.StoreUint64(c.readerAsleep(), 0) }

// rest requests a wake from the writer. It returns whether the ring is empty; if not, the caller must not sleep.
func (c *consumer) rest() bool {
	atomic.StoreUint64(c.readerAsleep(), 1)
	return !c.hasMore()
}

func truncated(words, used uint64) *Fault {
	return misconduct("a frame announced %d words, but %d were written", words, used)
}

// split returns both rings of a memory for one side: the connecting side writes the first and reads the second.
func split(m *memory, ringBytes int, isConnector bool) (*producer, *consumer) {
	written, read := 1, 0
	if isConnector {
		written, read = 0, 1
	}
	return &producer{lane: newLane(m, ringBytes, written)}, &consumer{lane: newLane(m, ringBytes, read)}
}

// memoryBytes returns the size of the memory for two rings.
func memoryBytes(ringBytes int) int { return controlBytes + 2*ringBytes }

// pieceBytesMax returns the maximum number of message bytes in a frame: with a quarter of the ring, the reader copies
// one frame while the next is written.
func pieceBytesMax(ringBytes int) int { return ringBytes / 4 }

const (
	controlBytes     = 4096
	laneControlWords = 64
	// Distance in words between two words that different processes write, so that they share neither a cache line nor a
	// pair of lines.
	controlWordSpacing = 16
)
