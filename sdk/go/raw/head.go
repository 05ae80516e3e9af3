package raw

import "unsafe"

// List returns the fields of the host, without the edits of this call.
func (h *Head) List() []Field { return unsafe.Slice(h.Fields, int(h.FieldsLen)) }

// Name returns the name of a field as received, as a view.
func (h *Head) Name(f *Field) string { return h.text(f.Name) }

// Value returns the value of a field as a view.
func (h *Head) Value(f *Field) string { return h.text(f.Value) }

func (h *Head) text(s Span) string {
	if s.End <= s.Start {
		return ""
	}
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(h.Bytes), s.Start)), int(s.End-s.Start))
}

// Find returns the first field with a well-known ID, or nil.
func (h *Head) Find(id FieldID) *Field {
	list := h.List()
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

// FindName returns the first field of a name, in any letter case, or nil.
func (h *Head) FindName(name string) *Field {
	if id := FieldByName(name); id.Known() {
		return h.Find(id)
	}
	list := h.List()
	for i := range list {
		f := &list[i]
		if !f.ID.Known() && int(f.Name.End-f.Name.Start) == len(name) && EqualFold(h.text(f.Name), name) {
			return f
		}
	}
	return nil
}

// is returns whether a field has a name; id is the well-known ID of the name, if any.
func (h *Head) is(f *Field, id FieldID, name string) bool {
	if id.Known() {
		return f.ID == id
	}
	return !f.ID.Known() && EqualFold(h.text(f.Name), name)
}

// EqualFold compares two names as in HTTP: ignoring the case of ASCII letters.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// FieldByName returns the ID of a well-known name, in any letter case; FieldOther for any other name.
func FieldByName(name string) FieldID {
	if len(name) < fieldShortest || len(name) > fieldLongest {
		return FieldOther
	}
	for id := fieldSlots[fieldHash(name)]; id != 0; id = fieldNext[id] {
		if EqualFold(fieldNames[id], name) {
			return id
		}
	}
	return FieldOther
}

// fieldHash hashes the length and four bytes; names with the same slot are chained.
func fieldHash(name string) uint8 {
	n := len(name)
	h := uint32(n)
	h = h*31 + uint32(lower(name[0]))
	h = h*31 + uint32(lower(name[n-1]))
	h = h*31 + uint32(lower(name[n/2]))
	h = h*31 + uint32(lower(name[n/3]))
	return uint8(h ^ h>>8)
}

var (
	fieldSlots    [256]FieldID
	fieldNext     [len(fieldNames)]FieldID
	fieldShortest = 1 << 10
	fieldLongest  = 0
)

func init() {
	for id := FieldID(1); id.Known(); id++ {
		name := fieldNames[id]
		fieldShortest, fieldLongest = min(fieldShortest, len(name)), max(fieldLongest, len(name))
		slot := fieldHash(name)
		fieldNext[id] = fieldSlots[slot]
		fieldSlots[slot] = id
	}
}
