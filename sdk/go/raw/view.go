package raw

import "iter"

// Section is a set of fields of a call.
type Section uint8

// Sections.
const (
	RequestFields  Section = 0
	ResponseFields Section = 1
	TrailerFields  Section = 2
)

// Head returns a section of the host, without the edits of this call.
func (c *Call) Head(s Section) *Head {
	switch s {
	case RequestFields:
		return &c.Request
	case ResponseFields:
		return &c.Response
	default:
		return &c.Trailers
	}
}

// Edited returns the section that field edits change in the phase of the call.
func (c *Call) Edited() Section {
	switch c.Phase {
	case PhaseRequestHead, PhaseRequestBody:
		return RequestFields
	case PhaseResponseHead, PhaseResponseBody:
		return ResponseFields
	default:
		return TrailerFields
	}
}

// hasEdits returns whether reading a section must consider the edit log.
func (c *Call) hasEdits(s Section) bool { return c.EditsLen != 0 && c.Edited() == s }

// Field returns the value of the first field with a well-known ID, after the edits of this call. The value is a view.
func (c *Call) Field(s Section, id FieldID) (value string, ok bool) {
	h := c.Head(s)
	if f := h.Find(id); f != nil {
		value, ok = h.text(f.Value), true
	}
	if c.hasEdits(s) {
		return c.edited(value, ok, id, id.Name())
	}
	return value, ok
}

// Lookup returns the value of the first field of a name, in any letter case, after the edits of this call. It is a
// view.
func (c *Call) Lookup(s Section, name string) (value string, ok bool) {
	h := c.Head(s)
	if f := h.FindName(name); f != nil {
		value, ok = h.text(f.Value), true
	}
	if c.hasEdits(s) {
		return c.edited(value, ok, FieldByName(name), name)
	}
	return value, ok
}

// edited applies the log to a first value.
func (c *Call) edited(value string, ok bool, id FieldID, name string) (string, bool) {
	log := c.Log()
	for at := uint32(0); ; {
		r, next, more := log.at(at)
		if !more {
			return value, ok
		}
		at = next
		if r.Op == OpAuthority && id == FieldHost && ok {
			value = r.Value
			continue
		}
		if r.Op > OpRemove || !EqualFold(r.Name, name) {
			continue
		}
		switch {
		case r.Op == OpSet:
			value, ok = r.Value, true
		case r.Op == OpRemove:
			value, ok = "", false
		case !ok:
			value, ok = r.Value, true
		}
	}
}

// Values returns an iterator over the values of all fields of a name, in any letter case, after the edits of this call.
// They are views.
func (c *Call) Values(s Section, name string) iter.Seq[string] {
	return func(yield func(string) bool) { c.EachValue(s, name, yield) }
}

// EachValue is [Call.Values] for custom iterators.
func (c *Call) EachValue(s Section, name string, yield func(string) bool) {
	h := c.Head(s)
	log := EditLog(nil)
	if c.hasEdits(s) {
		log = c.Log()
	}
	start, replaced := log.lastReplacement(name)
	if !replaced {
		id := FieldByName(name)
		list := h.List()
		for i := range list {
			if h.is(&list[i], id, name) && !yield(h.text(list[i].Value)) {
				return
			}
		}
	}
	for at := start; ; {
		r, next, more := log.at(at)
		if !more {
			return
		}
		at = next
		if (r.Op == OpAdd || r.Op == OpSet) && EqualFold(r.Name, name) && !yield(r.Value) {
			return
		}
	}
}

// Fields returns an iterator over names and values of a section, after the edits of this call. Fields that were set or
// added come last. Both are views.
func (c *Call) Fields(s Section) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { c.EachField(s, yield) }
}

// EachField is [Call.Fields] for custom iterators.
func (c *Call) EachField(s Section, yield func(string, string) bool) {
	h := c.Head(s)
	log := EditLog(nil)
	if c.hasEdits(s) {
		log = c.Log()
	}
	list := h.List()
	for i := range list {
		name := h.text(list[i].Name)
		if len(log) != 0 {
			if _, replaced := log.lastReplacement(name); replaced {
				continue
			}
		}
		if !yield(name, h.text(list[i].Value)) {
			return
		}
	}
	for at := uint32(0); ; {
		r, next, more := log.at(at)
		if !more {
			return
		}
		if r.Op == OpAdd || r.Op == OpSet {
			start, replaced := log.lastReplacement(r.Name)
			if (!replaced || start <= at) && !yield(r.Name, r.Value) {
				return
			}
		}
		at = next
	}
}

