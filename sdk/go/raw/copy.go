package raw

import "unsafe"

// Copy is a call in memory of Go, for a filter that continues after its hook: with the same reads, and separate edits.
//
// It must be used by one goroutine at a time.
type Copy struct {
	// Call is the copied call; its Stopped is the index of the step.
	Call Call
	// Step is the copied step.
	Step Step

	about About
	base  uint32
	log   []byte
	arena []byte
}

// Copy copies the facts, heads and body of a call into memory of Go: one arena for all texts. The copy includes the
// call's edits so far for reading, but not among its own edits.
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

// CopyBare copies only what is needed to finish a paused exchange: no heads, texts or earlier edits.
func (c *Call) CopyBare(s *Step) *Copy {
	n := &Copy{}
	c.bare(n, s)
	n.log, n.base = n.log[:0], 0
	n.sync()
	return n
}

// bare copies the numbers and the edits so far.
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

// sync makes the log visible to the call, for reading.
func (n *Copy) sync() {
	n.Call.Edits, n.Call.EditsLen, n.Call.EditsCap = unsafe.SliceData(n.log), uint32(len(n.log)), uint32(len(n.log))
}

// size returns the size of the call's texts in bytes.
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

// Edit adds an edit to the copy's own edits.
func (n *Copy) Edit(op Op, name, value string, number uint32) error {
	log, err := AppendEdit(n.log, op, uint16(n.Call.Stopped), name, value, number)
	if err != nil {
		return err
	}
	n.log = log
	n.sync()
	return nil
}

// Own returns the edits made on the copy, for [Resume].
func (n *Copy) Own() EditLog { return EditLog(n.log[n.base:]) }

// Clear drops the copy's own edits.
func (n *Copy) Clear() {
	n.log = n.log[:n.base]
	n.sync()
}

// Poison overwrites the copy's texts, so that later uses of views become visible.
func (n *Copy) Poison() {
	for _, bytes := range [][]byte{n.arena, n.log} {
		for i := range bytes {
			bytes[i] = '!'
		}
	}
}
