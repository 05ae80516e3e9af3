package eddy

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Verdict is what a hook says of its phase: [Continue], [Paused], or what a method of [Exchange] gave.
type Verdict uint8

// The verdicts that need no method.
const (
	// Continue lets the message go on.
	Continue = Verdict(raw.Continue)
	// Paused keeps it until the handle that [Exchange.Pause] gave is finished.
	Paused = Verdict(raw.Pause)
)

// String gives the name of the verdict.
func (v Verdict) String() string { return raw.Verdict(v).String() }

// Exchange is a request and its response, as a hook sees them.
//
// It is valid until the hook returns, and so are all texts it gives, which lie in memory of the gateway: use
// strings.Clone, [Fields.GetString] or the like for what must live longer. Behind [Go], in hooks that run with
// `blocking: true` and in [Pause.Exchange] it is a copy, whose texts live as long as Go needs them. It is for one
// goroutine at a time.
//
// Build with the tag eddydebug to find uses after the hook: texts turn into nonsense then, and methods panic.
type Exchange struct {
	call    *raw.Call
	step    *raw.Step
	copy    *raw.Copy
	filter  *filter
	entry   *entry
	paused  *Pause
	failure error
	body    []byte
	lane    uint32
	// bare is a copy without texts and heads.
	bare bool
}

func (x *Exchange) live() *raw.Call {
	if x.call == nil {
		panicDead()
	}
	return x.call
}

//go:noinline
func panicDead() { panic("eddy: an Exchange was used after its hook had returned") }

// read is live for what a bare copy does not have.
func (x *Exchange) read() *raw.Call {
	if x.call == nil || x.bare {
		x.panicUnread()
	}
	return x.call
}

//go:noinline
func (x *Exchange) panicUnread() {
	if x.call == nil {
		panicDead()
	}
	panic("eddy: the message was read after Pause, which keeps none of it; use PauseWithCopy or Go")
}

func (x *Exchange) about() *raw.About { return x.read().About }

// edit adds to the edits. What can't be added makes the hook fail when it returns.
func (x *Exchange) edit(op raw.Op, name, value string, number uint32) {
	var err error
	if x.copy != nil {
		err = x.copy.Edit(op, name, value, number)
	} else {
		err = x.live().Edit(op, name, value, number)
	}
	if err != nil {
		x.fail(fmt.Errorf("%v of %d bytes: %w", op, len(name)+len(value), err))
	}
}

func (x *Exchange) fail(err error) {
	if x.failure == nil {
		x.failure = err
	}
}

// Request gives the request's head.
func (x *Exchange) Request() Request { return Request{Fields{x, raw.RequestFields}} }

// Response gives the response's head; it has no fields before the response phases.
func (x *Exchange) Response() Response { return Response{Fields{x, raw.ResponseFields}} }

// Trailers gives the trailers, in the phases of trailers.
func (x *Exchange) Trailers() Fields { return Fields{x, raw.TrailerFields} }

// Body gives the body or the piece of it, in the phases of bodies.
func (x *Exchange) Body() Body { return Body{x} }

// Reply answers the client with these and no further filter or endpoint: `return x.Reply(403, "no\n")`.
func (x *Exchange) Reply(status int, body string, fields ...Field) Verdict {
	x.edit(raw.OpReply, "", body, uint32(status))
	for i := range fields {
		x.edit(raw.OpReplyField, fields[i].Name, fields[i].Value, 0)
	}
	return Verdict(raw.Reply)
}

// Answer is a reply with everything that can be said of one.
type Answer struct {
	Status int
	Body   []byte
	Fields []Field
	// Details is a word for the access record.
	Details string
	// GRPCStatus is what a gRPC client is told; 0: what belongs to the status.
	GRPCStatus uint32
}

// ReplyWith answers the client.
func (x *Exchange) ReplyWith(a Answer) Verdict {
	x.edit(raw.OpReply, a.Details, viewOf(a.Body), uint32(a.Status))
	for i := range a.Fields {
		x.edit(raw.OpReplyField, a.Fields[i].Name, a.Fields[i].Value, 0)
	}
	if a.GRPCStatus != 0 {
		x.edit(raw.OpReplyGRPC, "", "", a.GRPCStatus)
	}
	return Verdict(raw.Reply)
}

// Buffer asks for the whole body: from a head hook, the body hook comes next, with the whole, and head and body go
// on together after it; from a body hook, it comes again with the whole from this piece on. The gateway limits the size.
func (x *Exchange) Buffer() Verdict { return Verdict(raw.Buffer) }

// Reset ends the exchange without an answer, or without the rest of it.
func (x *Exchange) Reset() Verdict { return Verdict(raw.Reset) }

