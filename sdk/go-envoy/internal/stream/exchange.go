package stream

import (
	"fmt"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// exchange is the state of one filter in one exchange; it implements api.FilterCallbackHandler.
//
// Filters may keep it for ever and use it from any goroutine, so it is never reused for another exchange, and mutex
// guards all data shared by hooks and goroutines. Views of the host's memory are read only under the mutex and while a
// hook runs.
type exchange struct {
	mutex  sync.Mutex
	filter *filter
	bound  *bound
	user   api.StreamFilter
	shape  *shape
	ways   [2]way
	id     uint64
	worker uint32
	last   uint8 // last entered direction, for callbacks that do not name one
	over   bool
	// isShared means that the filter's factory received the exchange.
	isShared bool
	// failure makes the next hook of either direction a fault: a goroutine panicked while nothing waited for it.
	failure string
	// elsewhere means that a goroutine executes tasks, for a blocking filter.
	elsewhere bool
	tasks     []func()
	// isBlocking means that all hooks run on goroutines.
	isBlocking bool
	// trailers are those of both directions, for a filter that logs.
	trailers [2][]field
	// log is the call of the log phase while it lasts.
	log *raw.Call
}

// Directions of an exchange.
const (
	requestWay  = 0
	responseWay = 1
)

// way is one direction of an exchange; it implements the callbacks of both directions.
type way struct {
	x     *exchange
	call  *raw.Call // the data of the current hook, or of a goroutine that continues it; nil if there is none
	copy  *raw.Copy // the owner of call if that is in memory of Go
	body  *buffer   // in body phases
	state wayState
	// holdsHead means that the head waits for the body and can still be changed.
	holdsHead bool
	isReply   bool // the direction was finished by a local reply
	// bodyEnded means that the last piece of the body has been passed to the filter, or that there is no body.
	bodyEnded bool
	turn      uint32
	verdict   raw.Verdict // of a finish before the hook returned
	more      *wayMore
	// injecting is held by a goroutine that sends data, so that calls keep their order.
	injecting sync.Mutex
	hasSent   bool // data was sent in this turn
}

// wayMore has data that most exchanges never need.
type wayMore struct {
	failure string // reason for which the running hook is a fault, regardless of its result
	pending []byte // edits that could not be added to the call on the thread that made them
	added   []byte // data to send before the next piece of the body, as a part of it
	// injected is data to send before the next piece of the body, regardless of that piece.
	injected []byte
}

type wayState uint8

const (
	idle   wayState = iota
	inHook          // the hook has not returned
	done            // the hook has not returned, but a finish was called
	paused          // the hook has returned Running
)

func (w *way) rest() *wayMore {
	if w.more == nil {
		w.more = &wayMore{}
	}
	return w.more
}

// enter runs a hook, on the thread of the call or, with a copy, on a goroutine.
func (x *exchange) enter(c *raw.Call, s *raw.Step, elsewhere *raw.Copy) raw.Verdict {
	if c.Phase == raw.PhaseLog {
		x.enterLog(c)
		return raw.Continue
	}
	at := uint8(requestWay)
	if c.Phase >= raw.PhaseResponseHead {
		at = responseWay
	}
	w := &x.ways[at]
	// Before its first hook, only this code has the exchange, and the worker if the hook runs elsewhere.
	isShared := x.isShared || elsewhere != nil
	if isShared {
		x.mutex.Lock()
	}
	x.isShared = true
	if x.over {
		// It ended before the hook's goroutine ran.
		x.mutex.Unlock()
		return raw.Continue
	}
	if why := x.failure; why != "" {
		x.mutex.Unlock()
		if elsewhere != nil {
			elsewhere.Edit(raw.OpFault, "", why, 0)
		} else {
			c.Edit(raw.OpFault, "", why, 0)
		}
		return raw.Fault
	}
	before := c.EditsLen
	x.last = at
	w.call, w.copy, w.state, w.turn = c, elsewhere, inHook, c.Turn
	w.bodyEnded = w.bodyEnded || c.Flags&raw.CallEnd != 0 || !isHead(c.Phase) && !isBody(c.Phase)
	if isShared {
		x.mutex.Unlock()
	}

	status, failure := x.hook(w, c)

	x.mutex.Lock()
	defer x.mutex.Unlock()
	return w.leave(c, s, before, status, failure)
}

// hook calls the filter. A panic is a failure; the caller does the rest.
func (x *exchange) hook(w *way, c *raw.Call) (status api.StatusType, failure string) {
	returned := false
	defer func() {
		if returned {
			return
		}
		r := recover()
		if r == nil {
			// runtime.Goexit cannot be undone, but the direction must not be left as if its hook still ran.
			x.mutex.Lock()
			w.call, w.copy, w.body, w.state = nil, nil, nil, idle
			x.mutex.Unlock()
			return
		}
		failure = raw.PanicText(r)
	}()
	isEnd := c.Flags&raw.CallEnd != 0
	if x.user == nil {
		if failure = x.make(); failure != "" {
			returned = true
			return
		}
	}
	switch c.Phase {
	case raw.PhaseRequestHead:
		if x.shape.start != nil {
			x.shape.start(x.user, (*requestHeaders)(x))
		}
		status = x.user.DecodeHeaders((*requestHeaders)(x), isEnd)
		failure = checkHead(status, isEnd)
	case raw.PhaseRequestBody:
		status = x.user.DecodeData(w.open(c), isEnd)
	case raw.PhaseRequestTrailers:
		status = x.user.DecodeTrailers((*requestTrailers)(x))
	case raw.PhaseResponseHead:
		status = x.user.EncodeHeaders((*responseHeaders)(x), isEnd)
		failure = checkHead(status, isEnd)
	case raw.PhaseResponseBody:
		status = x.user.EncodeData(w.open(c), isEnd)
	case raw.PhaseResponseTrailers:
		status = x.user.EncodeTrailers((*responseTrailers)(x))
	}
	returned = true
	return
}

func (x *exchange) make() (failure string) {
	made := x.bound.make(x)
	if made == nil {
		return "the filter's factory made no filter"
	}
	x.shape = shapeOf(made)
	x.user = made
	if more := x.shape.interest &^ x.filter.interest; more != 0 {
		// Otherwise data that the filter may be meant to stop would be forwarded.
		return fmt.Sprintf("the factory made a filter of type %T, which wants phases (%s) that the one it made when it was "+
			"configured did not; put \"@phases\": \"all\" into the filter's configuration", made, phases(more))
	}
	return ""
}

// checkHead detects the result for which Envoy panics.
func checkHead(status api.StatusType, isEnd bool) string {
	if isEnd && (status == api.StopAndBuffer || status == api.StopAndBufferWatermark) {
		return "the filter wants to wait for a body, but the message has none: it must not answer " +
			"StopAndBuffer or StopAndBufferWatermark where endStream is true"
	}
	return ""
}

// leave converts a hook's result to a verdict, and updates the direction. Edits before this hook's are kept.
func (w *way) leave(c *raw.Call, s *raw.Step, before uint32, status api.StatusType, failure string) raw.Verdict {
	if w.call == nil {
		return raw.Continue // the exchange has ended, so the verdict has no effect
	}
	if failure == "" && w.more != nil {
		failure = w.more.failure
	}
	verdict := w.verdict
	if failure == "" && w.state != done {
		verdict, failure = verdictOf(c, status, w.body)
		if status == api.LocalReply {
			failure = "the filter answered LocalReply, but called no SendLocalReply"
		}
	}
	if failure == "" && verdict == raw.Pause {
		return w.pause(c, s)
	}
	if failure == "" {
		failure = w.ship(verdict)
	}
	w.holdsHead = verdict == raw.Buffer && isHead(c.Phase)
	if failure != "" {
		verdict = raw.Fault
		w.retract(before)
		w.edit(raw.OpFault, "", failure, 0)
	}
	w.keepTrailers()
	w.close()
	return verdict
}

// keepTrailers copies trailers for a filter that will log them: they are not readable then.
func (w *way) keepTrailers() {
	x := w.x
	if x.shape == nil || x.shape.log == nil {
		return
	}
	switch w.call.Phase {
	case raw.PhaseRequestTrailers:
		x.trailers[requestWay] = (*requestTrailers)(x).section().copyAll()
	case raw.PhaseResponseTrailers:
		x.trailers[responseWay] = (*responseTrailers)(x).section().copyAll()
	}
}

// close ends a hook or its continuation: views of it are no longer valid.
func (w *way) close() {
	if w.body != nil {
		w.body.close()
	}
	w.call, w.copy, w.body, w.state, w.verdict, w.hasSent = nil, nil, nil, idle, 0, false
}

// retract drops the edits of a hook.
func (w *way) retract(before uint32) {
	if w.more != nil {
		w.more.pending, w.more.failure = nil, ""
	}
	if w.copy != nil {
		w.copy.Clear()
		return
	}
	w.call.EditsLen = before
}

// pause prepares for goroutines: all data that they may read is moved to memory of Go.
func (w *way) pause(c *raw.Call, s *raw.Step) raw.Verdict {
	if w.copy == nil {
		if w.body != nil {
			w.body.keep()
		}
		w.copy = c.Copy(s)
		w.call = &w.copy.Call
		if w.more != nil && len(w.more.pending) != 0 {
			for r := range raw.EditLog(w.more.pending).All() {
				w.copy.Edit(r.Op, r.Name, r.Value, r.Number)
			}
			w.more.pending = nil
		}
	}
	w.state = paused
	if w.body != nil && len(w.body.injected) != 0 {
		// Data that was injected before the hook returned goes out now, too.
		go w.InjectData(nil)
	}
	return raw.Pause
}

// ship writes the pending edits of a hook.
func (w *way) ship(verdict raw.Verdict) (failure string) {
	if w.more != nil && len(w.more.pending) != 0 {
		pending := w.more.pending
		w.more.pending = nil
		for r := range raw.EditLog(pending).All() {
			if err := w.edit(r.Op, r.Name, r.Value, r.Number); err != nil {
				return "the filter's changes: " + err.Error()
			}
		}
	}
	if w.body != nil && verdict != raw.Reply {
		if err := w.body.ship(w); err != nil {
			return "the filter's changes to the body: " + err.Error()
		}
	}
	return ""
}

func isHead(p raw.Phase) bool { return p == raw.PhaseRequestHead || p == raw.PhaseResponseHead }

func isBody(p raw.Phase) bool { return p == raw.PhaseRequestBody || p == raw.PhaseResponseBody }

// verdictOf converts a status; body is the piece in body phases.
func verdictOf(c *raw.Call, status api.StatusType, body *buffer) (raw.Verdict, string) {
	isEnd := c.Flags&raw.CallEnd != 0
	switch {
	case status == api.Running:
		return raw.Pause, ""
	case status == api.Continue || status == api.LocalReply:
		return raw.Continue, ""
	case isHead(c.Phase):
		switch status {
		case api.HeaderContinue, api.HeaderContinueAndDontEndStream:
			return raw.Continue, ""
		case api.StopAndBuffer, api.StopAndBufferWatermark, api.HeaderStopAllIterationAndBuffer, api.HeaderStopAllIterationAndWatermark:
			return raw.Buffer, ""
		case api.HeaderStopIteration:
			if isEnd {
				// Nothing else will arrive to continue with, but a goroutine may continue it.
				return raw.Pause, ""
			}
			return raw.Buffer, ""
		}
	case isBody(c.Phase):
		switch status {
		case api.DataContinue:
			return raw.Continue, ""
		case api.StopAndBuffer, api.StopAndBufferWatermark, api.DataStopIterationAndBuffer, api.DataStopIterationAndWatermark:
			if isEnd {
				// Envoy logs an error and waits for ever.
				api.LogError("a filter wants more of a body that is at its end; it goes on")
				return raw.Continue, ""
			}
			return raw.Buffer, ""
		case api.StopNoBuffer, api.DataStopIterationNoBuffer:
			body.drop()
			return raw.Continue, ""
		}
	default:
		switch status {
		case api.TrailerContinue:
			return raw.Continue, ""
		case api.TrailerStopIteration:
			return raw.Pause, ""
		}
	}
	return 0, fmt.Sprintf("the filter answered %d in phase %s, which is invalid there", status, c.Phase)
}

// finish ends a pause, or a hook that has not returned yet. The caller holds the mutex and has made the edits.
func (w *way) finish(verdict raw.Verdict) {
	switch w.state {
	case inHook:
		w.verdict, w.state = verdict, done
	case paused:
		if verdict != raw.Fault {
			if failure := w.ship(verdict); failure != "" {
				w.retract(0)
				w.edit(raw.OpFault, "", failure, 0)
				verdict = raw.Fault
			}
		}
		w.holdsHead = verdict == raw.Buffer && isHead(w.call.Phase)
		edits := w.copy.Own()
		turn, hasSent := w.turn, w.hasSent
		w.keepTrailers()
		w.close()
		if hasSent {
			// The mutex must not be held until the data has left: the hooks of the other direction need it.
			go w.x.resume(raw.ResumeAfterData, turn, verdict, edits)
			return
		}
		w.x.resume(raw.Resume, turn, verdict, edits)
	}
}

func (x *exchange) resume(resume func(uint64, uint32, raw.Verdict, []byte) error, turn uint32, verdict raw.Verdict, edits []byte) {
	if err := resume(x.id, turn, verdict, edits); err != nil && raw.LogEnabled(raw.LevelDebug) {
		raw.WriteLog(x.filter.id, raw.LevelDebug, "a filter continues too late: "+err.Error())
	}
}

// stale records a callback for a direction without a current phase.
func (w *way) stale(what string) {
	if raw.LogEnabled(raw.LevelDebug) {
		raw.WriteLog(w.x.filter.id, raw.LevelDebug, what+" has no effect: the exchange has continued without it, or has ended")
	}
}

// edit makes an edit. The caller holds the mutex.
func (w *way) edit(op raw.Op, name, value string, number uint32) error {
	if w.copy != nil {
		return w.copy.Edit(op, name, value, number)
	}
	if w.more == nil || len(w.more.pending) == 0 {
		if w.call.Edit(op, name, value, number) == nil {
			return nil
		}
	}
	// The log of a call grows only on the thread of the call, and this may be another: the end of the hook tries again.
	log, err := raw.AppendEdit(w.rest().pending, op, 0, name, value, number)
	w.more.pending = log
	return err
}

// editsHead returns whether the head of the direction can be changed now.
func (w *way) editsHead() bool {
	return w.state != idle && w.call != nil && (isHead(w.call.Phase) || w.holdsHead && isBody(w.call.Phase))
}

// enterLog calls the filter's log hooks for the ended exchange, which is still readable.
func (x *exchange) enterLog(c *raw.Call) {
	if x.user == nil {
		return // no hook was called
	}
	x.mutex.Lock()
	x.log = c
	x.mutex.Unlock()
	defer func() {
		r := recover()
		x.mutex.Lock()
		x.log = nil
		x.mutex.Unlock()
		if r != nil {
			raw.WriteLog(x.filter.id, raw.LevelError, "the filter panicked in OnLog or OnStreamComplete: "+raw.PanicText(r))
		}
	}()
	if x.shape.complete != nil {
		x.shape.complete(x.user)
	}
	if x.shape.log == nil {
		return
	}
	var response api.ResponseHeaderMap
	if c.Status != 0 {
		response = (*responseHeaders)(x)
	}
	var trailers [2]api.HeaderMap
	for i, fields := range x.trailers {
		if fields != nil {
			trailers[i] = kept(fields)
		}
	}
	x.shape.log(x.user, (*requestHeaders)(x), trailers[requestWay], response, trailers[responseWay])
}

// end handles the end of an exchange.
func (x *exchange) end(reason raw.EndReason) {
	x.mutex.Lock()
	x.over = true
	for i := range x.ways {
		w := &x.ways[i]
		w.close()
		if w.more != nil && len(w.more.injected) != 0 {
			w.notInjected("no other piece of the body came", len(w.more.injected))
			w.more.injected = nil
		}
	}
	isBlocking := x.isBlocking
	x.mutex.Unlock()
	why := api.Normal
	if reason != raw.EndComplete {
		why = api.Terminate
	}
	if !isBlocking {
		x.destroy(why)
		return
	}
	x.later(func() {
		defer func() {
			if r := recover(); r != nil {
				raw.WriteLog(x.filter.id, raw.LevelError, "the filter panicked in OnDestroy: "+raw.PanicText(r))
			}
		}()
		x.destroy(why)
	})
}

func (x *exchange) destroy(why api.DestroyReason) {
	if x.user != nil && x.shape.hasDestroy {
		x.user.OnDestroy(why)
	}
}

// enterElsewhere runs a hook on a goroutine, for blocking filters.
func (x *exchange) enterElsewhere(c *raw.Call, s *raw.Step) raw.Verdict {
	n := c.Copy(s)
	if c.Phase == raw.PhaseLog {
		x.later(func() { x.enterLog(&n.Call) })
		return raw.Continue
	}
	x.later(func() {
		returned := false
		defer func() {
			if !returned {
				// runtime.Goexit: without this, the exchange would never continue.
				n.Clear()
				n.Edit(raw.OpFault, "", raw.GoexitText(), 0)
				raw.Resume(n.Call.Exchange, n.Call.Turn, raw.Fault, n.Own())
			}
		}()
		verdict := x.enter(&n.Call, &n.Step, n)
		returned = true
		if verdict == raw.Pause {
			return
		}
		if verdict == raw.Buffer && isBody(n.Call.Phase) {
			n.Clear()
			n.Edit(raw.OpFault, "", "a filter with `blocking: true` wants more of the body, which is only possible for a head", 0)
			verdict = raw.Fault
		}
		raw.Resume(n.Call.Exchange, n.Call.Turn, verdict, n.Own())
	})
	return raw.Pause
}

// later runs a task of an exchange on a separate goroutine, one after another: a filter written for Envoy expects that
// its hooks do not run concurrently. The goroutine ends when there are no more tasks.
func (x *exchange) later(task func()) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.tasks = append(x.tasks, task)
	if x.elsewhere {
		return
	}
	x.elsewhere = true
	go x.work()
}

func (x *exchange) work() {
	// A task that calls runtime.Goexit ends this goroutine, but not the tasks after it.
	isDone := false
	defer func() {
		if !isDone {
			go x.work()
		}
	}()
	for {
		x.mutex.Lock()
		if len(x.tasks) == 0 {
			x.elsewhere, isDone = false, true
			x.mutex.Unlock()
			return
		}
		next := x.tasks[0]
		x.tasks = x.tasks[1:]
		x.mutex.Unlock()
		next()
	}
}
