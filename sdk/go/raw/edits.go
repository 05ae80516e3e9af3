package raw

import (
	"iter"
	"unsafe"
)

const editSize = uint32(unsafe.Sizeof(Edit{}))

// EditsMax is the maximum size of the edits of one call in bytes.
const EditsMax = 16 << 20

// Record is a decoded record of an edit log. Its name and value are views of the log.
type Record struct {
	Op     Op
	Step   uint16
	Number uint32
	Name   string
	Value  string
}

// Edit adds an edit to the log of the call, made by the running step. Only on the thread of the call.
//
// An error means that the log is full, and that nothing was written.
func (c *Call) Edit(op Op, name, value string, number uint32) error {
	need, err := recordSize(name, value)
	if err != nil {
		return err
	}
	if need > c.EditsCap-c.EditsLen {
		if err := grow(c, need); err != nil {
			return err
		}
	}
	at := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(c.Edits), c.EditsLen)), int(need))
	putRecord(at, op, uint16(c.Stopped), name, value, number)
	c.EditsLen += need
	return nil
}

//go:noinline
func grow(c *Call, need uint32) error {
	host := theHost()
	if host == nil {
		return Full
	}
	return host.EditsGrow(c, need).Err()
}

// recordSize returns the size of a record with its padding.
func recordSize(name, value string) (uint32, error) {
	if uint64(len(name))+uint64(len(value)) > EditsMax-uint64(editSize)-8 {
		return 0, TooLarge
	}
	return (editSize + uint32(len(name)) + uint32(len(value)) + 7) &^ 7, nil
}

// putRecord fills `at`, whose length is the record's size.
func putRecord(at []byte, op Op, step uint16, name, value string, number uint32) {
	edit := (*Edit)(unsafe.Pointer(&at[0]))
	// The padding is cleared first, because the data may overlap its start.
	*(*uint64)(unsafe.Pointer(&at[len(at)-8])) = 0
	edit.Op, edit.Step = op, step
	edit.NameLen, edit.ValueLen, edit.Number = uint32(len(name)), uint32(len(value)), number
	body := at[editSize:]
	copy(body, name)
	copy(body[len(name):], value)
}

// AppendEdit adds a record to a log in memory of Go, for example for [Resume].
func AppendEdit(log []byte, op Op, step uint16, name, value string, number uint32) ([]byte, error) {
	need, err := recordSize(name, value)
	if err != nil {
		return log, err
	}
	if len(log)+int(need) > EditsMax {
		return log, TooLarge
	}
	start := len(log)
	if cap(log)-start < int(need) {
		grown := make([]byte, start, max(2*cap(log), start+int(need), 256))
		copy(grown, log)
		log = grown
	}
	log = log[:start+int(need)]
	putRecord(log[start:], op, step, name, value, number)
	return log, nil
}

// Log returns the edits of the call so far, as a view.
func (c *Call) Log() EditLog { return EditLog(unsafe.Slice(c.Edits, int(c.EditsLen))) }

// EditLog is an encoded edit log.
type EditLog []byte

// All returns an iterator over the records. It stops at a truncated or malformed record; [EditLog.Check] detects those.
func (l EditLog) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for at := uint32(0); ; {
			record, next, ok := l.at(at)
			if !ok || !yield(record) {
				return
			}
			at = next
		}
	}
}

// Check returns whether the log is valid: all records are complete, and nothing follows the last one.
func (l EditLog) Check() error {
	for at := uint32(0); ; {
		if int(at) == len(l) {
			return nil
		}
		_, next, ok := l.at(at)
		if !ok {
			return Invalid
		}
		at = next
	}
}

// at decodes the record at an offset, and returns the offset of the next one.
func (l EditLog) at(start uint32) (Record, uint32, bool) {
	if uint64(len(l)) < uint64(start)+uint64(editSize) {
		return Record{}, 0, false
	}
	rest := l[start:]
	op := le32(rest[0:])
	name, value, number := le32(rest[4:]), le32(rest[8:]), le32(rest[12:])
	size := (uint64(editSize) + uint64(name) + uint64(value) + 7) &^ 7
	if size > uint64(len(rest)) {
		return Record{}, 0, false
	}
	text := unsafe.String(unsafe.SliceData(rest), len(rest))[editSize:]
	return Record{
		Op: Op(op), Step: uint16(op >> 16), Number: number,
		Name: text[:name], Value: text[name : uint64(name)+uint64(value)],
	}, start + uint32(size), true
}

// le32 reads a number in the byte order of the machines that eddy supports.
func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
