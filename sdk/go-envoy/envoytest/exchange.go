package envoytest

import (
	"slices"
	"strings"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/eddy-gateway/eddy/sdk/go/raw/rawtest"
)

// exchange is an exchange in progress.
type exchange struct {
	gateway  *Gateway
	number   uint64
	request  Request
	response Response
	states   []uint64
	entered  int // filters whose request head hook was called
	isLocal  bool
	// isLeaving means that the client disconnects when a filter pauses.
	isLeaving bool
	result    *Result
	metadata  []raw.Pair
	passage   *rawtest.Passage
	body      *string // body of the current phase

	// The host's mutex guards the following fields.
	turn      uint32
	phase     raw.Phase
	isResumed bool
	resumed   chan resumed
}

// PauseMax is the maximum duration of a pause in a test.
const PauseMax = 10 * time.Second

func (g *Gateway) run(request Request, endpoint func(Request) Response) *Result {
	h := g.host
	x := &exchange{
		gateway: g, request: request, states: make([]uint64, len(g.steps)), resumed: make(chan resumed, 1),
		result: &Result{Metadata: map[string]string{}},
	}
	if x.isLeaving = endpoint == nil; x.isLeaving {
		endpoint = func(Request) Response { return Response{Status: 200} }
	}
	// The caller's pieces must not be changed.
	x.request.Body = slices.Clone(request.Body)
	if x.request.Method == "" {
		x.request.Method = "GET"
	}
	if x.request.Path == "" {
		x.request.Path = "/"
	}
	h.mutex.Lock()
	h.last++
	x.number = h.last
	h.waiting[x.number] = x
	h.mutex.Unlock()
	end := raw.EndComplete
	if !x.exchange(endpoint) {
		end = raw.EndCut
	}
	x.enter(raw.PhaseLog, x.interested(raw.PhaseLog), nil, raw.CallEnd)
	h.mutex.Lock()
	delete(h.waiting, x.number)
	h.mutex.Unlock()
	x.tellEnd(end)
	for _, p := range x.metadata {
		x.result.Metadata[p.Space.String()+"."+p.Key.String()] = p.Value.String()
	}
	x.result.Response = x.response
	return x.result
}

func (x *exchange) exchange(endpoint func(Request) Response) bool {
	switch x.pass(requestWay) {
	case raw.Continue:
		upstream := x.request
		upstream.Body = slices.Clone(x.request.Body)
		x.result.Upstream = &upstream
		x.response = endpoint(upstream)
		x.response.Body = slices.Clone(x.response.Body)
	case raw.Reply:
	case raw.Fault:
		return x.fault()
	default:
		x.response = Response{}
		return false
	}
	verdict := x.pass(responseWay)
	if verdict == raw.Reply && x.passage.IsHeadOpen() {
		// A reply passes the filters in place of the response.
		verdict = x.pass(responseWay)
	}
	switch verdict {
	case raw.Continue:
		return true
	case raw.Fault:
		return x.fault()
	default:
		x.response = Response{}
		return false
	}
}

func (x *exchange) fault() bool {
	x.isLocal = true
	x.response = Response{Status: 500}
	return false
}

func (x *exchange) interested(phase raw.Phase) (steps []int) {
	for i := range x.entered {
		if x.gateway.steps[i].interest&phase.Bit() != 0 {
			steps = append(steps, i)
		}
	}
	return steps
}

// direction is one direction of an exchange, with the locations of its parts.
type direction struct {
	head, body, trailers raw.Phase
}

var (
	requestWay  = direction{raw.PhaseRequestHead, raw.PhaseRequestBody, raw.PhaseRequestTrailers}
	responseWay = direction{raw.PhaseResponseHead, raw.PhaseResponseBody, raw.PhaseResponseTrailers}
)

func (x *exchange) message(d direction) (body *[]string, trailers *Fields) {
	if d == requestWay {
		return &x.request.Body, &x.request.Trailers
	}
	return &x.response.Body, &x.response.Trailers
}

// enter calls filters in a phase, in one crossing until one pauses, and waits for those that do. It returns the verdict
// that ended it, and the index of the step that returned it.
//
// A reply to a local response is not sent: the message goes on behind the filter.
func (x *exchange) enter(phase raw.Phase, steps []int, body *string, flags uint8) (raw.Verdict, int) {
	isIgnoringReplies := x.isIgnoringReplies(phase)
	x.body = body
	for at := 0; at < len(steps); {
		h := x.gateway.host
		h.mutex.Lock()
		x.turn++
		x.phase, x.isResumed = phase, false
		h.mutex.Unlock()
		text := ""
		if body != nil {
			text = *body
		}
		call, made := x.call(phase, steps[at:], text, flags)
		raw.Run(call)
		for i, s := range made {
			x.states[steps[at+i]] = s.State
		}
		verdict := raw.Continue
		if call.Stopped < call.StepsLen {
			verdict = made[call.Stopped].Verdict
		}
		stopped := at + int(call.Stopped)
		if phase == raw.PhaseLog {
			return raw.Continue, stopped
		}
		if !x.apply(phase, call.Log(), verdict) {
			return raw.Fault, stopped
		}
		if verdict == raw.Pause && x.isLeaving {
			return raw.Reset, stopped
		}
		if verdict == raw.Pause {
			var sent strings.Builder
			for verdict == raw.Pause {
				select {
				case r := <-x.resumed:
					verdict = r.verdict
					if verdict == raw.Pause {
						for record := range r.edits.All() {
							sent.WriteString(record.Value)
						}
						continue
					}
					if !x.apply(phase, r.edits, verdict) {
						return raw.Fault, stopped
					}
				case <-time.After(PauseMax):
					x.gateway.test.Fatalf("a filter paused in phase %s and did not go on", phase)
				}
			}
			if x.body != nil {
				*x.body = sent.String() + *x.body
			}
		}
		if verdict != raw.Continue && (verdict != raw.Reply || !isIgnoringReplies) {
			return verdict, stopped
		}
		at = stopped + 1
	}
	return raw.Continue, len(steps) - 1
}

// tellEnd reports the end of the exchange to filters with state.
func (x *exchange) tellEnd(reason raw.EndReason) {
	var ended []raw.Ended
	for i, state := range x.states {
		if state != 0 {
			ended = append(ended, raw.Ended{Filter: x.gateway.steps[i].filter, State: state, Reason: reason})
		}
	}
	if len(ended) == 0 {
		return
	}
	raw.Run(&raw.Call{Phase: raw.PhaseNone, Ended: &ended[0], EndedLen: uint32(len(ended)), Current: new(uint32)})
}
