package eddytest

import (
	"strings"
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// memory is a call with all data that it points to, laid out as by the gateway.
type memory struct {
	call    raw.Call
	steps   []raw.Step
	about   raw.About
	pairs   []raw.Pair
	edits   [512]uint64
	current uint32
	// before and behind guard the steps, to detect filters that write past them.
	fields [3][]raw.Field
}

func writeHead(m *memory, index int, fields []Field) raw.Head {
	var bytes strings.Builder
	list := make([]raw.Field, len(fields))
	for i, f := range fields {
		at := func() uint32 { return uint32(bytes.Len()) }
		list[i].ID = idOf(f.Name)
		list[i].Name.Start = at()
		bytes.WriteString(f.Name)
		list[i].Name.End = at()
		bytes.WriteString(": ")
		list[i].Value.Start = at()
		bytes.WriteString(f.Value)
		list[i].Value.End = at()
		bytes.WriteString("\r\n")
	}
	for _, f := range fields {
		if !raw.EqualFold(f.Name, "connection") {
			continue
		}
		for _, word := range strings.Split(f.Value, ",") {
			for i := range list {
				if raw.EqualFold(fields[i].Name, strings.TrimSpace(word)) && !list[i].ID.Known() {
					list[i].Flags |= raw.FieldNominated
				}
			}
		}
	}
	m.fields[index] = list
	text := raw.TextOf(bytes.String())
	return raw.Head{
		Bytes: text.Data, BytesLen: uint32(text.Len), Fields: unsafe.SliceData(list), FieldsLen: uint32(len(list)),
	}
}

// idOf returns the ID that the gateway assigns to a name.
func idOf(name string) raw.FieldID {
	if id := raw.FieldByName(name); id.Known() {
		return id
	}
	plain := []byte(name)
	for i, b := range plain {
		if (b|0x20 < 'a' || b|0x20 > 'z') && (b < '0' || b > '9') {
			plain[i] = '-'
		}
	}
	if raw.FieldByName(string(plain)).Known() {
		return raw.FieldAlias
	}
	if len(name) > 12 && raw.EqualFold(name[:12], "x-forwarded-") {
		return raw.FieldXForwarded
	}
	return raw.FieldOther
}

var methods = map[string]raw.Method{
	"GET": raw.MethodGet, "HEAD": raw.MethodHead, "POST": raw.MethodPost, "PUT": raw.MethodPut, "DELETE": raw.MethodDelete,
	"CONNECT": raw.MethodConnect, "OPTIONS": raw.MethodOptions, "TRACE": raw.MethodTrace, "PATCH": raw.MethodPatch,
}

// lay writes the memory of a crossing.
func (m *memory) lay(e *exchange, phase raw.Phase, flags uint8, body string) {
	r := e.request
	m.about = raw.About{
		Peer: raw.TextOf(r.peer), Local: raw.TextOf("127.0.0.1:8080"), Listener: raw.TextOf("test"), Rule: raw.TextOf(r.rule),
		Cluster: raw.TextOf(r.cluster), Details: raw.TextOf(e.details), RequestID: raw.TextOf(r.requestID),
		StartedUnixUs: uint64(e.started.UnixMicro()), Connection: 1, RequestBytes: e.bytes[0], ResponseBytes: e.bytes[1],
	}
	if e.response != nil && !e.isLocal {
		m.about.Endpoint, m.about.Attempts = raw.TextOf("127.0.0.1:9000"), 1
	}
	if phase == raw.PhaseLog {
		m.about.DurationUs = uint64(time.Since(e.started).Microseconds()) + 1
	}
	m.pairs = m.pairs[:0]
	for _, entry := range e.metadata {
		m.pairs = append(m.pairs, raw.Pair{Space: raw.TextOf(entry.Space), Key: raw.TextOf(entry.Key), Value: raw.TextOf(entry.Value)})
	}
	m.about.Metadata, m.about.MetadataLen = unsafe.SliceData(m.pairs), uint64(len(m.pairs))
	if r.tls {
		flags |= raw.CallTLS
	}
	if e.isLocal {
		flags |= raw.CallLocal
	}
	forward := e.forward
	m.call = raw.Call{
		ABI: raw.ABI, Size: uint32(unsafe.Sizeof(raw.Call{})), Worker: e.worker, Phase: phase, Flags: flags, Version: r.version,
		Method: methods[forward.Method], Exchange: e.id, Turn: e.turn, MethodName: raw.TextOf(forward.Method),
		Target: raw.TextOf(forward.Target), Authority: raw.TextOf(forward.Authority), Scheme: raw.TextOf(r.scheme()),
		Body: raw.TextOf(body), About: &m.about,
		StepsLen: uint32(len(m.steps)), Steps: unsafe.SliceData(m.steps),
		Edits: (*byte)(unsafe.Pointer(&m.edits)), EditsCap: uint32(unsafe.Sizeof(m.edits)), Current: &m.current,
	}
	m.call.Request = writeHead(m, 0, forward.Fields)
	if e.response != nil {
		m.call.Response = writeHead(m, 1, e.response.Fields)
		m.call.Status = uint16(e.response.Status)
	}
	switch phase {
	case raw.PhaseRequestTrailers:
		m.call.Trailers = writeHead(m, 2, forward.Trailers)
	case raw.PhaseResponseTrailers:
		m.call.Trailers = writeHead(m, 2, e.response.Trailers)
	}
}
