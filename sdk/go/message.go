package eddy

import (
	"iter"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Field is a name and a value.
type Field struct {
	Name  string
	Value string
}

// F returns a field with a well-known name: `x.Reply(401, "who?", eddy.F(eddy.WWWAuthenticate, "Basic"))`.
func F(h Header, value string) Field { return Field{h.Name(), value} }

// Named returns a field with any name.
func Named(name, value string) Field { return Field{name, value} }

// Fields are the headers of a head, or the trailers. Reads include the edits of this hook and earlier filters.
type Fields struct {
	x       *Exchange
	section raw.Section
}

// Get returns the value of the first field of a name; empty if there is none. It is a view, see [Exchange].
func (f Fields) Get(h Header) string {
	value, _ := f.x.read().Field(f.section, h)
	return value
}

// GetString is Get, but returns a copy.
func (f Fields) GetString(h Header) string { return strings.Clone(f.Get(h)) }

// Has returns whether there is a field of a name.
func (f Fields) Has(h Header) bool {
	_, ok := f.x.read().Field(f.section, h)
	return ok
}

// Lookup returns the value of the first field of a name, in any letter case. It is a view.
func (f Fields) Lookup(name string) (value string, ok bool) {
	return f.x.read().Lookup(f.section, name)
}

// Equal returns whether the first field of a name has exactly this value.
func (f Fields) Equal(h Header, value string) bool {
	found, ok := f.x.read().Field(f.section, h)
	return ok && found == value
}

// HasPrefix returns whether the value of the first field of a name has this prefix.
func (f Fields) HasPrefix(h Header, prefix string) bool { return strings.HasPrefix(f.Get(h), prefix) }

// Values returns an iterator over the values of all fields of a name, as views.
func (f Fields) Values(h Header) iter.Seq[string] {
	return func(yield func(string) bool) { f.x.read().EachValue(f.section, h.Name(), yield) }
}

// ValuesByName returns an iterator over the values of all fields of a name, in any letter case, as views.
func (f Fields) ValuesByName(name string) iter.Seq[string] {
	return func(yield func(string) bool) { f.x.read().EachValue(f.section, name, yield) }
}

// All returns an iterator over names, as received, and values, as views. Fields that were set or added come last.
func (f Fields) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { f.x.read().EachField(f.section, yield) }
}

// Set replaces all fields of a name with one.
func (f Fields) Set(h Header, value string) { f.edit(raw.OpSet, h.Name(), value) }

// SetByName is Set for any name.
func (f Fields) SetByName(name, value string) { f.edit(raw.OpSet, name, value) }

// Add adds a field.
func (f Fields) Add(h Header, value string) { f.edit(raw.OpAdd, h.Name(), value) }

// AddByName is Add for any name.
func (f Fields) AddByName(name, value string) { f.edit(raw.OpAdd, name, value) }

// Remove removes all fields of a name.
func (f Fields) Remove(h Header) { f.edit(raw.OpRemove, h.Name(), "") }

// RemoveByName is Remove for any name.
func (f Fields) RemoveByName(name string) { f.edit(raw.OpRemove, name, "") }

func (f Fields) edit(op raw.Op, name, value string) {
	if c := f.x.live(); c.Edited() != f.section {
		f.x.refuse("fields of the "+sectionNames[f.section], c.Phase)
		return
	}
	f.x.edit(op, name, value, 0)
}

var sectionNames = [...]string{"request", "response", "trailers"}

// refuse makes the hook fail, for an edit that is not possible in its phase.
//
//go:noinline
func (x *Exchange) refuse(what string, phase raw.Phase) { x.fail(&phaseError{what, phase}) }

type phaseError struct {
	what  string
	phase raw.Phase
}

func (e *phaseError) Error() string {
	return "the " + e.what + " can't be changed in the phase " + e.phase.String()
}

// Request is a request head.
type Request struct{ Fields }

