package eddytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// reserved are framing and hop-by-hop headers, which the gateway writes itself.
var reserved = []raw.FieldID{
	raw.FieldHost, raw.FieldContentLength, raw.FieldTransferEncoding, raw.FieldConnection, raw.FieldExpect, raw.FieldUpgrade,
	raw.FieldTE, raw.FieldTrailer, raw.FieldKeepAlive, raw.FieldProxy, raw.FieldProxyConnection, raw.FieldProxyAuthenticate,
	raw.FieldProxyAuthorization, raw.FieldHTTP2Settings, raw.FieldAlias,
}

// checkField refuses the same headers as the gateway.
func checkField(name, value string) error {
	switch {
	case name == "" || !isToken(name):
		return fmt.Errorf("%q is not a header name", name)
	case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		return fmt.Errorf("the value of %q has a control character", name)
	case slices.Contains(reserved, idOf(name)):
		return fmt.Errorf("%q is written by the gateway itself", name)
	case len(name) > 64<<10 || len(value) > 256<<10:
		return fmt.Errorf("name or value of %q is too long", name[:min(len(name), 64)])
	}
	return nil
}

// checkChange refuses the same edits of a message as the gateway: the length may be removed, after which it is free.
func checkChange(op raw.Op, name, value string) error {
	if op == raw.OpRemove && idOf(name) == raw.FieldContentLength {
		return nil
	}
	return checkField(name, value)
}

// endsConnection returns whether an edit sets `Connection: close`, the only permitted value of that header: the client
// connection ends after the response.
func endsConnection(op raw.Op, name, value string) bool {
	return op != raw.OpRemove && idOf(name) == raw.FieldConnection && raw.EqualFold(strings.Trim(value, " \t"), "close")
}

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// apply makes one edit. An edit that is not possible is a fault of the filter.
func (e *exchange) apply(phase raw.Phase, r raw.Record, body *string, a *answer) error {
	name, value := strings.Clone(r.Name), strings.Clone(r.Value)
	switch r.Op {
	case raw.OpSet, raw.OpAdd, raw.OpRemove:
		if endsConnection(r.Op, name, value) && phase != raw.PhaseRequestTrailers && phase <= raw.PhaseResponseBody {
			e.connectionEnds = true
			return nil
		}
		fields := e.fieldsOf(phase)
		if fields == nil {
			return fmt.Errorf("there are no fields to change in the phase %v", phase)
		}
		if err := checkChange(r.Op, name, value); err != nil {
			return err
		}
		changeFields(fields, r.Op, name, strings.Trim(value, " \t"))
	case raw.OpMethod, raw.OpTarget, raw.OpAuthority:
		return e.applyStart(phase, r.Op, value)
	case raw.OpStatus:
		if phase != raw.PhaseResponseHead && phase != raw.PhaseResponseBody || r.Number < 200 || r.Number > 599 {
			return fmt.Errorf("the status can't be %d here", r.Number)
		}
		e.response.Status = int(r.Number)
	case raw.OpBodySet, raw.OpBodyAppend, raw.OpBodyPrepend, raw.OpBodyDrain:
		if body == nil {
			return fmt.Errorf("there is no body to change in the phase %v", phase)
		}
		changeBody(body, r.Op, value, int(r.Number))
	case raw.OpReply:
		if r.Number < 200 || r.Number > 599 {
			return fmt.Errorf("a reply can't have the status %d", r.Number)
		}
		a.message = &Message{Status: int(r.Number), Body: value, Fields: a.fields}
		a.details = name
	case raw.OpReplyField:
		if err := checkField(name, value); err != nil {
			return err
		}
		a.fields = append(a.fields, Field{name, value})
		if a.message != nil {
			a.message.Fields = a.fields
		}
	case raw.OpReplyGRPC:
		a.grpc = r.Number
	case raw.OpMetadata:
		space, key, ok := strings.Cut(name, "\x00")
		if !ok {
			return fmt.Errorf("metadata %q has no key", name)
		}
		e.metadata = slices.DeleteFunc(e.metadata, func(m Entry) bool { return m.Space == space && m.Key == key })
		if value != "" {
			e.metadata = append(e.metadata, Entry{space, key, value})
		}
	case raw.OpClearRoute:
		e.routeCleared = true
	case raw.OpEndpoint:
		e.endpoint = value
	case raw.OpFault:
		a.fault = value
	default:
		return fmt.Errorf("unknown edit number %d", r.Op)
	}
	return nil
}

func (e *exchange) applyStart(phase raw.Phase, op raw.Op, value string) error {
	if phase != raw.PhaseRequestHead && phase != raw.PhaseRequestBody {
		return fmt.Errorf("the %v can't be changed in the phase %v", op, phase)
	}
	switch op {
	case raw.OpMethod:
		if !isToken(value) {
			return fmt.Errorf("%q can't be the method", value)
		}
		e.forward.Method = value
	case raw.OpTarget:
		if !strings.HasPrefix(value, "/") || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '#' }) {
			return fmt.Errorf("%q can't be the target", value)
		}
		e.forward.Target = value
	default:
		if value == "" || strings.ContainsAny(value, " /?#@\\") {
			return fmt.Errorf("%q can't be the authority", value)
		}
		e.forward.Authority = value
		for i := range e.forward.Fields {
			if raw.EqualFold(e.forward.Fields[i].Name, "host") {
				e.forward.Fields[i].Value = value
			}
		}
	}
	return nil
}

func (e *exchange) fieldsOf(phase raw.Phase) *[]Field {
	isOfHead := phase != raw.PhaseRequestTrailers && phase != raw.PhaseResponseTrailers
	// A call on its own, as in the vectors, has no message under way.
	if isOfHead && e.run != nil && !e.run.IsHeadOpen() {
		return nil
	}
	switch phase {
	case raw.PhaseRequestHead, raw.PhaseRequestBody:
		return &e.forward.Fields
	case raw.PhaseRequestTrailers:
		return &e.forward.Trailers
	case raw.PhaseResponseHead, raw.PhaseResponseBody:
		return &e.response.Fields
	case raw.PhaseResponseTrailers:
		return &e.response.Trailers
	default:
		return nil
	}
}

func changeFields(fields *[]Field, op raw.Op, name, value string) {
	is := func(f Field) bool { return raw.EqualFold(f.Name, name) }
	at := slices.IndexFunc(*fields, is)
	switch {
	case op == raw.OpAdd || op == raw.OpSet && at < 0:
		*fields = append(*fields, Field{name, value})
	case op == raw.OpRemove:
		*fields = slices.DeleteFunc(*fields, is)
	default:
		rest := slices.DeleteFunc(slices.Clone((*fields)[at+1:]), is)
		*fields = append(append((*fields)[:at:at], Field{name, value}), rest...)
	}
}

func changeBody(body *string, op raw.Op, value string, number int) {
	switch op {
	case raw.OpBodySet:
		*body = value
	case raw.OpBodyAppend:
		*body += value
	case raw.OpBodyPrepend:
		*body = value + *body
	case raw.OpBodyDrain:
		*body = (*body)[min(number, len(*body)):]
	}
}
