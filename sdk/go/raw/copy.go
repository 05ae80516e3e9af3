package raw

import "unsafe"

// Copy is a call in memory of Go, for a filter that goes on after its hook: the same reads, and edits of its own.
//
// It is for one goroutine at a time.
type Copy struct {
	// Call holds what the copy was made of; its Stopped is the index of the step.
	Call Call
	// Step is the step that the copy was made for.
	Step Step

	about About
	base  uint32
	log   []byte
	arena []byte
}

// Copy takes the facts and heads of a call, and its body, into memory of Go: one arena for all texts. Edits that the call has so
// far can be read in it, but are not among its own.
func (c *Call) Copy(s *Step) *Copy {
	n := &Copy{}
	c.bare(n, s)
	a := &n.about
	size := c.size()
	arena := make([]byte, 0, size)
	take := func(t Text) Text {
		if t.Len == 0 {
			return Text{}
		}
		at := len(arena)
		arena = append(arena, t.Bytes()...)
		return Text{&arena[at], t.Len}
	}
	head := func(h *Head) Head {
		bytes := take(Text{h.Bytes, uintptr(h.BytesLen)})
		copied := Head{Bytes: bytes.Data, BytesLen: h.BytesLen, FieldsLen: h.FieldsLen}
		if h.FieldsLen != 0 {
			fields := make([]Field, h.FieldsLen)
			copy(fields, h.List())
			copied.Fields = &fields[0]
		}
		return copied
	}
	d := &n.Call
	d.Request, d.Response, d.Trailers = head(&c.Request), head(&c.Response), head(&c.Trailers)
	d.MethodName, d.Target, d.Authority, d.Scheme = take(c.MethodName), take(c.Target), take(c.Authority), take(c.Scheme)
	d.Body = take(c.Body)
	if c.About == nil {
		n.arena = arena
		return n
	}
	*a = *c.About
	a.Peer, a.Local, a.Listener, a.Rule = take(a.Peer), take(a.Local), take(a.Listener), take(a.Rule)
	a.Cluster, a.Endpoint, a.RequestID, a.Details = take(a.Cluster), take(a.Endpoint), take(a.RequestID), take(a.Details)
	pairs := c.About.Pairs()
	a.Metadata = nil
	if len(pairs) != 0 {
		copied := make([]Pair, len(pairs))
		for i, p := range pairs {
			copied[i] = Pair{take(p.Space), take(p.Key), take(p.Value)}
		}
		a.Metadata = &copied[0]
	}
	n.arena = arena
	return n
}

// CopyBare takes only what is needed to finish a paused exchange: no heads, no texts, no earlier edits.
func (c *Call) CopyBare(s *Step) *Copy {
	n := &Copy{}
	c.bare(n, s)
	n.log, n.base = n.log[:0], 0
	n.sync()
	return n
}

// bare fills in the numbers, and the edits so far.
func (c *Call) bare(n *Copy, s *Step) {
	n.Step = *s
	n.Call = Call{
		ABI: c.ABI, Size: c.Size, Worker: c.Worker, Status: c.Status, Phase: c.Phase, Flags: c.Flags, Version: c.Version,
		Method: c.Method, Exchange: c.Exchange, Turn: c.Turn, StepsLen: c.StepsLen, Stopped: c.Stopped, Steps: nil, About: &n.about,
	}
	if c.EditsLen != 0 {
		n.log = append(make([]byte, 0, c.EditsLen+256), c.Log()...)
	}
	n.base = c.EditsLen
	n.sync()
}

// sync lets the call see the log, for reading.
func (n *Copy) sync() {
	n.Call.Edits, n.Call.EditsLen, n.Call.EditsCap = unsafe.SliceData(n.log), uint32(len(n.log)), uint32(len(n.log))
}

// size is how many bytes of text the call has.
func (c *Call) size() uintptr {
	size := uintptr(c.Request.BytesLen) + uintptr(c.Response.BytesLen) + uintptr(c.Trailers.BytesLen)
	size += c.MethodName.Len + c.Target.Len + c.Authority.Len + c.Scheme.Len + c.Body.Len
	if a := c.About; a != nil {
		size += a.Peer.Len + a.Local.Len + a.Listener.Len + a.Rule.Len + a.Cluster.Len + a.Endpoint.Len + a.RequestID.Len + a.Details.Len
		for _, p := range a.Pairs() {
			size += p.Space.Len + p.Key.Len + p.Value.Len
		}
	}
	return size
}

// Edit adds a change to the copy's own edits.
func (n *Copy) Edit(op Op, name, value string, number uint32) error {
	log, err := AppendEdit(n.log, op, uint16(n.Call.Stopped), name, value, number)
	if err != nil {
		return err
	}
	n.log = log
	n.sync()
	return nil
}

// Own gives the edits that were made on the copy, to be handed to [Resume].
func (n *Copy) Own() EditLog { return EditLog(n.log[n.base:]) }

// Clear takes the copy's own edits back.
func (n *Copy) Clear() {
	n.log = n.log[:n.base]
	n.sync()
}

// Poison overwrites the copy's texts, so that whoever still holds a view of them notices.
func (n *Copy) Poison() {
	for _, bytes := range [][]byte{n.arena, n.log} {
		for i := range bytes {
			bytes[i] = '!'
		}
	}
}