// Method returns the method.
func (r Request) Method() string { return r.x.read().CurrentMethod() }

// SetMethod sets the method.
func (r Request) SetMethod(method string) { r.editHead("method", raw.OpMethod, method) }

// Target returns path and query.
func (r Request) Target() string { return r.x.read().CurrentTarget() }

// Path returns the path, as received.
func (r Request) Path() string {
	path, _, _ := strings.Cut(r.Target(), "?")
	return path
}

// Query returns the text after the first question mark; empty if there is none.
func (r Request) Query() string {
	_, query, _ := strings.Cut(r.Target(), "?")
	return query
}

// SetTarget sets path and query. The rewrite of the rule is not applied then.
func (r Request) SetTarget(target string) { r.editHead("target", raw.OpTarget, target) }

// SetPath sets the path and keeps the query.
func (r Request) SetPath(path string) {
	if _, query, ok := strings.Cut(r.Target(), "?"); ok {
		path += "?" + query
	}
	r.SetTarget(path)
}

// Authority returns host or host:port.
func (r Request) Authority() string { return r.x.read().CurrentAuthority() }

// SetAuthority sets the host or host:port to send.
func (r Request) SetAuthority(authority string) { r.editHead("authority", raw.OpAuthority, authority) }

// Scheme returns http or https.
func (r Request) Scheme() string { return r.x.read().Scheme.String() }

// Version returns the HTTP version: 10, 11, 20 or 30.
func (r Request) Version() int { return int(r.x.live().Version) }

func (r Request) editHead(what string, op raw.Op, value string) {
	if c := r.x.live(); c.Edited() != raw.RequestFields {
		r.x.refuse(what+" of the request", c.Phase)
		return
	}
	r.x.edit(op, "", value, 0)
}

// Response is a response head.
type Response struct{ Fields }

// Status returns the status; 0 before there is a response.
func (r Response) Status() int { return r.x.read().CurrentStatus() }

// SetStatus sets the status.
func (r Response) SetStatus(status int) {
	if c := r.x.live(); c.Edited() != raw.ResponseFields {
		r.x.refuse("status of the response", c.Phase)
		return
	}
	r.x.edit(raw.OpStatus, "", "", uint32(status))
}

// Body is a body, or a piece of one.
type Body struct{ x *Exchange }

// Bytes returns the bytes as edited by this hook and earlier filters: a read-only view, valid until the next change of
// the body.
func (b Body) Bytes() []byte {
	c := b.x.read()
	if !c.EditsBody() {
		return c.Body.Bytes()
	}
	b.x.body = c.AppendBody(b.x.body[:0])
	return b.x.body
}

// Len returns the number of bytes.
func (b Body) Len() int { return len(b.Bytes()) }

// IsWhole returns whether this is the whole body, after [Exchange.Buffer].
func (b Body) IsWhole() bool { return b.x.live().Flags&raw.CallBuffered != 0 }

// Set replaces the bytes.
func (b Body) Set(bytes []byte) { b.edit(raw.OpBodySet, viewOf(bytes), 0) }

// SetString replaces the bytes with a string.
func (b Body) SetString(text string) { b.edit(raw.OpBodySet, text, 0) }

// Append appends bytes.
func (b Body) Append(bytes []byte) { b.edit(raw.OpBodyAppend, viewOf(bytes), 0) }

// Prepend prepends bytes.
func (b Body) Prepend(bytes []byte) { b.edit(raw.OpBodyPrepend, viewOf(bytes), 0) }

// Drain removes the first n bytes.
func (b Body) Drain(n int) { b.edit(raw.OpBodyDrain, "", uint32(n)) }

func (b Body) edit(op raw.Op, value string, number uint32) {
	switch c := b.x.live(); c.Phase {
	case raw.PhaseRequestBody, raw.PhaseResponseBody:
		b.x.edit(op, "", value, number)
	default:
		b.x.refuse("body", c.Phase)
	}
}
