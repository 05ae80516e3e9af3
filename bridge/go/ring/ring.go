package ring

import (
	"slices"
	"sync/atomic"
)

// lane is one ring: its control words and its data. Positions count words since the beginning and wrap around at 2^64. Each side
// keeps its own position to itself and only tells it; the other side's is read once where it is needed, and checked.
type lane struct {
	memory  *memory
	control []uint64 // the positions and flags, apart from each other
	data    []byte
	words   []uint64 // the same
	mask    uint64   // of positions, in words
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
func (l *lane) head() *uint64         { return &l.control[apartWords] }
func (l *lane) readerAsleep() *uint64 { return &l.control[2*apartWords] }
func (l *lane) writerAsleep() *uint64 { return &l.control[3*apartWords] }

// distance is the words from one position to a later one.
func (l *lane) distance(from, to uint64) (uint64, *Fault) {
	if used := to - from; used <= l.mask+1 {
		return used, nil
	}
	return 0, misconduct("a position in the ring is off by %d words, the ring has %d", to-from, l.mask+1)
}

// takes says whether a flag is set, and takes it down: it is told once.
func takes(flag *uint64) bool { return atomic.LoadUint64(flag) != 0 && atomic.SwapUint64(flag, 0) != 0 }

// word is the place of one word.
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

// producer is the end of a ring that is written to.
type producer struct {
	lane
	position uint64
}

// tryPush writes a frame if there is room for it, and says whether there was. The bytes are as many as the frame says.
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

// takesReaderSleep says whether the reader sleeps and wants to be woken for what was written.
func (p *producer) takesReaderSleep() bool { return takes(p.readerAsleep()) }

// askForRoom asks the reader for a wake when it has made room. There may be room since: try again before waiting.
func (p *producer) askForRoom() { atomic.StoreUint64(p.writerAsleep(), 1) }

// readerPosition is what the reader says its position is. Nothing is done with it but compare.
func (p *producer) readerPosition() uint64 { return atomic.LoadUint64(p.head()) }

// consumer is the end of a ring that is read from.
type consumer struct {
	lane
	position uint64
}

// peek gives the fixed part of the next frame, if there is one. It is wholly there, and fits into the ring.
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

// take appends the bytes of a frame that peek gave to some others, and frees its room.
func (c *consumer) take(f *frame, into *[]byte) {
	*into = c.read(c.position+frameWords, int(f.bytes), *into)
	c.position += f.words()
	atomic.StoreUint64(c.head(), c.position)
}

// takesWriterSleep says whether the writer waits for room and wants to be woken for what was taken.
func (c *consumer) takesWriterSleep() bool { return takes(c.writerAsleep()) }

// hasMore says whether something was written that is not taken yet.
func (c *consumer) hasMore() bool { return atomic.LoadUint64(c.tail()) != c.position }

// watch tells the writer that nobody needs a wake: this side watches the ring.
func (c *consumer) watch() { atomic.StoreUint64(c.readerAsleep(), 0) }

// rest asks the writer for a wake when it writes. It says whether all is taken; if not, the caller must not sleep.
func (c *consumer) rest() bool {
	atomic.StoreUint64(c.readerAsleep(), 1)
	return !c.hasMore()
}

func truncated(words, used uint64) *Fault {
	return misconduct("a frame of %d words was announced where %d were written", words, used)
}

// split gives both rings of a memory as one side has them: the one that connected writes the first and reads the second.
func split(m *memory, ringBytes int, isConnector bool) (*producer, *consumer) {
	written, read := 1, 0
	if isConnector {
		written, read = 0, 1
	}
	return &producer{lane: newLane(m, ringBytes, written)}, &consumer{lane: newLane(m, ringBytes, read)}
}

// memoryBytes that two rings take.
func memoryBytes(ringBytes int) int { return controlBytes + 2*ringBytes }

// pieceBytesMax of a message go into one frame: with a quarter of the ring the reader copies one while the next is written.
func pieceBytesMax(ringBytes int) int { return ringBytes / 4 }

const (
	controlBytes     = 4096
	laneControlWords = 64
	// Words between two that different processes write, so that they share no cache line, nor a pair of them.
	apartWords = 16
)
