package envoytest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// call lays out a crossing like the gateway.
func (x *exchange) call(phase raw.Phase, steps []int, body string, flags uint8) (*raw.Call, []raw.Step) {
	g := x.gateway
	made := make([]raw.Step, len(steps))
	for i, s := range steps {
		from := g.steps[s]
		made[i] = raw.Step{Filter: from.filter, Config: from.config, State: x.states[s], ID: from.id, Flags: from.flags}
	}
	about := &raw.About{
		Peer: raw.TextOf("192.0.2.1:4711"), Local: raw.TextOf("192.0.2.2:8080"), Listener: raw.TextOf(g.Listener),
		Rule: raw.TextOf(g.Rule), Cluster: raw.TextOf(g.Cluster), RequestID: raw.TextOf("id-1"), Details: raw.TextOf(x.result.Details),
		StartedUnixUs: 1_700_000_000_000_000, Connection: 7, Attempts: 0,
	}
	if len(x.metadata) != 0 {
		about.Metadata, about.MetadataLen = &x.metadata[0], uint64(len(x.metadata))
	}
	scheme := "http"
	if x.request.TLS {
		scheme = "https"
		flags |= raw.CallTLS
	}
	edits := make([]byte, 256)
	c := &raw.Call{
		ABI: raw.ABI, Phase: phase, Flags: flags, Version: 11, Exchange: x.number, Turn: x.turn,
		Steps: &made[0], StepsLen: uint32(len(made)), Request: head(hosted(x.request)),
		MethodName: raw.TextOf(x.request.Method), Target: raw.TextOf(x.request.Path), Authority: raw.TextOf(x.request.Host),
		Scheme: raw.TextOf(scheme), Body: raw.TextOf(body), About: about,
		Edits: &edits[0], EditsCap: uint32(len(edits)), Current: new(uint32),
	}
	if phase >= raw.PhaseResponseHead {
		c.Status = uint16(x.response.Status)
		c.Response = head(x.response.Fields)
		if x.isLocal {
			c.Flags |= raw.CallLocal
		} else {
			about.Endpoint, about.Attempts = raw.TextOf(g.Endpoint), 1
		}
	}
	switch phase {
	case raw.PhaseRequestTrailers:
		c.Trailers = head(x.request.Trailers)
	case raw.PhaseResponseTrailers:
		c.Trailers = head(x.response.Trailers)
	}
	return c, made
}

// hosted returns the headers of a request as in HTTP/1.
func hosted(r Request) Fields {
	if r.Host == "" {
		return r.Fields
	}
	return append(Fields{{"Host", r.Host}}, r.Fields...)
}

// head lays out fields.
func head(fields Fields) raw.Head {
	if len(fields) == 0 {
		return raw.Head{}
	}
	var bytes []byte
	list := make([]raw.Field, 0, len(fields))
	for _, f := range fields {
		start := uint32(len(bytes))
		bytes = append(bytes, f[0]+": "+f[1]+"\r\n"...)
		value := start + uint32(len(f[0])) + 2
		list = append(list, raw.Field{
			Name: raw.Span{Start: start, End: start + uint32(len(f[0]))}, Value: raw.Span{Start: value, End: value + uint32(len(f[1]))},
			ID: raw.FieldByName(f[0]),
		})
	}
	return raw.Head{Bytes: &bytes[0], BytesLen: uint32(len(bytes)), Fields: &list[0], FieldsLen: uint32(len(list))}
}

