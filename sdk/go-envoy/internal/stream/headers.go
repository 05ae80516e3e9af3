package stream

import (
	"strconv"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// The maps of an exchange are the exchange itself under other types, so returning one does not allocate.
type (
	requestHeaders   exchange
	responseHeaders  exchange
	requestTrailers  exchange
	responseTrailers exchange
)

// section is a set of fields of an exchange.
type section struct {
	x         *exchange
	fields    raw.Section
	way       uint8
	isTrailer bool
}

func (h *requestHeaders) section() section {
	return section{x: (*exchange)(h), fields: raw.RequestFields, way: requestWay}
}

func (h *responseHeaders) section() section {
	return section{x: (*exchange)(h), fields: raw.ResponseFields, way: responseWay}
}

func (h *requestTrailers) section() section {
	return section{x: (*exchange)(h), fields: raw.TrailerFields, way: requestWay, isTrailer: true}
}

func (h *responseTrailers) section() section {
	return section{x: (*exchange)(h), fields: raw.TrailerFields, way: responseWay, isTrailer: true}
}

// view returns the source for reading a section; nil without a current phase. The caller holds the mutex, and copies
// what it returns: the call is memory of the host, or its edits can be dropped.
func (s section) view() *raw.Call {
	w := &s.x.ways[s.way]
	if s.isTrailer {
		if w.call == nil || w.call.Phase != raw.PhaseRequestTrailers && w.call.Phase != raw.PhaseResponseTrailers {
			return nil
		}
		return w.call
	}
	if w.call != nil {
		return w.call
	}
	if s.way == requestWay && s.x.ways[responseWay].call != nil {
		// The request head is also readable in response phases.
		return s.x.ways[responseWay].call
	}
	return s.x.log
}

// edits returns the direction in which the section can be changed now; nil if it cannot. The caller holds the mutex.
func (s section) edits() *way {
	w := &s.x.ways[s.way]
	if s.isTrailer {
		if w.state != idle && w.call != nil && (w.call.Phase == raw.PhaseRequestTrailers || w.call.Phase == raw.PhaseResponseTrailers) {
			return w
		}
		return nil
	}
	if w.editsHead() {
		return w
	}
	return nil
}

func (s section) get(name string) (string, bool) {
	s.x.mutex.Lock()
	defer s.x.mutex.Unlock()
	c := s.view()
	if c == nil {
		return "", false
	}
	if value, ok := s.pseudo(c, name); ok {
		return strings.Clone(value), true
	}
	value, ok := c.Lookup(s.fields, name)
	return strings.Clone(value), ok
}

// pseudo returns pseudo-headers, which HTTP/1 represents in other ways.
func (s section) pseudo(c *raw.Call, name string) (string, bool) {
	if s.isTrailer || len(name) < 4 {
		return "", false
	}
	if s.fields == raw.ResponseFields {
		if name == ":status" && c.Status != 0 {
			return strconv.Itoa(c.CurrentStatus()), true
		}
		return "", false
	}
	switch {
	case name == ":authority" || raw.EqualFold(name, "host"):
		return some(c.CurrentAuthority())
	case name == ":path":
		return some(c.CurrentTarget())
	case name == ":method":
		return some(c.CurrentMethod())
	case name == ":scheme":
		return some(c.Scheme.String())
	case name == ":protocol":
		return "", false
	}
	return "", false
}

func some(text string) (string, bool) { return text, text != "" }

func (s section) values(name string) (values []string) {
	s.x.mutex.Lock()
	defer s.x.mutex.Unlock()
	c := s.view()
	if c == nil {
		return nil
	}
	if value, ok := s.pseudo(c, name); ok {
		return []string{strings.Clone(value)}
	}
	for value := range c.Values(s.fields, name) {
		values = append(values, strings.Clone(value))
	}
	return values
}

// field is a field in memory of Go, with its name in lower case.
type field struct{ name, value string }

// all copies the fields.
func (s section) all() []field {
	s.x.mutex.Lock()
	defer s.x.mutex.Unlock()
	return s.copyAll()
}

// copyAll copies the fields, with one arena for all texts. The caller holds the mutex.
func (s section) copyAll() []field {
	c := s.view()
	if c == nil {
		return nil
	}
	fields := make([]field, 0, int(c.Head(s.fields).FieldsLen)+4)
	if !s.isTrailer {
		names := [...]string{":authority", ":path", ":method", ":scheme"}
		own := names[:]
		if s.fields == raw.ResponseFields {
			own = []string{":status"}
		}
		for _, name := range own {
			if value, ok := s.pseudo(c, name); ok {
				fields = append(fields, field{name, value})
			}
		}
	}
	size := 0
	for name, value := range c.Fields(s.fields) {
		if s.fields == raw.RequestFields && raw.EqualFold(name, "host") {
			continue
		}
		fields = append(fields, field{name, value})
	}
	for i := range fields {
		size += len(fields[i].name) + len(fields[i].value)
	}
	arena := make([]byte, 0, size)
	for i := range fields {
		start := len(arena)
		arena = append(arena, fields[i].name...)
		for j := start; j < len(arena); j++ {
			if c := arena[j]; 'A' <= c && c <= 'Z' {
				arena[j] = c | 0x20
			}
		}
		arena = append(arena, fields[i].value...)
	}
	// The arena is never written again, so a single conversion makes strings of it.
	text := string(arena)
	for i := range fields {
		f := &fields[i]
		n, m := len(f.name), len(f.name)+len(f.value)
		f.name, f.value, text = text[:n], text[n:m], text[m:]
	}
	return fields
}

func (s section) set(op raw.Op, name, value string) {
	s.x.mutex.Lock()
	defer s.x.mutex.Unlock()
	w := s.edits()
	if w == nil {
		s.x.ways[s.way].stale("a change of a header")
		return
	}
	if !s.isTrailer && (strings.HasPrefix(name, ":") || s.fields == raw.RequestFields && raw.EqualFold(name, "host")) {
		s.setPseudo(w, op, name, value)
		return
	}
	if isOurs(raw.FieldByName(name)) {
		return
	}
	if err := w.edit(op, lower(name), value, 0); err != nil {
		w.rest().failure = "the filter's changes: " + err.Error()
	}
}

func (s section) setPseudo(w *way, op raw.Op, name, value string) {
	if op == raw.OpRemove {
		return // required in every message
	}
	var err error
	switch {
	case s.fields == raw.ResponseFields:
		if name == ":status" {
			status, bad := strconv.ParseUint(value, 10, 32)
			if bad != nil {
				w.rest().failure = "the filter set :status to " + strconv.Quote(value)
				return
			}
			err = w.edit(raw.OpStatus, "", "", uint32(status))
		}
	case name == ":path":
		err = w.edit(raw.OpTarget, "", value, 0)
	case name == ":method":
		err = w.edit(raw.OpMethod, "", value, 0)
	case name == ":authority" || raw.EqualFold(name, "host"):
		err = w.edit(raw.OpAuthority, "", value, 0)
	default:
		w.stale("a change of " + name)
	}
	if err != nil {
		w.rest().failure = "the filter's changes: " + err.Error()
	}
}

func (s section) each(f func(key, value string) bool) {
	for _, field := range s.all() {
		if !f(field.name, field.value) {
			return
		}
	}
}

func (s section) collect() map[string][]string {
	fields := s.all()
	all := make(map[string][]string, len(fields))
	for _, f := range fields {
		all[f.name] = append(all[f.name], f.value)
	}
	return all
}

func (s section) size() (bytes uint64) {
	for _, f := range s.all() {
		bytes += uint64(len(f.name) + len(f.value))
	}
	return bytes
}

func (s section) first(name string) string {
	value, _ := s.get(name)
	return value
}

func (h *requestHeaders) GetRaw(name string) string                    { return h.section().first(name) }
func (h *requestHeaders) Get(key string) (string, bool)                { return h.section().get(key) }
func (h *requestHeaders) Values(key string) []string                   { return h.section().values(key) }
func (h *requestHeaders) Set(key, value string)                        { h.section().set(raw.OpSet, key, value) }
func (h *requestHeaders) Add(key, value string)                        { h.section().set(raw.OpAdd, key, value) }
func (h *requestHeaders) Del(key string)                               { h.section().set(raw.OpRemove, key, "") }
func (h *requestHeaders) Range(f func(key, value string) bool)         { h.section().each(f) }
func (h *requestHeaders) RangeWithCopy(f func(key, value string) bool) { h.section().each(f) }
func (h *requestHeaders) GetAllHeaders() map[string][]string           { return h.section().collect() }
func (h *requestHeaders) ByteSize() uint64                             { return h.section().size() }
func (h *requestHeaders) Scheme() string                               { return h.section().first(":scheme") }
func (h *requestHeaders) Method() string                               { return h.section().first(":method") }
func (h *requestHeaders) Host() string                                 { return h.section().first(":authority") }
func (h *requestHeaders) Path() string                                 { return h.section().first(":path") }
func (h *requestHeaders) SetMethod(method string)                      { h.Set(":method", method) }
func (h *requestHeaders) SetHost(host string)                          { h.Set(":authority", host) }
func (h *requestHeaders) SetPath(path string)                          { h.Set(":path", path) }

// Protocol returns the client's HTTP version.
func (h *requestHeaders) Protocol() string {
	text, _ := (*info)(h).Protocol()
	return text
}

func (h *responseHeaders) GetRaw(name string) string                    { return h.section().first(name) }
func (h *responseHeaders) Get(key string) (string, bool)                { return h.section().get(key) }
func (h *responseHeaders) Values(key string) []string                   { return h.section().values(key) }
func (h *responseHeaders) Set(key, value string)                        { h.section().set(raw.OpSet, key, value) }
func (h *responseHeaders) Add(key, value string)                        { h.section().set(raw.OpAdd, key, value) }
func (h *responseHeaders) Del(key string)                               { h.section().set(raw.OpRemove, key, "") }
func (h *responseHeaders) Range(f func(key, value string) bool)         { h.section().each(f) }
func (h *responseHeaders) RangeWithCopy(f func(key, value string) bool) { h.section().each(f) }
func (h *responseHeaders) GetAllHeaders() map[string][]string           { return h.section().collect() }
func (h *responseHeaders) ByteSize() uint64                             { return h.section().size() }

// Status returns the status of the response.
func (h *responseHeaders) Status() (int, bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	c := h.section().view()
	if c == nil || c.Status == 0 {
		return 0, false
	}
	return c.CurrentStatus(), true
}

func (h *requestTrailers) GetRaw(name string) string                    { return h.section().first(name) }
func (h *requestTrailers) Get(key string) (string, bool)                { return h.section().get(key) }
func (h *requestTrailers) Values(key string) []string                   { return h.section().values(key) }
func (h *requestTrailers) Set(key, value string)                        { h.section().set(raw.OpSet, key, value) }
func (h *requestTrailers) Add(key, value string)                        { h.section().set(raw.OpAdd, key, value) }
func (h *requestTrailers) Del(key string)                               { h.section().set(raw.OpRemove, key, "") }
func (h *requestTrailers) Range(f func(key, value string) bool)         { h.section().each(f) }
func (h *requestTrailers) RangeWithCopy(f func(key, value string) bool) { h.section().each(f) }
func (h *requestTrailers) GetAllHeaders() map[string][]string           { return h.section().collect() }
func (h *requestTrailers) ByteSize() uint64                             { return h.section().size() }

func (h *responseTrailers) GetRaw(name string) string                    { return h.section().first(name) }
func (h *responseTrailers) Get(key string) (string, bool)                { return h.section().get(key) }
func (h *responseTrailers) Values(key string) []string                   { return h.section().values(key) }
func (h *responseTrailers) Set(key, value string)                        { h.section().set(raw.OpSet, key, value) }
func (h *responseTrailers) Add(key, value string)                        { h.section().set(raw.OpAdd, key, value) }
func (h *responseTrailers) Del(key string)                               { h.section().set(raw.OpRemove, key, "") }
func (h *responseTrailers) Range(f func(key, value string) bool)         { h.section().each(f) }
func (h *responseTrailers) RangeWithCopy(f func(key, value string) bool) { h.section().each(f) }
func (h *responseTrailers) GetAllHeaders() map[string][]string           { return h.section().collect() }
func (h *responseTrailers) ByteSize() uint64                             { return h.section().size() }

var (
	_ api.RequestHeaderMap   = (*requestHeaders)(nil)
	_ api.ResponseHeaderMap  = (*responseHeaders)(nil)
	_ api.RequestTrailerMap  = (*requestTrailers)(nil)
	_ api.ResponseTrailerMap = (*responseTrailers)(nil)
)
