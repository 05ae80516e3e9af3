package raw

import "unsafe"

// List gives the fields as the host laid them out, without what this call's edits change.
func (h *Head) List() []Field { return unsafe.Slice(h.Fields, int(h.FieldsLen)) }

// Name gives a field's name as sent, as a view.
func (h *Head) Name(f *Field) string { return h.text(f.Name) }

// Value gives a field's value as a view.
func (h *Head) Value(f *Field) string { return h.text(f.Value) }

func (h *Head) text(s Span) string {
	if s.End <= s.Start {
		return ""
	}
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(h.Bytes), s.Start)), int(s.End-s.Start))
}

// Find gives the first field with a well-known id, or nil.
func (h *Head) Find(id FieldID) *Field {
	list := h.List()
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

// FindName gives the first field of a name, in any case, or nil.
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

// is tells whether a field has a name, of which id is the well-known id if there is one.
func (h *Head) is(f *Field, id FieldID, name string) bool {
	if id.Known() {
		return f.ID == id
	}
	return !f.ID.Known() && EqualFold(h.text(f.Name), name)
}

// EqualFold compares two names as HTTP does: ASCII letters in any case, all other bytes as they are.
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

// FieldByName gives the id of a well-known name in any case; FieldOther of any other name.
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

// fieldHash mixes the length and four bytes; names that share a slot are chained.
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
