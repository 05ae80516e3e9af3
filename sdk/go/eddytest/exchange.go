package eddytest

import (
	"strings"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// exchange is a request in progress.
type exchange struct {
	gateway *Gateway
	request *Request
	id      uint64
	turn    uint32
	worker  uint16
	started time.Time
	states  []uint64
	entered []bool
	// reached is the number of filters that the request head has reached.
	reached  int
	run      *run
	skipped  []bool
	changed  []bool
	metadata []Entry
	bytes    [2]uint64

	forward  Message
	response *Message
	isLocal  bool
	details  string

	endpoint       string
	routeCleared   bool
	connectionEnds bool
	result         Result
}

// answer is the reply of edits.
type answer struct {
	message *Message
	fields  []Field
	details string
	fault   string
	grpc    uint32
}

// outcome is how a direction continues.
type outcome int

const (
	proceeds outcome = iota
	isAnswered
	isCut
)

// Do sends the request and waits for its result.
func (r *Request) Do() *Result {
	g := r.gateway
	e := &exchange{
		gateway: g, request: r, id: g.host.next.Add(1), started: time.Now(), forward: r.message, metadata: r.metadata,
		states: make([]uint64, len(g.chain)), entered: make([]bool, len(g.chain)), skipped: make([]bool, len(g.chain)),
		changed: make([]bool, len(g.chain)),
	}
	e.worker = uint16(e.id % workers)
	e.forward.Fields = append([]Field(nil), r.message.Fields...)
	e.forward.Trailers = append([]Field(nil), r.message.Trailers...)
	out := e.pass(0, &e.forward)
	if out == proceeds {
		forwarded := e.forward
		e.result.Forwarded = &forwarded
		g.mutex.Lock()
		endpoint := g.endpoint
		g.mutex.Unlock()
		response := *endpoint(&forwarded)
		response.Fields = append([]Field(nil), response.Fields...)
		e.response = &response
	}
	if out == isAnswered || out == proceeds {
		wasLocal := e.isLocal
		out = e.pass(1, e.response)
		// A reply to a response passes the filters as well, but not a reply to a reply.
		if out == isAnswered && !wasLocal {
			out = e.pass(1, e.response)
		}
	}
	e.result.IsCut = out == isCut
	if e.response != nil && out != isCut {
		e.result.Message = *e.response
	}
	e.finish()
	return &e.result
}

// finish runs the log phase and reports the end.
func (e *exchange) finish() {
	for i, l := range e.gateway.chain {
		if l.info.Interest&raw.PhaseLog.Bit() != 0 && (e.entered[i] || l.info.Interest&raw.PhaseRequestHead.Bit() == 0) {
			e.cross(raw.PhaseLog, []int{i}, 0, "")
		}
	}
	e.gateway.host.close(e.id)
	reason := raw.EndComplete
	if e.result.IsCut {
		reason = raw.EndCut
	}
	m := &memory{}
	var ended []raw.Ended
	for i, state := range e.states {
		if state != 0 {
			ended = append(ended, raw.Ended{Filter: e.gateway.chain[i].handle, State: state, Reason: reason})
		}
	}
	if len(ended) != 0 {
		m.call = raw.Call{
			ABI: raw.ABI, Worker: e.worker, Phase: raw.PhaseNone, Ended: &ended[0], EndedLen: uint32(len(ended)), Current: &m.current,
		}
		e.enter(m)
	}
	e.result.Details, e.result.Metadata = e.details, e.metadata
	e.result.Endpoint, e.result.RouteCleared, e.result.ConnectionEnds = e.endpoint, e.routeCleared, e.connectionEnds
}

// enter runs filters like the thread of a worker.
func (e *exchange) enter(m *memory) {
	thread := &e.gateway.host.threads[e.worker]
	thread.Lock()
	defer thread.Unlock()
	raw.Run(&m.call)
}

// pass passes head, body and trailers of a message through the filters.
func (e *exchange) pass(direction int, message *Message) outcome {
	e.run = e.newRun(direction, message)
	return e.run.pass()
}

func direction(phase raw.Phase) int {
	if phase >= raw.PhaseResponseHead && phase <= raw.PhaseResponseTrailers {
		return 1
	}
	return 0
}

func (e *exchange) cross(phase raw.Phase, order []int, flags uint8, body string) (raw.Verdict, int, outcome) {
	return e.crossBody(phase, order, flags, &body)
}

// crossBody calls filters once. It returns the verdict that stopped the crossing, and the number of filters that have
// completed the phase.
func (e *exchange) crossBody(phase raw.Phase, order []int, flags uint8, body *string) (raw.Verdict, int, outcome) {
	e.turn++
	e.result.Crossings = append(e.result.Crossings, phase)
	m := &memory{steps: make([]raw.Step, len(order))}
	for i, filter := range order {
		l := e.gateway.chain[filter]
		m.steps[i] = raw.Step{Filter: l.handle, Config: l.config, State: e.states[filter], ID: l.id}
		if l.Blocking {
			m.steps[i].Flags = raw.StepBlocking
		}
	}
	m.lay(e, phase, flags, *body)
	turn := e.turn
	resumed := e.gateway.host.announce(e.id, turn)
	e.enter(m)
	t := e.gateway.t
	if m.current != 0 {
		t.Errorf("after %v the current filter is %d, not 0", phase, m.current)
	}
	stopped := int(m.call.Stopped)
	if stopped > len(order) {
		t.Fatalf("the library stopped at step %d of %d", stopped, len(order))
	}
	for i, filter := range order[:min(stopped+1, len(order))] {
		e.states[filter] = m.steps[i].State
		e.entered[filter] = true
		if phase == raw.PhaseRequestHead {
			e.reached = filter + 1
		}
	}
	if phase == raw.PhaseLog {
		e.gateway.host.withdraw(e.id, turn)
		return raw.Continue, len(order), proceeds
	}
	isBody := phase == raw.PhaseRequestBody || phase == raw.PhaseResponseBody
	if !isBody {
		body = nil
	}
	log := m.call.Log()
	if err := log.Check(); err != nil {
		t.Fatalf("the library left a malformed edit log in %v", phase)
	}
	verdict, a := raw.Continue, &answer{}
	if stopped < len(order) {
		verdict = m.steps[stopped].Verdict
	}
	for r := range log.All() {
		if int(r.Step) > stopped || int(r.Step) >= len(order) {
			t.Fatalf("an edit of step %d, but %d stopped", r.Step, stopped)
		}
		if verdict == raw.Fault && int(r.Step) == stopped && r.Op != raw.OpFault {
			continue
		}
		if out, done := e.applyOne(phase, order, int(r.Step), r, body, a); done {
			e.gateway.host.withdraw(e.id, turn)
			return raw.Fault, int(r.Step) + 1, out
		}
	}
	if stopped == len(order) {
		e.gateway.host.withdraw(e.id, turn)
		return raw.Continue, stopped, proceeds
	}
	if verdict != raw.Pause {
		e.gateway.host.withdraw(e.id, turn)
		return e.judge(phase, order, stopped, verdict, a)
	}
	e.gateway.mutex.Lock()
	patience := e.gateway.patience
	e.gateway.mutex.Unlock()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	var sent strings.Builder
	for {
		select {
		case r := <-resumed:
			edits := raw.EditLog(r.edits)
			if err := edits.Check(); err != nil {
				t.Fatal("a resumption had a malformed edit log")
			}
			if r.verdict == raw.Pause {
				for record := range edits.All() {
					if !isBody || record.Op != raw.OpBodyAppend {
						t.Fatalf("data was sent in %v, or with edit %v", phase, record.Op)
					}
					sent.WriteString(record.Value)
				}
				deadline.Reset(patience)
				continue
			}
			for record := range edits.All() {
				if out, done := e.applyOne(phase, order, stopped, record, body, a); done {
					return raw.Fault, stopped + 1, out
				}
			}
			if body != nil {
				*body = sent.String() + *body
			}
			if r.verdict == raw.Continue {
				return raw.Continue, stopped + 1, proceeds
			}
			return e.judge(phase, order, stopped, r.verdict, a)
		case <-deadline.C:
			e.gateway.host.withdraw(e.id, turn)
			e.result.Faults = append(e.result.Faults, errTime.Error())
			return raw.Fault, stopped + 1, e.reply(phase, &answer{message: &Message{Status: 504, Body: "gateway timeout\n"}, details: "filter_timeout"})
		}
	}
}

// applyOne makes one edit, or records a refused one as a fault of the filter.
func (e *exchange) applyOne(phase raw.Phase, order []int, step int, r raw.Record, body *string, a *answer) (outcome, bool) {
	if err := e.apply(phase, r, body, a); err != nil {
		e.result.Faults = append(e.result.Faults, "refused: "+err.Error())
		_, _, out := e.fail(phase, order, step)
		return out, true
	}
	if r.Op != raw.OpFault {
		e.changed[order[step]] = true
	}
	return proceeds, false
}

func (e *exchange) judge(phase raw.Phase, order []int, stopped int, verdict raw.Verdict, a *answer) (raw.Verdict, int, outcome) {
	switch verdict {
	case raw.Reply:
		if a.message == nil {
			e.result.Faults = append(e.result.Faults, "a reply without a status")
			return e.fail(phase, order, stopped)
		}
		return raw.Reply, stopped + 1, e.reply(phase, a)
	case raw.Buffer:
		return raw.Buffer, stopped + 1, proceeds
	case raw.Reset:
		return raw.Reset, stopped + 1, isCut
	case raw.Fault:
		e.result.Faults = append(e.result.Faults, a.fault)
		return e.fail(phase, order, stopped)
	default:
		e.gateway.t.Fatalf("the verdict %v", verdict)
		return raw.Fault, stopped + 1, isCut
	}
}

// fail applies the failure policy of the filter. A filter that has failed is not entered again.
func (e *exchange) fail(phase raw.Phase, order []int, step int) (raw.Verdict, int, outcome) {
	filter := order[step]
	e.skipped[filter] = true
	if e.gateway.chain[filter].Open && !e.changed[filter] {
		return raw.Continue, step + 1, proceeds
	}
	failed := &answer{message: &Message{Status: 500, Body: "internal server error\n"}, details: "filter_fault"}
	if direction(phase) == 1 && e.isLocal && e.run.IsHeadOpen() {
		*e.response, e.details = *failed.message, failed.details
		return raw.Fault, step + 1, isAnswered
	}
	return raw.Fault, step + 1, e.reply(phase, failed)
}

// reply makes a reply the response.
func (e *exchange) reply(phase raw.Phase, a *answer) outcome {
	if direction(phase) == 1 && e.isLocal {
		return proceeds
	}
	e.details, e.result.GRPCStatus = a.details, a.grpc
	if direction(phase) == 0 {
		e.response, e.isLocal = a.message, true
		return isAnswered
	}
	if !e.run.IsHeadOpen() {
		// The head was already sent to the client.
		return isCut
	}
	*e.response, e.isLocal = *a.message, true
	return isAnswered
}
