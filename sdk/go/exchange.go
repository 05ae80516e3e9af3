package eddy

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Verdict is the result of a hook: [Continue], [Paused], or the result of a method of [Exchange].
type Verdict uint8

// Verdicts that need no method.
const (
	// Continue forwards the message.
	Continue = Verdict(raw.Continue)
	// Paused holds the message until the handle of [Exchange.Pause] is finished.
	Paused = Verdict(raw.Pause)
)

// String returns the name of the verdict.
func (v Verdict) String() string { return raw.Verdict(v).String() }

// Exchange is a request and its response as seen by a hook.
//
// It is valid until the hook returns, and so are all texts that it returns, which are in memory of the gateway: use
// strings.Clone, [Fields.GetString] or the like for longer use. With [Go], in hooks that run with `blocking: true` and
// in [Pause.Exchange] it is a copy in memory of Go, without this restriction. It must be used by one goroutine at a
// time.
//
// Build with the tag eddydebug to find uses after the hook: texts become garbage then, and methods panic.
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
	// sent means that Send was called.
	sent atomic.Bool
}

func (x *Exchange) live() *raw.Call {
	if x.call == nil {
		panicUseAfterHook()
	}
	return x.call
}

//go:noinline
func panicUseAfterHook() { panic("eddy: an Exchange was used after its hook had returned") }

// read is live for data that a bare copy does not have.
func (x *Exchange) read() *raw.Call {
	if x.call == nil || x.bare {
		x.panicUnread()
	}
	return x.call
}

//go:noinline
func (x *Exchange) panicUnread() {
	if x.call == nil {
		panicUseAfterHook()
	}
	panic("eddy: the message was read after Pause, which keeps none of it; use PauseWithCopy or Go")
}

func (x *Exchange) about() *raw.About { return x.read().About }

// edit adds an edit. If that fails, the hook fails when it returns.
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

// Request returns the request head.
func (x *Exchange) Request() Request { return Request{Fields{x, raw.RequestFields}} }

// Response returns the response head; it has no fields before the response phases.
func (x *Exchange) Response() Response { return Response{Fields{x, raw.ResponseFields}} }

// Trailers returns the trailers, in trailer phases.
func (x *Exchange) Trailers() Fields { return Fields{x, raw.TrailerFields} }

// Body returns the body or the piece of it, in body phases.
func (x *Exchange) Body() Body { return Body{x} }

// Reply replies to the client; later filters and the endpoint are skipped: `return x.Reply(403, "no\n")`.
func (x *Exchange) Reply(status int, body string, fields ...Field) Verdict {
	x.edit(raw.OpReply, "", body, uint32(status))
	for i := range fields {
		x.edit(raw.OpReplyField, fields[i].Name, fields[i].Value, 0)
	}
	return Verdict(raw.Reply)
}

// Answer is a reply with all its options.
type Answer struct {
	Status int
	Body   []byte
	Fields []Field
	// Details is a word for the access log.
	Details string
	// GRPCStatus is the status for gRPC clients; 0: derived from the status.
	GRPCStatus uint32
}

// ReplyWith replies to the client.
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

// Send sends data in front of the piece of the body that this hook handles, and waits until the data of the call before
// it has left the gateway: a goroutine is as fast as the client or the endpoint. Only in a body hook that runs on a
// goroutine, with [Go] or `blocking: true`. Each call begins the time limit of the filter anew.
//
// With it, a filter streams a response of its own: it replies in an earlier hook, and its ResponseBody sends the body
// piece by piece; the body of the reply comes last.
//
// # Errors
//
// [ErrGone] if the exchange has ended, [ErrInvalid] outside of such hooks.
func (x *Exchange) Send(data []byte) error {
	c := x.live()
	if x.copy == nil || c.Phase != raw.PhaseRequestBody && c.Phase != raw.PhaseResponseBody {
		return ErrInvalid
	}
	x.sent.Store(true)
	return raw.SendData(c.Exchange, c.Turn, data)
}

// Buffer requests the whole body. From a head hook: the body hook is called next with the whole body, and head and body
// continue together after it. From a body hook: it is called again with the whole body from this piece on. The gateway
// limits the size.
func (x *Exchange) Buffer() Verdict { return Verdict(raw.Buffer) }