// apply applies the edits of a log, as strictly as the gateway; false if they are a fault.
func (x *exchange) apply(phase raw.Phase, log raw.EditLog, verdict raw.Verdict) bool {
	if verdict == raw.Reply && !x.isIgnoringReplies(phase) {
		return x.reply(log)
	}
	fine := true
	refuse := func(r raw.Record, why string) {
		x.result.Faults = append(x.result.Faults, fmt.Sprintf("%s %q in %s: %s", r.Op, r.Name, phase, why))
		fine = false
	}
	for r := range log.All() {
		switch r.Op {
		case raw.OpSet, raw.OpAdd, raw.OpRemove:
			if isReserved(r.Name) {
				refuse(r, "is eddy's own")
			} else if strings.ContainsAny(r.Value, "\r\n\x00") {
				refuse(r, "has a control byte")
			} else if fields := x.fields(phase); fields == nil {
				refuse(r, "the head is gone")
			} else {
				change(fields, r)
			}
		case raw.OpMethod, raw.OpTarget, raw.OpAuthority:
			if x.fields(phase) != &x.request.Fields {
				refuse(r, "there is no request head to change")
				continue
			}
			*map[raw.Op]*string{raw.OpMethod: &x.request.Method, raw.OpTarget: &x.request.Path, raw.OpAuthority: &x.request.Host}[r.Op] = strings.Clone(r.Value)
		case raw.OpStatus:
			if x.fields(phase) != &x.response.Fields {
				refuse(r, "there is no response head to change")
				continue
			}
			x.response.Status = int(r.Number)
		case raw.OpBodySet, raw.OpBodyAppend, raw.OpBodyPrepend, raw.OpBodyDrain:
			piece := x.body
			if piece == nil {
				refuse(r, "there is no body to change")
				continue
			}
			switch r.Op {
			case raw.OpBodySet:
				*piece = strings.Clone(r.Value)
			case raw.OpBodyAppend:
				*piece += r.Value
			case raw.OpBodyPrepend:
				*piece = r.Value + *piece
			default:
				*piece = (*piece)[min(int(r.Number), len(*piece)):]
			}
		case raw.OpMetadata:
			x.note(r)
		case raw.OpClearRoute:
			if phase > raw.PhaseRequestBody {
				refuse(r, "the request is gone")
			}
			x.result.Cleared = true
		case raw.OpEndpoint:
			x.result.Endpoint = fmt.Sprintf("%s %d", r.Value, r.Number)
		case raw.OpFault:
			x.result.Faults = append(x.result.Faults, strings.Clone(r.Value))
		case raw.OpReply, raw.OpReplyField, raw.OpReplyGRPC:
			if verdict != raw.Reply {
				refuse(r, "is for the verdict reply")
			}
		}
	}
	if verdict == raw.Fault && len(x.result.Faults) == 0 {
		x.result.Faults = append(x.result.Faults, "a fault without a word")
	}
	return fine
}

// fields returns the fields that edits change in a phase; nil for a head that was already sent.
func (x *exchange) fields(phase raw.Phase) *Fields {
	switch {
	case phase == raw.PhaseRequestHead || phase == raw.PhaseRequestBody && x.passage.IsHeadOpen():
		return &x.request.Fields
	case phase == raw.PhaseResponseHead || phase == raw.PhaseResponseBody && x.passage.IsHeadOpen():
		return &x.response.Fields
	case phase == raw.PhaseRequestTrailers:
		return &x.request.Trailers
	case phase == raw.PhaseResponseTrailers:
		return &x.response.Trailers
	default:
		return nil
	}
}

func change(fields *Fields, r raw.Record) {
	var kept Fields
	place := -1
	for _, f := range *fields {
		if r.Op != raw.OpAdd && strings.EqualFold(f[0], r.Name) {
			if place < 0 {
				place = len(kept)
			}
			continue
		}
		kept = append(kept, f)
	}
	field := [2]string{strings.Clone(r.Name), strings.Clone(r.Value)}
	switch {
	case r.Op == raw.OpRemove:
	case place >= 0:
		kept = append(kept[:place:place], append(Fields{field}, kept[place:]...)...)
	default:
		kept = append(kept, field)
	}
	*fields = kept
}

// isIgnoringReplies returns whether a reply is not sent: the response is a local one already.
func (x *exchange) isIgnoringReplies(phase raw.Phase) bool {
	return x.isLocal && phase >= raw.PhaseResponseHead
}

func (x *exchange) reply(log raw.EditLog) bool {
	x.response = Response{}
	found := false
	for r := range log.All() {
		switch r.Op {
		case raw.OpReply:
			found = true
			x.response.Status = int(r.Number)
			x.result.Details = strings.Clone(r.Name)
			if r.Value != "" {
				x.response.Body = []string{strings.Clone(r.Value)}
			}
		case raw.OpReplyField:
			if isReserved(r.Name) {
				x.result.Faults = append(x.result.Faults, "reply field "+r.Name)
				return false
			}
			x.response.Fields = append(x.response.Fields, [2]string{strings.Clone(r.Name), strings.Clone(r.Value)})
		case raw.OpMetadata:
			x.note(r)
		}
	}
	x.isLocal = true
	return found && x.response.Status >= 200 && x.response.Status <= 599
}

func (x *exchange) note(r raw.Record) {
	space, key, _ := strings.Cut(strings.Clone(r.Name), "\x00")
	pair := raw.Pair{Space: raw.TextOf(space), Key: raw.TextOf(key), Value: raw.TextOf(strings.Clone(r.Value))}
	for i, p := range x.metadata {
		if p.Space.String() == space && p.Key.String() == key {
			x.metadata[i] = pair
			return
		}
	}
	x.metadata = append(x.metadata, pair)
}

// isReserved returns whether filters cannot change a field in the gateway.
func isReserved(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "Te", "Trailer", "Keep-Alive",
		"Proxy", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Http2-Settings":
		return true
	}
	return false
}
