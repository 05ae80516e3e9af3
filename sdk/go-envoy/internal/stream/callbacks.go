package stream

import (
	"fmt"
	"net/netip"
	"sort"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// DecoderFilterCallbacks returns the callbacks of the request.
func (x *exchange) DecoderFilterCallbacks() api.DecoderFilterCallbacks { return &x.ways[requestWay] }

// EncoderFilterCallbacks returns the callbacks of the response.
func (x *exchange) EncoderFilterCallbacks() api.EncoderFilterCallbacks { return &x.ways[responseWay] }

// current returns the direction of callbacks that do not name one: the one in progress, or the last entered one if both
// are.
func (x *exchange) current() *way {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	w := &x.ways[x.last]
	if other := &x.ways[1-x.last]; w.state == idle && other.state != idle {
		return other
	}
	return w
}

// Continue continues the direction that is Running.
func (x *exchange) Continue(status api.StatusType) { x.current().Continue(status) }

// SendLocalReply replies instead of the endpoint.
func (x *exchange) SendLocalReply(status int, body string, headers api.ReplyHeaders, grpcStatus int64, details string) {
	x.current().reply(status, body, headers, grpcStatus, details)
}

// RecoverPanic must be deferred in goroutines.
func (x *exchange) RecoverPanic() {
	if r := recover(); r != nil {
		x.current().fail(raw.PanicText(r))
	}
}

// RecoverPanic must be deferred in goroutines.
func (w *way) RecoverPanic() {
	if r := recover(); r != nil {
		w.fail(raw.PanicText(r))
	}
}

// fail ends the current phase as a fault; without one, the next hook fails.
func (w *way) fail(why string) {
	w.x.mutex.Lock()
	defer w.x.mutex.Unlock()
	w.failLocked(why)
}

// failLocked does what fail does. The caller holds the mutex.
func (w *way) failLocked(why string) {
	switch {
	case w.x.over:
		w.stale("a panic of a goroutine")
	case w.state == paused:
		w.retract(0)
		w.edit(raw.OpFault, "", why, 0)
		w.finish(raw.Fault)
	case w.state == inHook:
		w.rest().failure = why
	default:
		w.x.failure = why
	}
}

// Continue continues.
func (w *way) Continue(status api.StatusType) {
	x := w.x
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if w.state != inHook && w.state != paused {
		w.stale("Continue")
		return
	}
	if status == api.LocalReply {
		return // the reply itself has ended it
	}
	verdict, failure := verdictOf(w.call, status, w.body)
	switch {
	case failure != "":
	case verdict == raw.Pause:
		return // another Running
	case verdict == raw.Buffer && isHead(w.call.Phase) && w.call.Flags&raw.CallEnd != 0:
		failure = "the filter wants to wait for a body, but the message has none"
	case verdict == raw.Buffer && !isHead(w.call.Phase) && w.state == paused:
		failure = "the filter wants more of the body after Running, which is only possible for a head"
	}
	if failure != "" {
		if w.state == inHook {
			w.rest().failure = failure
			return
		}
		w.retract(0)
		w.edit(raw.OpFault, "", failure, 0)
		verdict = raw.Fault
	}
	w.finish(verdict)
}

// SendLocalReply replies instead of the endpoint.
func (w *way) SendLocalReply(status int, body string, headers map[string][]string, grpcStatus int64, details string) {
	w.reply(status, body, headers, grpcStatus, details)
}

func (w *way) reply(status int, body string, headers any, grpcStatus int64, details string) {
	x := w.x
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if w.state != inHook && w.state != paused {
		w.stale("SendLocalReply")
		return
	}
	fields, err := replyFields(headers)
	if err == nil {
		err = w.edit(raw.OpReply, details, body, uint32(status))
	}
	hasType := false
	for _, f := range fields {
		if strings.HasPrefix(f[0], ":") {
			// The status is the argument's; in Envoy, a status among the headers results in an invalid response.
			continue
		}
		id := raw.FieldByName(f[0])
		hasType = hasType || id == raw.FieldContentType
		if !isOurs(id) && err == nil {
			err = w.edit(raw.OpReplyField, f[0], f[1], 0)
		}
	}
	if body != "" && !hasType && err == nil {
		// As in Envoy.
		err = w.edit(raw.OpReplyField, "content-type", "text/plain", 0)
	}
	if grpcStatus >= 0 && err == nil {
		err = w.edit(raw.OpReplyGRPC, "", "", uint32(grpcStatus))
	}
	if err != nil {
		w.edit(raw.OpFault, "", "the local reply: "+err.Error(), 0)
		w.finish(raw.Fault)
		return
	}
	w.finish(raw.Reply)
}

func replyFields(headers any) (fields [][2]string, err error) {
	switch headers := headers.(type) {
	case nil:
	case map[string]string:
		for name, value := range headers {
			fields = append(fields, [2]string{name, value})
		}
	case map[string][]string:
		for name, values := range headers {
			for _, value := range values {
				fields = append(fields, [2]string{name, value})
			}
		}
	default:
		return nil, fmt.Errorf("headers are a map[string]string or map[string][]string, not %T", headers)
	}
	// Maps are not ordered, but a reply should be the same each time.
	sort.SliceStable(fields, func(i, j int) bool { return fields[i][0] < fields[j][0] })
	return fields, nil
}

// AddData adds data before the next part of the body. If that is not possible, the exchange fails: data must not be lost
// silently. Where Envoy does not panic, neither does eddy, because a goroutine may not recover it.
func (w *way) AddData(data []byte, isStreaming bool) {
	x := w.x
	x.mutex.Lock()
	defer x.mutex.Unlock()
	switch {
	case w.state == idle || w.state == done:
		w.stale("AddData")
	case isBody(w.call.Phase):
		// As in Envoy, which filters may recover from.
		panic("AddData works only while a head is processed; in a body, use the buffer")
	case !isHead(w.call.Phase):
		w.failLocked("AddData: in eddy, nothing can be added to the body before its trailers")
	case w.call.Flags&raw.CallEnd != 0:
		w.failLocked("AddData: in eddy, a message without a body can't be given one")
	case x.filter.interest&(w.call.Phase+1).Bit() == 0:
		w.failLocked("AddData: eddy does not enter the filter for the body, as it has no method of its own for it")
	default:
		w.rest().added = append(w.more.added, data...)
	}
}

// InjectData sends data before the current piece of the body: at once while that is Running, else together with the
// piece. Without a current piece, the data is sent with the next one. If that is not possible, InjectData panics in a
// hook and logs a warning elsewhere: data must not be lost silently.
//
// While the piece is Running, InjectData waits until the data before it has left the gateway: a goroutine is as fast as
// the client or the endpoint.
func (w *way) InjectData(data []byte) {
	x := w.x
	w.injecting.Lock()
	defer w.injecting.Unlock()
	if turn, before, ok := w.streams(); ok {
		if err := raw.SendData(x.id, turn, append(before, data...)); err != nil && raw.LogEnabled(raw.LevelDebug) {
			raw.WriteLog(x.filter.id, raw.LevelDebug, "InjectData has no effect: "+err.Error())
		}
		return
	}
	x.mutex.Lock()
	defer x.mutex.Unlock()
	switch {
	case len(data) == 0:
	case x.over:
		w.stale("InjectData")
	case w.body != nil:
		w.body.inject(data)
	case w.bodyEnded:
		w.notInjected("the body has gone on to its end", len(data))
	case x.filter.interest&w.bodyPhase().Bit() == 0:
		w.notInjected("eddy does not enter the filter for the body, as it has no method of its own for it", len(data))
	case len(w.rest().injected)+len(data) > injectedBytes:
		w.notInjected("too much data waits for the next piece of the body", len(data))
	default:
		w.more.injected = append(w.more.injected, data...)
	}
}

// streams returns the turn of a body piece that is Running, to which data can be sent at once, and the data that was
// injected before the hook returned.
func (w *way) streams() (turn uint32, before []byte, ok bool) {
	w.x.mutex.Lock()
	defer w.x.mutex.Unlock()
	if w.state != paused || !isBody(w.call.Phase) {
		return 0, nil, false
	}
	before, w.body.injected, w.hasSent = w.body.injected, nil, true
	return w.turn, before, true
}

// notInjected reports data that was not sent. In a goroutine a panic could end the process, because it may not be
// recovered.
func (w *way) notInjected(why string, size int) {
	if w.state == inHook || w.state == done {
		panic("InjectData: " + why)
	}
	raw.WriteLog(w.x.filter.id, raw.LevelWarn, fmt.Sprintf("InjectData: %s; %d bytes are not sent", why, size))
}

// bodyPhase returns the body phase of this direction.
func (w *way) bodyPhase() raw.Phase {
	if w == &w.x.ways[requestWay] {
		return raw.PhaseRequestBody
	}
	return raw.PhaseResponseBody
}

// injectedBytes is the maximum size of data that waits for a piece of a body.
const injectedBytes = 1 << 20

// SetUpstreamOverrideHost selects the endpoint.
func (w *way) SetUpstreamOverrideHost(host string, strict bool) error {
	if _, err := netip.ParseAddrPort(host); err != nil {
		return api.ErrInvalidIPAddress
	}
	w.x.mutex.Lock()
	defer w.x.mutex.Unlock()
	if w.state == idle || w.call.Phase > raw.PhaseRequestTrailers {
		w.stale("SetUpstreamOverrideHost")
		return nil
	}
	var only uint32
	if strict {
		only = 1
	}
	if err := w.edit(raw.OpEndpoint, "", host, only); err != nil {
		return api.ErrInternalFailure
	}
	return nil
}

// ClearRouteCache requests a new selection of the rule.
func (x *exchange) ClearRouteCache() {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	w := &x.ways[requestWay]
	if !w.editsHead() {
		w.stale("ClearRouteCache")
		return
	}
	w.edit(raw.OpClearRoute, "", "", 0)
}

// RefreshRouteCache requests a new selection of the rule.
func (x *exchange) RefreshRouteCache() { x.ClearRouteCache() }

// Log logs a message.
func (x *exchange) Log(level api.LogType, text string) {
	if raw.LogEnabled(levelOf(level)) {
		raw.WriteLog(x.filter.id, levelOf(level), text)
	}
}

// LogLevel returns the minimum level that is logged.
func (x *exchange) LogLevel() api.LogType { return libraryLog{}.LogLevel() }

// SecretManager returns the secrets of the configuration.
func (x *exchange) SecretManager() api.SecretManager { return x.bound.secrets }

// libraryLog logs messages outside of exchanges.
type libraryLog struct{}

func (libraryLog) Log(level api.LogType, text string) { raw.WriteLog(0, levelOf(level), text) }

func (libraryLog) LogLevel() api.LogType {
	for level := api.Trace; level <= api.Error; level++ {
		if raw.LogEnabled(levelOf(level)) {
			return level
		}
	}
	return api.Critical
}

func levelOf(level api.LogType) raw.Level {
	return raw.Level(min(max(level, api.Trace), api.Error))
}

// isOurs returns whether eddy itself manages a field: framing and hop-by-hop headers. Edits of them by filters are
// dropped, because filters often make them to keep a head consistent with a body, which eddy does itself.
func isOurs(id raw.FieldID) bool {
	return id >= raw.FieldHost && id <= raw.FieldHTTP2Settings && id != raw.FieldMaxForwards || id == raw.FieldAlias
}

// lower returns a name in lower case, without a copy if it already is.
func lower(name string) string { return strings.ToLower(name) }

var (
	_ api.FilterCallbackHandler  = (*exchange)(nil)
	_ api.DecoderFilterCallbacks = (*way)(nil)
)
