// Package waf is a web application firewall: Coraza, with the OWASP Core Rule Set, as a filter of eddy.
package waf

import (
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/corazawaf/coraza/v3"
	"github.com/corazawaf/coraza/v3/types"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// Observe receives the matches of rules that are logged, instead of the gateway's log, if it is set in an init function.
var Observe func(types.MatchedRule)

type filter struct {
	waf     coraza.WAF
	logger  *slog.Logger
	blocked *eddy.Counter
	// response is the inspected part of responses; streamed is the size from which response bodies are not held.
	response string
	streamed int
}

// inspection is the state of an exchange. Coraza's transactions are not safe for concurrent use; the mutex matters with
// `blocking: true`, if the gateway sends a local reply while a hook for the request runs.
type inspection struct {
	mutex sync.Mutex
	tx    types.Transaction
	// request means that the next hook for the request body has the whole body; response, the same of the response.
	request, response bool
	// streams means that the hook for the response body has pieces of a body that goes on meanwhile.
	streams bool
}

func init() { eddy.Register("coraza", newFilter) }

func newFilter(c Config) (eddy.Filter, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	f := &filter{response: c.Response, streamed: c.ResponseBodyBytes}
	observe := Observe
	if observe == nil {
		observe = f.log
	}
	var err error
	f.waf, err = c.Compile(observe)
	return f, err
}

// Start implements eddy.Starter.
func (f *filter) Start(env *eddy.Env) (err error) {
	f.logger = env.Logger()
	f.blocked, err = env.Counter("blocked")
	return err
}

// Close frees the compiled patterns that Coraza shares between rule sets.
func (f *filter) Close() {
	if c, ok := f.waf.(io.Closer); ok {
		if err := c.Close(); err != nil {
			f.logger.Warn("a rule set could not be closed", "error", err)
		}
	}
}

// ReadsOnly implements eddy.BodyReader.
func (f *filter) ReadsOnly() bool { return true }

// log writes a match to the gateway's log, which drops records of a filter that writes too many.
func (f *filter) log(rule types.MatchedRule) {
	if rule.Rule().Severity() <= types.RuleSeverityWarning {
		f.logger.Warn(rule.ErrorLog())
	} else {
		f.logger.Info(rule.ErrorLog())
	}
}

// RequestHead inspects a request without a body completely, and the head of others.
func (f *filter) RequestHead(x *eddy.Exchange) eddy.Verdict {
	s := eddy.State[inspection](x)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if id := x.RequestID(); id != "" {
		s.tx = f.waf.NewTransactionWithID(strings.Clone(id))
	} else {
		s.tx = f.waf.NewTransaction()
	}
	if s.tx.IsRuleEngineOff() {
		return eddy.Continue
	}
	readConnection(s.tx, x)
	readRequestHead(s.tx, x.Request())
	if stop := s.tx.ProcessRequestHeaders(); stop != nil {
		return f.interrupt(x, stop)
	}
	if s.tx.IsRequestBodyAccessible() && !x.IsLast() {
		s.request = true
		return x.Buffer()
	}
	return f.verdict(x, s.tx.ProcessRequestBody)
}

// RequestBody inspects the whole request body, before the endpoint sees anything of the request.
func (f *filter) RequestBody(x *eddy.Exchange) eddy.Verdict {
	s := eddy.State[inspection](x)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.request {
		return eddy.Continue
	}
	s.request = false
	// Coraza copies the body.
	if stop, _, err := s.tx.WriteRequestBody(x.Body().Bytes()); stop != nil || err != nil {
		return f.settle(x, stop, err)
	}
	return f.verdict(x, s.tx.ProcessRequestBody)
}

// ResponseHead inspects the head of a response, unless it is the result of an interruption.
func (f *filter) ResponseHead(x *eddy.Exchange) eddy.Verdict {
	s := eddy.State[inspection](x)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if f.response == "none" || s.tx == nil || s.tx.IsRuleEngineOff() || s.tx.IsInterrupted() {
		return eddy.Continue
	}
	response := x.Response()
	readFields(response.Fields, s.tx.AddResponseHeader)
	if stop := s.tx.ProcessResponseHeaders(response.Status(), protocol(x.Request().Version())); stop != nil {
		return f.interrupt(x, stop)
	}
	// Coraza's own HTTP handler, too, runs the rules for bodies only with a body of a type that the directives name.
	if !s.tx.IsResponseBodyAccessible() || !s.tx.IsResponseBodyProcessable() {
		return eddy.Continue
	}
	if x.IsLast() {
		return f.verdict(x, s.tx.ProcessResponseBody)
	}
	if length, err := strconv.Atoi(response.Get(eddy.ContentLength)); err == nil && length > f.streamed {
		s.streams = true
		return eddy.Continue
	}
	s.response = true
	return x.Buffer()
}

// ResponseBody inspects a response body: the whole, before the client sees anything of the response, or the pieces of a
// large one.
func (f *filter) ResponseBody(x *eddy.Exchange) eddy.Verdict {
	s := eddy.State[inspection](x)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.response && !s.streams {
		return eddy.Continue
	}
	stop, _, err := s.tx.WriteResponseBody(x.Body().Bytes())
	if stop == nil && err == nil && (s.response || x.IsLast()) {
		stop, err = s.tx.ProcessResponseBody()
	}
	if s.streams {
		if stop == nil && err == nil {
			return eddy.Continue
		}
		// The head has left the gateway, so the response can only be cut off.
		s.streams = false
		f.blocked.Inc(x)
		return x.Reset()
	}
	s.response = false
	return f.settle(x, stop, err)
}

// End runs the rules for logging and returns the transaction to Coraza, whatever has become of the exchange.
func (f *filter) End(e *eddy.Ending) {
	s := eddy.State[inspection](e)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.tx == nil {
		return
	}
	tx := s.tx
	s.tx = nil
	defer func() {
		if err := tx.Close(); err != nil {
			f.logger.Warn("a transaction could not be closed", "error", err)
		}
	}()
	tx.ProcessLogging()
}

func (f *filter) verdict(x *eddy.Exchange, process func() (*types.Interruption, error)) eddy.Verdict {
	stop, err := process()
	return f.settle(x, stop, err)
}

func (f *filter) settle(x *eddy.Exchange, stop *types.Interruption, err error) eddy.Verdict {
	switch {
	case err != nil:
		return x.Fault(err)
	case stop != nil:
		return f.interrupt(x, stop)
	default:
		return eddy.Continue
	}
}

// interrupt carries out the action of the rule that interrupted a transaction.
func (f *filter) interrupt(x *eddy.Exchange, stop *types.Interruption) eddy.Verdict {
	f.blocked.Inc(x)
	switch stop.Action {
	case "drop":
		return x.Reset()
	case "redirect":
		status := stop.Status
		if status < 300 || status > 399 {
			status = 302
		}
		return x.ReplyWith(eddy.Answer{Status: status, Fields: []eddy.Field{eddy.F(eddy.Location, stop.Data)}, Details: "waf_redirect"})
	default:
		status := stop.Status
		if status < 200 || status > 599 {
			status = 403
		}
		return x.ReplyWith(eddy.Answer{Status: status, Details: "waf_denied"})
	}
}

func readConnection(tx types.Transaction, x *eddy.Exchange) {
	client, clientPort := splitAddress(x.Peer())
	server, serverPort := splitAddress(x.Local())
	tx.ProcessConnection(client, clientPort, server, serverPort)
}

// splitAddress returns copies: Coraza keeps them.
func splitAddress(address string) (host string, port int) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Clone(address), 0
	}
	port, _ = strconv.Atoi(text)
	return strings.Clone(host), port
}

func readRequestHead(tx types.Transaction, r eddy.Request) {
	tx.ProcessURI(strings.Clone(r.Target()), strings.Clone(r.Method()), protocol(r.Version()))
	authority := strings.Clone(r.Authority())
	if authority != "" {
		tx.SetServerName(authority)
	}
	// HTTP/2 and HTTP/3 have an authority instead.
	if !r.Has(eddy.Host) && authority != "" {
		tx.AddRequestHeader("Host", authority)
	}
	readFields(r.Fields, tx.AddRequestHeader)
}

// readFields gives headers to Coraza, which keeps them: one copy holds them all.
func readFields(fields eddy.Fields, add func(name, value string)) {
	size := 0
	for name, value := range fields.All() {
		size += len(name) + len(value)
	}
	var copies strings.Builder
	copies.Grow(size)
	copied := func(text string) string {
		start := copies.Len()
		copies.WriteString(text)
		return copies.String()[start:]
	}
	for name, value := range fields.All() {
		add(copied(name), copied(value))
	}
}

func protocol(version int) string {
	switch version {
	case 10:
		return "HTTP/1.0"
	case 20:
		return "HTTP/2.0"
	case 30:
		return "HTTP/3.0"
	default:
		return "HTTP/1.1"
	}
}