// Fault says that the filter failed. What the hook changed is taken back; the failure policy of the filter decides.
func (x *Exchange) Fault(why error) Verdict {
	x.fail(why)
	return Verdict(raw.Fault)
}

// Phase tells where the exchange stands.
func (x *Exchange) Phase() raw.Phase { return x.live().Phase }

// IsLast tells that nothing follows in this direction: there is no body, or this is its last piece and no trailers
// come, or these are the trailers.
func (x *Exchange) IsLast() bool { return x.live().Flags&raw.CallEnd != 0 }

// IsLocal tells that the response is eddy's own, or another filter's.
func (x *Exchange) IsLocal() bool { return x.live().Flags&raw.CallLocal != 0 }

// IsTLS tells that the client came by TLS.
func (x *Exchange) IsTLS() bool { return x.live().Flags&raw.CallTLS != 0 }

// ID is a number that no other exchange of the gateway's process has.
func (x *Exchange) ID() uint64 { return x.live().Exchange }

// Peer is the client's address, such as 192.0.2.1:4711, [2001:db8::1]:4711 or unix.
func (x *Exchange) Peer() string { return x.about().Peer.String() }

// Local is the address that the client connected to.
func (x *Exchange) Local() string { return x.about().Local.String() }

// Listener is the name of the listener.
func (x *Exchange) Listener() string { return x.about().Listener.String() }

// Rule is the name of the rule that won.
func (x *Exchange) Rule() string { return x.about().Rule.String() }

// Cluster is the name of the cluster that the rule says.
func (x *Exchange) Cluster() string { return x.about().Cluster.String() }

// Endpoint is the address of the endpoint that responded; empty before.
func (x *Exchange) Endpoint() string { return x.about().Endpoint.String() }

// RequestID is the request's id, where the listener has them.
func (x *Exchange) RequestID() string { return x.about().RequestID.String() }

// Details is a word that tells why eddy answered by itself; empty where it did not.
func (x *Exchange) Details() string { return x.about().Details.String() }

// Attempts is how many endpoints were tried.
func (x *Exchange) Attempts() int { return int(x.about().Attempts) }

// Connection is the number of the client's connection within the worker.
func (x *Exchange) Connection() uint64 { return x.about().Connection }

// RequestBytes is the size of the request's body so far.
func (x *Exchange) RequestBytes() uint64 { return x.about().RequestBytes }

// ResponseBytes is the size of the response's body so far.
func (x *Exchange) ResponseBytes() uint64 { return x.about().ResponseBytes }

// Started is when the request's head was complete.
func (x *Exchange) Started() time.Time { return time.UnixMicro(int64(x.about().StartedUnixUs)) }

// Duration is how long the exchange took, in [LogHook]; 0 before.
func (x *Exchange) Duration() time.Duration {
	return time.Duration(x.about().DurationUs) * time.Microsecond
}

// Metadata gives an entry of what filters tell each other, as JSON.
func (x *Exchange) Metadata(space, key string) (value string, ok bool) {
	return x.read().MetadataValue(space, key)
}

// SetMetadata sets an entry to a JSON text; an empty text removes it.
func (x *Exchange) SetMetadata(space, key, value string) {
	if strings.IndexByte(space, 0) >= 0 {
		x.fail(fmt.Errorf("the namespace %q has a NUL", space))
		return
	}
	x.edit(raw.OpMetadata, space+"\x00"+key, value, 0)
}

// SetMetadataOf sets an entry to a value, made JSON by encoding/json.
func (x *Exchange) SetMetadataOf(space, key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		x.fail(fmt.Errorf("metadata %s %s: %w", space, key, err))
		return
	}
	x.SetMetadata(space, key, string(text))
}

// ClearRoute lets the gateway look the rule up again before the request goes on, in the request's head.
func (x *Exchange) ClearRoute() { x.edit(raw.OpClearRoute, "", "", 0) }

// PreferEndpoint names the endpoint to send the request to.
func (x *Exchange) PreferEndpoint(address string) { x.edit(raw.OpEndpoint, "", address, 0) }

// RequireEndpoint names the only endpoint that the request may be sent to.
func (x *Exchange) RequireEndpoint(address string) { x.edit(raw.OpEndpoint, "", address, 1) }

// Logger writes to the gateway's log, under the filter's name.
func (x *Exchange) Logger() *slog.Logger { return x.filter.logger }

// Context is done when the exchange is over. A [Client] takes requests under it for the exchange's own and cancels
// them with it.
func (x *Exchange) Context() context.Context { return x.state().context() }

func viewOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