// lastReplacement returns the offset of the last record that sets or removes a name.
func (l EditLog) lastReplacement(name string) (start uint32, found bool) {
	for at := uint32(0); ; {
		r, next, more := l.at(at)
		if !more {
			return start, found
		}
		if (r.Op == OpSet || r.Op == OpRemove) && EqualFold(r.Name, name) {
			start, found = at, true
		}
		at = next
	}
}

// last returns the last record of a kind.
func (c *Call) last(op Op) (found Record, ok bool) {
	if c.EditsLen == 0 {
		return Record{}, false
	}
	log := c.Log()
	for at := uint32(0); ; {
		r, next, more := log.at(at)
		if !more {
			return found, ok
		}
		if r.Op == op {
			found, ok = r, true
		}
		at = next
	}
}

// CurrentMethod returns the method, after the edits of this call.
func (c *Call) CurrentMethod() string {
	if r, ok := c.last(OpMethod); ok {
		return r.Value
	}
	return c.MethodName.String()
}

// CurrentTarget returns path and query, after the edits of this call.
func (c *Call) CurrentTarget() string {
	if r, ok := c.last(OpTarget); ok {
		return r.Value
	}
	return c.Target.String()
}

// CurrentAuthority returns host or host:port, after the edits of this call.
func (c *Call) CurrentAuthority() string {
	if r, ok := c.last(OpAuthority); ok {
		return r.Value
	}
	return c.Authority.String()
}

// CurrentStatus returns the response status, after the edits of this call; 0 before there is a response.
func (c *Call) CurrentStatus() int {
	if r, ok := c.last(OpStatus); ok {
		return int(r.Number)
	}
	return int(c.Status)
}

// MetadataValue returns a metadata entry as JSON, after the edits of this call. It is a view.
func (c *Call) MetadataValue(space, key string) (value string, ok bool) {
	if c.About != nil {
		for _, p := range c.About.Pairs() {
			if p.Space.String() == space && p.Key.String() == key {
				value, ok = p.Value.String(), true
				break
			}
		}
	}
	if c.EditsLen == 0 {
		return value, ok
	}
	log := c.Log()
	for at := uint32(0); ; {
		r, next, more := log.at(at)
		if !more {
			return value, ok
		}
		at = next
		if r.Op == OpMetadata && isPair(r.Name, space, key) {
			value, ok = r.Value, len(r.Value) != 0
		}
	}
}

// isPair returns whether the name of a record is a namespace, NUL and a key.
func isPair(name, space, key string) bool {
	return len(name) == len(space)+1+len(key) && name[:len(space)] == space && name[len(space)] == 0 && name[len(space)+1:] == key
}

// EditsBody returns whether edits of this call change the body.
func (c *Call) EditsBody() bool {
	if c.EditsLen == 0 {
		return false
	}
	for r := range c.Log().All() {
		if OpBodySet <= r.Op && r.Op <= OpBodyDrain {
			return true
		}
	}
	return false
}

// AppendBody appends the body to `to`, after the edits of this call.
func (c *Call) AppendBody(to []byte) []byte {
	start := len(to)
	to = append(to, c.Body.Bytes()...)
	if c.EditsLen == 0 {
		return to
	}
	for r := range c.Log().All() {
		switch r.Op {
		case OpBodySet:
			to = append(to[:start], r.Value...)
		case OpBodyAppend:
			to = append(to, r.Value...)
		case OpBodyPrepend:
			to = append(to, r.Value...)
			copy(to[start+len(r.Value):], to[start:len(to)-len(r.Value)])
			copy(to[start:], r.Value)
		case OpBodyDrain:
			n := min(int(r.Number), len(to)-start)
			to = append(to[:start], to[start+n:]...)
		}
	}
	return to
}