// Reset ends the exchange without a response, or without the rest of it.
func (x *Exchange) Reset() Verdict { return Verdict(raw.Reset) }

// Fault reports that the filter failed. The edits of the hook are dropped, and the failure policy of the filter
// applies.
func (x *Exchange) Fault(why error) Verdict {
	x.fail(why)
	return Verdict(raw.Fault)
}

// Phase returns the phase of the exchange.
func (x *Exchange) Phase() raw.Phase { return x.live().Phase }

// IsLast returns whether nothing follows in this direction: there is no body, or this is its last piece and there are
// no trailers, or these are the trailers.
func (x *Exchange) IsLast() bool { return x.live().Flags&raw.CallEnd != 0 }

// IsLocal returns whether the response is a local reply, of eddy or another filter.
func (x *Exchange) IsLocal() bool { return x.live().Flags&raw.CallLocal != 0 }

// IsTLS returns whether the client uses TLS.
func (x *Exchange) IsTLS() bool { return x.live().Flags&raw.CallTLS != 0 }

// ID returns a number that is unique in the gateway process.
func (x *Exchange) ID() uint64 { return x.live().Exchange }

// Peer returns the client address, such as 192.0.2.1:4711, [2001:db8::1]:4711 or unix.
func (x *Exchange) Peer() string { return x.about().Peer.String() }

// Local returns the local address of the client connection.
func (x *Exchange) Local() string { return x.about().Local.String() }

// Listener returns the name of the listener.
func (x *Exchange) Listener() string { return x.about().Listener.String() }

// Rule returns the name of the selected rule.
func (x *Exchange) Rule() string { return x.about().Rule.String() }

// Cluster returns the name of the rule's cluster.
func (x *Exchange) Cluster() string { return x.about().Cluster.String() }

// Endpoint returns the address of the endpoint that responded; empty before.
func (x *Exchange) Endpoint() string { return x.about().Endpoint.String() }

// RequestID returns the request ID, if the listener has them.
func (x *Exchange) RequestID() string { return x.about().RequestID.String() }

// Details returns a word for the reason of a local reply; empty otherwise.
func (x *Exchange) Details() string { return x.about().Details.String() }

// Attempts returns the number of endpoints tried.
func (x *Exchange) Attempts() int { return int(x.about().Attempts) }

// Connection returns the number of the client connection within the worker.
func (x *Exchange) Connection() uint64 { return x.about().Connection }

// RequestBytes returns the size of the request body so far.
func (x *Exchange) RequestBytes() uint64 { return x.about().RequestBytes }

// ResponseBytes returns the size of the response body so far.
func (x *Exchange) ResponseBytes() uint64 { return x.about().ResponseBytes }

// Started returns the time at which the request head was complete.
func (x *Exchange) Started() time.Time { return time.UnixMicro(int64(x.about().StartedUnixUs)) }

// Duration returns the duration of the exchange in [LogHook]; 0 before.
func (x *Exchange) Duration() time.Duration {
	return time.Duration(x.about().DurationUs) * time.Microsecond
}

// Metadata returns a metadata entry, which filters share, as JSON.
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

// SetMetadataOf sets an entry to a value, encoded by encoding/json.
func (x *Exchange) SetMetadataOf(space, key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		x.fail(fmt.Errorf("metadata %s %s: %w", space, key, err))
		return
	}
	x.SetMetadata(space, key, string(text))
}

// ClearRoute makes the gateway select the rule again before the request is forwarded; only in the request head.
func (x *Exchange) ClearRoute() { x.edit(raw.OpClearRoute, "", "", 0) }

// PreferEndpoint sets the preferred endpoint for the request.
func (x *Exchange) PreferEndpoint(address string) { x.edit(raw.OpEndpoint, "", address, 0) }

// RequireEndpoint sets the only endpoint for the request.
func (x *Exchange) RequireEndpoint(address string) { x.edit(raw.OpEndpoint, "", address, 1) }

// Logger returns a logger to the gateway's log, under the filter's name.
func (x *Exchange) Logger() *slog.Logger { return x.filter.logger }

// Context is done when the exchange has ended. Requests that a [Client] sends with it are cancelled then.
func (x *Exchange) Context() context.Context { return x.state().context() }

func viewOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
