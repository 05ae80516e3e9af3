package stream

import (
	"slices"
	"strconv"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// buffer is a body or a piece of one: the received bytes without a prefix, with data before and after them. The
// received bytes are neither copied nor sent again unless requested.
type buffer struct {
	x       *exchange
	came    []byte
	isOurs  bool // the received bytes are memory of Go
	drained int
	before  []byte
	behind  []byte
	// injected is sent before everything else, regardless of the rest.
	injected []byte
	isOver   bool
}

// open returns the buffer of a body phase.
func (w *way) open(c *raw.Call) *buffer {
	b := &buffer{x: w.x, isOurs: w.copy != nil}
	if c.EditsBody() {
		// An earlier filter in the crossing has changed it.
		b.came, b.isOurs = c.AppendBody(nil), true
	} else {
		b.came = c.Body.Bytes()
	}
	w.x.mutex.Lock()
	defer w.x.mutex.Unlock()
	if w.more != nil {
		b.before, w.more.added = w.more.added, nil
		b.injected, w.more.injected = w.more.injected, nil
	}
	w.body = b
	return b
}

// keep preserves the buffer beyond the hook. The caller holds the mutex, also for the next three methods.
func (b *buffer) keep() {
	if !b.isOurs {
		b.came, b.isOurs = slices.Clone(b.came), true
	}
}

// close ends the buffer: it is empty from now on.
func (b *buffer) close() {
	b.came, b.drained, b.before, b.behind, b.injected, b.isOver = nil, 0, nil, nil, nil, true
}

// drop removes all data.
func (b *buffer) drop() { b.drained, b.before, b.behind = len(b.came), nil, nil }

func (b *buffer) inject(data []byte) { b.injected = append(b.injected, data...) }

// ship writes the changes as edits.
func (b *buffer) ship(w *way) error {
	text := func(bytes []byte) string { return unsafe.String(unsafe.SliceData(bytes), len(bytes)) }
	before := b.before
	if len(b.injected) != 0 {
		before = slices.Concat(b.injected, b.before)
	}
	if b.drained == len(b.came) && b.drained != 0 && len(before)+len(b.behind) != 0 {
		if len(before) != 0 {
			before = slices.Concat(before, b.behind)
		} else {
			before = b.behind
		}
		return w.edit(raw.OpBodySet, "", text(before), 0)
	}
	if b.drained != 0 {
		if err := w.edit(raw.OpBodyDrain, "", "", uint32(b.drained)); err != nil {
			return err
		}
	}
	if len(before) != 0 {
		if err := w.edit(raw.OpBodyPrepend, "", text(before), 0); err != nil {
			return err
		}
	}
	if len(b.behind) != 0 {
		return w.edit(raw.OpBodyAppend, "", text(b.behind), 0)
	}
	return nil
}

func (b *buffer) lock() { b.x.mutex.Lock() }

func (b *buffer) unlock() { b.x.mutex.Unlock() }

func (b *buffer) length() int { return len(b.before) + len(b.came) - b.drained + len(b.behind) }

// content returns a copy of all data.
func (b *buffer) content() []byte {
	if b.length() == 0 {
		return nil
	}
	return slices.Concat(b.before, b.came[b.drained:], b.behind)
}

func (b *buffer) drain(n int) {
	cut := func(from []byte) []byte {
		c := min(n, len(from))
		n -= c
		return from[c:]
	}
	b.before = cut(b.before)
	c := min(n, len(b.came)-b.drained)
	b.drained += c
	n -= c
	b.behind = cut(b.behind)
}

// Bytes returns a copy of the content.
func (b *buffer) Bytes() []byte {
	b.lock()
	defer b.unlock()
	return b.content()
}

// String returns a copy of the content.
func (b *buffer) String() string {
	b.lock()
	defer b.unlock()
	if len(b.before) == 0 && len(b.behind) == 0 {
		return string(b.came[b.drained:])
	}
	all := b.content()
	return unsafe.String(unsafe.SliceData(all), len(all))
}

// Peek returns a copy of the first n bytes; nil if there are fewer.
func (b *buffer) Peek(n int) []byte {
	b.lock()
	defer b.unlock()
	if n <= 0 || n > b.length() {
		return nil
	}
	return b.content()[:n]
}

// Len returns the number of bytes.
func (b *buffer) Len() int {
	b.lock()
	defer b.unlock()
	return b.length()
}

// Drain removes bytes from the front.
func (b *buffer) Drain(offset int) {
	b.lock()
	defer b.unlock()
	if offset > 0 {
		b.drain(offset)
	}
}

// Reset removes all bytes.
func (b *buffer) Reset() {
	b.lock()
	defer b.unlock()
	b.drop()
}

func (b *buffer) add(data []byte) {
	b.lock()
	defer b.unlock()
	if b.isOver {
		return
	}
	b.behind = append(b.behind, data...)
}

// Append appends bytes.
func (b *buffer) Append(data []byte) error {
	b.add(data)
	return nil
}

// AppendString appends a string.
func (b *buffer) AppendString(s string) error {
	b.add(viewOf(s))
	return nil
}

// Write appends bytes.
func (b *buffer) Write(p []byte) (int, error) {
	b.add(p)
	return len(p), nil
}

// WriteString appends a string.
func (b *buffer) WriteString(s string) (int, error) {
	b.add(viewOf(s))
	return len(s), nil
}

// WriteByte appends a byte.
func (b *buffer) WriteByte(p byte) error {
	b.add([]byte{p})
	return nil
}

// WriteUint16 appends the number as decimal digits.
func (b *buffer) WriteUint16(p uint16) error { return b.WriteUint64(uint64(p)) }

// WriteUint32 appends the number as decimal digits.
func (b *buffer) WriteUint32(p uint32) error { return b.WriteUint64(uint64(p)) }

// WriteUint64 appends the number as decimal digits.
func (b *buffer) WriteUint64(p uint64) error {
	b.add(strconv.AppendUint(nil, p, 10))
	return nil
}

// Prepend prepends bytes.
func (b *buffer) Prepend(data []byte) error {
	b.lock()
	defer b.unlock()
	if !b.isOver {
		b.before = slices.Concat(data, b.before)
	}
	return nil
}

// PrependString prepends a string.
func (b *buffer) PrependString(s string) error { return b.Prepend(viewOf(s)) }

// Set replaces all bytes.
func (b *buffer) Set(data []byte) error {
	b.lock()
	defer b.unlock()
	if b.isOver {
		return nil
	}
	// The bytes may be a part of the appended data.
	data = slices.Clone(data)
	b.drop()
	b.behind = data
	return nil
}

// SetString replaces all bytes with a string.
func (b *buffer) SetString(s string) error { return b.Set(viewOf(s)) }

// viewOf returns a read-only view.
func viewOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

var _ api.BufferInstance = (*buffer)(nil)
