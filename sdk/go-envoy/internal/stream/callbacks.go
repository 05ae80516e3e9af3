package stream

import (
	"fmt"
	"net/netip"
	"sort"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// DecoderFilterCallbacks steers the request.
func (x *exchange) DecoderFilterCallbacks() api.DecoderFilterCallbacks { return &x.ways[requestWay] }

// EncoderFilterCallbacks steers the response.
func (x *exchange) EncoderFilterCallbacks() api.EncoderFilterCallbacks { return &x.ways[responseWay] }

// current is the way that callbacks mean that don't say: the one that is under way, the last entered if both are.
func (x *exchange) current() *way {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	w := &x.ways[x.last]
	if other := &x.ways[1-x.last]; w.state == idle && other.state != idle {
		return other
	}
	return w
}

// Continue goes on with the direction that is Running.
func (x *exchange) Continue(status api.StatusType) { x.current().Continue(status) }

// SendLocalReply answers in the place of the endpoint.
func (x *exchange) SendLocalReply(status int, body string, headers api.ReplyHeaders, grpcStatus int64, details string) {
	x.current().reply(status, body, headers, grpcStatus, details)
}

// RecoverPanic is to be deferred in goroutines.
func (x *exchange) RecoverPanic() {
	if r := recover(); r != nil {
		x.current().fail(raw.PanicText(r))
	}
}

// RecoverPanic is to be deferred in goroutines.
func (w *way) RecoverPanic() {
	if r := recover(); r != nil {
		w.fail(raw.PanicText(r))
	}
}

// fail ends what is under way as a fault; where nothing is, the next hook.
func (w *way) fail(why string) {
	w.x.mutex.Lock()
	defer w.x.mutex.Unlock()
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

// Continue goes on.
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
		return // Running once more
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

// SendLocalReply answers in the place of the endpoint.
func (w *way) SendLocalReply(status int, body string, headers map[string][]string, grpcStatus int64, details string) {
	w.reply(status, body, headers, grpcStatus, details)
}

func (w *way) reply(status int, body string, headers api.ReplyHeaders, grpcStatus int64, details string) {
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
			// The status is the argument's; in Envoy, one among the headers makes an answer that no client understands.
			continue
		}
		id := raw.FieldByName(f[0])
		hasType = hasType || id == raw.FieldContentType
		if !isOurs(id) && err == nil {
			err = w.edit(raw.OpReplyField, f[0], f[1], 0)
		}
	}
	if body != "" && !hasType && err == nil {
		// As Envoy does.
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

func replyFields(headers api.ReplyHeaders) (fields [][2]string, err error) {
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
	// The order of a map is any; an answer should look the same each time.
	sort.SliceStable(fields, func(i, j int) bool { return fields[i][0] < fields[j][0] })
	return fields, nil
}

// AddData puts data before what comes next of the body. Where it can't, it panics: data must not vanish unseen.
func (w *way) AddData(data []byte, isStreaming bool) {
	x := w.x
	x.mutex.Lock()
	defer x.mutex.Unlock()
	switch {
	case w.state == idle:
		w.stale("AddData")
	case !isHead(w.call.Phase):
		panic("AddData works only while a head is processed; in a body, use the buffer")
	case w.call.Flags&raw.CallEnd != 0:
		panic("AddData: in eddy, a message without a body can't be given one")
	case x.filter.interest&(w.call.Phase+1).Bit() == 0:
		panic("AddData: eddy does not enter the filter for the body, as it has no method of its own for it")
	default:
		w.rest().added = append(w.more.added, data...)
	}
}

// InjectData sends data before the piece of the body that is under way, and where none is before the next one; it goes out
// with that piece. Where it can't, it panics in a hook and writes a warning elsewhere: data must not vanish unseen.
func (w *way) InjectData(data []byte) {
	x := w.x
	x.mutex.Lock()
	defer x.mutex.Unlock()
	switch {
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

// notInjected tells of data that is not sent. In a goroutine a panic could end the process, since it need not have a
// barrier.
func (w *way) notInjected(why string, size int) {
	if w.state == inHook || w.state == done {
		panic("InjectData: " + why)
	}
	raw.WriteLog(w.x.filter.id, raw.LevelWarn, fmt.Sprintf("InjectData: %s; %d bytes are not sent", why, size))
}

// bodyPhase is the phase of the bodies of this way.
func (w *way) bodyPhase() raw.Phase {
	if w == &w.x.ways[requestWay] {
		return raw.PhaseRequestBody
	}
	return raw.PhaseResponseBody
}

// injectedBytes is the most that waits for a piece of a body.
const injectedBytes = 1 << 20

// SetUpstreamOverrideHost chooses the endpoint.
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

// ClearRouteCache has the rule looked up again.
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

// RefreshRouteCache has the rule looked up again.
func (x *exchange) RefreshRouteCache() { x.ClearRouteCache() }

// Log writes a record.
func (x *exchange) Log(level api.LogType, text string) {
	if raw.LogEnabled(levelOf(level)) {
		raw.WriteLog(x.filter.id, levelOf(level), text)
	}
}

// LogLevel is the least weight that is written.
func (x *exchange) LogLevel() api.LogType { return libraryLog{}.LogLevel() }

// SecretManager hands out the secrets of the configuration.
func (x *exchange) SecretManager() api.SecretManager { return x.bound.secrets }

// libraryLog is for records of no exchange.
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

// isOurs tells whether a field is eddy's own affair: it frames the message or ends at this hop. What filters do to
// such is dropped, as they often do it to keep a head in step with a body, which eddy does by itself.
func isOurs(id raw.FieldID) bool {
	return id >= raw.FieldHost && id <= raw.FieldHTTP2Settings && id != raw.FieldMaxForwards || id == raw.FieldAlias
}

// lower gives a name in lower case, without a copy where it is so already.
func lower(name string) string { return strings.ToLower(name) }

var (
	_ api.FilterCallbackHandler  = (*exchange)(nil)
	_ api.DecoderFilterCallbacks = (*way)(nil)
)
